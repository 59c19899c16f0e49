//! Counts and sizes of collections and databases. Counts come from the engine's counters, sizes
//! from the store's files, so none of them walks documents; only `validate` does.
//!
//! ```text
//! {collStats: "c", scale: 1024}  => {ns, size, count, avgObjSize, storageSize, nindexes, indexSizes, ..}
//! {dbStats: 1}                   => {db, collections, objects, dataSize, storageSize, indexes, ..}
//! {validate: "c"}                => {ns, nrecords, keysPerIndex, valid, errors, ..}
//! ```
//!
//! Counts are exact and of live documents only; sizes on disk are estimates and hold expired
//! documents until they are removed.

use std::sync::Arc;

use document::{DocBuf, DocRef, Document, Value, doc};
use engine::{Collection, Model, Namespace};
use engine::{Space, Store};

use crate::{
    arguments::Args,
    call::Call,
    errors::{BadValue, CommandNotSupported, Error, Result},
    replies::{
        collection::disk_bytes,
        numbers::{int_or_long, saturated_int},
        ok,
    },
};

/// By what sizes are divided: 1, or a number of at least 1.
fn parse_scale<S: Store>(call: &Call<'_, S>) -> Result<i64> {
    match call.args().int("scale")? {
        None => Ok(1),
        Some(scale) if 0 < scale => Ok(scale),
        Some(_) => Err(Error::new(BadValue, "scale has to be >= 1")),
    }
}

/// Bytes of each index. The store keeps all indexes of a collection together, so each is shown with
/// its share; that of the id is the rows' own order and takes nothing.
fn index_sizes<S: Store>(call: &Call<'_, S>, collection: &Collection, scale: i64) -> Document {
    let state = collection.state();
    let total = call.door.engine.store().space_bytes(Space::Index(collection.id));
    let count = state.record.indexes.len().max(1) as u64;
    let each = i64::try_from(total / count).unwrap_or(i64::MAX) / scale;
    let mut sizes = doc! { "_id_": 0 };
    for index in &state.record.indexes {
        sizes.push(index.name.as_str(), int_or_long(each));
    }
    sizes
}

/// Runs `collStats`.
pub(super) async fn collection_stats<S: Store>(call: &Call<'_, S>) -> Result<DocBuf> {
    let namespace = call.namespace()?;
    let scale = parse_scale(call)?;
    ok(storage_stats(call, &namespace, scale).await?)
}

/// Counts and sizes of a collection, all zero where there is none.
async fn storage_stats<S: Store>(
    call: &Call<'_, S>,
    namespace: &Namespace,
    scale: i64,
) -> Result<Document> {
    let Some(collection) = call.find_collection(namespace) else {
        return Ok(doc! {
            "ns": namespace.to_string(), "size": 0, "count": 0, "numOrphanDocs": 0,
            "storageSize": 0, "totalSize": 0, "nindexes": 0, "totalIndexSize": 0,
            "indexDetails": doc! {}, "indexSizes": doc! {}, "scaleFactor": int_or_long(scale),
        });
    };
    let live = call.door.engine.live_amount(&collection).await?;
    let stored = disk_bytes(call, &collection);
    let store = call.door.engine.store();
    let indexes = i64::try_from(store.space_bytes(Space::Index(collection.id))).unwrap_or(0);
    let average = if live.documents == 0 { 0 } else { live.bytes / live.documents };
    let count = collection.state().record.indexes.len() + 1;
    let mut reply = doc! {
        "ns": namespace.to_string(),
        "size": int_or_long(live.bytes / scale),
        "count": int_or_long(live.documents),
        "numOrphanDocs": 0,
    };
    if 0 < live.documents {
        reply.push("avgObjSize", int_or_long(average));
    }
    for (name, value) in doc! {
        "storageSize": int_or_long((stored - indexes) / scale),
        "freeStorageSize": 0,
        "capped": false,
        "nindexes": saturated_int(count),
        "indexBuilds": Value::Array(Vec::new()),
        "totalIndexSize": int_or_long(indexes / scale),
        "totalSize": int_or_long(stored / scale),
        "indexSizes": index_sizes(call, &collection, scale),
        "scaleFactor": int_or_long(scale),
    } {
        reply.push(name, value);
    }
    Ok(reply)
}

/// The document that a leading `$collStats` stage begins with. Latencies are not counted by
/// collection, so they are refused by name.
pub(super) async fn stats_stage<S: Store>(
    call: &Call<'_, S>,
    namespace: &Namespace,
    spec: DocRef<'_>,
) -> Result<Document> {
    let args = Args::new("$collStats", spec);
    for part in ["latencyStats", "queryExecStats"] {
        if args.get(part).is_some() {
            let message = format!("$collStats with '{part}' is not supported");
            return Err(Error::new(CommandNotSupported, message));
        }
    }
    args.allow_only(&["storageStats", "count"])?;
    let now = call.door.engine.now().await?;
    let mut out = doc! {
        "ns": namespace.to_string(),
        "host": call.door.settings.host.as_str(),
        "localTime": Value::DateTime(now.ms),
    };
    if let Some(asked) = args.document("storageStats")? {
        let scale = Args::new("storageStats", asked).int("scale")?.unwrap_or(1).max(1);
        let mut stats = storage_stats(call, namespace, scale).await?;
        stats.remove("ns");
        out.push("storageStats", stats);
    }
    if args.document("count")?.is_some() {
        let live = match call.find_collection(namespace) {
            Some(collection) => call.door.engine.live_amount(&collection).await?.documents,
            None => 0,
        };
        out.push("count", int_or_long(live));
    }
    Ok(out)
}

/// Runs `dbStats`: sums over a database's collections. Sizes are doubles here, as in mongod.
pub(super) async fn database_stats<S: Store>(call: &Call<'_, S>) -> Result<DocBuf> {
    let scale = parse_scale(call)?;
    let all = call.door.engine.collections(Model::Documents);
    let own: Vec<Arc<Collection>> = all
        .into_iter()
        .filter(|(namespace, _)| namespace.database == call.database)
        .map(|(_, collection)| collection)
        .collect();
    let (mut objects, mut size, mut stored, mut indexes) = (0, 0, 0, 0);
    for collection in &own {
        let live = call.door.engine.live_amount(collection).await?;
        objects += live.documents;
        size += live.bytes;
        stored += disk_bytes(call, collection);
        indexes += collection.state().record.indexes.len() + 1;
    }
    let average = if objects == 0 { 0.0 } else { size as f64 / objects as f64 };
    // A database's sizes are doubles.
    let scaled = |bytes: i64| bytes as f64 / scale as f64;
    ok(doc! {
        "db": call.database,
        "collections": saturated_int(own.len()),
        "views": 0,
        "objects": int_or_long(objects),
        "avgObjSize": average,
        "dataSize": scaled(size),
        "storageSize": scaled(stored),
        "freeStorageSize": 0.0,
        "indexes": saturated_int(indexes),
        "indexSize": 0.0,
        "totalSize": scaled(stored),
        "scaleFactor": scale as f64,
        "fsUsedSize": 0.0,
        "fsTotalSize": 0.0,
    })
}

/// Runs `validate`: walks a collection, every live row and every live index entry, and reports what
/// does not agree.
///
/// Errors: 26 without a collection. What is wrong with the data is not an error but an entry of
/// `errors`.
pub(super) async fn validate<S: Store>(call: &Call<'_, S>) -> Result<DocBuf> {
    let namespace = call.namespace()?;
    let collection = call.expect_collection(&namespace)?;
    let checked = call.door.engine.check_collection(&collection).await?;
    let records = i64::try_from(checked.rows).unwrap_or(i64::MAX);
    let mut keys = doc! { "_id_": int_or_long(records) };
    for index in &collection.state().record.indexes {
        let count = checked.entries.get(&index.id).copied().unwrap_or(0);
        keys.push(index.name.as_str(), int_or_long(i64::try_from(count).unwrap_or(i64::MAX)));
    }
    let errors: Vec<Value> =
        checked.differences.listed.iter().map(|it| it.as_str().into()).collect();
    ok(doc! {
        "ns": namespace.to_string(),
        "nInvalidDocuments": 0,
        "nNonCompliantDocuments": 0,
        "nrecords": int_or_long(records),
        "nIndexes": i32::try_from(collection.state().record.indexes.len() + 1).unwrap_or(i32::MAX),
        "keysPerIndex": keys,
        "indexDetails": doc! {},
        "valid": errors.is_empty(),
        "repaired": false,
        "warnings": Value::Array(Vec::new()),
        "errors": Value::Array(errors),
        "extraIndexEntries": Value::Array(Vec::new()),
        "missingIndexEntries": Value::Array(Vec::new()),
        "corruptRecords": Value::Array(Vec::new()),
    })
}
