//! The connection from an owner's appender to the driver. A group is sent as the body of one
//! cluster entry; the call returns when this entry is committed or the node's term as owner has
//! ended.

use std::{
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use cluster::Position;
use journal::EncodedEntry;
use parking_lot::Mutex;
use store::{Error, Kind};
use tokio::sync::{mpsc::UnboundedSender, oneshot};

/// Position after a committed entry, or why it is not known to be committed.
pub(crate) type Committed = Result<Position, Error>;

/// A command to the driver, the thread that runs the cluster protocol.
pub(crate) enum DriverCommand {
    /// A command for a shard.
    Of(u32, Command),
    /// Stop without notifying the ledger, as if the process were killed.
    Stop,
}

/// A command for a shard.
pub(crate) enum Command {
    /// Append an entry as the owner.
    Append {
        body: Bytes,
        /// Receives the outcome of the append.
        done: mpsc::Sender<Committed>,
    },
    /// The local copy lacks committed entries or is damaged.
    CopyFailed(Error),
    /// Release the shard, because the tree cannot continue for now.
    Suspend,
    /// Follow the journal from this position; true if the tree may contain entries after it.
    FollowFrom(Position, bool),
    /// Release the shard once everything is committed.
    HandOver,
    /// Make a base, as the owner.
    MakeBase(BaseRequest),
    /// Read the cluster's records immediately.
    Refresh,
    /// Claim the shard as soon as it is free to be claimed.
    ClaimFirst,
    /// Let other nodes claim the shard first, for this long.
    DeferClaim(Duration),
}

/// Sends commands for one shard to the driver, the thread that runs the cluster protocol. After the
/// driver has ended, commands are dropped.
#[derive(Clone, Debug)]
pub(crate) struct Commands {
    shard: u32,
    driver: UnboundedSender<DriverCommand>,
}

impl Commands {
    pub(crate) fn new(shard: u32, driver: UnboundedSender<DriverCommand>) -> Self {
        Self { shard, driver }
    }

    /// Sends a command; returns false if the driver has ended.
    pub(crate) fn send(&self, command: Command) -> bool {
        self.driver.send(DriverCommand::Of(self.shard, command)).is_ok()
    }
}

/// A request to make a base (full copy of the shard) that contains an entry.
#[derive(Debug)]
pub(crate) struct BaseRequest {
    /// Number of an entry that the base has to contain; `None` for the last committed entry.
    pub(crate) entry: Option<u64>,
    /// Receives the number of the entry that the base will contain.
    pub(crate) accepted: oneshot::Sender<u64>,
    /// Receives the number of the last entry in the first base that contains `entry`.
    pub(crate) done: oneshot::Sender<u64>,
}

/// The connection over which the store's appender commits groups through the driver, the thread
/// that runs the cluster protocol.
#[derive(Debug)]
pub(crate) struct Replicator {
    commands: Mutex<Commands>,
    /// Whether appends are rejected: set when the local copy fails, until the node is the owner
    /// again.
    closed: AtomicBool,
}

impl Replicator {
    pub(crate) fn new(commands: Commands) -> Self {
        Self { commands: Mutex::new(commands), closed: AtomicBool::new(false) }
    }

    /// Accepts appends again, because the node is the owner and has a complete copy.
    pub(crate) fn open(&self) {
        self.closed.store(false, Ordering::SeqCst);
    }

    /// Rejects appends and reports that the local copy failed.
    pub(crate) fn fail_copy(&self, error: Error) {
        self.closed.store(true, Ordering::SeqCst);
        self.commands.lock().send(Command::CopyFailed(error));
    }

    /// Commits a group as one entry, all or nothing; blocks until the outcome is known.
    pub(crate) fn append(&self, group: &[EncodedEntry]) -> Committed {
        if self.closed.load(Ordering::SeqCst) {
            return Err(moved());
        }
        let (done, committed) = mpsc::channel();
        let command = Command::Append { body: body_of(group), done };
        if !self.commands.lock().send(command) {
            return Err(moved());
        }
        committed.recv().map_err(|_| moved())?
    }
}

/// Returns the error of a node that is no longer the owner. Only the new owner can determine
/// whether pending writes were committed.
pub(crate) fn moved() -> Error {
    Error::new(Kind::Moved, "this node no longer owns the data")
}

/// Concatenates the entries; each starts with its length.
fn body_of(group: &[EncodedEntry]) -> Bytes {
    if let [entry] = group {
        return entry.bytes().clone();
    }
    let mut body = BytesMut::with_capacity(group.iter().map(|entry| entry.bytes().len()).sum());
    group.iter().for_each(|entry| body.extend_from_slice(entry.bytes()));
    body.freeze()
}
