//! `serverStatus`: state and counters, in the sections that exporters read. Values of features that
//! do not exist here are 0, since exporters fail on a missing field. `metrics.ttl.passes`, which
//! application tests wait for, counts reaping passes.
//!
//! ```text
//! {serverStatus: 1, locks: 0}          all sections but one
//! {serverStatus: 1, none: 1, mem: 1}   one section
//! ```
//!
//! A section is a function that returns a document: `work` for the work of clients, `machine` for
//! resource usage, `absent` for zeros.

mod absent;
mod machine;
mod work;

use std::sync::atomic::{AtomicU64, Ordering};

use document::{DocBuf, Document, Value, ValueRef, doc};

use work::WorkCounts;

use super::replica_set;
use crate::{
    arguments::Args, call::Call, errors::Result, limits::SERVER_VERSION,
    parsers::collection_options::ENGINE_NAME, replies::ok,
};

/// The sections that a command may exclude or select by name, in the order of the reply.
pub(super) const SECTIONS: &[&str] = &[
    "asserts",
    "connections",
    "extra_info",
    "globalLock",
    "locks",
    "logicalSessionRecordCache",
    "network",
    "opLatencies",
    "opcounters",
    "opcountersRepl",
    "repl",
    "security",
    "storageEngine",
    "transactions",
    "wiredTiger",
    "mem",
    "metrics",
    "ebbClock",
];

fn long(value: u64) -> Value {
    Value::Int64(i64::try_from(value).unwrap_or(i64::MAX))
}

/// Returns a 32-bit number, saturated.
fn int(value: u64) -> Value {
    Value::Int32(i32::try_from(value).unwrap_or(i32::MAX))
}

/// The sections that a command selects: all except the excluded ones, or, with `none`, only the
/// named ones.
struct WantedSections<'a> {
    args: Args<'a>,
    /// Whether the reply includes sections that the command does not name.
    others: bool,
}

impl WantedSections<'_> {
    fn wants(&self, section: &str) -> bool {
        match self.args.body.get(section) {
            Some(asked) => is_true(asked),
            None => self.others,
        }
    }
}

/// Returns whether MongoDB takes a value as true here: everything but null, false and 0.
fn is_true(value: ValueRef<'_>) -> bool {
    !value.is_nullish()
        && (value.is_truthy() || !matches!(value, ValueRef::Bool(_)) && !value.is_number())
}

/// Runs `serverStatus`. Counters are read one after the other without a lock, so sums may differ
/// slightly.
pub(super) async fn run(call: &Call<'_>) -> Result<DocBuf> {
    let api = call.api;
    let now = api.engine.now().await?;
    let uptime = clock::monotonic_time().saturating_sub(api.started);
    let micros = u64::try_from(uptime.as_micros()).unwrap_or(u64::MAX);
    let mut reply = doc! {
        "host": api.settings.host.as_str(),
        "version": SERVER_VERSION,
        "process": "ebb",
        "pid": i64::from(std::process::id()),
        "uptime": uptime.as_secs_f64().floor(),
        "uptimeMillis": long(micros / 1000),
        "uptimeEstimate": long(micros / 1_000_000),
        "localTime": Value::DateTime(now.ms),
    };
    let wanted =
        WantedSections { args: call.args(), others: !call.body.get("none").is_some_and(is_true) };
    let work = WorkCounts::gather(call);
    let usage = (api.settings.usage)();
    for section in SECTIONS.iter().filter(|section| wanted.wants(section)) {
        let content = match *section {
            "asserts" => work.asserts(),
            "connections" => work.connections(),
            "extra_info" => machine::extra_section(&usage),
            "globalLock" => work.global_lock(micros),
            "network" => work.network(),
            "opLatencies" => work.op_latencies(),
            "opcounters" => work.op_counters(),
            "storageEngine" => engine_section(),
            "transactions" => transactions_section(call),
            "wiredTiger" => absent::wired_tiger(&work.tickets()),
            "mem" => machine::memory_section(&usage),
            "metrics" => metrics_section(call, &work),
            "ebbClock" => clock_section(call),
            "repl" => match &api.replica_set {
                Some(set) => replica_set::status_section(call, set),
                None => continue,
            },
            name => absent::absent_section(name),
        };
        reply.push(*section, content);
    }
    ok(reply)
}

/// Returns the section `storageEngine`. By its name, tools decide which other sections they read.
fn engine_section() -> Document {
    doc! {
        "name": ENGINE_NAME,
        "supportsCommittedReads": true,
        "supportsPendingDrops": true,
        "supportsSnapshotReadConcern": false,
        "readOnly": false,
        "persistent": true,
        "backupCursorOpen": false,
    }
}

/// Returns the section `transactions` with their numbers.
fn transactions_section(call: &Call<'_>) -> Document {
    let table = &call.api.transactions;
    let open = table.open_transactions();
    let active = open.iter().filter(|open| open.is_active()).count() as u64;
    let count = |count: &AtomicU64| long(count.load(Ordering::Relaxed));
    let mut section = absent::absent_section("transactions");
    for (name, value) in [
        ("currentActive", long(active)),
        ("currentInactive", long(open.len() as u64 - active)),
        ("currentOpen", long(open.len() as u64)),
        ("totalAborted", count(&table.counts.aborted)),
        ("totalCommitted", count(&table.counts.committed)),
        ("totalStarted", count(&table.counts.started)),
    ] {
        section.insert(name, value);
    }
    section
}

/// Returns the section `metrics`: counts of commands, cursors, documents and examined keys, and the
/// state of expiry in `ttl`.
fn metrics_section(call: &Call<'_>, work: &WorkCounts) -> Document {
    let (passes, deleted) = call.api.engine.reap_statistics();
    let backlog = call.api.engine.reap_backlog();
    doc! {
        "commands": work.commands(),
        "cursor": work.cursors(),
        "document": work.documents(),
        "getLastError": doc! {
            "wtime": doc! { "num": 0, "totalMillis": 0 },
            "wtimeouts": 0_i64,
        },
        "operation": work.operation(),
        "queryExecutor": work.query_executor(),
        "repl": absent::replication(),
        "ttl": doc! {
            "passes": long(passes),
            "subPasses": long(passes),
            "deletedDocuments": long(deleted),
            "deletedKeys": 0_i64,
            "invalidTTLIndexSkips": 0_i64,
            "lateness": 0_i64,
            "backlogDocuments": backlog.amount.documents,
            "backlogBytes": backlog.amount.bytes,
            "lagSeconds": backlog.oldest_expired_seconds,
        },
    }
}

/// Returns the section `ebbClock`: EbbDB's own section on the database clock.
fn clock_section(call: &Call<'_>) -> Document {
    let clock = call.api.engine.clock().status();
    let mode = match clock.mode {
        clock::ClockMode::System => "system",
        clock::ClockMode::Manual => "manual",
    };
    doc! {
        "mode": mode,
        "now": Value::DateTime(clock.now.ms),
        "offsetMillis": clock.offset_ms,
        "unconfirmed": clock.unconfirmed,
    }
}
