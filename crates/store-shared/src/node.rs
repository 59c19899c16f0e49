//! A node: its store, and its part in the cluster. It follows the shard's owner until it is the owner
//! itself.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    thread::JoinHandle,
    time::Duration,
};

use cluster::{Ledger, Member, Settings, View};
use parking_lot::Mutex;
use store::{Error, Kind, Timepiece};
use store_tree::{TreeOptions, TreeStore};
use tokio::sync::{
    mpsc::{UnboundedSender, unbounded_channel},
    watch,
};

use crate::{
    driver::{BootClock, Driver},
    feeder::Feeder,
    journal::{NodeJournal, PlaceBook},
    node_clock::NodeClock,
    place_file::PlaceFile,
    replicator::{Command, Replicator},
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

/// A node of a cluster, with its threads.
pub struct SharedNode {
    tree: Arc<TreeStore>,
    role: watch::Receiver<Role>,
    view: watch::Receiver<View>,
    commands: UnboundedSender<Command>,
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
        let path = options.tree.path.join("place");
        std::fs::create_dir_all(&options.tree.path)
            .map_err(|error| io_error("make the directory", &error))?;
        let place_file =
            PlaceFile::open(&path).map_err(|error| io_error("open the place", &error))?;
        let noted = place_file.noted;
        let book = Arc::new(PlaceBook::new(noted));
        let (commands, commanded) = unbounded_channel();
        let journal = NodeJournal {
            own: Arc::new(options.tree.journal_folder()),
            replicator: Arc::new(Replicator::new(commands.clone())),
            book: Arc::clone(&book),
        };
        let tree = TreeStore::open_on(&options.tree, Arc::new(journal), options.time, false)?;
        let tree = Arc::new(tree);
        let (steps, stepped) = unbounded_channel();
        let (role, shown) = watch::channel(Role::Following);
        let (view, seen) = watch::channel(View::default());
        let driver = Driver {
            member: Member::new(options.settings, noted.place),
            ledger,
            clock: Arc::clone(&options.clock),
            until: 0,
            boot_clock: options.boot_clock,
            commands: commanded,
            steps,
            queue: VecDeque::new(),
            waiting: HashMap::new(),
            view,
        };
        let feeder =
            Feeder { tree: Arc::clone(&tree), clock: options.clock, book, place_file, path, role };
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
        Ok(Self { tree, role: shown, view: seen, commands, threads: Mutex::new(threads) })
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

    /// Gives the shard up once all is committed, so that another may own it at once.
    pub fn hand_over(&self) {
        let _ = self.commands.send(Command::HandOver);
    }

    /// Looks at the cluster at once, as something has changed there.
    pub fn look(&self) {
        let _ = self.commands.send(Command::Look);
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
