//! How an owner's appender reaches the driver: a group goes there as the body of one entry, and the
//! answer comes when that is committed or when the node's time as the owner has ended.

use std::{
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use cluster::Place;
use journal::EncodedEntry;
use parking_lot::Mutex;
use store::{Error, Kind};
use tokio::sync::{mpsc::UnboundedSender, oneshot};

/// Where the tree stands behind a committed entry, or why it is not known to be committed.
pub(crate) type Committed = Result<Place, Error>;

/// What the driver is asked.
pub(crate) enum ToDriver {
    /// Something of a shard.
    Of(u32, Command),
    /// End without a word to anybody, as a killed process does.
    Stop,
}

/// What it is asked of a shard.
pub(crate) enum Command {
    /// Append this as the owner.
    Append {
        /// The entry's body.
        body: Bytes,
        /// Who waits.
        done: mpsc::Sender<Committed>,
    },
    /// The own copy does not have what is committed, or is damaged.
    CopyFailed(Error),
    /// The tree cannot go on for now.
    StandDown,
    /// It can, from this place; whether it may have more.
    FollowFrom(Place, bool),
    /// Give the shard up, once all is committed.
    HandOver,
    /// Make a base, as the owner.
    MakeBase(WantedBase),
    /// Look at the cluster at once.
    Look,
    /// Claim the shard as soon as it is free.
    GoFirst,
    /// Let others claim the shard for so long.
    HoldBack(Duration),
}

/// A way to the driver, for what is of one shard. A driver that has ended hears nothing.
#[derive(Clone, Debug)]
pub(crate) struct Commands {
    shard: u32,
    driver: UnboundedSender<ToDriver>,
}

impl Commands {
    pub(crate) fn new(shard: u32, driver: UnboundedSender<ToDriver>) -> Self {
        Self { shard, driver }
    }

    /// Asks; false where nobody hears it.
    pub(crate) fn send(&self, command: Command) -> bool {
        self.driver.send(ToDriver::Of(self.shard, command)).is_ok()
    }
}

/// A base that somebody wants.
#[derive(Debug)]
pub(crate) struct WantedBase {
    /// The entry that it is to have; the last that is committed otherwise.
    pub(crate) entry: Option<u64>,
    /// Hears which entry that is.
    pub(crate) told: oneshot::Sender<u64>,
    /// Hears behind which entry a base stands that has it.
    pub(crate) done: oneshot::Sender<u64>,
}

/// An appender's way to the driver.
#[derive(Debug)]
pub(crate) struct Replicator {
    commands: Mutex<Commands>,
    /// Nothing is appended from a failure of the own copy on until the node is the owner again.
    closed: AtomicBool,
}

impl Replicator {
    pub(crate) fn new(commands: Commands) -> Self {
        Self { commands: Mutex::new(commands), closed: AtomicBool::new(false) }
    }

    /// The node is the owner, with a copy that has all.
    pub(crate) fn open(&self) {
        self.closed.store(false, Ordering::SeqCst);
    }

    /// The own copy failed.
    pub(crate) fn fail_copy(&self, error: Error) {
        self.closed.store(true, Ordering::SeqCst);
        self.commands.lock().send(Command::CopyFailed(error));
    }

    /// Has a group committed as one entry, all or nothing; waits for it.
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

/// The error of whoever is not the owner any more. What waits may have been committed: the new owner
/// knows.
pub(crate) fn moved() -> Error {
    Error::new(Kind::Moved, "this node is not the owner of the data any more")
}

/// The bytes of entries, one after the other: each begins with its length.
fn body_of(group: &[EncodedEntry]) -> Bytes {
    if let [entry] = group {
        return entry.bytes().clone();
    }
    let mut body = BytesMut::with_capacity(group.iter().map(|entry| entry.bytes().len()).sum());
    group.iter().for_each(|entry| body.extend_from_slice(entry.bytes()));
    body.freeze()
}
