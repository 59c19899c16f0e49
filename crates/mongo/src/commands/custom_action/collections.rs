//! `CreateCollection`, `UpdateCollection` and `GetCollection`. A command that is refused changes
//! nothing.

use std::sync::Arc;

use collation::Collation;
use document::{DocBuf, DocRef, Document, Value, doc};
use engine::{Definition, IndexSpec, Namespace, Record};

use super::{COLLECTION, push_throughput};
use crate::{
    arguments::Args,
    call::Call,
    errors::{BadValue, CannotCreateIndex, Error, Result},
    names,
    parsers::{
        collation::{check_id_collation, check_index_collation, inherits_collation},
        index_spec::{self, Unknown},
    },
    provisioning::{Provisioning, parse_throughput, shard_key_of_path, whole_number},
    replies::{index::index_entries, numbers::int_or_long, ok},
};

/// Returns the collection that the command names.
fn namespace(call: &Call<'_>) -> Result<Namespace> {
    names::parse_collection(call.database, call.args().need_str(COLLECTION)?)
}

/// The indexes of a command, besides the index on `_id`.
struct WantedIndexes {
    specs: Vec<IndexSpec>,
    /// Whether the command lists the index on `_id`.
    has_id: bool,
}

/// Parses the command's indexes, for a collection with the collation `default`; `None` without the
/// argument. Fails as `createIndexes` does.
fn wanted_indexes(
    args: &Args<'_>,
    default: Option<Arc<Collation>>,
) -> Result<Option<WantedIndexes>> {
    if args.get("indexes").is_none() {
        return Ok(None);
    }
    let given = args.documents("indexes")?;
    let mut wanted = WantedIndexes { specs: Vec::new(), has_id: false };
    for spec in given {
        match index_spec::parse_spec(spec, Unknown::Refused)? {
            Some(mut parsed) => {
                if !parsed.system_ttl && inherits_collation(spec) {
                    parsed.collation.clone_from(&default);
                }
                check_index_collation(&parsed)?;
                wanted.specs.push(parsed);
            }
            None => {
                check_id_collation(spec, default.as_deref())?;
                wanted.has_id = true;
            }
        }
    }
    Ok(Some(wanted))
}

/// Returns the index on `_ts` for the command's `defaultTtl`.
///
/// Fails with 14 if the value is not a number, and with 2 if it is neither -1 nor a whole number
/// from 1 to 2147483647.
fn retention(args: &Args<'_>) -> Result<Option<IndexSpec>> {
    let Some(seconds) = whole_number(args, "defaultTtl")? else { return Ok(None) };
    if seconds != -1 && !(1..=i64::from(i32::MAX)).contains(&seconds) {
        let text = "'defaultTtl' must be -1 or a whole number from 1 to 2147483647";
        return Err(Error::new(BadValue, text));
    }
    let spec = doc! {
        "key": doc! { "_ts": 1 },
        "name": "_ts_1",
        "expireAfterSeconds": int_or_long(seconds),
    };
    index_spec::parse_spec(DocRef::Tree(&spec), Unknown::Refused)
}

/// Creates a collection.
///
/// Fails with 48 if the collection exists, 73 if its name is invalid, 2 if the throughput, the
/// shard key or the TTL is invalid, 85 or 86 if two indexes conflict, and with the errors of
/// `createIndexes`.
pub(super) async fn create(call: &Call<'_>) -> Result<DocBuf> {
    let args = call.args();
    let namespace = namespace(call)?;
    call.check_new(&namespace)?;
    let throughput = parse_throughput(&args)?;
    let shard_key = args.str("shardKey")?.map(shard_key_of_path).transpose()?;
    let mut indexes = wanted_indexes(&args, None)?.map_or_else(Vec::new, |wanted| wanted.specs);
    indexes.extend(retention(&args)?);
    let options = Provisioning { shard_key, throughput }.in_options(&Document::new());
    let created = call.api.engine.create_with_indexes(&namespace, options, indexes).await;
    created.map_err(|error| Error::from(error).with_namespace(&namespace))?;
    ok(doc! {})
}

/// Changes a collection. `indexes` replaces all indexes; `defaultTtl` without it changes only the
/// index of the default TTL.
///
/// Fails with 26 if the collection does not exist, 67 if the list of indexes lacks the one on
/// `_id`, 11000 if existing documents violate a unique index, and with the errors of
/// `CreateCollection`.
pub(super) async fn update(call: &Call<'_>) -> Result<DocBuf> {
    let args = call.args();
    let namespace = namespace(call)?;
    let throughput = parse_throughput(&args)?;
    let wanted = wanted_indexes(&args, call.default_collation(&namespace))?;
    let retention = retention(&args)?;
    if wanted.as_ref().is_some_and(|wanted| !wanted.has_id) {
        let text = "'indexes' replaces all indexes and must contain the index on '_id'";
        return Err(Error::new(CannotCreateIndex, text));
    }
    let collection = call.expect_collection(&namespace)?;
    let wanted = wanted.map(|wanted| wanted.specs);
    let redefine = move |record: &Record| -> std::result::Result<_, engine::Error> {
        let mut provisioning = Provisioning::of_options(&record.options);
        provisioning.throughput = throughput.or(provisioning.throughput);
        Ok(Definition {
            options: provisioning.in_options(&record.options),
            indexes: changed_indexes(record, wanted.as_deref(), retention.as_ref()),
        })
    };
    let changed = call.api.engine.redefine_collection(&collection, Arc::new(redefine)).await;
    changed.map_err(|error| Error::from(error).with_namespace(&namespace))?;
    ok(doc! {})
}

/// Returns all indexes that the collection has after the command; `None` if the command changes
/// none.
fn changed_indexes(
    record: &Record,
    wanted: Option<&[IndexSpec]>,
    retention: Option<&IndexSpec>,
) -> Option<Vec<IndexSpec>> {
    let Some(retention) = retention else { return wanted.map(<[IndexSpec]>::to_vec) };
    let mut indexes: Vec<IndexSpec> = match wanted {
        Some(wanted) => wanted.to_vec(),
        None => record.listed_indexes().cloned().collect(),
    };
    match indexes.iter_mut().find(|index| index.system_ttl) {
        // The index that represents the default keeps its name.
        Some(held) if wanted.is_none() => held.expire_after = retention.expire_after,
        _ => indexes.push(retention.clone()),
    }
    Some(indexes)
}

/// Returns the properties of a collection; fails with 26 if it does not exist.
pub(super) fn show(call: &Call<'_>) -> Result<DocBuf> {
    let namespace = namespace(call)?;
    let with_indexes = call.args().lax_bool("showIndexes")?.unwrap_or(false);
    let state = call.expect_collection(&namespace)?.state();
    let record = &state.record;
    let provisioning = Provisioning::of_options(&record.options);
    let mut reply = doc! {
        "database": namespace.database.as_str(),
        "collection": namespace.collection.as_str(),
    };
    if let Some(key) = &provisioning.shard_key {
        reply.push("shardKeyDefinition", key.clone());
    }
    push_throughput(&mut reply, &provisioning);
    let default = record.indexes.iter().find(|index| index.system_ttl);
    if let Some(seconds) = default.and_then(|index| index.expire_after) {
        reply.push("defaultTtl", int_or_long(seconds));
    }
    if with_indexes {
        let all = index_entries(record).into_iter();
        let shown = all.map(|entry| Value::Document(shown_index(&entry, &namespace)));
        reply.push("indexes", Value::Array(shown.collect()));
    }
    ok(reply)
}

/// Converts an entry of `listIndexes` to one of `GetCollection`, in which the index has version 1
/// and a namespace.
fn shown_index(entry: &Document, namespace: &Namespace) -> Document {
    let mut shown = doc! { "v": 1 };
    for (name, value) in entry.fields().iter().filter(|(name, _)| name != "v") {
        shown.push(name.clone(), value.clone());
        if name == "name" {
            shown.push("ns", namespace.to_string());
        }
    }
    shown
}
