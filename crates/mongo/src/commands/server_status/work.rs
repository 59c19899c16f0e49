//! Counts of clients' past and current work, in MongoDB's sections. They are read once, so that the
//! sections of a reply are consistent.

use std::sync::atomic::Ordering::Relaxed;

use document::{Document, Value, doc};

use super::{int, long};
use crate::{call::Call, command_row::CommandRow, limits::MAX_CONNECTIONS};

/// Categories of commands, by which `opLatencies` and the tickets are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
    Other,
}

/// Returns the category of a command, from its row.
fn work_kind(row: &CommandRow) -> Kind {
    match row.work {
        work if work.is_read() => Kind::Read,
        work if work.is_write() => Kind::Write,
        _ => Kind::Other,
    }
}

/// Number of concurrent operations of a category, and its maximum.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tickets {
    pub(super) out: i32,
    pub(super) total: i32,
}

/// The counts of one command: calls, failures, and total time.
struct CommandCounts {
    row: &'static CommandRow,
    times: u64,
    failed: u64,
    nanos: u64,
}

/// The counts of commands, connections and cursors, read at one moment.
pub(super) struct WorkCounts {
    /// Work counters by name, summed over all connections.
    counters: Vec<(&'static str, u64)>,
    /// Commands that were called at least once, by name.
    called: Vec<CommandCounts>,
    connections: i64,
    connections_ever: i32,
    /// Number of open cursors, and of idle ones among them.
    cursors: (usize, usize),
    /// Number of cursors opened since the start, and number of cursors closed by the idle timeout.
    cursors_ever: (u64, u64),
    /// Command table rows of the running commands.
    running: Vec<&'static CommandRow>,
}

impl WorkCounts {
    pub(super) fn gather(call: &Call<'_>) -> Self {
        let api = call.api;
        let (connections, cursors) = api.open();
        let read = |at: usize, row: &'static CommandRow| {
            let times = api.latencies.read_kind(at);
            let failed = api.failed.get(at).map_or(0, |failed| failed.load(Relaxed));
            let (times, nanos) =
                times.map_or((0, 0), |times| (times.measurement_count(), times.sum));
            CommandCounts { row, times, failed, nanos }
        };
        let called = api.commands.rows.iter().enumerate().map(|(at, row)| read(at, row));
        let mut called: Vec<CommandCounts> = called.filter(|called| 0 < called.times).collect();
        called.sort_unstable_by_key(|called| called.row.name);
        let running = api.connections();
        let running =
            running.iter().filter_map(|connection| Some(connection.running_command()?.row));
        Self {
            counters: api.counters(),
            called,
            connections,
            connections_ever: api.connections_ever(),
            cursors: (cursors, api.cursors.idle_ids().len()),
            cursors_ever: api.cursors.since_the_start(),
            running: running.collect(),
        }
    }

    /// Returns the sum of the counter with this name.
    fn counter_value(&self, name: &str) -> u64 {
        self.counters.iter().find(|(held, _)| *held == name).map_or(0, |(_, count)| *count)
    }

    /// Returns the number of running commands of a category.
    fn under_way(&self, wanted: Kind) -> i32 {
        let count = self.running.iter().filter(|row| work_kind(row) == wanted).count();
        i32::try_from(count).unwrap_or(i32::MAX)
    }

    /// Returns the section `asserts`: failed commands count as user asserts.
    pub(super) fn asserts(&self) -> Document {
        let failed = self.called.iter().map(|called| called.failed).sum();
        doc! {
            "regular": 0, "warning": 0, "msg": 0, "user": int(failed), "tripwire": 0,
            "rollovers": 0,
        }
    }

    pub(super) fn connections(&self) -> Document {
        let current = i32::try_from(self.connections).unwrap_or(i32::MAX);
        let active = i32::try_from(self.running.len()).unwrap_or(i32::MAX);
        doc! {
            "current": current,
            "available": MAX_CONNECTIONS.saturating_sub(current),
            "totalCreated": self.connections_ever,
            "active": active,
            "threaded": 0,
            "exhaustIsMaster": 0,
            "exhaustHello": 0,
            "awaitingTopologyChanges": 0,
        }
    }

    /// Returns the section `globalLock`. No operation is ever queued, since nothing waits for a
    /// lock.
    pub(super) fn global_lock(&self, micros: u64) -> Document {
        let (readers, writers) = (self.under_way(Kind::Read), self.under_way(Kind::Write));
        doc! {
            "totalTime": long(micros),
            "currentQueue": doc! { "total": 0, "readers": 0, "writers": 0 },
            "activeClients": doc! {
                "total": readers.saturating_add(writers),
                "readers": readers,
                "writers": writers,
            },
        }
    }

    /// Returns the tickets, which are MongoDB's permits for concurrent operations. There are as
    /// many as connections may be open.
    pub(super) fn tickets(&self) -> [(&'static str, Tickets); 2] {
        let of = |kind| Tickets { out: self.under_way(kind), total: MAX_CONNECTIONS };
        [("write", of(Kind::Write)), ("read", of(Kind::Read))]
    }

    pub(super) fn network(&self) -> Document {
        let (read, sent) = (self.counter_value("bytesIn"), self.counter_value("bytesOut"));
        doc! {
            "bytesIn": long(read),
            "bytesOut": long(sent),
            "physicalBytesIn": long(read),
            "physicalBytesOut": long(sent),
            "numRequests": long(self.counter_value("command")),
        }
    }

    /// Returns the section `opcounters`. An operation with its own counter does not also count as a
    /// command.
    pub(super) fn op_counters(&self) -> Document {
        let names = ["insert", "query", "update", "delete", "getmore", "command"];
        names.iter().map(|name| ((*name).to_owned(), long(self.counter_value(name)))).collect()
    }

    /// Returns the section `opLatencies`, in microseconds.
    pub(super) fn op_latencies(&self) -> Document {
        let of = |wanted| {
            let called = self.called.iter().filter(|called| work_kind(called.row) == wanted);
            let sum = |(times, nanos), called: &CommandCounts| {
                (times + called.times, nanos + called.nanos)
            };
            let (times, nanos): (u64, u64) = called.fold((0, 0), sum);
            doc! { "latency": long(nanos / 1000), "ops": long(times) }
        };
        doc! {
            "reads": of(Kind::Read),
            "writes": of(Kind::Write),
            "commands": of(Kind::Other),
            "transactions": doc! { "latency": 0_i64, "ops": 0_i64 },
        }
    }

    pub(super) fn commands(&self) -> Document {
        let one = |called: &CommandCounts| {
            let counts = doc! { "failed": long(called.failed), "total": long(called.times) };
            (called.row.name.to_owned(), Value::Document(counts))
        };
        self.called.iter().map(one).collect()
    }

    pub(super) fn cursors(&self) -> Document {
        let (all, idle) = self.cursors;
        let (opened, timed_out) = self.cursors_ever;
        doc! {
            "timedOut": long(timed_out),
            "totalOpened": long(opened),
            "open": doc! {
                "total": long(all as u64),
                "pinned": long(all.saturating_sub(idle) as u64),
            },
        }
    }

    /// Returns the section `metrics.operation`: write conflicts are retried internally and not
    /// counted.
    pub(super) fn operation(&self) -> Document {
        doc! { "scanAndOrder": long(self.counter_value("sorts")), "writeConflicts": 0_i64 }
    }

    pub(super) fn query_executor(&self) -> Document {
        let scans = self.counter_value("collectionScans");
        doc! {
            "scanned": long(self.counter_value("keysExamined")),
            "scannedObjects": long(self.counter_value("documentsExamined")),
            "collectionScans": doc! { "nonTailable": long(scans), "total": long(scans) },
        }
    }

    pub(super) fn documents(&self) -> Document {
        doc! {
            "inserted": long(self.counter_value("insert")),
            "returned": long(self.counter_value("documentsReturned")),
            "updated": long(self.counter_value("documentsUpdated")),
            "deleted": long(self.counter_value("documentsDeleted")),
        }
    }
}
