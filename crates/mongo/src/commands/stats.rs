//! Counts and sizes of collections and databases. Counts come from the engine's counters and sizes
//! from the store's files; only `validate` scans documents.
//!
//! ```text
//! {collStats: "c", scale: 1024}  => {ns, size, count, avgObjSize, storageSize, nindexes, indexSizes, ..}
//! {dataSize: "db.c"}             => {estimate, size, numObjects, millis}
//! {dbStats: 1}                   => {db, collections, objects, dataSize, storageSize, indexes, ..}
//! {validate: "c"}                => {ns, nrecords, keysPerIndex, valid, errors, ..}
//! ```
//!
//! Counts are exact and cover live documents only; sizes on disk are estimates and include expired
//! documents until they are reaped.

use std::sync::Arc;

use document::{DocBuf, DocRef, Document, Value, ValueRef, doc};
use engine::Space;
use engine::{Collection, Model, Namespace};

use crate::{
    access::Action,
    arguments::Args,
    call::Call,
    command_row::ANY_ARGUMENT,
    errors::{BadValue, CommandNotSupported, Error, InvalidOptions, NamespaceNotFound, Result},
    names,
    replies::{
        collection::disk_bytes,
        numbers::{int_or_long, saturated_int},
        ok,
    },
    rights::{CommandRequest, Object, Requirement},
    stored_view::is_view,
};

/// Returns the divisor of sizes: 1, or a 32-bit number of at least 1. Fails with 51024 if the
/// number is smaller.
fn parse_scale(args: &Args<'_>) -> Result<i64> {
    let scale = args.int("scale")?.unwrap_or(1).clamp(i32::MIN.into(), i32::MAX.into());
    match scale {
        1.. => Ok(scale),
        _ => {
            let message = format!("BSON field 'scale' value must be >= 1, actual value '{scale}'");
            Err(Error::new(51024, message))
        }
    }
}

/// Returns the size of each index. The store keeps all indexes of a collection together, so each
/// index is shown with an equal share. The `_id` index is the order of the rows and takes no space.
fn index_sizes(call: &Call<'_>, collection: &Collection, scale: i64) -> Document {
    let state = collection.state();
    let total = call.api.engine.store().space_bytes(Space::Index(collection.id));
    let count = state.record.listed_indexes().count().max(1) as u64;
    let each = i64::try_from(total / count).unwrap_or(i64::MAX) / scale;
    let mut sizes = doc! { "_id_": 0 };
    for index in state.record.listed_indexes() {
        sizes.push(index.name.as_str(), int_or_long(each));
    }
    sizes
}

pub(super) async fn collection_stats(call: &Call<'_>) -> Result<DocBuf> {
    let namespace = call.namespace()?;
    let scale = parse_scale(&call.args())?;
    ok(storage_stats(call, &namespace, scale).await?)
}

/// Returns the counts and sizes of a collection; all zero if it does not exist.
async fn storage_stats(call: &Call<'_>, namespace: &Namespace, scale: i64) -> Result<Document> {
    let Some(collection) = call.find_no_view(namespace)? else {
        return Ok(doc! {
            "ns": namespace.to_string(), "size": 0, "count": 0, "numOrphanDocs": 0,
            "storageSize": 0, "totalSize": 0, "nindexes": 0, "totalIndexSize": 0,
            "indexDetails": doc! {}, "indexSizes": doc! {}, "scaleFactor": int_or_long(scale),
        });
    };
    let live = call.api.engine.live_amount(&collection).await?;
    let stored = disk_bytes(call, &collection);
    let store = call.api.engine.store();
    let indexes = i64::try_from(store.space_bytes(Space::Index(collection.id))).unwrap_or(0);
    let average = if live.documents == 0 { 0 } else { live.bytes / live.documents };
    let state = collection.state();
    let count = state.record.listed_indexes().count() + 1;
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
        "capped": state.record.capped.is_some(),
        "nindexes": saturated_int(count),
        "indexBuilds": Value::Array(Vec::new()),
        "totalIndexSize": int_or_long(indexes / scale),
        "totalSize": int_or_long(stored / scale),
        "indexSizes": index_sizes(call, &collection, scale),
        "scaleFactor": int_or_long(scale),
    } {
        let shown_limits = state.record.capped.filter(|_| name == "capped");
        reply.push(name, value);
        if let Some(capped) = shown_limits {
            reply.push("max", int_or_long(capped.documents.unwrap_or(0)));
            reply.push("maxSize", int_or_long(capped.bytes / scale));
        }
    }
    Ok(reply)
}

/// Returns the document of a leading `$collStats` stage.
///
/// Counts, sizes and scans fail with 26 if the collection does not exist, and with 166 if it is a
/// view.
pub(super) async fn stats_stage(
    call: &Call<'_>,
    namespace: &Namespace,
    spec: DocRef<'_>,
) -> Result<Document> {
    let args = Args::new("$collStats", spec);
    args.allow_only(&["latencyStats", "storageStats", "count", "queryExecStats"])?;
    let now = call.api.engine.now().await?;
    let mut out = doc! {
        "ns": namespace.to_string(),
        "host": call.api.settings.host.as_str(),
        "localTime": Value::DateTime(now.ms),
    };
    if let Some(request) = args.document("latencyStats")? {
        let request = Args::new("$collStats.latencyStats", request);
        request.allow_only(&["histograms"])?;
        let histograms = request.strict_bool("histograms")?.unwrap_or(false);
        let work = call.api.work.of(&namespace.database, &namespace.collection).unwrap_or_default();
        out.push("latencyStats", work.latency_stats(histograms));
    }
    let missing = |part: &str| {
        let message = format!(
            "Unable to retrieve {part} in $collStats stage :: caused by :: Collection [{namespace}] not \
             found."
        );
        Error::new(NamespaceNotFound, message)
    };
    if let Some(request) = args.document("storageStats")? {
        let scale = parse_scale(&Args::new("storageStats", request))?;
        call.find_no_view(namespace)?.ok_or_else(|| missing("storageStats"))?;
        let mut stats = storage_stats(call, namespace, scale).await?;
        stats.remove("ns");
        out.push("storageStats", stats);
    }
    if args.document("count")?.is_some() {
        let collection = call.find_no_view(namespace)?.ok_or_else(|| missing("count"))?;
        let live = call.api.engine.live_amount(&collection).await?.documents;
        out.push("count", int_or_long(live));
    }
    if let Some(request) = args.document("queryExecStats")? {
        Args::new("$collStats.queryExecStats", request).allow_only(&[])?;
        call.find_no_view(namespace)?.ok_or_else(|| missing("queryExecStats"))?;
        let work = call.api.work.of(&namespace.database, &namespace.collection).unwrap_or_default();
        out.push("queryExecStats", work.execution_stats());
    }
    Ok(out)
}

/// Arguments of `dataSize`. `estimate` has no effect: counts are exact and need no reading of
/// documents. `keyPattern` is used only with a range.
pub(super) const DATA_SIZE_FIELDS: &[&str] =
    &["estimate", "keyPattern", "min", "max", "maxSize", "maxObjects", ANY_ARGUMENT];

/// Returns the right that `dataSize` requires: to read the collection whose full name
/// (`database.collection`) is the argument.
pub(super) fn data_size_needs(request: &CommandRequest<'_>) -> Result<Vec<Requirement>> {
    let namespace = names::parse_full_name(request.first_text()?)?;
    Ok(vec![Requirement::of(Action::Find, Object::Collection(namespace))])
}

/// Runs `dataSize`: returns the number of a collection's live documents and their size in bytes; 0
/// if the collection does not exist.
///
/// Fails with 2 if a range has only one bound or a bound of a wrong type, and with 115 if there is
/// a valid range or a limit.
pub(super) async fn data_size(call: &Call<'_>) -> Result<DocBuf> {
    let namespace = names::parse_full_name(call.args().need_str(call.name)?)?;
    let began = clock::monotonic_time();
    let bounds = ["min", "max"].map(|name| call.body.get(name));
    let refuse = |code: i32, message: &str| Err(Error::new(code, message));
    match bounds {
        [None, None] => {}
        [Some(_), None] => return refuse(BadValue, "max must be set if min is set"),
        [None, Some(_)] => return refuse(BadValue, "min must be set if max is set"),
        [Some(min), Some(max)] => {
            for (name, bound) in [("min", min), ("max", max)] {
                let Some(bound) = bound.as_document() else {
                    return refuse(BadValue, &format!("{name} key must be an object"));
                };
                if !bound.is_empty() {
                    return refuse(CommandNotSupported, "dataSize of a range is not supported");
                }
            }
        }
    }
    for name in ["maxSize", "maxObjects"] {
        if call.body.get(name).is_some_and(ValueRef::is_truthy) {
            let message = format!("dataSize with '{name}' is not supported");
            return refuse(CommandNotSupported, &message);
        }
    }
    let live = match call.find_no_view(&namespace)? {
        Some(collection) => Some(call.api.engine.live_amount(&collection).await?),
        None => None,
    };
    let live = live.filter(|live| 0 < live.documents);
    let mut reply = Document::new();
    if live.is_some() {
        reply.push("estimate", call.body.get("estimate").is_some_and(ValueRef::is_truthy));
    }
    reply.push("size", int_or_long(live.as_ref().map_or(0, |live| live.bytes)));
    reply.push("numObjects", int_or_long(live.as_ref().map_or(0, |live| live.documents)));
    let took = clock::monotonic_time().saturating_sub(began).as_millis();
    reply.push("millis", i32::try_from(took).unwrap_or(i32::MAX));
    ok(reply)
}

/// Runs `dbStats`: sums over a database's collections. Sizes are doubles, or integers if the
/// database does not exist, as in mongod. `freeStorage` requests reusable space, which is always 0
/// since removed data is compacted away.
pub(super) async fn database_stats(call: &Call<'_>) -> Result<DocBuf> {
    let scale = parse_scale(&call.args())?;
    let all = call.api.engine.collections(Model::Documents);
    let of_database = all.into_iter().filter(|(namespace, _)| namespace.database == call.database);
    let (views, own): (Vec<Arc<Collection>>, Vec<Arc<Collection>>) =
        of_database.map(|(_, collection)| collection).partition(|held| is_view(held));
    let (mut objects, mut size, mut stored, mut indexed, mut indexes) = (0, 0, 0, 0, 0);
    let store = call.api.engine.store();
    let free = call.args().lax_bool("freeStorage")?.unwrap_or(false);
    for collection in &own {
        let live = call.api.engine.live_amount(collection).await?;
        objects += live.documents;
        size += live.bytes;
        stored += disk_bytes(call, collection);
        indexed += i64::try_from(store.space_bytes(Space::Index(collection.id))).unwrap_or(0);
        indexes += collection.state().record.listed_indexes().count() + 1;
    }
    let average = if objects == 0 { 0.0 } else { size as f64 / objects as f64 };
    let is_there = !own.is_empty() || !views.is_empty();
    let size_of = |size: f64| if is_there { Value::Double(size) } else { Value::Int32(0) };
    let scaled = |bytes: i64| size_of(bytes as f64 / scale as f64);
    let mut reply = doc! {
        "db": call.database,
        "collections": saturated_int(own.len()),
        "views": saturated_int(views.len()),
        "objects": int_or_long(objects),
        "avgObjSize": size_of(average),
        "dataSize": scaled(size),
        "storageSize": scaled(stored - indexed),
    };
    if free {
        reply.push("freeStorageSize", scaled(0));
    }
    reply.push("indexes", saturated_int(indexes));
    reply.push("indexSize", scaled(indexed));
    if free {
        reply.push("indexFreeStorageSize", scaled(0));
    }
    reply.push("totalSize", scaled(stored));
    if free {
        reply.push("totalFreeStorageSize", scaled(0));
    }
    let factor = if is_there { Value::Double(scale as f64) } else { int_or_long(scale) };
    reply.push("scaleFactor", factor);
    reply.push("fsUsedSize", scaled(0));
    reply.push("fsTotalSize", scaled(0));
    ok(reply)
}

/// Fails with 72 if options of `validate` exclude each other. The options have no other effect.
fn check_validate_options(args: &Args<'_>) -> Result<()> {
    let is_set = |name: &str| args.get(name).is_some_and(ValueRef::is_truthy);
    let refuse = |what: &str| {
        let message = format!("Running the validate command with {what}");
        Err(Error::new(InvalidOptions, message))
    };
    let others = ["full", "repair", "background", "checkBSONConformance"];
    if is_set("metadata") && others.into_iter().any(is_set) {
        return refuse("{ metadata: true } is not supported with any other options");
    }
    for other in ["full", "repair"] {
        if is_set("background") && is_set(other) {
            return refuse(&format!(
                "both {{ background: true }} and {{ {other}: true }} is not supported."
            ));
        }
    }
    Ok(())
}

/// Runs `validate`: scans every live row and every live index entry, and reports inconsistencies.
///
/// Fails with 26 if the collection does not exist. Inconsistent data is not an error but an entry
/// of `errors`.
pub(super) async fn validate(call: &Call<'_>) -> Result<DocBuf> {
    let namespace = call.namespace()?;
    check_validate_options(&call.args())?;
    let collection = call.expect_collection(&namespace)?;
    let checked = call.api.engine.check_collection(&collection).await?;
    let records = i64::try_from(checked.rows).unwrap_or(i64::MAX);
    let mut keys = doc! { "_id_": int_or_long(records) };
    let state = collection.state();
    for index in state.record.listed_indexes() {
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
        "nIndexes": saturated_int(state.record.listed_indexes().count() + 1),
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
