//! `$indexStats`: how often each index of a collection was used, since its creation or the server's
//! start. The engine keeps the counts in memory only.
//!
//! ```text
//! {aggregate: "c", pipeline: [{$indexStats: {}}], cursor: {}}
//! => {name: "a_1", key: {a: 1}, host: "h:27017", accesses: {ops: long, since: date}, spec: {..}}
//! ```

use document::{Document, Value, ValueRef, doc};
use engine::{Collection, ID_INDEX, Namespace};

use crate::{
    call::Call,
    errors::{Error, Result},
    replies::index::{index_entry, primary_key_entry},
};

/// Error code for a `$indexStats` stage with options.
const NOT_EMPTY: i32 = 28803;

/// Returns the documents of a leading `$indexStats` stage: one for each index, in the order of
/// `listIndexes`; none if the collection does not exist. Fails with 166 on a view.
pub(super) fn index_stats_stage(
    call: &Call<'_>,
    namespace: &Namespace,
    spec: ValueRef<'_>,
) -> Result<Vec<Document>> {
    if spec.as_document().is_none_or(|spec| spec.iter().next().is_some()) {
        let message = "The $indexStats stage specification must be an empty object";
        return Err(Error::new(NOT_EMPTY, message));
    }
    let Some(collection) = call.find_no_view(namespace)? else { return Ok(Vec::new()) };
    let host = call.api.settings.host.as_str();
    let state = collection.state();
    let by_id = stats_of(&collection, ID_INDEX, primary_key_entry(&state.record), host);
    let others = state.record.listed_indexes().filter_map(|index| {
        let mut stats = stats_of(&collection, index.id, index_entry(index), host)?;
        if !index.ready {
            stats.push("building", true);
        }
        Some(stats)
    });
    Ok(by_id.into_iter().chain(others).collect())
}

/// Returns the document of an index; `None` if it was dropped since it was listed.
fn stats_of(collection: &Collection, index: u32, spec: Document, host: &str) -> Option<Document> {
    let usage = collection.index_usage(index)?;
    let shown = |name: &str| spec.get(name).cloned().unwrap_or(Value::Null);
    Some(doc! {
        "name": shown("name"),
        "key": shown("key"),
        "host": host,
        "accesses": doc! {
            "ops": i64::try_from(usage.count).unwrap_or(i64::MAX),
            "since": Value::DateTime(usage.since_ms),
        },
        "spec": spec,
    })
}
