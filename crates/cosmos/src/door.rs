//! The door as the server holds it: one for all connections. It owns what outlives a request; what
//! a request does is in `dispatch` and below.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};

use audit::AuditLog;
use auth::{CurrentKeys, Guesses, Hosts, Key, Secret};
use engine::{Engine, RunApart, Store};
use memory::Account;
use metrics::{Distribution, Latencies};
use traces::{SlowOperations, Tracer};

use crate::{
    catalog::{Containers, all_databases},
    operation::Metric,
    pages::Pages,
    pages_ahead::PagesAhead,
    roles::CurrentTokenRules,
    siblings::Siblings,
    throttle::Throttle,
    tls::CurrentCertificate,
};

/// Which of the shards of a cluster a door is at; that of a server of its own is the only one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 0 on.
    pub number: u32,
    /// How many there are; 1 at the least.
    pub count: u32,
}

impl Default for Shard {
    fn default() -> Self {
        Self { number: 0, count: 1 }
    }
}

impl Shard {
    /// The shard of which a number is: databases and offers of each have numbers of their own.
    pub fn of_number(number: u32, count: u32) -> u32 {
        number.checked_rem(count).unwrap_or(0)
    }

    /// The number behind another of the same shard; `None`: there is none.
    pub(crate) fn next_number(self, before: u32) -> Option<u32> {
        let first = if self.number == 0 { self.count } else { self.number };
        match before {
            // No resource has the number 0.
            0 => Some(first),
            before => before.checked_add(self.count),
        }
    }
}

/// Settings of the door. They are the server's; nothing here is read from files or flags.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Name of the account.
    pub account: String,
    /// The address that clients are sent to, with a slash at its end; `None`: the one they came to.
    pub endpoint: Option<String>,
    /// Keys that requests are signed with.
    pub keys: CurrentKeys,
    /// Whose Entra tokens are good, and for what.
    pub tokens: CurrentTokenRules,
    /// Names that requests may come for; `None`: any.
    pub hosts: Option<Hosts>,
    /// Which shard it is at.
    pub shard: Shard,
    /// The servers of the other shards; `None`: there are none.
    pub siblings: Option<Siblings>,
    /// What tokens of this server are signed with; the same as long as the data are.
    pub secret: Secret,
    /// What TLS is spoken with; `None` where it is not. Plain text is spoken on the same port.
    pub certificate: Option<CurrentCertificate>,
    /// Whether requests in plain text are refused.
    pub needs_tls: bool,
    /// Where requests take the memory that they hold from.
    pub memory: Account,
    /// The same for clients that have not asked anything yet, so that they cannot take what is for
    /// others.
    pub strangers: Account,
    /// Called every few milliseconds of a long evaluation, on the thread that it occupies.
    pub give_way: fn(),
    /// How a request is run that takes long to parse.
    pub run_apart: RunApart,
    /// Where refusals and changes of what there is are written down; `None`: nowhere.
    pub audit: Option<Arc<AuditLog>>,
    /// Whether requests about items are limited by the throughput of offers.
    pub enforce_throughput: bool,
    /// Counts connections that are open: of all doors and entrances that share it.
    pub opened: Arc<AtomicI64>,
    /// How long a request may compute; `None`: as long as is usual.
    pub max_time: Option<Duration>,
    /// Bytes of the largest body of a request, of [`BODY_BYTES`](crate::BODY_BYTES).
    pub max_body_bytes: usize,
    /// Which requests are slow: the log names them. `None`: none is.
    pub slow: Option<Arc<SlowOperations>>,
    /// Who is told of each operation.
    pub tracer: Tracer,
    /// Pages that are served besides resources; `None` where there are none.
    pub pages: Option<Arc<dyn Pages>>,
}

/// Sums over all connections since the server began. They only grow.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Requests whose head was whole, whatever became of them.
    pub(crate) requests: AtomicU64,
    /// Requests that were refused or failed.
    pub(crate) failures: AtomicU64,
    /// Failures for want of a valid signature or token, which are among the failures too.
    pub(crate) denied: AtomicU64,
    /// Refusals for want of throughput, which are among the failures too.
    pub(crate) throttled: AtomicU64,
    /// Bytes of bodies of requests that were read whole.
    pub(crate) bytes_in: AtomicU64,
    /// Bytes of bodies of responses, before TLS and framing.
    pub(crate) bytes_out: AtomicU64,
    /// Hundredths of request units.
    pub(crate) request_units: AtomicU64,
}

/// The NoSQL door.
pub struct Door<S: Store> {
    /// The engine behind the door; the other door may have the same one.
    pub(crate) engine: Engine<S>,
    pub(crate) settings: Settings,
    /// What tokens of permissions and continuations are signed with.
    pub(crate) secret: Key,
    /// Containers that were used lately.
    pub(crate) containers: Containers,
    /// Changes of databases and containers are made one after the other. The dispatcher takes the
    /// lock; routes that change resources rely on it.
    pub(crate) changing: tokio::sync::Mutex<()>,
    /// Sums for the server's metrics.
    pub(crate) counters: Counters,
    /// Wrong signatures, by where they came from.
    pub(crate) guesses: Guesses,
    /// `None`: throughput limits nothing.
    pub(crate) throttle: Option<Throttle>,
    /// How long requests took, by their metric.
    pub(crate) latencies: Latencies,
    /// Results that queries have made for their next pages.
    pub(crate) ahead: Arc<PagesAhead>,
}

impl<S: Store> std::fmt::Debug for Door<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Door").field("account", &self.settings.account).finish_non_exhaustive()
    }
}

impl<S: Store> Door<S> {
    /// A door onto an engine. It fails where the secret cannot be a key.
    pub fn new(engine: Engine<S>, settings: Settings) -> Result<Arc<Self>, auth::NotAKey> {
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
            guesses: Guesses::default(),
            latencies: Latencies::new(Metric::ALL.len()),
            ahead,
        }))
    }

    /// The engine behind it.
    pub fn engine(&self) -> &Engine<S> {
        &self.engine
    }

    /// Sums over all connections: name, what it is, and value.
    pub fn counters(&self) -> Vec<(&'static str, &'static str, u64)> {
        let counters = &self.counters;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        vec![
            ("requests", "Requests", read(&counters.requests)),
            ("failures", "Requests that were refused or failed", read(&counters.failures)),
            ("denied", "Requests without a valid signature", read(&counters.denied)),
            ("throttled", "Requests beyond their throughput", read(&counters.throttled)),
            ("bytes_in", "Bytes of bodies of requests", read(&counters.bytes_in)),
            ("bytes_out", "Bytes of bodies of answers", read(&counters.bytes_out)),
            ("request_units", "Request units of answers", read(&counters.request_units) / 100),
        ]
    }

    /// How long requests took, by metric; a metric without requests is left out.
    pub fn latencies(&self) -> Vec<(&'static str, Distribution)> {
        let read = |(metric, name): &(Metric, &'static str)| {
            Some((*name, self.latencies.read_kind(*metric as usize)?))
        };
        Metric::ALL.iter().filter_map(read).filter(|(_, of)| of.measurement_count() > 0).collect()
    }

    /// Names of the databases, in order; one may have no container.
    pub fn database_names(&self) -> Vec<String> {
        all_databases(&self.engine).into_iter().map(|database| database.name).collect()
    }

    /// Connections that are open, of all doors that share the count.
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
        // Those of a server of its own are as they always were.
        assert_eq!(Shard::default().next_number(0), Some(1));
        assert_eq!(Shard::default().next_number(7), Some(8));
        assert_eq!(Shard::of_number(5, 0), 0);
    }
}
