//! Creating, dropping and renaming collections and databases: `create`, `drop`, `dropDatabase`,
//! `renameCollection`.
//!
//! Each of them is one change of the engine's catalog, which is durable before the reply is sent.
//! Names are created, removed or exchanged atomically, so racing clients see the changes in one
//! order.
//!
//! ```text
//! {create: "c", ..options}                            => {ok: 1}
//! {drop: "c"}                                          => {nIndexesWas: 1, ns: "db.c", ok: 1}
//! {dropDatabase: 1}                                    => {dropped: "db", ok: 1}
//! {renameCollection: "db.a", to: "db.b", dropTarget: false}  => {ok: 1}
//! ```

use std::sync::Arc;

use document::{DocBuf, Document, Value, ValueRef, doc};
use engine::{Capped, Collection, ErrorSubject, Kind, Model, Namespace};

use super::{change_stream, views};
use crate::{
    access::Action,
    arguments::Args,
    call::Call,
    errors::{
        BadValue, CollectionUUIDMismatch, CommandNotSupportedOnView, Error, IllegalOperation,
        InvalidOptions, InvalidUUID, NamespaceExists, NamespaceNotFound, Result,
    },
    names::{self, PROFILE},
    parsers::{
        capped_limits::parse_capped,
        clustered_index::{CLUSTERED_INDEX, EXPIRE_AFTER, parse_cluster_key, parse_expire_after},
        collation::{GivenCollation, parse_collation},
        collection_options::{self, unsupported},
    },
    provisioning::{self, Provisioning, shard_key_of_path, without_provisioning},
    replies::{collection::collection_uuid, numbers::saturated_int, ok},
    rights::{CommandRequest, Object, Requirement},
    stored_view::{PIPELINE, VIEW_ON, is_view},
};

/// Arguments of `create`, supported or not: unknown arguments and unsupported ones fail with
/// different errors.
pub(super) const CREATE_FIELDS: &[&str] = &[
    "capped",
    "autoIndexId",
    "size",
    "max",
    "storageEngine",
    "validator",
    "validationLevel",
    "validationAction",
    "indexOptionDefaults",
    "viewOn",
    "pipeline",
    "collation",
    "timeseries",
    "expireAfterSeconds",
    "clusteredIndex",
    "changeStreamPreAndPostImages",
    "recordPreImages",
    "idIndex",
    "encryptedFields",
    "flags",
    "shardKey",
];

/// Options of `create` that would make a different kind of collection, with any value. They are
/// refused instead of ignored.
const UNSUPPORTED: &[&str] = &["timeseries", "encryptedFields"];

/// Options of `create` that are stored without effect. Like the options of validation, they are
/// shown by `listCollections` and must match those of an existing collection.
const KEPT: &[&str] = &["storageEngine", "indexOptionDefaults"];

/// Returns the rights that `create` requires: to create the collection, and for a view those of its
/// definition.
pub(super) fn create_needs(request: &CommandRequest<'_>) -> Result<Vec<Requirement>> {
    let creates =
        Requirement::one_of(&[Action::CreateCollection, Action::Insert], request.collection()?);
    Ok([Some(creates), views::definition_needs(request)?].into_iter().flatten().collect())
}

/// Runs `create`. Options for other kinds of collections are refused first, then the other options
/// are checked, and then the collection or view is created. Creating an existing one with the same
/// options succeeds without effect.
///
/// Fails with 48 if it exists with other options, and with the errors of
/// [`parse_definition`](views::parse_definition).
pub(super) async fn create_collection(call: &Call<'_>) -> Result<DocBuf> {
    let namespace = call.namespace()?;
    let args = call.args();
    match args.get(VIEW_ON) {
        Some(_) => call.check_new(&namespace)?,
        None => call.check_created(&namespace)?,
    }
    let collation = parse_collation(&args)?;
    if args.get(VIEW_ON).is_some() {
        views::allow_only(&args, &[VIEW_ON, PIPELINE, "collation"], CREATE_FIELDS)?;
        if call.find_collection(&namespace).is_some_and(|there| !is_view(&there)) {
            let message = format!("Collection {namespace} already exists.");
            return Err(Error::new(NamespaceExists, message));
        }
        let collation = collation.or_default(None);
        let definition =
            views::parse_definition(call, &args, &namespace, collation.as_deref()).await?;
        return create_or_compare(call, &namespace, definition, (None, None), None).await;
    }
    if args.get(PIPELINE).is_some() {
        return Err(Error::new(BadValue, "'pipeline' cannot be specified without 'viewOn'"));
    }
    for name in UNSUPPORTED {
        if args.get(name).is_some() {
            return Err(unsupported(&args, name));
        }
    }
    let cluster_key = parse_cluster_key(&args)?;
    if let Some(option) = collection_options::check_options(&args)? {
        return Err(unsupported(&args, option));
    }
    if cluster_key.is_none() && args.get(EXPIRE_AFTER).is_some() {
        let message = "'expireAfterSeconds' is only supported on time-series collections or when \
                       the 'clusteredIndex' option is specified";
        return Err(Error::new(InvalidOptions, message));
    }
    collection_options::check_without_effect(&args)?;
    let capped = parse_capped(call, &args)?;
    let shard_key = args.str("shardKey")?.map(shard_key_of_path).transpose()?;
    let validation = collection_options::parse_validation(&args, &namespace)?;
    let mut kept = collection_options::with_validation(&kept_options(&args), &validation);
    if collection_options::parse_images(&args)?.unwrap_or(false) {
        change_stream::keep_changes(call).await?;
        kept = collection_options::with_images(&kept, true);
    }
    let expire_after = parse_expire_after(&args)?;
    if let Some(cluster_key) = cluster_key {
        kept.push(CLUSTERED_INDEX, cluster_key);
    }
    if let GivenCollation::Of(collation) = &collation {
        kept.push("collation", collation.to_document());
    }
    create_or_compare(call, &namespace, kept, (shard_key, capped), expire_after).await
}

/// Creates a collection or view with these options, clustered if they contain a cluster key. One
/// that exists has to have the same options (48).
async fn create_or_compare(
    call: &Call<'_>,
    namespace: &Namespace,
    kept: Document,
    (shard_key, capped): (Option<Document>, Option<Capped>),
    expire_after: Option<i64>,
) -> Result<DocBuf> {
    let options = Provisioning { shard_key: shard_key.clone(), throughput: None }.in_options(&kept);
    let engine = &call.api.engine;
    let cluster_key = match kept.get(CLUSTERED_INDEX).map(Value::as_ref) {
        Some(ValueRef::Document(spec)) => spec.get("name").and_then(ValueRef::as_str),
        _ => None,
    };
    let created = match (cluster_key, capped) {
        (Some(name), _) => {
            engine.create_clustered(namespace, options, name.to_owned(), expire_after).await
        }
        (None, Some(capped)) => {
            engine.create_capped(Model::Documents, namespace, options, capped).await
        }
        (None, None) => engine.create_collection(Model::Documents, namespace, options).await,
    };
    match created {
        Ok(collection) => call.record_created(&collection, true),
        // The command succeeds if the existing collection has the same options, except in a
        // transaction. If it was dropped in between, its options are unknown.
        Err(error @ engine::Error { kind: Kind::Exists(ErrorSubject::Collection(_)), .. }) => {
            let there = call.find_collection(namespace);
            let wanted = (&kept, shard_key.as_ref(), capped);
            let is_same = |there: Arc<Collection>| {
                has_options(&there, wanted)
                    && there.state().record.cluster_expire_after() == expire_after
            };
            if call.transaction.is_some() || !there.is_some_and(is_same) {
                return Err(error.into());
            }
        }
        Err(error) => return Err(error.into()),
    }
    ok(doc! {})
}

/// Returns whether a collection has these options and limits and, unless it is `None`, this shard
/// key.
fn has_options(
    collection: &Collection,
    (kept, shard_key, capped): (&Document, Option<&Document>, Option<Capped>),
) -> bool {
    let state = collection.state();
    let held = &state.record.options;
    without_provisioning(held) == *kept
        && state.record.capped == capped
        && (shard_key.is_none() || Provisioning::of_options(held).shard_key.as_ref() == shard_key)
}

/// Returns the options that are stored; empty ones are left out.
fn kept_options(args: &Args<'_>) -> Document {
    let given = KEPT.iter().filter_map(|name| Some((*name, args.get(name)?)));
    let given = given.filter(|(_, value)| match value {
        ValueRef::Document(options) => options.iter().next().is_some(),
        _ => false,
    });
    given.map(|(name, value)| (name.to_owned(), value.to_value())).collect()
}

/// Runs `drop`. The reply counts the dropped indexes, including `_id`; a view has none.
///
/// Fails with 20 if the collection is `system.profile` and commands are being recorded in it.
pub(super) async fn drop_collection(call: &Call<'_>) -> Result<DocBuf> {
    let namespace = call.namespace()?;
    if namespace.collection == PROFILE && 0 < call.api.profiler.settings_of(call.database).0.level {
        let message = "turn off profiling before dropping system.profile collection";
        return Err(Error::new(IllegalOperation, message));
    }
    let there = call.find_collection(&namespace);
    if !call.api.engine.drop_collection(Model::Documents, &namespace).await? {
        // Dropping a missing collection succeeds, as on newer servers.
        return ok(doc! {});
    }
    let mut reply = doc! {};
    if there.as_ref().is_none_or(|there| !is_view(there)) {
        let listed = there.map_or(0, |there| there.state().record.listed_indexes().count());
        reply.push("nIndexesWas", saturated_int(listed + 1));
    }
    reply.push("ns", namespace.to_string());
    ok(reply)
}

/// Runs `dropDatabase`. Collections are dropped one by one, so a collection that is created at the
/// same time may remain.
///
/// Fails with 5255100 if the command's value is a number other than 1, and with 20 if the database
/// is `admin`.
pub(super) async fn drop_database(call: &Call<'_>) -> Result<DocBuf> {
    let args = call.args();
    if args.int("dropDatabase")?.ok_or_else(|| args.missing_field("dropDatabase"))? != 1 {
        return Err(Error::new(5_255_100, "Have to pass 1 as 'drop' parameter"));
    }
    if call.database == "admin" {
        let message = "Dropping the 'admin' database is prohibited.";
        return Err(Error::new(IllegalOperation, message));
    }
    let mut dropped = false;
    for (namespace, _) in call.api.engine.collections(Model::Documents) {
        if namespace.database == call.database {
            dropped |= call.api.engine.drop_collection(Model::Documents, &namespace).await?;
        }
    }
    if dropped {
        call.api.engine.record_dropped_database(call.database).await?;
    }
    dropped |= provisioning::remove_database(&call.api.engine, call.database).await?;
    if dropped { ok(doc! { "dropped": call.database }) } else { ok(doc! {}) }
}

/// Returns the rights that `renameCollection` requires: to read and drop the source and to create
/// the target. Within a database the right to rename collections is enough, unless the renaming
/// would let the sender read documents that it may not read now.
pub(super) fn rename_needs(request: &CommandRequest<'_>) -> Result<Vec<Requirement>> {
    let name = |argument: &str| match request.body.get(argument) {
        Some(ValueRef::String(name)) => names::parse_full_name(name).map(Some),
        _ => Ok(None),
    };
    // Without both names the command fails later, so no rights are required.
    let (Some(from), Some(to)) = (name("renameCollection")?, name("to")?) else {
        return Ok(Vec::new());
    };
    let replaces =
        request.body.get("dropTarget").is_some_and(|it| !matches!(it, ValueRef::Bool(false)));
    let database = (from.database == to.database).then(|| Object::Database(from.database.clone()));
    let (from, to) = (Object::Collection(from), Object::Collection(to));
    let by_parts = Requirement::All(vec![
        Requirement::of(Action::Find, from.clone()),
        Requirement::of(Action::DropCollection, from.clone()),
        Requirement::of(Action::Insert, to.clone()),
        Requirement::of(Action::CreateIndex, to.clone()),
    ]);
    let renames = match database {
        None => by_parts,
        Some(database) => {
            let shows_nothing = Requirement::Any(vec![
                Requirement::of(Action::Find, from),
                Requirement::Not(Box::new(Requirement::of(Action::Find, to.clone()))),
            ]);
            let rename = Requirement::of(Action::RenameCollectionSameDB, database);
            Requirement::Any(vec![Requirement::All(vec![rename, shows_nothing]), by_parts])
        }
    };
    let replace = replaces.then(|| Requirement::of(Action::DropCollection, to));
    Ok([Some(renames), replace].into_iter().flatten().collect())
}

/// Runs `renameCollection`. Both names are full names. `dropTarget` is a boolean, or the UUID that
/// the target must have. The checks are in mongod's order, since several of them may fail at once.
///
/// Fails with 2 if the source is not a string, 20 if the target is invalid, 207 or 14 if
/// `dropTarget` is invalid, 361 if the UUIDs differ, 26 if the source does not exist, 166 if it is
/// a view, and 48 if the target exists and may not be replaced. A view can never be replaced.
pub(super) async fn rename_collection(call: &Call<'_>) -> Result<DocBuf> {
    let args = call.args();
    let from = match call.body.get("renameCollection") {
        Some(ValueRef::String(from)) => names::parse_full_name(from)?,
        other => {
            let kind = other.map_or("missing", |value| value.kind().name());
            let message = format!("collection name has invalid type {kind}");
            return Err(Error::new(BadValue, message));
        }
    };
    if from.collection.contains('$') {
        let message =
            format!("error with source namespace: Invalid collection name: {}", from.collection);
        return Err(Error::new(IllegalOperation, message));
    }
    let to = names::parse_full_name(args.need_str("to")?)?;
    let is_oplog = |of: &Namespace| of.database == "local" && of.collection.starts_with("oplog.");
    if is_oplog(&from) != is_oplog(&to) {
        let message = "If either the source or target of a rename is an oplog name, both must be";
        return Err(Error::new(IllegalOperation, message));
    }
    call.check_new(&to).map_err(|error| {
        Error::new(IllegalOperation, format!("error with target namespace: {}", error.message))
    })?;
    call.check_home(&to.database)?;
    // Accepted without effect: temporary collections do not exist.
    args.bool("stayTemp")?;
    let (target, replace) = match args.body.get("dropTarget") {
        None => (None, false),
        Some(ValueRef::Bool(replace)) => (None, replace),
        Some(ValueRef::Binary { subtype: 4, bytes }) if bytes.len() == 16 => (Some(bytes), true),
        Some(ValueRef::Binary { .. }) => {
            let message = "uuid must be a 16-byte binary field with UUID (4) subtype";
            return Err(Error::new(InvalidUUID, message));
        }
        Some(other) => return Err(args.wrong_type("dropTarget", other, "s '[bool, binData]'")),
    };
    check_uuid(call, &from, source_uuid(&args)?)?;
    check_uuid(call, &to, target)?;
    if from == to {
        let message = "Can't rename a collection to itself";
        return Err(Error::new(IllegalOperation, message));
    }
    match call.find_collection(&from) {
        None => {
            let message = format!("Source collection {from} does not exist");
            return Err(Error::new(NamespaceNotFound, message));
        }
        Some(source) if is_view(&source) => {
            let message = format!("cannot rename view: {from}");
            return Err(Error::new(CommandNotSupportedOnView, message));
        }
        Some(_) => {}
    }
    if call.find_collection(&to).is_some_and(|target| is_view(&target)) {
        let message = format!("a view already exists with that name: {to}");
        return Err(Error::new(NamespaceExists, message));
    }
    call.api.engine.rename_collection(Model::Documents, &from, &to, replace).await?;
    ok(doc! {})
}

/// Returns the UUID that the source must have, if the client gives one.
fn source_uuid<'a>(args: &Args<'a>) -> Result<Option<&'a [u8]>> {
    match args.get("collectionUUID") {
        None => Ok(None),
        Some(ValueRef::Binary { subtype: 4, bytes }) => Ok(Some(bytes)),
        Some(other @ ValueRef::Binary { .. }) => {
            Err(args.wrong_type("collectionUUID", other, " 'UUID'"))
        }
        Some(other) => Err(args.wrong_type("collectionUUID", other, " 'binData'")),
    }
}

/// Checks that a collection has the expected UUID (361).
fn check_uuid(call: &Call<'_>, namespace: &Namespace, wanted: Option<&[u8]>) -> Result<()> {
    let Some(wanted) = wanted else { return Ok(()) };
    let own = call.find_collection(namespace).map(|collection| collection_uuid(&collection));
    if own.is_some_and(|own| own == wanted) {
        return Ok(());
    }
    let message = "Collection UUID does not match that specified";
    Err(Error::new(CollectionUUIDMismatch, message))
}
