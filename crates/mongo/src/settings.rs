//! The settings of the MongoDB API, which the server fixes before it listens.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use audit::AuditLog;
use engine::BlockInPlace;
use memory::Account;
use traces::{SlowOperations, Tracer};

use crate::{
    account,
    first_shard::FirstShard,
    homes::IsHome,
    limits::{
        CHANGE_RETENTION_SECONDS, COMMAND_ROOM_BYTES, MAX_CURSORS, MAX_DOCUMENT_BYTES,
        MAX_MESSAGE_BYTES,
    },
    machine::{Machine, MachineFigures},
    other_shards::OtherShards,
    recent_log::RecentLog,
    topology::Topology,
    usage::Usage,
};

/// Settings of the API, fixed before the server listens.
///
/// The shared atomics may be switched while the server runs, by the part of the server that holds
/// the other reference.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Whether a document's own `ttl` field is interpreted. Shared; may be switched at run time.
    pub per_document_ttl: Arc<AtomicBool>,
    /// The server's version, reported by `buildInfo`.
    pub version: String,
    /// Whether dumps carry the time of each document's last write: `mongodump` gets it as the field
    /// `_ts`, and inserted documents may contain that field.
    pub carry_timestamps: Arc<AtomicBool>,
    /// Listen address, reported by `whatsmyuri` and `serverStatus`.
    pub host: String,
    /// The memory account of all operations. Half of it is for messages, the rest for replies and
    /// evaluation.
    pub memory: Account,
    /// The memory account of clients that have not yet sent a request: a small limit for all of
    /// them together, so that idle connections cannot take memory from working ones.
    pub unknown_clients: Account,
    /// Area for spill files; `None` if the server writes no temporary files.
    pub temporary: Option<spill::Area>,
    /// Called every few milliseconds during a long evaluation, on the thread that it occupies, so
    /// that other tasks waiting for this thread can move to another one.
    pub give_way: fn(),
    /// Runs work that occupies its thread for long, such as parsing or dropping a large command,
    /// without blocking a worker thread.
    pub block_in_place: BlockInPlace,
    /// Whether authentication is required and roles are enforced.
    pub asks_for_login: bool,
    /// The account whose name and keys are accepted as logins, if any.
    pub account: Option<account::Account>,
    /// The audit log of logins, refusals and changes of anything but documents; `None`: auditing is
    /// off.
    pub audit: Option<Arc<AuditLog>>,
    /// Topology as which the server presents itself to drivers.
    pub topology: Topology,
    /// Whether the server is a node of a cluster, and so serves its clients only as long as it owns
    /// their data.
    pub in_cluster: bool,
    /// Determines whether the server owns a database of a sharded cluster; `None` if it owns all
    /// databases.
    pub is_home: Option<IsHome>,
    /// Access to the other shards of the cluster; `None` outside a sharded cluster.
    pub other_shards: Option<OtherShards>,
    /// The owner of the cluster's first shard, which stores the users; `None` if this server stores
    /// them.
    pub first_shard: Option<FirstShard>,
    /// Number of seconds for which the records of the change log are kept once a change stream has
    /// been opened or a collection keeps images; `None`: change streams are refused.
    pub change_retention_s: Option<i64>,
    /// Whether commands that exceed the throughput of their collection or database are refused.
    pub enforce_throughput: bool,
    /// Default time limit of commands that only read; `None`: unlimited.
    pub max_time: Option<Duration>,
    /// Maximum number of open cursors.
    pub max_cursors: usize,
    /// Largest message that a client may send, in bytes, within
    /// [`MESSAGE_BYTES`](crate::MESSAGE_BYTES). Reported to drivers, with the maximum document size
    /// derived from it.
    pub max_message_bytes: usize,
    /// The threshold and log of slow commands; `None`: no command is logged as slow.
    pub slow: Option<Arc<SlowOperations>>,
    /// Receives an event for each finished operation.
    pub tracer: Tracer,
    /// Returns the process's resource usage, for `serverStatus`.
    pub usage: fn() -> Usage,
    /// Returns the description of the machine, for `hostInfo`.
    pub machine: fn() -> Machine,
    /// Returns the machine's load figures, for `getDiagnosticData`.
    pub machine_figures: fn() -> MachineFigures,
    /// Returns the last lines of the server's log, for `getLog`.
    pub recent_log: fn() -> RecentLog,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            per_document_ttl: Arc::new(AtomicBool::new(true)),
            carry_timestamps: Arc::default(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            host: "localhost".to_owned(),
            memory: Account::default(),
            unknown_clients: Account::default(),
            temporary: None,
            give_way: || {},
            block_in_place: |work| work(),
            asks_for_login: false,
            account: None,
            audit: None,
            topology: Topology::default(),
            in_cluster: false,
            is_home: None,
            other_shards: None,
            first_shard: None,
            change_retention_s: Some(CHANGE_RETENTION_SECONDS),
            enforce_throughput: false,
            max_time: None,
            max_cursors: MAX_CURSORS,
            max_message_bytes: MAX_MESSAGE_BYTES,
            slow: None,
            tracer: None,
            usage: Usage::default,
            machine: Machine::default,
            machine_figures: MachineFigures::default,
            recent_log: RecentLog::default,
        }
    }
}

impl Settings {
    /// Returns the size in bytes of the largest document that a client may send.
    pub(crate) fn max_document_bytes(&self) -> usize {
        MAX_DOCUMENT_BYTES.min(self.max_message_bytes.saturating_sub(COMMAND_ROOM_BYTES))
    }
}
