//! A node's store of one shard, and what the node is to it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use cluster::{Backlog, Place};
use journal::OpenJournal;
use store::{Error, Kind, Timepiece};
use store_tree::{TreeOptions, TreeStore};
use tokio::sync::{
    mpsc::{UnboundedReceiver, unbounded_channel},
    oneshot, watch,
};

use crate::{
    feeder::{Feeder, Step},
    journal::NodeJournal,
    node_clock::NodeClock,
    outstanding::Outstanding,
    own_copy::{NotedPlace, OwnCopy},
    replicator::{Command, Commands, Replicator, WantedBase},
    role::Role,
    shard_driver::ShardDriver,
};

/// How the store of a shard is opened.
pub struct ShardOptions {
    /// The store.
    pub tree: TreeOptions,
    /// The shard's clock, while this node owns it.
    pub clock: Arc<dyn NodeClock>,
    /// Database time, for stamps.
    pub time: Arc<dyn Timepiece>,
}

impl std::fmt::Debug for ShardOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ShardOptions").field("tree", &self.tree).finish_non_exhaustive()
    }
}

/// A node's store of a shard. When it fails (a full disk, an error of the device, damage) the role is
/// [`Role::Failed`] and the shard is given up; the store is opened again by itself, and then followed from
/// where it stands. One that is damaged is thrown away and made again from the cluster's journal. It stays
/// the same [`TreeStore`] all the while.
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

/// What runs a shard's store.
pub(crate) struct Opened {
    pub(crate) shard: Arc<SharedShard>,
    pub(crate) driver: ShardDriver,
    pub(crate) feeder: Feeder,
    /// What the feeder is told.
    pub(crate) steps: UnboundedReceiver<Step>,
    /// Where its copy stands, and whether it may have more.
    pub(crate) place: (Place, bool),
}

impl SharedShard {
    /// Opens the directory of a shard. Its copy of the journal is kept in `own`; in the directory where
    /// that is nothing.
    pub(crate) fn open(
        number: u32,
        options: ShardOptions,
        own: Option<Arc<dyn OpenJournal>>,
        commands: Commands,
    ) -> Result<Opened, Error> {
        let own = own.unwrap_or_else(|| Arc::new(options.tree.journal_of_copy()));
        let place = NotedPlace::open(&options.tree)?;
        let book = Arc::clone(&place.book);
        let replicator = Arc::new(Replicator::new(commands.clone()));
        let journal: Arc<dyn OpenJournal> =
            Arc::new(NodeJournal { own, replicator: Arc::clone(&replicator), book });
        let (copy, wiped) = OwnCopy::open(place, &options.tree, &journal, &options.time)?;
        let (tree, wipes) = (Arc::clone(&copy.tree), Arc::clone(&copy.wipes));
        let place = (copy.book.newest().place, copy.is_unsure());
        let outstanding: Arc<Outstanding> = Arc::default();
        let (steps, stepped) = unbounded_channel();
        let clock = options.clock;
        let driver = ShardDriver::new(number, Arc::clone(&clock), steps, Arc::clone(&outstanding));
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
        Ok(Opened { shard, driver, feeder, steps: stepped, place })
    }

    /// The store. It takes commits while the node is the owner.
    pub fn tree(&self) -> &Arc<TreeStore> {
        &self.tree
    }

    /// What the node is to the shard, now and from now on.
    pub fn role(&self) -> watch::Receiver<Role> {
        self.role.clone()
    }

    /// Whoever reads the store has found it damaged: the node gives the shard up, throws its copy away
    /// and makes it again from the cluster's journal.
    pub fn report_damage(&self, why: impl Into<String>) {
        self.replicator.fail_copy(Error::new(Kind::Corrupt, why));
    }

    /// How often its own copy was thrown away, to be made again.
    pub fn copies_thrown_away(&self) -> u64 {
        self.wipes.load(Ordering::Relaxed)
    }

    /// How far the tree is behind what the node has read of the cluster's journal.
    pub fn backlog(&self) -> Backlog {
        self.outstanding.backlog()
    }

    /// Gives the shard up once all is committed, so that another may own it at once.
    pub fn hand_over(&self) {
        self.commands.send(Command::HandOver);
    }

    /// Has a base made, as the owner, that has this entry of the cluster's journal, or the last one that is
    /// committed. Returns which that is, and what hears behind which entry such a base stands. `None`: the
    /// node is not the owner.
    pub async fn make_base(&self, entry: Option<u64>) -> Option<(u64, oneshot::Receiver<u64>)> {
        let (told, hear) = oneshot::channel();
        let (done, made) = oneshot::channel();
        self.commands.send(Command::MakeBase(WantedBase { entry, told, done }));
        Some((hear.await.ok()?, made))
    }

    /// Looks at the cluster at once, as something has changed there.
    pub fn look(&self) {
        self.commands.send(Command::Look);
    }

    /// Claims the shard as soon as it is free, whatever it was asked to let others do.
    pub fn go_first(&self) {
        self.commands.send(Command::GoFirst);
    }

    /// Lets others claim the shard for so long, where it becomes free.
    pub fn hold_back(&self, time: Duration) {
        self.commands.send(Command::HoldBack(time));
    }
}
