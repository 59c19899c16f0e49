//! The MongoDB API's state: one value for all connections. It holds the engine, open cursors,
//! counters and what clients have set, and knows every connection that is open. Commands stand
//! above it and use it; of them it knows the rows of their table and nothing else.

use std::{
    collections::HashMap,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicI32, AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};

use audit::AuditLog;
use document::ObjectId;
use engine::{Engine, RunApart, Store};
use memory::Account;
use metrics::{Distribution, Latencies};
use parking_lot::Mutex;
use traces::{SlowOperations, Tracer};

use crate::{
    client::{Connection, RelayedSender},
    command_row::CommandRow,
    command_table::CommandTable,
    counters::{COUNTERS, Counters},
    cursors::Cursors,
    fail_point::FailPoints,
    first_shard::FirstShard,
    homes::IsHome,
    limits::{COMMAND_ROOM_BYTES, MAX_CURSORS, MAX_DOCUMENT_BYTES, MAX_MESSAGE_BYTES},
    machine::{Machine, MachineFigures},
    namespace_work::AllWork,
    peer::Peer,
    protocol_error_log::ProtocolErrorLog,
    siblings::Siblings,
    timestamps::Timestamps,
    usage::Usage,
    users::Users,
};

/// What the server looks like to drivers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Topology {
    /// One server by itself.
    #[default]
    Standalone,
    /// A router in front of a cluster, of which there may be any number: drivers number their writes,
    /// and send one again that they have not heard of, perhaps to another router.
    Router,
}

/// Settings of the API, made by the server before it listens.
///
/// Those that may be switched while the server runs are shared atomics: the part of the server that
/// switches them holds the other end.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Whether a document's own `ttl` is interpreted; shared with the part of the server that may
    /// switch it.
    pub per_document_ttl: Arc<AtomicBool>,
    /// The server's version, for `buildInfo`.
    pub version: String,
    /// Whether documents carry the second of their write to and from clients that dump and restore.
    pub carry_timestamps: Arc<AtomicBool>,
    /// Address it listens on, for `whatsmyuri` and `serverStatus`.
    pub host: String,
    /// Where operations take the memory that they hold from. Half of it is for messages, so that
    /// replies and evaluation have the rest.
    pub memory: Account,
    /// The same for clients that have not asked anything yet: a small part for all of them
    /// together, so that those who never say anything cannot take memory from those who work.
    pub strangers: Account,
    /// Where stages put what they cannot hold; `None` where the server writes no files.
    pub temporary: Option<spill::Area>,
    /// Called every few milliseconds of a long evaluation, on the thread that it occupies: what
    /// else waits for this thread may be given to another.
    pub give_way: fn(),
    /// How a command is run that takes long to parse or to drop.
    pub run_apart: RunApart,
    /// Whether clients have to log in, and may do what their roles permit.
    pub asks_for_login: bool,
    /// Where logins, refusals and changes of what there is are written down; `None`: nowhere.
    pub audit: Option<Arc<AuditLog>>,
    /// What it looks like to drivers.
    pub topology: Topology,
    /// Which databases have their home here; `None`: all.
    pub is_home: Option<IsHome>,
    /// The servers of the cluster's other shards; `None`: there are none.
    pub siblings: Option<Siblings>,
    /// The server of the cluster's first shard, which keeps the users; `None`: they are kept here.
    pub first_shard: Option<FirstShard>,
    /// How long a command that only reads may take when it does not say itself; `None`: any time.
    pub max_time: Option<Duration>,
    /// How many cursors are open at once.
    pub max_cursors: usize,
    /// Bytes of the largest message that a client may send, of [`MESSAGE_BYTES`](crate::MESSAGE_BYTES). Drivers
    /// are told, with the largest document that has room in it.
    pub max_message_bytes: usize,
    /// Which commands are slow: the log names them. `None`: none is.
    pub slow: Option<Arc<SlowOperations>>,
    /// Who is told of each operation.
    pub tracer: Tracer,
    /// Returns what the process takes of its machine, for `serverStatus`.
    pub usage: fn() -> Usage,
    /// Returns what the machine is, for `hostInfo`.
    pub machine: fn() -> Machine,
    /// Returns what the machine does, for `getDiagnosticData`.
    pub machine_figures: fn() -> MachineFigures,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            per_document_ttl: Arc::new(AtomicBool::new(true)),
            carry_timestamps: Arc::default(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            host: "localhost".to_owned(),
            memory: Account::default(),
            strangers: Account::default(),
            temporary: None,
            give_way: || {},
            run_apart: |work| work(),
            asks_for_login: false,
            audit: None,
            topology: Topology::default(),
            is_home: None,
            siblings: None,
            first_shard: None,
            max_time: None,
            max_cursors: MAX_CURSORS,
            max_message_bytes: MAX_MESSAGE_BYTES,
            slow: None,
            tracer: None,
            usage: Usage::default,
            machine: Machine::default,
            machine_figures: MachineFigures::default,
        }
    }
}

impl Settings {
    /// Bytes of the largest document that a client may send.
    pub(crate) fn max_document_bytes(&self) -> usize {
        MAX_DOCUMENT_BYTES.min(self.max_message_bytes.saturating_sub(COMMAND_ROOM_BYTES))
    }
}

/// The connections that are open, and what closed ones counted.
#[derive(Debug, Default)]
struct Connections {
    /// Weak, so that a connection ends with its task and not with this list.
    open: Vec<Weak<Connection>>,
    /// Sums of the counters of closed connections, in the order of their names.
    closed: [u64; COUNTERS],
}

/// The MongoDB API over one engine.
pub struct Door<S: Store> {
    pub(crate) engine: Engine<S>,
    /// What messages and what they are parsed into may hold together: half of the memory, the rest
    /// is for replies and evaluation.
    pub(crate) messages: Account,
    pub(crate) settings: Settings,
    pub(crate) cursors: Arc<Cursors<S>>,
    /// Users and roles.
    pub(crate) users: Users<S>,
    /// How long who guesses passwords has to wait.
    pub(crate) backoff: auth::Backoff,
    /// The rows of the commands, without the functions that run them.
    pub(crate) commands: CommandTable,
    /// How long commands took, nanoseconds, by their places in the table.
    pub(crate) latencies: Latencies,
    /// What was done with each collection.
    pub(crate) work: AllWork,
    /// How often commands failed, by their places in the table.
    pub(crate) failed: Vec<AtomicU64>,
    /// Where clients that cannot be understood are logged.
    pub(crate) protocol_errors: ProtocolErrorLog,
    /// Where failed logins are logged.
    pub(crate) login_failures: ProtocolErrorLog,
    /// When it was made, on the machine's monotonic clock.
    pub(crate) started: Duration,
    /// What `setParameter` has set. The other parameters have their values from the start.
    pub(crate) parameters: Mutex<HashMap<String, document::Value>>,
    /// The fail points, on or off.
    pub(crate) fail_points: Mutex<FailPoints>,
    /// Stands for this start of the server: drivers compare it (`topologyVersion.processId`) to
    /// notice a restart.
    pub(crate) process: ObjectId,
    /// Timestamps that documents are stored with.
    pub(crate) timestamps: Timestamps,
    /// Spares the lock while no fail point is on.
    pub(crate) has_fail_point: AtomicBool,
    next_connection: AtomicI32,
    next_operation: AtomicI32,
    /// Connections that are open, for metrics, without the list's lock.
    pub(crate) opened: AtomicI64,
    connections: Mutex<Connections>,
}

/// A client that has not begun yet. It counts among the connections that are open.
#[derive(Debug)]
pub struct Silent<S: Store>(Arc<Door<S>>);

impl<S: Store> Drop for Silent<S> {
    fn drop(&mut self) {
        self.0.opened.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<S: Store> std::fmt::Debug for Door<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Door").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// An id for this start of the server, and for no other. It is random throughout: two starts in one
/// second have to differ too.
fn new_process_id() -> ObjectId {
    let random = std::array::from_fn(|_| fastrand::u8(..));
    ObjectId::from_parts(fastrand::u32(..), random, fastrand::u32(..1 << 24))
}

impl<S: Store> Door<S> {
    /// The API over an engine, with the table of commands that it serves.
    pub(crate) fn with_commands(
        engine: Engine<S>,
        settings: Settings,
        commands: CommandTable,
    ) -> Arc<Self> {
        let cursors = Arc::new(Cursors::with_room(settings.max_cursors));
        settings.memory.relieved_by(&cursors);
        Arc::new(Self {
            users: Users::new(engine.clone(), settings.first_shard.clone()),
            backoff: auth::Backoff::default(),
            engine,
            messages: settings.memory.split_off(settings.memory.limit() / 2),
            settings,
            cursors,
            latencies: Latencies::new(commands.rows.len()),
            work: AllWork::default(),
            failed: commands.rows.iter().map(|_| AtomicU64::new(0)).collect(),
            commands,
            protocol_errors: ProtocolErrorLog::default(),
            login_failures: ProtocolErrorLog::default(),
            started: clock::monotonic_time(),
            parameters: Mutex::default(),
            process: new_process_id(),
            timestamps: Timestamps::default(),
            fail_points: Mutex::default(),
            has_fail_point: AtomicBool::new(false),
            next_connection: AtomicI32::new(1),
            next_operation: AtomicI32::new(1),
            opened: AtomicI64::new(0),
            connections: Mutex::default(),
        })
    }

    /// What the server of another shard is told of users and roles that knows what it was told before; an
    /// error is a sentence.
    pub fn told_users(&self, seen: &[u8]) -> Result<Vec<u8>, String> {
        self.users.told(self.process, seen).map_err(|error| error.message)
    }

    /// Whether users or roles are others than somebody knows who was told them.
    pub fn has_other_users(&self, seen: &[u8]) -> bool {
        self.users.token(self.process) != seen
    }

    /// Follows the users that the first shard keeps, for as long as it is polled; never ready where they are
    /// kept here.
    pub async fn follow_users(&self) -> std::convert::Infallible {
        match self.users.copy() {
            Some(copy) => copy.follow().await,
            None => std::future::pending().await,
        }
    }

    /// The engine below it.
    pub fn engine(&self) -> &Engine<S> {
        &self.engine
    }

    /// Whether a document's own `ttl` is interpreted now.
    pub fn per_document_ttl(&self) -> bool {
        self.settings.per_document_ttl.load(Ordering::Relaxed)
    }

    /// Whether documents carry the second of their write to and from clients that dump and restore,
    /// at this moment.
    pub(crate) fn carries_timestamps(&self) -> bool {
        self.settings.carry_timestamps.load(Ordering::Relaxed)
    }

    /// Closes cursors that nobody asked for. `now` is the machine's monotonic clock; returns when
    /// the next call is due.
    pub fn tick(&self, now: Duration) -> Duration {
        self.cursors.close_idle(now);
        now + Duration::from_secs(10)
    }

    /// The number of the next operation, by which `killOp` names it.
    pub(crate) fn operation_id(&self) -> i32 {
        self.next_operation.fetch_add(1, Ordering::Relaxed)
    }

    /// Counts a client that has come and has not begun yet, until what is returned is dropped.
    pub fn count_silent(self: &Arc<Self>) -> Silent<S> {
        self.opened.fetch_add(1, Ordering::Relaxed);
        Silent(Arc::clone(self))
    }

    /// Notes a client that has come. The caller takes it out again when it has gone.
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

    /// How many connections there ever were, relayed commands included.
    pub(crate) fn connections_ever(&self) -> i32 {
        self.next_connection.load(Ordering::Relaxed).saturating_sub(1)
    }

    /// All clients that are connected now.
    pub(crate) fn connections(&self) -> Vec<Arc<Connection>> {
        self.connections.lock().open.iter().filter_map(Weak::upgrade).collect()
    }

    /// Takes out a client that has gone and keeps what it counted.
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

    /// Sums over all connections, closed ones included: name and value. A connection that closes at
    /// this moment is in one of the two parts, never in both: both are read under one lock.
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

    /// How long commands took since the start, nanoseconds: those that were run, by name.
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

    /// How many commands failed since the start.
    pub fn failures(&self) -> u64 {
        self.failed.iter().map(|failed| failed.load(Ordering::Relaxed)).sum()
    }

    /// How many connections are open, and how many cursors.
    pub fn open(&self) -> (i64, usize) {
        (self.opened.load(Ordering::Relaxed), self.cursors.count())
    }
}
