//! `dropIndexes`: drops indexes by name, by key pattern, several, or all. The `_id` index cannot be
//! dropped.
//!
//! ```text
//! {dropIndexes: "c", index: "a_1" | {a: 1} | ["a_1", "b_1"] | "*"}
//! => {nIndexesWas: 3, ok: 1}
//! ```

use document::{DocBuf, DocRef, ValueRef, doc, shell};
use engine::{CollectionState, ErrorSubject};

use crate::{
    call::Call,
    errors::{
        AmbiguousIndexKeyPattern, Error, IndexNotFound, InvalidOptions, Result, TypeMismatch,
    },
    replies::{index::index_entry, numbers::saturated_int, ok},
};

/// Error code: the index to drop is the cluster key.
const DROPS_CLUSTER_KEY: i32 = 5_979_800;

/// Runs `dropIndexes`. Every name is looked up before the first index is dropped. The reply has the
/// number of indexes that existed before.
pub(super) async fn run(call: &Call<'_>) -> Result<DocBuf> {
    let namespace = call.namespace()?;
    let Some(index) = call.body.get("index") else {
        return Err(call.args().missing_field("index"));
    };
    let collection = call.expect_collection(&namespace)?;
    let all = means_all(index);
    let names = match all {
        true => {
            let state = collection.state();
            state.record.listed_indexes().map(|held| held.name.clone()).collect()
        }
        false => names_to_drop(&collection.state(), index)?,
    };
    let dropped = call.api.engine.drop_indexes(&collection, names).await;
    let was = dropped.map_err(|error| match error.kind {
        // Another operation has dropped the index since the lookup; `collMod` has a different text
        // for this error.
        engine::Kind::NotFound(ErrorSubject::Index(name)) => not_found(&name),
        _ => error.into(),
    })?;
    let mut reply = doc! {
        "_t": "DropIndexesResponse",
        "nIndexesWas": saturated_int(was),
    };
    if all {
        reply.push("msg", "non-_id indexes dropped for collection");
    }
    ok(reply)
}

/// Returns whether the argument is `"*"` or `["*"]`, which mean all indexes but `_id`.
fn means_all(index: ValueRef<'_>) -> bool {
    match index {
        ValueRef::String(name) => name == "*",
        ValueRef::Array(list) => {
            list.len() == 1 && matches!(list.get(0), Some(ValueRef::String("*")))
        }
        _ => false,
    }
}

/// Returns the names of the indexes to drop. A list must not repeat a name.
fn names_to_drop(state: &CollectionState, index: ValueRef<'_>) -> Result<Vec<String>> {
    match index {
        ValueRef::String(name) => Ok(vec![checked_name(state, name)?]),
        ValueRef::Document(pattern) => Ok(vec![name_by_pattern(state, pattern)?]),
        ValueRef::Array(list) => {
            let mut names = Vec::new();
            for name in list.iter() {
                let ValueRef::String(name) = name else {
                    return Err(Error::new(TypeMismatch, "dropIndexes takes names in an array"));
                };
                let name = checked_name(state, name)?;
                // A second occurrence fails as if the first one had already dropped the index.
                if names.contains(&name) {
                    return Err(not_found(&name));
                }
                names.push(name);
            }
            Ok(names)
        }
        _ => Err(Error::new(
            TypeMismatch,
            "dropIndexes takes a name, a key pattern or an array of names in 'index'",
        )),
    }
}

/// Returns the name if it is that of an existing index other than `_id`; otherwise fails.
fn checked_name(state: &CollectionState, name: &str) -> Result<String> {
    if state.record.cluster_key.as_deref() == Some(name) {
        return Err(Error::new(DROPS_CLUSTER_KEY, "It is illegal to drop the clusteredIndex"));
    }
    if name == "_id_" {
        return Err(Error::new(InvalidOptions, "cannot drop _id index"));
    }
    match state.record.index_named(name) {
        Some(index) => Ok(index.name.clone()),
        None => Err(not_found(name)),
    }
}

/// Returns the error for a missing index: 27 IndexNotFound.
fn not_found(name: &str) -> Error {
    Error::new(IndexNotFound, format!("index not found with name [{name}]"))
}

/// Returns the name of the index with this key pattern. Fails with 181 if several indexes with
/// different options have it. Also used by `collMod`.
pub(super) fn name_by_pattern(state: &CollectionState, pattern: DocRef<'_>) -> Result<String> {
    let shown = shell(ValueRef::Document(pattern)).to_string();
    if let Some((name, value)) = pattern.iter().next()
        && pattern.len() == 1
        && name == "_id"
        && value.is_truthy()
    {
        return Err(Error::new(InvalidOptions, "cannot drop _id index"));
    }
    let wanted = pattern.to_tree();
    let mut found = state.record.listed_indexes().filter(|index| {
        let key = index.shown.get("key").map(document::Value::as_ref);
        index.key_pattern() == wanted
            || key
                .and_then(ValueRef::as_document)
                .is_some_and(|key| document::compare_documents(key, pattern).is_eq())
    });
    match (found.next(), found.next()) {
        (Some(index), None) => Ok(index.name.clone()),
        (None, _) => Err(Error::new(IndexNotFound, format!("can't find index with key: {shown}"))),
        (Some(_), Some(_)) => {
            let same: Vec<String> = state
                .record
                .listed_indexes()
                .filter(|index| index.key_pattern() == wanted)
                .map(|index| {
                    shell(document::Value::Document(index_entry(index)).as_ref()).to_string()
                })
                .collect();
            let message = format!(
                "index keyPattern {shown} matches {} indexes, must use index name. Conflicting indexes:{}",
                same.len(),
                same.join(", ")
            );
            Err(Error::new(AmbiguousIndexKeyPattern, message))
        }
    }
}
