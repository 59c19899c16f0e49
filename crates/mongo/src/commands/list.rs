//! Lists databases, collections and indexes. Filters apply to the entries as shown.
//!
//! ```text
//! {listDatabases: 1, nameOnly: false}  => {databases: [{name, sizeOnDisk, empty}], totalSize: .., ok: 1}
//! {listCollections: 1, filter: {..}}   => {cursor: {firstBatch: [{name, type, options, info, idIndex}], ..}}
//! {listIndexes: "c"}                   => {cursor: {firstBatch: [{v, key, name, ..}], ..}}
//! ```

use std::collections::BTreeMap;

use document::{DocBuf, DocRef, Document, Number, Value, ValueRef, doc};
use engine::{Model, Namespace};
use evaluation::Context;
use pipeline::Filter;

use crate::{
    access::{Action, Target},
    arguments::Args,
    call::Call,
    errors::{Error, InvalidOptions, Result},
    names::SYSTEM_DATABASES,
    provisioning::recorded_databases,
    replies::{
        collection::{collection_entry, disk_bytes, name_entry},
        cursor::reply_with_list,
        index::index_entries,
        ok,
    },
    rights::{CommandRequest, Object, Requirement},
};

/// Parses the filter of a list command; without a filter, everything is listed.
fn parse_filter(args: &Args<'_>) -> Result<Filter> {
    match args.document("filter")? {
        Some(filter) => Ok(mongo_query::filter::parse(filter)?),
        None => Ok(Filter::always()),
    }
}

/// Returns whether a listed database, collection or index matches the filter. The work is charged
/// to the operation's budget, since the filter and the list may be long.
fn entry_matches(filter: &Filter, entry: &Document, context: &Context) -> Result<bool> {
    Ok(filter.matches(DocRef::Tree(entry), context)?)
}

/// Returns the maximum number of documents in the first batch of a list; `None` means that all are
/// returned.
fn batch_size(args: &Args<'_>) -> Result<Option<u64>> {
    let Some(cursor) = args.document("cursor")? else { return Ok(None) };
    let of = format!("{}.cursor", args.of);
    let args = Args::new(&of, cursor);
    args.allow_only(&["batchSize"])?;
    args.count("batchSize")
}

/// Returns the rights that `listDatabases` requires. A sender without the right to list all
/// databases gets those on which it has any right, unless it explicitly requests all.
pub(super) fn databases_needs(request: &CommandRequest<'_>) -> Result<Vec<Requirement>> {
    let wants_all = request.args().bool("authorizedDatabases")? == Some(false);
    let need = Requirement::of(Action::ListDatabases, Object::Server);
    Ok(if wants_all { vec![need] } else { Vec::new() })
}

/// Returns the rights that `listCollections` requires. A request for the names of only those
/// collections on which the sender has any right requires none.
pub(super) fn collections_needs(request: &CommandRequest<'_>) -> Result<Vec<Requirement>> {
    let own = request.is_set("nameOnly") && request.is_set("authorizedCollections");
    let database = Object::Database(request.database.to_owned());
    let need = Requirement::of(Action::ListCollections, database);
    Ok(if own { Vec::new() } else { vec![need] })
}

/// Runs `listDatabases`, with the sizes of all collections on disk.
pub(super) async fn list_databases(call: &Call<'_>) -> Result<DocBuf> {
    let args = call.args();
    let filter = parse_filter(&args)?;
    let names_only = args.lax_bool("nameOnly")?.unwrap_or(false);
    let only_own = args.bool("authorizedDatabases")? == Some(true);
    // Tools skip these databases by name.
    let own = SYSTEM_DATABASES.map(|name| (name.to_owned(), 0));
    let mut sizes: BTreeMap<String, i64> = BTreeMap::from(own);
    for (namespace, collection) in call.api.engine.collections(Model::Documents) {
        *sizes.entry(namespace.database).or_default() += disk_bytes(call, &collection);
    }
    for database in recorded_databases(&call.api.engine) {
        sizes.entry(database).or_default();
    }
    // Keeps the memory of the replies, whose entries are in `sizes`, reserved until the end.
    let mut _held = None;
    if let Some(other_shards) = call.other_shards() {
        let ask = doc! { "listDatabases": 1 };
        let (answers, counted) = other_shards.ask(ask, &call.api.settings.memory).await?;
        answers.iter().for_each(|(_, reply)| add_databases(&mut sizes, reply));
        _held = Some(counted);
    }
    let context = call.evaluation_context().await?;
    let mut databases = Vec::new();
    let mut total = 0;
    let sees = seen_databases(call, only_own);
    for (name, size) in sizes {
        if !sees(&name) {
            continue;
        }
        // No listed database counts as empty: it has a collection or a record, or it is one of the
        // server's own.
        let entry = match names_only {
            true => doc! { "name": name },
            false => doc! { "name": name, "sizeOnDisk": size, "empty": false },
        };
        if entry_matches(&filter, &entry, &context)? {
            total += size;
            databases.push(Value::Document(entry));
        }
    }
    let mut reply = doc! { "databases": Value::Array(databases) };
    if !names_only {
        reply.push("totalSize", total);
        reply.push("totalSizeMb", total / (1024 * 1024));
    }
    ok(reply)
}

/// Returns a predicate that is true for a database that the sender may see.
fn seen_databases(call: &Call<'_>, only_own: bool) -> impl Fn(&str) -> bool {
    let asks = call.api.asks_for_login(call.connection);
    let login = if asks { call.api.login_of(call.connection) } else { None };
    move |name| match &login {
        None => !asks,
        Some(login) => {
            let all = login.privileges.allows(Action::ListDatabases, Target::Cluster);
            all && !only_own || login.privileges.allows_any_on_database(name)
        }
    }
}

/// Returns a predicate that is true for a collection of the database that the sender may see.
fn seen_collections(call: &Call<'_>) -> impl Fn(&Namespace) -> bool {
    let asks = call.api.asks_for_login(call.connection);
    let login = if asks { call.api.login_of(call.connection) } else { None };
    let database = Target::Database(call.database);
    let all = login
        .as_ref()
        .is_some_and(|login| login.privileges.allows(Action::ListCollections, database));
    move |name| match &login {
        None => !asks,
        Some(login) => {
            let (database, collection) = (&name.database, &name.collection);
            all || login.privileges.allows_any_on_collection(database, collection)
        }
    }
}

/// Adds to `sizes` the databases that the reply of another shard lists.
fn add_databases(sizes: &mut BTreeMap<String, i64>, reply: &DocBuf) {
    let Some(databases) = reply.get("databases").and_then(ValueRef::as_array) else { return };
    for database in databases.iter().filter_map(ValueRef::as_document) {
        let name = database.get("name").and_then(ValueRef::as_str);
        let size = database.get("sizeOnDisk").and_then(Number::of).and_then(Number::to_i64_exact);
        if let (Some(name), Some(size)) = (name, size) {
            *sizes.entry(name.to_owned()).or_default() += size;
        }
    }
}

/// Runs `listCollections` for one database.
pub(super) async fn list_collections(call: &Call<'_>) -> Result<DocBuf> {
    let args = call.args();
    let filter = parse_filter(&args)?;
    let names_only = args.bool("nameOnly")?.unwrap_or(false);
    let size = batch_size(&args)?;
    let context = call.evaluation_context().await?;
    let mut entries = Vec::new();
    let sees = seen_collections(call);
    for (namespace, collection) in call.api.engine.collections(Model::Documents) {
        if namespace.database != call.database || !sees(&namespace) {
            continue;
        }
        let entry = match names_only {
            true => name_entry(&namespace, &collection),
            false => collection_entry(&namespace, &collection),
        };
        if entry_matches(&filter, &entry, &context)? {
            entries.push(entry);
        }
    }
    let namespace = Namespace::new(call.database, "$cmd.listCollections");
    reply_with_list(call, entries, &namespace, size).await
}

/// Runs `listIndexes`: the `_id` index first, then all others in catalog order. Fails with 26 if
/// the collection does not exist.
pub(super) async fn list_indexes(call: &Call<'_>) -> Result<DocBuf> {
    let namespace = call.namespace()?;
    let args = call.args();
    let with_builds = args.lax_bool("includeIndexBuildInfo")?.unwrap_or(false);
    if args.lax_bool("includeBuildUUIDs")?.unwrap_or(false) && with_builds {
        let message =
            "The includeBuildUUIDs flag and includeBuildIndexInfo flag cannot both be set to true";
        return Err(Error::new(InvalidOptions, message));
    }
    let size = batch_size(&args)?;
    let collection = call.expect_collection(&namespace)?;
    let state = collection.state();
    let mut entries = index_entries(&state.record);
    if with_builds {
        entries = entries.into_iter().map(|spec| doc! { "spec": spec }).collect();
    }
    reply_with_list(call, entries, &namespace, size).await
}
