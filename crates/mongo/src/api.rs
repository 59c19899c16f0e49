//! The MongoDB API's shared state: one value for all connections. It holds the engine, the open
//! cursors, the counters, the parameters and fail points that clients have set, and the list of
//! open connections. Commands use this module; it depends only on the rows of the command table,
//! not on the commands themselves.

use std::{
    cmp::Ordering as Compared,
    collections::HashMap,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicI32, AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};

use document::{Number, ObjectId};
use engine::{ClusterTime, Engine};
use memory::Account;
use metrics::{Distribution, Latencies};
use parking_lot::Mutex;
use throughput::Throttle;

use crate::{
    client::{Connection, RelayedSender},
    command_row::CommandRow,
    command_table::CommandTable,
    counters::{COUNTERS, Counters},
    cursors::Cursors,
    errors,
    fail_point::FailPoints,
    limits::{DEFAULT_TRANSACTION_LIFETIME, TRANSACTION_LIFETIME},
    namespace_work::AllWork,
    peer::Peer,
    profiler::Profiler,
    protocol_error_log::ProtocolErrorLog,
    replica_set::ReplicaSet,
    session_set::{SessionKey, SessionSet},
    settings::Settings,
    snapshot_table::{KeptSnapshot, SnapshotTable},
    timestamps::Timestamps,
    topology::Topology,
    transaction_table::{
        OpenTransaction, TransactionState, TransactionTable, converted_to_transaction, too_old,
    },
    users::Users,
};

/// The open connections, and the counters of closed ones.
#[derive(Debug, Default)]
struct Connections {
    /// Weak references, so that a connection is freed when its task ends.
    open: Vec<Weak<Connection>>,
    /// Sums of the counters of closed connections, in the order of `Counters::named_values`.
    closed: [u64; COUNTERS],
}

/// The MongoDB API over one engine.
pub struct MongoApi {
    pub(crate) engine: Engine,
    /// The memory account of messages and of commands parsed from them: half of the memory of all
    /// operations. The other half is for replies and evaluation.
    pub(crate) messages: Account,
    pub(crate) settings: Settings,
    pub(crate) cursors: Arc<Cursors>,
    pub(crate) transactions: TransactionTable,
    /// The snapshots of reads outside of transactions.
    pub(crate) snapshots: SnapshotTable,
    pub(crate) users: Users,
    /// The login delay after wrong passwords.
    pub(crate) backoff: auth::Backoff,
    /// The rows of the command table, without the functions that run them.
    pub(crate) commands: CommandTable,
    /// Command latencies in nanoseconds, by position in the command table.
    pub(crate) latencies: Latencies,
    pub(crate) work: AllWork,
    /// Settings that select the commands to record in `system.profile`.
    pub(crate) profiler: Profiler,
    /// Number of failures of each command, by position in the command table.
    pub(crate) failed: Vec<AtomicU64>,
    /// Rate-limited log of clients that send malformed messages.
    pub(crate) protocol_errors: ProtocolErrorLog,
    /// Rate-limited log of failed logins.
    pub(crate) login_failures: ProtocolErrorLog,
    /// Time at which the API was created, on the machine's monotonic clock.
    pub(crate) started: Duration,
    /// Values set by `setParameter`. Other parameters keep their initial value.
    pub(crate) parameters: Mutex<HashMap<String, document::Value>>,
    /// Whether commands of clients must declare an API version (`requireApiVersion`).
    pub(crate) requires_api_version: AtomicBool,
    /// The fail points, enabled or disabled.
    pub(crate) fail_points: Mutex<FailPoints>,
    /// Random id of this server start. Drivers compare it (`topologyVersion.processId`) to detect a
    /// restart.
    pub(crate) process: ObjectId,
    /// The replica set that the server presents itself as, if it does.
    pub(crate) replica_set: Option<ReplicaSet>,
    /// Source of the timestamps that replace empty ones in stored documents.
    pub(crate) timestamps: Timestamps,
    /// The throughput limits of collections and databases; `None` if they are not enforced.
    pub(crate) throttle: Option<Throttle>,
    /// Whether any fail point is enabled. If none is, commands do not lock `fail_points`.
    pub(crate) has_fail_point: AtomicBool,
    next_connection: AtomicI32,
    next_operation: AtomicI32,
    /// Number of open connections, readable without the list's lock.
    pub(crate) opened: AtomicI64,
    connections: Mutex<Connections>,
}

/// A client that is connected and has not sent a request. It counts as an open connection until
/// dropped.
#[derive(Debug)]
pub struct Silent(Arc<MongoApi>);

impl Drop for Silent {
    fn drop(&mut self) {
        self.0.opened.fetch_sub(1, Ordering::Relaxed);
    }
}

impl std::fmt::Debug for MongoApi {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MongoApi").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// Returns a random id for this server start. All 12 bytes are random: two starts within one second
/// must differ, too.
fn new_process_id() -> ObjectId {
    let random = std::array::from_fn(|_| fastrand::u8(..));
    ObjectId::from_parts(fastrand::u32(..), random, fastrand::u32(..1 << 24))
}

impl MongoApi {
    /// Creates the API over an engine with the given command table.
    pub(crate) fn with_commands(
        engine: Engine,
        settings: Settings,
        commands: CommandTable,
    ) -> Arc<Self> {
        let cursors = Arc::new(Cursors::with_room(settings.max_cursors));
        settings.memory.relieved_by(&cursors);
        let replica_set = match &settings.topology {
            Topology::ReplicaSet(set) => Some(ReplicaSet::new(set.clone(), &settings.host)),
            Topology::Standalone | Topology::Router => None,
        };
        Arc::new(Self {
            users: Users::new(engine.clone(), settings.first_shard.clone()),
            throttle: settings.enforce_throughput.then(Throttle::default),
            backoff: auth::Backoff::default(),
            engine,
            messages: settings.memory.split_off(settings.memory.limit() / 2),
            settings,
            cursors,
            transactions: TransactionTable::default(),
            snapshots: SnapshotTable::default(),
            latencies: Latencies::new(commands.rows.len()),
            work: AllWork::default(),
            profiler: Profiler::default(),
            failed: commands.rows.iter().map(|_| AtomicU64::new(0)).collect(),
            commands,
            protocol_errors: ProtocolErrorLog::default(),
            login_failures: ProtocolErrorLog::default(),
            started: clock::monotonic_time(),
            parameters: Mutex::default(),
            requires_api_version: AtomicBool::new(false),
            process: new_process_id(),
            replica_set,
            timestamps: Timestamps::default(),
            fail_points: Mutex::default(),
            has_fail_point: AtomicBool::new(false),
            next_connection: AtomicI32::new(1),
            next_operation: AtomicI32::new(1),
            opened: AtomicI64::new(0),
            connections: Mutex::default(),
        })
    }

    /// Returns the users and roles, encoded, for the server of another shard. `seen` is the token
    /// of the version that the other server already has. The error is a message text.
    pub fn encode_users(&self, seen: &[u8]) -> Result<Vec<u8>, String> {
        self.users.encode_newer(self.process, seen).map_err(|error| error.message)
    }

    /// Returns whether users or roles have changed since the version with token `seen`.
    pub fn has_other_users(&self, seen: &[u8]) -> bool {
        self.users.token(self.process) != seen
    }

    /// Replicates the users from the first shard for as long as the future is polled. Never
    /// completes, and does nothing where this server stores the users itself.
    pub async fn follow_users(&self) -> std::convert::Infallible {
        match self.users.copy() {
            Some(copy) => copy.follow().await,
            None => std::future::pending().await,
        }
    }

    /// Returns the engine under this API.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Prepares the replica set that the server presents itself as, if it does. Called before
    /// clients are accepted.
    pub async fn prepare_replica_set(&self) {
        if let Some(set) = &self.replica_set {
            set.begin_term(&self.engine).await;
        }
    }

    /// Returns the cluster time of the newest commit, if replies report it: not on a standalone
    /// server, and not on a node of a cluster, since clients cannot compare times of several nodes.
    pub(crate) fn cluster_time(&self) -> Option<ClusterTime> {
        let reports = self.settings.topology.accepts_numbers() && !self.settings.in_cluster;
        reports.then(|| self.engine.cluster_time())
    }

    /// Returns whether a document's own `ttl` is currently interpreted.
    pub fn per_document_ttl(&self) -> bool {
        self.settings.per_document_ttl.load(Ordering::Relaxed)
    }

    /// Returns whether dumps carry the time of each document's last write: `mongodump` gets it as
    /// the field `_ts`, and inserted documents may contain that field.
    pub(crate) fn carries_timestamps(&self) -> bool {
        self.settings.carry_timestamps.load(Ordering::Relaxed)
    }

    /// Closes cursors that exceeded their idle timeout, and ends transactions and snapshots that
    /// exceeded their lifetime. `now` is the machine's monotonic clock; returns the time at which the next call is
    /// due.
    pub fn tick(&self, now: Duration) -> Duration {
        self.cursors.close_idle(now);
        let lifetime = self.transaction_lifetime();
        for open in self.transactions.overdue(now, lifetime) {
            self.abort_transaction(&open);
        }
        for kept in self.snapshots.take_overdue(now, lifetime) {
            self.close_snapshot(&kept);
        }
        self.engine.wake_waiting_writers();
        now + Duration::from_secs(1)
    }

    /// Returns how long a transaction may be open, by the machine's clock.
    fn transaction_lifetime(&self) -> Duration {
        let parameters = self.parameters.lock();
        let set = parameters.get(TRANSACTION_LIFETIME).and_then(|set| Number::of(set.as_ref()));
        let seconds = set.and_then(|set| u64::try_from(set.to_i64_exact()?).ok());
        seconds.map_or(DEFAULT_TRANSACTION_LIFETIME, Duration::from_secs)
    }

    /// Aborts a transaction and closes its cursors, unless its commit is under way.
    pub(crate) fn abort_transaction(&self, open: &OpenTransaction) {
        if open.transaction.abort() {
            self.transactions.end(open, Some(TransactionState::Aborted));
            self.cursors.close_transaction(&open.key, open.number);
        }
    }

    /// Closes a snapshot that is no longer kept, and its cursors.
    pub(crate) fn close_snapshot(&self, kept: &KeptSnapshot) {
        kept.close();
        self.cursors.close_snapshot(kept.time);
    }

    /// Begins a retryable write of a session, which aborts an open transaction of a lower number.
    ///
    /// Fails with 225 if the session has a transaction of a higher number, and 217 if it has one of
    /// this number.
    pub(crate) fn begin_write(&self, key: &SessionKey, number: i64) -> errors::Result<()> {
        let Some((newest, state)) = self.transactions.newest(key) else { return Ok(()) };
        match (newest.cmp(&number), state) {
            (Compared::Greater, _) => Err(too_old(number, newest)),
            (Compared::Equal, _) => Err(converted_to_transaction()),
            (Compared::Less, TransactionState::Open(open)) => {
                self.abort_transaction(&open);
                Ok(())
            }
            (Compared::Less, _) => Ok(()),
        }
    }

    /// Aborts all open transactions, since the server stops.
    pub(crate) fn abort_all_transactions(&self) {
        for open in self.transactions.open_transactions() {
            self.abort_transaction(&open);
        }
    }

    /// Aborts the open transactions of sessions.
    pub(crate) fn abort_transactions_of(&self, sessions: &SessionSet) {
        for open in self.transactions.open_of(sessions) {
            self.abort_transaction(&open);
        }
    }

    /// Returns the next operation id, by which `killOp` names an operation.
    pub(crate) fn operation_id(&self) -> i32 {
        self.next_operation.fetch_add(1, Ordering::Relaxed)
    }

    /// Counts a connected client that has not sent a request, until the returned guard is dropped.
    pub fn count_silent(self: &Arc<Self>) -> Silent {
        self.opened.fetch_add(1, Ordering::Relaxed);
        Silent(Arc::clone(self))
    }

    /// Registers a connection. The caller must remove it with `remove_connection` when it
    /// closes.
    pub(crate) fn add_connection(
        &self,
        peer: Peer,
        relayed_sender: Option<RelayedSender>,
    ) -> Arc<Connection> {
        self.opened.fetch_add(1, Ordering::Relaxed);
        let id = self.next_connection.fetch_add(1, Ordering::Relaxed);
        let connection = Arc::new(Connection::new(id, peer, relayed_sender));
        self.connections.lock().open.push(Arc::downgrade(&connection));
        connection
    }

    /// Returns the number of connections since the start. Each command that the portal (the
    /// server's web pages) relays counts as one.
    pub(crate) fn connections_ever(&self) -> i32 {
        self.next_connection.load(Ordering::Relaxed).saturating_sub(1)
    }

    pub(crate) fn connections(&self) -> Vec<Arc<Connection>> {
        self.connections.lock().open.iter().filter_map(Weak::upgrade).collect()
    }

    /// Removes a closed connection, and adds its counters to those of closed connections.
    pub(crate) fn remove_connection(&self, connection: &Arc<Connection>) {
        self.opened.fetch_sub(1, Ordering::Relaxed);
        let mut connections = self.connections.lock();
        for (sum, (_, value)) in
            connections.closed.iter_mut().zip(connection.counters.named_values())
        {
            *sum += value;
        }
        let own = Arc::downgrade(connection);
        connections.open.retain(|held| !held.ptr_eq(&own));
    }

    /// Returns name and value of each counter, summed over all connections, closed ones included.
    /// Open and closed connections are read under one lock, so that a closing connection is counted
    /// exactly once.
    pub fn counters(&self) -> Vec<(&'static str, u64)> {
        let connections = self.connections.lock();
        let mut sums = connections.closed;
        for connection in connections.open.iter().filter_map(Weak::upgrade) {
            for (sum, (_, value)) in sums.iter_mut().zip(connection.counters.named_values()) {
                *sum += value;
            }
        }
        Counters::default().named_values().iter().map(|(name, _)| *name).zip(sums).collect()
    }

    /// Returns the latency distribution of each command that ran since the start, in nanoseconds,
    /// sorted by name.
    pub fn latencies(&self) -> Vec<(&'static str, Distribution)> {
        let read = |(place, row): (usize, &'static CommandRow)| {
            let read =
                self.latencies.read_kind(place).filter(|read| 0 < read.measurement_count())?;
            Some((row.name, read))
        };
        let mut all: Vec<_> = self.commands.rows.iter().enumerate().filter_map(read).collect();
        all.sort_unstable_by_key(|(name, _)| *name);
        all
    }

    /// Returns the number of failed commands since the start.
    pub fn failures(&self) -> u64 {
        self.failed.iter().map(|failed| failed.load(Ordering::Relaxed)).sum()
    }

    /// Returns the numbers of open connections and of open cursors.
    pub fn open(&self) -> (i64, usize) {
        (self.opened.load(Ordering::Relaxed), self.cursors.count())
    }
}
