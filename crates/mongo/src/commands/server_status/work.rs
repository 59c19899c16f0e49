//! What clients did and do, counted, in MongoDB's sections. All of it is read once, so that
//! sections of one reply agree.

use std::sync::atomic::Ordering::Relaxed;

use document::{Document, Value, doc};
use engine::Store;

use super::{int, long};
use crate::{call::Call, command_row::CommandRow, limits::MAX_CONNECTIONS};

/// How commands are counted where reads, writes and others are kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
    Other,
}

/// The kind of a command, from its row.
fn work_kind(row: &CommandRow) -> Kind {
    match row.work {
        work if work.is_read() => Kind::Read,
        work if work.is_write() => Kind::Write,
        _ => Kind::Other,
    }
}

/// How many operations of a kind run beside each other, and how many might.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tickets {
    /// How many run.
    pub(super) out: i32,
    pub(super) total: i32,
}

/// A command that was called: how often, how often in vain, and how long it took in all.
struct CommandCounts {
    row: &'static CommandRow,
    times: u64,
    failed: u64,
    nanos: u64,
}

/// What there is to count, at one moment.
pub(super) struct WorkCounts {
    /// Counters of all connections by name.
    counters: Vec<(&'static str, u64)>,
    /// Commands that were called, by name.
    called: Vec<CommandCounts>,
    connections: i64,
    connections_ever: i32,
    /// Cursors that are open, and those of them that are idle.
    cursors: (usize, usize),
    /// Cursors that were ever opened, and that were closed because nobody asked for them.
    cursors_ever: (u64, u64),
    /// Commands under way.
    running: Vec<&'static CommandRow>,
}

impl WorkCounts {
    /// Reads everything there is to count.
    pub(super) fn gather<S: Store>(call: &Call<'_, S>) -> Self {
        let door = call.door;
        let (connections, cursors) = door.open();
        let read = |at: usize, row: &'static CommandRow| {
            let times = door.latencies.read_kind(at);
            let failed = door.failed.get(at).map_or(0, |failed| failed.load(Relaxed));
            let (times, nanos) =
                times.map_or((0, 0), |times| (times.measurement_count(), times.sum));
            CommandCounts { row, times, failed, nanos }
        };
        let called = door.commands.rows.iter().enumerate().map(|(at, row)| read(at, row));
        let mut called: Vec<CommandCounts> = called.filter(|called| 0 < called.times).collect();
        called.sort_unstable_by_key(|called| called.row.name);
        let running = door.connections();
        let running =
            running.iter().filter_map(|connection| Some(connection.running_command()?.row));
        Self {
            counters: door.counters(),
            called,
            connections,
            connections_ever: door.connections_ever(),
            cursors: (cursors, door.cursors.idle_ids().len()),
            cursors_ever: door.cursors.since_the_start(),
            running: running.collect(),
        }
    }

    /// One of the counters.
    fn counter_value(&self, name: &str) -> u64 {
        self.counters.iter().find(|(held, _)| *held == name).map_or(0, |(_, count)| *count)
    }

    /// How many commands of a kind are under way.
    fn under_way(&self, wanted: Kind) -> i32 {
        let count = self.running.iter().filter(|row| work_kind(row) == wanted).count();
        i32::try_from(count).unwrap_or(i32::MAX)
    }

    /// `asserts`: commands that failed are those of users.
    pub(super) fn asserts(&self) -> Document {
        let failed = self.called.iter().map(|called| called.failed).sum();
        doc! {
            "regular": 0, "warning": 0, "msg": 0, "user": int(failed), "tripwire": 0,
            "rollovers": 0,
        }
    }

    /// `connections`
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

    /// `globalLock`: nobody waits for a lock.
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

    /// What may run beside each other: as much as there may be connections.
    pub(super) fn tickets(&self) -> [(&'static str, Tickets); 2] {
        let of = |kind| Tickets { out: self.under_way(kind), total: MAX_CONNECTIONS };
        [("write", of(Kind::Write)), ("read", of(Kind::Read))]
    }

    /// `network`
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

    /// `opcounters`: what has a counter of its own does not count as a command.
    pub(super) fn op_counters(&self) -> Document {
        let names = ["insert", "query", "update", "delete", "getmore", "command"];
        names.iter().map(|name| ((*name).to_owned(), long(self.counter_value(name)))).collect()
    }

    /// `opLatencies`: microseconds.
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

    /// `metrics.commands`
    pub(super) fn commands(&self) -> Document {
        let one = |called: &CommandCounts| {
            let counts = doc! { "failed": long(called.failed), "total": long(called.times) };
            (called.row.name.to_owned(), Value::Document(counts))
        };
        self.called.iter().map(one).collect()
    }

    /// `metrics.cursor`
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

    /// `metrics.operation`: writers that meet begin again by themselves, which is not counted.
    pub(super) fn operation(&self) -> Document {
        doc! { "scanAndOrder": long(self.counter_value("sorts")), "writeConflicts": 0_i64 }
    }

    /// `metrics.queryExecutor`
    pub(super) fn query_executor(&self) -> Document {
        let scans = self.counter_value("collectionScans");
        doc! {
            "scanned": long(self.counter_value("keysExamined")),
            "scannedObjects": long(self.counter_value("documentsExamined")),
            "collectionScans": doc! { "nonTailable": long(scans), "total": long(scans) },
        }
    }

    /// `metrics.document`
    pub(super) fn documents(&self) -> Document {
        doc! {
            "inserted": long(self.counter_value("insert")),
            "returned": long(self.counter_value("documentsReturned")),
            "updated": long(self.counter_value("documentsUpdated")),
            "deleted": long(self.counter_value("documentsDeleted")),
        }
    }
}
