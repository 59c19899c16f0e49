//! The thread that applies events to the tree of a shard, in order, so that the driver, the thread
//! that runs the cluster protocol, never waits for a disk. It publishes the role of the node in the
//! shard: while the tree fails it is `Failed`, and recovery is retried with each save of the
//! position, with growing delays.
//!
//! * Normal: events are applied to the tree.
//! * `Waits`: the tree failed; recovery is retried. A damaged copy is deleted here and loaded anew.
//! * `Loads`: the tree is being rebuilt from a base.
//! * `Recovered`: the tree works again. Its position was sent to the driver; events that were sent
//!   before it are ignored. With `Resumed` normal operation resumes.

use std::sync::Arc;

use bytes::Bytes;
use cluster::{BaseRecord, ClockLowerBounds, Entry, Position};
use journal::EncodedEntry;
use store::{Error, Health, Kind, Store as _};
use tokio::sync::{
    mpsc::{self, UnboundedReceiver},
    oneshot, watch,
};

use crate::{
    local_copy::{BaseMessage, FIRST, LocalCopy},
    outstanding::{Outstanding, backlog_of},
    position_file::PositionRecord,
    replicator::{Command, Commands, Replicator},
    shard_clock::NodeClock,
    shard_copy::entries_of,
};

/// Maximum number of entries passed to the tree at once.
const AT_ONCE: usize = 64;
/// Maximum number of seconds between two attempts to recover a failed tree.
const PAUSE_MAX: u32 = 60;

/// A task for the thread that feeds a shard's tree.
#[derive(Debug)]
pub(crate) enum FeederTask {
    /// Apply a committed entry that this node has not appended itself in the current term.
    Apply(Entry, Position),
    /// This node has claimed the shard with this epoch.
    Opened(u64, ClockLowerBounds),
    /// The lease covers this term (period of ownership), so requests may be served.
    Serving,
    /// This node is no longer the owner: its term has ended.
    Ended,
    /// The cluster's journal cannot be followed any further, for this reason.
    Failed(String),
    /// The local copy lacks committed entries or is damaged.
    CopyFailed(Error),
    /// Store a piece of a base and acknowledge it through `kept`.
    Piece { number: u32, body: Bytes, kept: oneshot::Sender<()> },
    /// All pieces of a base are stored: rebuild the tree from them.
    BaseThere(BaseRecord),
    /// The base that was being loaded was deleted.
    BaseGone,
    /// Read all visible data, in pieces of this size.
    MakeBase(mpsc::Sender<BaseMessage>, usize),
    /// The following tasks continue from the position that was passed to the driver.
    Resumed,
    /// Another second has passed: store the position.
    SavePosition,
}

/// Recovery state of a failed tree.
#[derive(Debug)]
enum Recovery {
    /// The tree is retried after this number of seconds.
    Waits { error: Error, seconds: u32 },
    /// The tree is being rebuilt from this base.
    Loads(BaseRecord),
    /// The store works again, and the driver has received the position to follow from.
    Recovered,
}

/// The state of the feeder thread.
pub(crate) struct Feeder {
    pub(crate) copy: LocalCopy,
    pub(crate) clock: Arc<dyn NodeClock>,
    pub(crate) role: watch::Sender<Role>,
    pub(crate) outstanding: Arc<Outstanding>,
    pub(crate) commands: Commands,
    pub(crate) replicator: Arc<Replicator>,
    recovery: Option<Recovery>,
    pause: u32,
}

impl Feeder {
    pub(crate) fn new(
        copy: LocalCopy,
        clock: Arc<dyn NodeClock>,
        role: watch::Sender<Role>,
        outstanding: Arc<Outstanding>,
        commands: Commands,
        replicator: Arc<Replicator>,
    ) -> Self {
        let (recovery, pause) = (None, 0);
        Self { copy, clock, role, outstanding, commands, replicator, recovery, pause }
    }

    /// Runs until the driver ends.
    pub(crate) fn run(mut self, mut tasks: UnboundedReceiver<FeederTask>) {
        while let Some(task) = tasks.blocking_recv() {
            if self.recovery.is_some() {
                self.try_recover(task);
                continue;
            }
            let mut entries = Vec::new();
            let mut next = Some(task);
            while let Some(FeederTask::Apply(entry, position)) = next {
                entries.push((entry, position));
                next = if entries.len() < AT_ONCE { tasks.try_recv().ok() } else { None };
            }
            let backlog = backlog_of(entries.iter().map(|(entry, _)| entry));
            let applied = self.apply(entries);
            self.outstanding.remove(backlog);
            if let Err(error) = applied.and_then(|()| next.map_or(Ok(()), |task| self.act(task))) {
                self.fail(error);
            }
        }
    }

    fn apply(&mut self, entries: Vec<(Entry, Position)>) -> Result<(), Error> {
        let Some((_, last)) = entries.last() else { return Ok(()) };
        let position = *last;
        let known = self.copy.tree.last_entry()?;
        // The first entry of a store is identical on every node and not replicated.
        let mut n = known.min(FIRST);
        let mut wanted = Vec::new();
        for (entry, _) in entries {
            let own = entries_of(entry.body)?;
            // `n` is advanced also for entries that the copy already contains, so that it matches
            // the position.
            n = own.last().map_or(n, EncodedEntry::n);
            wanted.extend(own.into_iter().filter(|one| known < one.n()));
        }
        self.copy.tree.follow(wanted)?;
        self.copy.positions.record(PositionRecord { n, position });
        // If the role is `Failed`, an entry was missing; it has been applied now.
        self.role.send_if_modified(|role| {
            let failed = matches!(role, Role::Failed(_));
            if failed {
                *role = Role::Following;
            }
            failed
        });
        Ok(())
    }

    /// Handles a task other than applying an entry.
    fn act(&mut self, task: FeederTask) -> Result<(), Error> {
        match task {
            // Entries are handled by the caller; `Resumed` only matters during recovery.
            FeederTask::Apply(..) | FeederTask::Resumed => {}
            FeederTask::Opened(epoch, lower_bounds) => {
                self.clock.open(&lower_bounds)?;
                self.replicator.open();
                self.copy.tree.lead()?;
                self.role
                    .send_replace(Role::Opened { epoch, lower_bounds: Arc::new(lower_bounds) });
            }
            FeederTask::Serving => {
                self.role.send_modify(|role| {
                    if let Role::Opened { epoch, .. } = role {
                        *role = Role::Serving { epoch: *epoch };
                    }
                });
            }
            FeederTask::Ended => {
                // Published before any entry of the next owner becomes visible on this node.
                self.role.send_replace(Role::Following);
                self.clock.end();
                self.copy.tree.leave()?;
            }
            FeederTask::Failed(why) => self.tell_failed(why),
            FeederTask::CopyFailed(error) => return Err(error),
            FeederTask::Piece { number, body, kept } => {
                self.tell_failed(
                    "loading the newest base snapshot from the cluster's ledger".to_owned(),
                );
                self.copy.tree.store_piece(number, &body)?;
                let _ = kept.send(());
            }
            FeederTask::BaseThere(base) => {
                self.copy.begin_load(&base)?;
                self.recovery = Some(Recovery::Loads(base));
            }
            FeederTask::BaseGone => {
                let text = "the base that was being loaded was deleted; starting over";
                return Err(Error::new(Kind::Unavailable, text));
            }
            FeederTask::MakeBase(made, piece_bytes) => self.copy.make_base(made, piece_bytes),
            FeederTask::SavePosition => {
                self.copy.save_position()?;
                self.copy.tree.tick()?;
                // A full disk is no failure: it rejects commits that need space and accepts
                // deletes.
                if let Health::Refusing(error) = self.copy.tree.health()
                    && error.kind != Kind::Full
                {
                    return Err(error);
                }
                self.pause = 0;
            }
        }
        Ok(())
    }

    fn tell_failed(&self, why: String) {
        let failed = Role::Failed(why);
        self.role.send_if_modified(|role| {
            let is_new = *role != failed;
            *role = failed;
            is_new
        });
    }

    /// Handles a failure of the tree: publishes it, releases the shard, and waits for the tree to
    /// recover.
    fn fail(&mut self, error: Error) {
        self.tell_failed(error.to_string());
        // The driver ends the shard's clock and records its last instant with the release.
        self.commands.send(Command::Suspend);
        self.wait(error);
    }

    fn wait(&mut self, error: Error) {
        self.recovery = Some(Recovery::Waits { error, seconds: self.pause });
        self.pause = (2 * self.pause).clamp(1, PAUSE_MAX);
    }

    /// Handles a task during recovery; tasks from before the recovery are ignored.
    fn try_recover(&mut self, task: FeederTask) {
        match (task, &mut self.recovery) {
            (FeederTask::Apply(entry, _), _) => self.outstanding.remove(backlog_of([&entry])),
            (FeederTask::CopyFailed(error), _) => {
                self.tell_failed(error.to_string());
                self.wait(error);
            }
            (FeederTask::Resumed, Some(Recovery::Recovered)) => {
                self.recovery = None;
                self.role.send_replace(Role::Following);
            }
            (FeederTask::SavePosition, Some(Recovery::Waits { seconds: seconds @ 1.., .. })) => {
                *seconds -= 1
            }
            (FeederTask::SavePosition, Some(Recovery::Waits { error, .. })) => {
                let recovered = self.copy.try_recover(error);
                self.follow_from_tree(recovered);
            }
            (FeederTask::SavePosition, Some(Recovery::Loads(base))) => {
                let loaded = self.copy.loaded(base);
                self.follow_from_tree(loaded);
            }
            _ => {}
        }
    }

    /// Makes the driver follow the journal from the tree's position; does nothing while a base is
    /// being loaded.
    fn follow_from_tree(&mut self, stands: Result<Option<Position>, Error>) {
        match stands {
            Ok(None) => {}
            Ok(Some(position)) => {
                let may_have_diverged = self.copy.may_have_diverged();
                self.commands.send(Command::FollowFrom(position, may_have_diverged));
                self.recovery = Some(Recovery::Recovered);
            }
            Err(error) => {
                self.tell_failed(error.to_string());
                self.wait(error);
            }
        }
    }
}

/// The role of a node in a shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// The node applies entries that the owner has committed.
    Following,
    /// The node owns the shard, and the clock has started.
    Opened {
        /// Epoch of the term that was opened.
        epoch: u64,
        /// Clock state inherited from the preceding owner.
        lower_bounds: Arc<ClockLowerBounds>,
    },
    /// The node owns the shard and may serve requests.
    Serving {
        /// Epoch of the term that serves.
        epoch: u64,
    },
    /// The node neither follows nor serves, for this reason: the local copy failed or is damaged,
    /// or an entry is missing in the cluster's journal. An owner releases the shard, so services
    /// have to stop as after any change of role. The node retries automatically and becomes
    /// `Following` when it succeeds, with the same store object.
    Failed(String),
}
