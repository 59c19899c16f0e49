//! Index builds as `currentOp` shows them: the progress of a `createIndexes`, and builds without a
//! client, which the server resumed at its start.
//!
//! ```text
//! {op: "command", command: {createIndexes: "c", ..}, msg: "Index Build: ..: 30/100 30%",
//!     progress: {done: long, total: long}}
//! ```

use document::{DocRef, Document, Value, ValueRef, doc};
use engine::{BuildProgress, Collection, IndexSpec, Model, Namespace};

use crate::{api::MongoApi, operation::Running, replies::index::index_entry};

/// Text of a build that scans documents. It is mongod's: tools recognize a build by it.
const MESSAGE: &str = "Index Build: scanning collection";

/// Indexes that are being built by commands, as ids of collection and index.
pub(super) type BuiltForClients = Vec<(u32, u32)>;

/// Adds the progress of the index builds of a command to its `currentOp` entry `out`, and the ids
/// of the indexes to `built`.
pub(super) fn describe_build(
    api: &MongoApi,
    running: &Running,
    built: &mut BuiltForClients,
    out: &mut Document,
) {
    let command = running.command.as_ref();
    if running.row.name != "createIndexes" {
        return;
    }
    let text = |field: &str| command.get(field).and_then(ValueRef::as_str);
    let (Some(database), Some(name)) = (text("$db"), text("createIndexes")) else { return };
    let namespace = Namespace::new(database, name);
    let Some(collection) = api.engine.collection(Model::Documents, &namespace) else { return };
    let names = names_of(command);
    let state = collection.state();
    let own = |index: &&IndexSpec| names.iter().any(|name| *name == index.name);
    let indexes: Vec<&IndexSpec> = state.record.listed_indexes().filter(own).collect();
    push_progress(&collection, &indexes, out);
    built.extend(indexes.iter().map(|index| (collection.id, index.id)));
}

/// Returns the names of the indexes that a command builds.
fn names_of(command: DocRef<'_>) -> Vec<&str> {
    let specs = command.get("indexes").and_then(ValueRef::as_array);
    let specs = specs.into_iter().flat_map(|specs| specs.iter());
    let names = specs.filter_map(|spec| spec.as_document()?.get("name")?.as_str());
    names.collect()
}

/// Adds the progress of the slowest of these indexes to the `currentOp` entry `out`, if one of them
/// is being built.
fn push_progress(collection: &Collection, indexes: &[&IndexSpec], out: &mut Document) {
    let progress = indexes.iter().filter_map(|index| collection.build_progress(index));
    let Some(BuildProgress { rows, of }) = progress.min_by_key(|progress| progress.rows) else {
        return;
    };
    // The total is unknown before the first documents were scanned.
    if of == 0 {
        out.push("msg", MESSAGE);
        return;
    }
    let per_cent = rows.saturating_mul(100) / of;
    out.push("msg", format!("{MESSAGE} {MESSAGE}: {rows}/{of} {per_cent}%"));
    let long = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    out.push("progress", doc! { "done": long(rows), "total": long(of) });
}

/// Returns one entry for each collection with index builds that no client waits for. The entries
/// have no operation id, since these builds cannot be stopped.
pub(super) fn builds_without_client(
    api: &MongoApi,
    built: &BuiltForClients,
    now_ms: i64,
) -> Vec<Document> {
    let collections = api.engine.collections(Model::Documents).into_iter();
    let entries = collections.filter_map(|(namespace, collection)| {
        let state = collection.state();
        let alone =
            |index: &&IndexSpec| !index.ready && !built.contains(&(collection.id, index.id));
        let indexes: Vec<&IndexSpec> = state.record.listed_indexes().filter(alone).collect();
        if indexes.is_empty() {
            return None;
        }
        let specs = indexes.iter().map(|index| Value::Document(index_entry(index))).collect();
        let mut out = doc! {
            "type": "op",
            "host": api.settings.host.as_str(),
            "desc": "IndexBuild",
            "active": true,
            "currentOpTime": Value::DateTime(now_ms),
            "op": "command",
            "ns": namespace.to_string(),
            "command": doc! {
                "createIndexes": namespace.collection.as_str(),
                "indexes": Value::Array(specs),
                "$db": namespace.database.as_str(),
            },
        };
        push_progress(&collection, &indexes, &mut out);
        out.push("numYields", 0);
        out.push("waitingForLock", false);
        Some(out)
    });
    entries.collect()
}
