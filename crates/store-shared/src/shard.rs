//! A node's store of one shard, and its role in the shard.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use cluster::{Backlog, Position};
use journal::OpenJournal;
use store::{CommitClock, Error, Kind};
use store_tree::{TreeOptions, TreeStore};
use tokio::sync::{
    mpsc::{UnboundedReceiver, unbounded_channel},
    oneshot, watch,
};

use crate::{
    feeder::{Feeder, FeederTask, Role},
    journal::NodeJournal,
    local_copy::{LocalCopy, SavedPosition},
    outstanding::Outstanding,
    replicator::{BaseRequest, Command, Commands, Replicator},
    shard_clock::NodeClock,
    shard_driver::ShardDriver,
};

/// Options of a shard's store.
pub struct ShardOptions {
    /// Options of the embedded store.
    pub tree: TreeOptions,
    /// The shard's clock, used while this node owns the shard.
    pub clock: Arc<dyn NodeClock>,
    /// Database time for commit stamps.
    pub time: Arc<dyn CommitClock>,
}

impl std::fmt::Debug for ShardOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ShardOptions").field("tree", &self.tree).finish_non_exhaustive()
    }
}

/// A node's store of a shard. If the store fails (full disk, device error, damage), the role
/// becomes [`Role::Failed`] and an owned shard is released. The store is reopened automatically and
/// then follows the journal from its position; a damaged store is wiped and rebuilt from the
/// cluster's journal. The [`TreeStore`] object stays the same.
pub struct SharedShard {
    tree: Arc<TreeStore>,
    role: watch::Receiver<Role>,
    commands: Commands,
    replicator: Arc<Replicator>,
    outstanding: Arc<Outstanding>,
    wipes: Arc<AtomicU64>,
}

impl std::fmt::Debug for SharedShard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedShard").field("role", &*self.role.borrow()).finish_non_exhaustive()
    }
}

/// A shard's store with the channels of the threads that run it.
pub(crate) struct Opened {
    pub(crate) shard: Arc<SharedShard>,
    pub(crate) driver: ShardDriver,
    pub(crate) feeder: Feeder,
    /// Receives the tasks of the feeder thread.
    pub(crate) tasks: UnboundedReceiver<FeederTask>,
    /// Position of the local copy in the cluster's journal, and whether the copy may contain
    /// entries after that position.
    pub(crate) position: (Position, bool),
}

impl SharedShard {
    /// Opens the directory of a shard. The local copy of the journal is kept in `own`, or in the
    /// directory if `own` is `None`.
    pub(crate) fn open(
        number: u32,
        options: ShardOptions,
        own: Option<Arc<dyn OpenJournal>>,
        commands: Commands,
    ) -> Result<Opened, Error> {
        let own = own.unwrap_or_else(|| Arc::new(options.tree.journal_of_copy()));
        let position = SavedPosition::open(&options.tree)?;
        let positions = Arc::clone(&position.positions);
        let replicator = Arc::new(Replicator::new(commands.clone()));
        let journal: Arc<dyn OpenJournal> =
            Arc::new(NodeJournal { own, replicator: Arc::clone(&replicator), positions });
        let (copy, wiped) = LocalCopy::open(position, &options.tree, &journal, &options.time)?;
        let (tree, wipes) = (Arc::clone(&copy.tree), Arc::clone(&copy.wipes));
        let position = (copy.positions.newest().position, copy.may_have_diverged());
        let outstanding: Arc<Outstanding> = Arc::default();
        let (tasks, stepped) = unbounded_channel();
        let clock = options.clock;
        let driver = ShardDriver::new(number, Arc::clone(&clock), tasks, Arc::clone(&outstanding));
        let (role, shown) = watch::channel(wiped.map_or(Role::Following, Role::Failed));
        let feeder = Feeder::new(
            copy,
            clock,
            role,
            Arc::clone(&outstanding),
            commands.clone(),
            Arc::clone(&replicator),
        );
        let shard = Arc::new(Self { tree, role: shown, commands, replicator, outstanding, wipes });
        Ok(Opened { shard, driver, feeder, tasks: stepped, position })
    }

    /// Returns the store. It accepts commits while the node is the owner.
    pub fn tree(&self) -> &Arc<TreeStore> {
        &self.tree
    }

    /// Returns a channel with the node's role.
    pub fn role(&self) -> watch::Receiver<Role> {
        self.role.clone()
    }

    /// Reports that a reader found the store damaged: the node releases the shard, wipes the local
    /// copy and rebuilds it from the cluster's journal.
    pub fn report_damage(&self, why: impl Into<String>) {
        self.replicator.fail_copy(Error::new(Kind::Corrupt, why));
    }

    /// Returns how often the local copy was wiped.
    pub fn discarded_copies(&self) -> u64 {
        self.wipes.load(Ordering::Relaxed)
    }

    /// Returns the number and size of the entries that the node has read from the cluster's journal
    /// and not applied to the tree yet.
    pub fn backlog(&self) -> Backlog {
        self.outstanding.backlog()
    }

    /// Releases the shard once everything is committed, so that another node can own it
    /// immediately.
    pub fn hand_over(&self) {
        self.commands.send(Command::HandOver);
    }

    /// As the owner, requests a base that contains this entry of the cluster's journal (default:
    /// the last committed one). Returns the entry, and a receiver of the number of the last entry
    /// in the first base that contains it. `None` if the node is not the owner.
    pub async fn make_base(&self, entry: Option<u64>) -> Option<(u64, oneshot::Receiver<u64>)> {
        let (accepted, hear) = oneshot::channel();
        let (done, made) = oneshot::channel();
        self.commands.send(Command::MakeBase(BaseRequest { entry, accepted, done }));
        Some((hear.await.ok()?, made))
    }

    /// Reads the cluster's records immediately, for callers that expect a change.
    pub fn refresh(&self) {
        self.commands.send(Command::Refresh);
    }

    /// Claims the shard as soon as it is free, regardless of an earlier `defer_claim`.
    pub fn claim_first(&self) {
        self.commands.send(Command::ClaimFirst);
    }

    /// Lets other nodes claim the shard first for this long, if it becomes free.
    pub fn defer_claim(&self, time: Duration) {
        self.commands.send(Command::DeferClaim(time));
    }
}
