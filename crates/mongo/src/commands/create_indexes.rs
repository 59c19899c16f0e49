//! `createIndexes`: builds indexes online and replies when they are complete. Until then writers
//! maintain them and no query uses them.
//!
//! ```text
//! {createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1", expireAfterSeconds: 60}]}
//! => {numIndexesBefore: 1, numIndexesAfter: 2, createdCollectionAutomatically: false, ok: 1}
//! ```
//!
//! Specifications are parsed in `parsers/index_spec.rs`.

use std::sync::Arc;

use collation::Collation;
use document::{DocBuf, ValueRef, doc};
use engine::{Collection, IndexSpec};

use super::transaction::check_may_index;
use crate::{
    call::Call,
    errors::{BadValue, Error, IndexAlreadyExists, OperationFailed, Result},
    parsers::{
        api_version,
        collation::{check_id_collation, check_index_collation, inherits_collation},
        index_spec::{self, Unknown},
        partial_filter,
    },
    replies::{numbers::saturated_int, ok},
};

/// Runs `createIndexes`. All specifications are parsed and compared with existing indexes before a
/// collection is created or a build started, so that a refused command changes nothing.
///
/// Fails with 2 if there is no specification, 13103 if an index has more than 32 fields, 85 or 86
/// if an index conflicts with an existing one, 11000 if documents violate a unique index, and with
/// the errors of [`index_spec`].
pub(super) async fn run(call: &Call<'_>) -> Result<DocBuf> {
    let namespace = call.namespace()?;
    let args = call.args();
    let specs = args.documents("indexes")?;
    let unknown = match args.lax_bool("ignoreUnknownIndexOptions")? {
        Some(true) => Unknown::LeftOut,
        _ => Unknown::Refused,
    };
    if specs.is_empty() {
        return Err(Error::new(BadValue, "Must specify at least one index to create"));
    }
    let is_strict = api_version::is_strict(call.body);
    let mut wanted = Vec::with_capacity(specs.len());
    let mut inherits = Vec::with_capacity(specs.len());
    let there = call.find_no_view(&namespace)?;
    let default = there.as_ref().and_then(|collection| collection.state().collation.clone());
    for spec in specs {
        if let Some(ValueRef::Document(pattern)) = spec.get("key").filter(|_| is_strict) {
            api_version::check_index_key(pattern)?;
        }
        match index_spec::parse_spec(spec, unknown)? {
            Some(parsed) => {
                inherits.push(!parsed.system_ttl && inherits_collation(spec));
                wanted.push(parsed);
            }
            None => check_id_collation(spec, default.as_deref())?,
        }
    }
    if 32 < wanted.iter().map(|spec| spec.key.len()).max().unwrap_or(0) {
        return Err(Error::new(13103, "too many compound keys"));
    }
    // Checked first: a refused command must not create the collection.
    resolve_collations(&mut wanted, &inherits, default.as_ref())?;
    let held = there.as_ref().map(|collection| collection.state());
    let held = held.as_ref().map_or(&[][..], |state| &state.record.indexes);
    for spec in &mut wanted {
        as_held(spec, held);
    }
    let missing = engine::missing_indexes(&namespace, held, &wanted)?;
    if let Some(there) = there.as_ref().filter(|_| !missing.is_empty()) {
        check_may_index(call, there)?;
    }
    refuse_duplicates(there.as_deref(), &wanted)?;
    let (collection, made) = call.ensure_collection(&namespace).await?;
    // The collection may have been created since it was looked up.
    resolve_collations(&mut wanted, &inherits, collection.state().collation.as_ref())?;
    let created = call.api.engine.create_indexes(&collection, wanted).await;
    let (before, after) = created.map_err(|error| Error::from(error).with_namespace(&namespace))?;
    let mut reply = doc! {
        "_t": "CreateIndexesResponse",
        "numIndexesBefore": saturated_int(before),
        "numIndexesAfter": saturated_int(after),
        "createdCollectionAutomatically": made,
    };
    if before == after {
        reply.push("note", "all indexes already exist");
    }
    ok(reply)
}

/// Gives the indexes whose specification has no collation that of their collection. Fails with 67 if
/// an index cannot have its collation.
fn resolve_collations(
    wanted: &mut [IndexSpec],
    inherits: &[bool],
    default: Option<&Arc<Collation>>,
) -> Result<()> {
    for (spec, inherits) in wanted.iter_mut().zip(inherits) {
        if *inherits {
            spec.collation = default.cloned();
        }
        check_index_collation(spec)?;
    }
    Ok(())
}

/// Replaces the filter of a specification by that of an existing index with the same key, if the
/// two filters differ only in the order of their conditions. An index that is created concurrently
/// is not considered here: it is compared with the filter as the client gave it.
fn as_held(spec: &mut IndexSpec, held: &[IndexSpec]) {
    let Some(wanted) = &spec.partial else { return };
    let mut filters =
        held.iter().filter(|held| held.key == spec.key).filter_map(|held| held.partial.as_ref());
    if let Some(held) = filters.find(|held| partial_filter::is_same_filter(held, wanted)) {
        spec.partial = Some(held.clone());
    }
}

/// Refuses an index that occurs twice in one command. mongod's error depends on whether the
/// collection exists. Two equal specifications of an existing index are accepted.
fn refuse_duplicates(collection: Option<&Collection>, wanted: &[IndexSpec]) -> Result<()> {
    let mut seen: Vec<&IndexSpec> = Vec::new();
    for spec in wanted {
        if !seen.contains(&spec) {
            seen.push(spec);
            continue;
        }
        let Some(collection) = collection else {
            let message = format!("Identical index already exists: {}", spec.name);
            return Err(Error::new(IndexAlreadyExists, message));
        };
        if collection.state().record.index_named(&spec.name).is_none() {
            let message =
                "Cannot build two identical indexes. Try again without duplicate indexes.";
            return Err(Error::new(OperationFailed, message));
        }
    }
    Ok(())
}
