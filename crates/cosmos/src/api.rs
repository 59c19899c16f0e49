//! The state of the NoSQL API that all connections share and that outlives a request. Requests are
//! handled in `dispatch` and the modules below it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};

use audit::AuditLog;
use auth::{CurrentKeys, GuessLimiter, Hosts, Key, Secret};
use engine::{BlockInPlace, Engine};
use memory::Account;
use metrics::{Distribution, Latencies};
use throughput::Throttle;
use traces::{SlowOperations, Tracer};

use crate::{
    catalog::{Containers, all_databases},
    operation::Metric,
    other_shards::OtherShards,
    pages::Pages,
    pages_ahead::PagesAhead,
    roles::CurrentTokenRules,
    tls::CurrentCertificate,
};

/// Position of this API endpoint in a cluster's shards; a single server has exactly one shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Number of the shard, from 0.
    pub number: u32,
    /// Number of shards, at least 1.
    pub count: u32,
}

impl Default for Shard {
    fn default() -> Self {
        Self { number: 0, count: 1 }
    }
}

impl Shard {
    /// Returns the shard that assigned a resource number. Shards assign disjoint numbers to their
    /// databases and offers, so that a number identifies the shard.
    pub fn of_number(number: u32, count: u32) -> u32 {
        number.checked_rem(count).unwrap_or(0)
    }

    /// Returns this shard's next resource number after `before`, or `None` if the numbers are
    /// exhausted.
    pub(crate) fn next_number(self, before: u32) -> Option<u32> {
        let first = if self.number == 0 { self.count } else { self.number };
        match before {
            // 0 is not a valid resource number, so shard 0 starts with the number of shards.
            0 => Some(first),
            before => before.checked_add(self.count),
        }
    }
}

/// Settings of direct mode, in which clients send requests about items as frames over TLS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirectMode {
    /// Host and port that clients are given for frames; `None` for those of the endpoint that they
    /// know, which accepts frames and HTTP at the same port.
    pub advertise: Option<String>,
}

/// Settings of the API. The server provides them; nothing here reads files or flags.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Name of the database account.
    pub account: String,
    /// The endpoint URL that clients are directed to, with a trailing slash; `None` for the address
    /// that a request was sent to.
    pub endpoint: Option<String>,
    /// The account keys that sign requests.
    pub keys: CurrentKeys,
    /// Rules for Entra tokens: which are accepted, and the roles of their holders.
    pub tokens: CurrentTokenRules,
    /// Host names that requests may address; `None` accepts any.
    pub hosts: Option<Hosts>,
    /// The shard that this endpoint serves.
    pub shard: Shard,
    /// Access to the servers of the other shards; `None` on a single server.
    pub other_shards: Option<OtherShards>,
    /// Secret that signs this server's tokens; it is stored with the data and survives restarts.
    pub secret: Secret,
    /// The TLS certificate; `None` disables TLS. Plain text is served on the same port.
    pub certificate: Option<CurrentCertificate>,
    /// Whether plain-text requests are refused.
    pub needs_tls: bool,
    /// Direct mode; `None` if it is off.
    pub direct: Option<DirectMode>,
    /// The account from which requests reserve memory.
    pub memory: Account,
    /// A separate account for clients that have not completed a request head yet, so that they
    /// cannot exhaust the memory of other clients.
    pub unknown_clients: Account,
    /// Called every few milliseconds during a long evaluation, on its thread, to let other tasks
    /// run.
    pub give_way: fn(),
    /// Runs work that takes long, such as parsing a large body, without blocking a worker thread.
    pub block_in_place: BlockInPlace,
    /// The audit log for refusals and resource changes; `None` disables it.
    pub audit: Option<Arc<AuditLog>>,
    /// Whether the throughput of offers limits requests about items.
    pub enforce_throughput: bool,
    /// Gauge of open connections, shared by all endpoints that are given the same counter.
    pub opened: Arc<AtomicI64>,
    /// Time limit of read requests, if shorter than the default; `None` for the default.
    pub max_time: Option<Duration>,
    /// Largest request body in bytes, within [`BODY_BYTES`](crate::BODY_BYTES).
    pub max_body_bytes: usize,
    /// The log and threshold of slow requests; `None` disables it.
    pub slow: Option<Arc<SlowOperations>>,
    /// The tracer that receives an event for each operation.
    pub tracer: Tracer,
    /// Static pages that are served besides resources; `None` if there are none.
    pub pages: Option<Arc<dyn Pages>>,
}

/// Monotonic totals over all connections since the server started.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Requests with a complete head and any outcome.
    pub(crate) requests: AtomicU64,
    /// Requests in direct mode; also counted as requests.
    pub(crate) direct_requests: AtomicU64,
    pub(crate) failures: AtomicU64,
    /// Requests without a valid signature or token; also counted as failures.
    pub(crate) denied: AtomicU64,
    /// Requests refused because throughput was exhausted; also counted as failures.
    pub(crate) throttled: AtomicU64,
    /// Bytes of request bodies that were read completely.
    pub(crate) bytes_in: AtomicU64,
    /// Bytes of response bodies, before TLS and framing.
    pub(crate) bytes_out: AtomicU64,
    /// Total charge of responses in hundredths of request units.
    pub(crate) request_units: AtomicU64,
}

/// An endpoint of the NoSQL API.
pub struct NoSqlApi {
    /// The engine, which the MongoDB API may share.
    pub(crate) engine: Engine,
    pub(crate) settings: Settings,
    /// Key that signs permission and continuation tokens.
    pub(crate) secret: Key,
    pub(crate) containers: Containers,
    /// Serializes changes of databases and containers. The dispatcher holds the lock while a route
    /// that changes resources runs.
    pub(crate) changing: tokio::sync::Mutex<()>,
    pub(crate) counters: Counters,
    /// Wrong signatures, counted by client address.
    pub(crate) guesses: GuessLimiter,
    /// Throughput limits; `None` if they are not enforced.
    pub(crate) throttle: Option<Throttle>,
    pub(crate) latencies: Latencies,
    /// Results that queries have computed in advance for their next pages.
    pub(crate) ahead: Arc<PagesAhead>,
}

impl std::fmt::Debug for NoSqlApi {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NoSqlApi").field("account", &self.settings.account).finish_non_exhaustive()
    }
}

impl NoSqlApi {
    /// Creates an API endpoint over an engine. Fails if the secret cannot be used as a key.
    pub fn new(engine: Engine, settings: Settings) -> Result<Arc<Self>, auth::InvalidKey> {
        let secret = Key::of(settings.secret.bytes())?;
        let throttle = settings.enforce_throughput.then(Throttle::default);
        let ahead = Arc::new(PagesAhead::default());
        settings.memory.relieved_by(&ahead);
        Ok(Arc::new(Self {
            engine,
            throttle,
            settings,
            secret,
            containers: Containers::default(),
            changing: tokio::sync::Mutex::default(),
            counters: Counters::default(),
            guesses: GuessLimiter::default(),
            latencies: Latencies::new(Metric::ALL.len()),
            ahead,
        }))
    }

    /// Returns the engine that stores the account's data.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Returns the totals over all connections, each as name, help text and value.
    pub fn counters(&self) -> Vec<(&'static str, &'static str, u64)> {
        let counters = &self.counters;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        vec![
            ("requests", "Requests", read(&counters.requests)),
            ("direct_requests", "Requests in direct mode", read(&counters.direct_requests)),
            ("failures", "Requests rejected or failed", read(&counters.failures)),
            ("denied", "Requests without a valid signature", read(&counters.denied)),
            ("throttled", "Requests throttled", read(&counters.throttled)),
            ("bytes_in", "Bytes of request bodies", read(&counters.bytes_in)),
            ("bytes_out", "Bytes of response bodies", read(&counters.bytes_out)),
            ("request_units", "Request units charged", read(&counters.request_units) / 100),
        ]
    }

    /// Returns the latency distribution of each metric that has measurements.
    pub fn latencies(&self) -> Vec<(&'static str, Distribution)> {
        let read = |(metric, name): &(Metric, &'static str)| {
            Some((*name, self.latencies.read_kind(*metric as usize)?))
        };
        Metric::ALL.iter().filter_map(read).filter(|(_, of)| of.measurement_count() > 0).collect()
    }

    /// Returns the names of all databases in order, including those without containers.
    pub fn database_names(&self) -> Vec<String> {
        all_databases(&self.engine).into_iter().map(|database| database.name).collect()
    }

    /// Returns the number of open connections of all endpoints that share the counter.
    pub fn open(&self) -> i64 {
        self.settings.opened.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_two_shards_are_never_the_same() {
        for count in [1, 2, 3, 64] {
            for number in 0..count {
                let shard = Shard { number, count };
                let mut last = 0;
                for _ in 0..100 {
                    let next = shard.next_number(last).unwrap();
                    assert!(last < next);
                    assert_eq!(Shard::of_number(next, count), number);
                    last = next;
                }
                assert_eq!(shard.next_number(u32::MAX), None);
            }
        }
        // A single server assigns consecutive numbers, as before there were clusters.
        assert_eq!(Shard::default().next_number(0), Some(1));
        assert_eq!(Shard::default().next_number(7), Some(8));
        assert_eq!(Shard::of_number(5, 0), 0);
    }
}
