//! Counters of all components of a server, read at the same time.

use engine::Engine;
use memory::Account;
use metrics::Distribution;
use server_base::machine;
use spill::Area;
use store_tree::TreeMetrics;

use crate::relayed::Apis;

/// The components whose counters are read.
pub(crate) struct Source<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) apis: &'a Apis,
    pub(crate) measured: Option<&'a TreeMetrics>,
    pub(crate) temporary: Option<&'a Area>,
    pub(crate) memory: &'a Account,
}

/// Latency distribution of one kind of operation since the start, nanoseconds.
#[derive(Debug)]
pub(crate) struct LatencyDistribution {
    pub(super) api: &'static str,
    pub(super) name: &'static str,
    pub(super) took: Distribution,
}

/// The values of the counters at one time. [`super::sample::Sample`] describes the fields; fields
/// that cover an interval there are totals since the start of the server here.
#[derive(Debug, Default)]
pub struct CounterReadings {
    pub(super) operations: Vec<LatencyDistribution>,
    pub(super) mongodb_failed: u64,
    pub(super) nosql_failed: u64,
    pub(super) mongodb_connections: i64,
    pub(super) nosql_connections: i64,
    pub(super) cursors: u64,
    pub(super) bytes_in: u64,
    pub(super) bytes_out: u64,
    pub(super) removed: u64,
    pub(super) backlog: i64,
    pub(super) journal_bytes: u64,
    pub(super) tables_bytes: u64,
    pub(super) garbage_bytes: u64,
    pub(super) temporary_bytes: u64,
    pub(super) memory_bytes: u64,
    pub(super) operations_bytes: u64,
}

impl CounterReadings {
    pub(crate) fn read(source: &Source<'_>) -> Self {
        let mut read = Self::default();
        read.read_mongo(source.apis);
        read.read_nosql(source.apis);
        read.removed = source.engine.reap_statistics().1;
        read.backlog = source.engine.reap_backlog().amount.documents;
        match source.measured.map(TreeMetrics::stored_bytes) {
            Some(stored) => {
                read.journal_bytes = stored.journal;
                read.tables_bytes = stored.tables;
                read.garbage_bytes = stored.garbage;
            }
            None => read.tables_bytes = source.engine.store().disk_bytes(),
        }
        let bytes = |bytes: usize| bytes as u64;
        read.temporary_bytes = source.temporary.map_or(0, Area::used_bytes);
        read.memory_bytes = machine::resident_bytes().map_or(0, bytes);
        read.operations_bytes = bytes(source.memory.used_bytes());
        read
    }

    fn read_mongo(&mut self, apis: &Apis) {
        let Some(api) = &apis.mongo else { return };
        let counted = |(name, took)| LatencyDistribution { api: "mongodb", name, took };
        self.operations.extend(api.latencies().into_iter().map(counted));
        self.mongodb_failed = api.failures();
        let (connections, cursors) = api.open();
        (self.mongodb_connections, self.cursors) = (connections, cursors as u64);
        for (name, value) in api.counters() {
            match name {
                "bytesIn" => self.bytes_in += value,
                "bytesOut" => self.bytes_out += value,
                _ => {}
            }
        }
    }

    fn read_nosql(&mut self, apis: &Apis) {
        let Some(api) = &apis.cosmos else { return };
        let counted = |(name, took)| LatencyDistribution { api: "nosql", name, took };
        self.operations.extend(api.latencies().into_iter().map(counted));
        self.nosql_connections = api.open();
        for (name, _, value) in api.counters() {
            match name {
                "failures" => self.nosql_failed = value,
                "bytes_in" => self.bytes_in += value,
                "bytes_out" => self.bytes_out += value,
                _ => {}
            }
        }
    }
}
