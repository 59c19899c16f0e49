//! Lists of what there is: databases, collections, indexes.

use std::collections::BTreeMap;

use document::{DocBuf, DocRef, Document, Value, doc};
use engine::{Collection, IndexSpec, Model, Namespace};
use engine::{Space, Store};
use query::{Context, Filter};

use super::{Call, cursor_reply::listed, ok};
use crate::{
    args::Args,
    errors::{Error, NamespaceNotFound, Result},
};

fn filter(args: &Args<'_>) -> Result<Filter> {
    match args.document("filter")? {
        Some(filter) => Ok(mongo_query::filter::parse(filter)?),
        None => Ok(Filter::always()),
    }
}

fn matches(filter: &Filter, entry: &Document) -> Result<bool> {
    Ok(filter.matches(DocRef::Tree(entry), &Context::default())?)
}

/// Bytes a collection takes on disk, roughly.
pub(super) fn bytes<S: Store>(call: &Call<'_, S>, collection: &Collection) -> i64 {
    let store = call.door.engine.store();
    let bytes = store.space_bytes(Space::Rows(collection.id))
        + store.space_bytes(Space::Index(collection.id));
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// How many entries the first batch of a list may have.
fn batch_size(args: &Args<'_>) -> Result<Option<u64>> {
    let Some(cursor) = args.document("cursor")? else { return Ok(None) };
    let of = format!("{}.cursor", args.of);
    let args = Args::new(&of, cursor);
    args.only(&["batchSize"])?;
    args.count("batchSize")
}

pub(super) async fn databases<S: Store>(call: &Call<'_, S>) -> Result<DocBuf> {
    let args = call.args();
    let filter = filter(&args)?;
    let names_only = args.bool("nameOnly")?.unwrap_or(false);
    args.bool("authorizedDatabases")?;
    // These are there from the start on every server; tools leave them out by name.
    let own = ["admin", "config", "local"].map(|name| (name.to_owned(), None));
    let mut sizes: BTreeMap<String, Option<i64>> = BTreeMap::from(own);
    for (namespace, collection) in call.door.engine.collections(Model::Documents) {
        *sizes.entry(namespace.database).or_default().get_or_insert(0) += bytes(call, &collection);
    }
    let mut databases = Vec::new();
    let mut total = 0;
    for (name, size) in sizes {
        let (size, empty) = (size.unwrap_or(0), size.is_none());
        let entry = doc! { "name": name, "sizeOnDisk": size, "empty": empty };
        if matches(&filter, &entry)? {
            total += size;
            let shown = match (names_only, entry.get("name").cloned()) {
                (true, Some(name)) => doc! { "name": name },
                _ => entry,
            };
            databases.push(Value::Document(shown));
        }
    }
    let mut reply = doc! { "databases": Value::Array(databases) };
    if !names_only {
        reply.push("totalSize", total);
        reply.push("totalSizeMb", total / (1024 * 1024));
    }
    ok(reply)
}

pub(super) async fn collections<S: Store>(call: &Call<'_, S>) -> Result<DocBuf> {
    let args = call.args();
    let filter = filter(&args)?;
    let names_only = args.bool("nameOnly")?.unwrap_or(false);
    let size = batch_size(&args)?;
    let mut entries = Vec::new();
    for (namespace, collection) in call.door.engine.collections(Model::Documents) {
        if namespace.database != call.database {
            continue;
        }
        let entry = collection_entry(&namespace, &collection);
        if matches(&filter, &entry)? {
            let shown = if names_only {
                doc! { "name": namespace.collection.as_str(), "type": "collection" }
            } else {
                entry
            };
            entries.push(shown);
        }
    }
    let namespace = Namespace::new(call.database, "$cmd.listCollections");
    listed(call, entries, &namespace, size).await
}

/// What stands for a collection's UUID.
pub(super) fn uuid(collection: &Collection) -> [u8; 16] {
    let state = collection.state();
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&state.record.id.to_be_bytes());
    bytes[8..].copy_from_slice(&state.record.created.to_be_bytes());
    bytes[6] = 0x40;
    bytes[8] = 0x80;
    bytes
}

fn collection_entry(namespace: &Namespace, collection: &Collection) -> Document {
    let state = collection.state();
    let bytes = uuid(collection).to_vec();
    doc! {
        "name": namespace.collection.as_str(),
        "type": "collection",
        "options": state.record.options.clone(),
        "info": doc! {
            "readOnly": false,
            "uuid": Value::Binary { subtype: 4, bytes },
        },
        "idIndex": id_index(),
    }
}

/// The index that every collection has.
pub(super) fn id_index() -> Document {
    doc! { "v": 2, "key": doc! { "_id": 1 }, "name": "_id_" }
}

/// An index as MongoDB lists it.
pub(super) fn shown(index: &IndexSpec) -> Document {
    let mut entry = index.shown.clone();
    for (name, value) in
        [("unique", index.unique), ("sparse", index.sparse), ("hidden", index.hidden)]
    {
        entry.remove(name);
        if value {
            entry.push(name, true);
        }
    }
    entry.remove("expireAfterSeconds");
    if let Some(seconds) = index.expire_after {
        let seconds = i32::try_from(seconds).map_or(Value::Int64(seconds), Value::Int32);
        entry.push("expireAfterSeconds", seconds);
    }
    entry
}

pub(super) async fn indexes<S: Store>(call: &Call<'_, S>) -> Result<DocBuf> {
    let namespace = call.namespace()?;
    let size = batch_size(&call.args())?;
    let Some(collection) = call.find(&namespace) else {
        return Err(Error::new(NamespaceNotFound, format!("ns does not exist: {namespace}")));
    };
    let state = collection.state();
    let mut entries = vec![id_index()];
    entries.extend(state.record.indexes.iter().map(shown));
    listed(call, entries, &namespace, size).await
}
