//! A node: its store, and its part in the cluster. It follows the shard's owner until it is the owner
//! itself.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use cluster::{Backlog, Ledger, Member, Settings, View};
use journal::OpenJournal;
use parking_lot::Mutex;
use store::{Error, Kind, Timepiece};
use store_tree::{TreeOptions, TreeStore};
use tokio::sync::{
    mpsc::{UnboundedSender, unbounded_channel},
    oneshot, watch,
};

use crate::{
    bases::BaseDue,
    driver::{BootClock, Driver},
    feeder::Feeder,
    journal::NodeJournal,
    node_clock::NodeClock,
    outstanding::Outstanding,
    own_copy::{NotedPlace, OwnCopy},
    replicator::{Command, Replicator, WantedBase},
    role::Role,
};

/// How a node is opened.
pub struct NodeOptions {
    /// Its store.
    pub tree: TreeOptions,
    /// Its part in the cluster.
    pub settings: Settings,
    /// Nanoseconds of the boot clock.
    pub boot_clock: BootClock,
    /// The shard's clock, while this node owns it.
    pub clock: Arc<dyn NodeClock>,
    /// Database time, for stamps.
    pub time: Arc<dyn Timepiece>,
}

impl std::fmt::Debug for NodeOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NodeOptions").field("tree", &self.tree).finish_non_exhaustive()
    }
}

/// A node of a cluster, with its threads. When its own copy fails (a full disk, an error of the device,
/// damage) the role is [`Role::Failed`] and the shard is given up; the store is opened again by itself, and
/// then followed from where it stands. One that is damaged is thrown away and made again from the
/// cluster's journal. The store stays the same [`TreeStore`] all the while.
pub struct SharedNode {
    tree: Arc<TreeStore>,
    role: watch::Receiver<Role>,
    view: watch::Receiver<View>,
    commands: UnboundedSender<Command>,
    replicator: Arc<Replicator>,
    outstanding: Arc<Outstanding>,
    wipes: Arc<AtomicU64>,
    /// The driver's and the feeder's, in the order in which they end.
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl std::fmt::Debug for SharedNode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedNode").field("role", &*self.role.borrow()).finish_non_exhaustive()
    }
}

impl SharedNode {
    /// Opens the node's directory and begins to follow.
    pub fn open<L: Ledger>(options: NodeOptions, ledger: Arc<L>) -> Result<Self, Error> {
        let own = Arc::new(options.tree.journal_folder());
        Self::open_on(options, own, ledger)
    }

    /// The same with its own copy of the journal kept elsewhere than in its directory.
    pub fn open_on<L: Ledger>(
        options: NodeOptions,
        own: Arc<dyn OpenJournal>,
        ledger: Arc<L>,
    ) -> Result<Self, Error> {
        let place = NotedPlace::open(&options.tree)?;
        let book = Arc::clone(&place.book);
        let (commands, commanded) = unbounded_channel();
        let replicator = Arc::new(Replicator::new(commands.clone()));
        let journal: Arc<dyn OpenJournal> =
            Arc::new(NodeJournal { own, replicator: Arc::clone(&replicator), book });
        let (copy, wiped) = OwnCopy::open(place, &options.tree, &journal, &options.time)?;
        let (tree, wipes) = (Arc::clone(&copy.tree), Arc::clone(&copy.wipes));
        let (steps, stepped) = unbounded_channel();
        let (view, seen) = watch::channel(View::default());
        let outstanding: Arc<Outstanding> = Arc::default();
        let driver = Driver {
            member: Member::new(
                options.settings.clone(),
                copy.book.newest().place,
                copy.is_unsure(),
            ),
            ledger,
            clock: Arc::clone(&options.clock),
            until: 0,
            boot_clock: options.boot_clock,
            commands: commanded,
            steps,
            outstanding: Arc::clone(&outstanding),
            settings: options.settings,
            loading: None,
            due: BaseDue::default(),
            queue: VecDeque::new(),
            waiting: HashMap::new(),
            view,
        };
        let (role, shown) = watch::channel(wiped.map_or(Role::Following, Role::Failed));
        let feeder = Feeder::new(
            copy,
            options.clock,
            role,
            Arc::clone(&outstanding),
            commands.clone(),
            Arc::clone(&replicator),
        );
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .map_err(|error| io_error("start a runtime", &error))?;
        let spawn = |name: &str, work: Box<dyn FnOnce() + Send>| {
            let thread = std::thread::Builder::new().name(name.to_owned()).spawn(work);
            thread.map_err(|error| io_error("start a thread", &error))
        };
        let threads = vec![
            spawn("driver", Box::new(move || runtime.block_on(driver.run())))?,
            spawn("feeder", Box::new(move || feeder.run(stepped)))?,
        ];
        let threads = Mutex::new(threads);
        Ok(Self {
            tree,
            role: shown,
            view: seen,
            commands,
            replicator,
            outstanding,
            wipes,
            threads,
        })
    }

    /// The store. It takes commits while the node is the owner.
    pub fn tree(&self) -> &Arc<TreeStore> {
        &self.tree
    }

    /// What it is to the shard, now and from now on.
    pub fn role(&self) -> watch::Receiver<Role> {
        self.role.clone()
    }

    /// What it sees of the cluster, a few times a second and whenever the owner changes.
    pub fn view(&self) -> watch::Receiver<View> {
        self.view.clone()
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
        let _ = self.commands.send(Command::HandOver);
    }

    /// Has a base made, as the owner, that has this entry of the cluster's journal, or the last one that is
    /// committed. Returns which that is, and what hears behind which entry such a base stands. `None`: the
    /// node is not the owner.
    pub async fn make_base(&self, entry: Option<u64>) -> Option<(u64, oneshot::Receiver<u64>)> {
        let (told, hear) = oneshot::channel();
        let (done, made) = oneshot::channel();
        let _ = self.commands.send(Command::MakeBase(WantedBase { entry, told, done }));
        Some((hear.await.ok()?, made))
    }

    /// Looks at the cluster at once, as something has changed there.
    pub fn look(&self) {
        let _ = self.commands.send(Command::Look);
    }

    /// Claims the shard as soon as it is free, whatever it was asked to let others do.
    pub fn go_first(&self) {
        let _ = self.commands.send(Command::GoFirst);
    }

    /// Lets others claim the shard for so long, where it becomes free.
    pub fn hold_back(&self, time: Duration) {
        let _ = self.commands.send(Command::HoldBack(time));
    }

    /// Ends its threads without a word to the ledger, as a killed process would.
    pub fn stop(&self) {
        let _ = self.commands.send(Command::Stop);
        for thread in self.threads.lock().drain(..) {
            let _ = thread.join();
        }
    }
}

impl Drop for SharedNode {
    fn drop(&mut self) {
        self.stop();
    }
}

fn io_error(context: &str, error: &std::io::Error) -> Error {
    Error::new(Kind::Unavailable, format!("{context}: {error}"))
}
