//! Which commands change nothing, for one who may only read. Every command of the table is sorted;
//! one that is not counts as a change.

use document::{DocRef, ValueRef};

/// Commands that change no document, collection, setting, clock or operation of others.
const READS: &[&str] = &[
    "hello",
    "isMaster",
    "ismaster",
    "ping",
    "buildInfo",
    "buildinfo",
    "whatsmyuri",
    "connectionStatus",
    "hostInfo",
    "getLog",
    "getCmdLineOpts",
    "listCommands",
    "serverStatus",
    "getParameter",
    "getDefaultRWConcern",
    "listDatabases",
    "listCollections",
    "listIndexes",
    "collStats",
    "collstats",
    "dbStats",
    "dbstats",
    "validate",
    "find",
    "getMore",
    "killCursors",
    "count",
    "distinct",
    "startSession",
    "endSessions",
    "refreshSessions",
    "logout",
    "currentOp",
    "replSetGetStatus",
    "ebbExpiry",
];

/// Stages of a pipeline that write what comes to them.
const WRITING_STAGES: &[&str] = &["$out", "$merge"];

/// Whether a command changes nothing.
pub(crate) fn changes_nothing(command: DocRef<'_>) -> bool {
    let name = command.iter().next().map_or("", |(name, _)| name);
    match name {
        "aggregate" => !writes(command),
        "explain" => !command.get(name).and_then(ValueRef::as_document).is_some_and(writes),
        "ebbClock" => command.get("advanceSeconds").is_none() && command.get("set").is_none(),
        _ => READS.contains(&name),
    }
}

/// Whether a pipeline has a stage that writes.
fn writes(command: DocRef<'_>) -> bool {
    let pipeline = command.get("pipeline").and_then(ValueRef::as_array);
    pipeline.is_some_and(|stages| {
        let mut stages = stages.iter().filter_map(ValueRef::as_document);
        stages.any(|stage| stage.iter().any(|(name, _)| WRITING_STAGES.contains(&name)))
    })
}

#[cfg(test)]
mod tests {
    use document::{array, doc};

    use super::*;

    /// Commands that change something; those that are judged by their arguments stand in neither
    /// list.
    const CHANGES: &[&str] = &[
        "setParameter",
        "setFeatureCompatibilityVersion",
        "create",
        "drop",
        "dropDatabase",
        "renameCollection",
        "collMod",
        "createIndexes",
        "dropIndexes",
        "deleteIndexes",
        "insert",
        "update",
        "delete",
        "bulkWrite",
        "findAndModify",
        "findandmodify",
        "killSessions",
        "killAllSessions",
        "killAllSessionsByPattern",
        "killOp",
        "fsync",
        "configureFailPoint",
    ];
    const BY_ARGUMENTS: &[&str] = &["aggregate", "explain", "ebbClock"];

    fn named(name: &str) -> document::Document {
        let mut command = document::Document::new();
        command.push(name, 1);
        command
    }

    #[test]
    fn every_command_is_sorted() {
        let sorted = [READS, CHANGES, BY_ARGUMENTS].concat();
        for row in super::super::table() {
            let times = sorted.iter().filter(|name| **name == row.name).count();
            assert_eq!(times, 1, "{}", row.name);
        }
        for name in READS {
            assert!(changes_nothing(DocRef::Tree(&named(name))), "{name}");
        }
        for name in CHANGES {
            assert!(!changes_nothing(DocRef::Tree(&named(name))), "{name}");
        }
    }

    #[test]
    fn some_are_judged_by_their_arguments() {
        let pipeline =
            |stage: &str| doc! { "aggregate": "c", "pipeline": array![doc! {}, named(stage)] };
        for (command, reads) in [
            (doc! {}, false),
            (doc! { "nonsense": 1 }, false),
            (pipeline("$match"), true),
            (pipeline("$out"), false),
            (pipeline("$merge"), false),
            (doc! { "aggregate": "c" }, true),
            (doc! { "explain": pipeline("$match") }, true),
            (doc! { "explain": pipeline("$out") }, false),
            (doc! { "explain": 1 }, true),
            (doc! { "ebbClock": 1 }, true),
            (doc! { "ebbClock": 1, "advanceSeconds": 1 }, false),
            (doc! { "ebbClock": 1, "set": 1 }, false),
            (doc! { "x": 1, "find": "c" }, false),
        ] {
            assert_eq!(changes_nothing(DocRef::Tree(&command)), reads, "{command:?}");
        }
    }
}
