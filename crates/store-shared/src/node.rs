//! A node: its stores and its membership in the cluster. It follows the owner of each shard until
//! it becomes the owner itself.

use std::{sync::Arc, thread::JoinHandle};

use cluster::{Ledger, Member, Settings, View};
use journal::OpenJournal;
use parking_lot::Mutex;
use store::{Error, Kind};
use tokio::sync::{
    mpsc::{UnboundedSender, unbounded_channel},
    watch,
};

use crate::{
    driver::{BootClock, Driver},
    replicator::{Commands, DriverCommand},
    shard::{Opened, ShardOptions, SharedShard},
};

/// Options of a cluster node.
pub struct NodeOptions {
    /// Settings of the protocol; their shard number is ignored.
    pub settings: Settings,
    /// Reads the boot clock in nanoseconds.
    pub boot_clock: BootClock,
    /// Options of all shards of the cluster, by number.
    pub shards: Vec<ShardOptions>,
}

impl std::fmt::Debug for NodeOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NodeOptions").field("shards", &self.shards).finish_non_exhaustive()
    }
}

/// A node of a cluster, with one thread for the protocol and one for each shard.
pub struct SharedNode {
    shards: Vec<Arc<SharedShard>>,
    view: watch::Receiver<View>,
    driver: UnboundedSender<DriverCommand>,
    /// Threads of the driver and the feeders, in the order in which they are joined.
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl std::fmt::Debug for SharedNode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedNode").field("shards", &self.shards).finish_non_exhaustive()
    }
}

impl SharedNode {
    /// Opens the directories of the node's shards and starts to follow.
    pub fn open<L: Ledger>(options: NodeOptions, ledger: Arc<L>) -> Result<Self, Error> {
        Self::open_on(options, |_| None, ledger)
    }

    /// Like `open`, but keeps the local copy of a shard's journal in the journal that `own` returns
    /// for the shard, if any.
    pub fn open_on<L: Ledger>(
        options: NodeOptions,
        own: impl Fn(u32) -> Option<Arc<dyn OpenJournal>>,
        ledger: Arc<L>,
    ) -> Result<Self, Error> {
        let (driver, commanded) = unbounded_channel();
        let opened = (0..).zip(options.shards).map(|(number, shard)| {
            SharedShard::open(number, shard, own(number), Commands::new(number, driver.clone()))
        });
        let opened = opened.collect::<Result<Vec<Opened>, Error>>()?;
        let places: Vec<_> = opened.iter().map(|opened| opened.position).collect();
        let (view, seen) = watch::channel(View::default());
        let (mut shards, mut drivers, mut feeders) = (Vec::new(), Vec::new(), Vec::new());
        for Opened { shard, driver, feeder, tasks, .. } in opened {
            shards.push(shard);
            drivers.push(driver);
            feeders.push((feeder, tasks));
        }
        let run = Driver {
            member: Member::new(options.settings.clone(), &places),
            ledger,
            shards: drivers,
            until: 0,
            boot_clock: options.boot_clock,
            commands: commanded,
            settings: options.settings,
            view,
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .map_err(|error| io_error("start a runtime", &error))?;
        let mut threads = vec![spawn("driver", move || runtime.block_on(run.run()))?];
        for (feeder, tasks) in feeders {
            threads.push(spawn("feeder", move || feeder.run(tasks))?);
        }
        let threads = Mutex::new(threads);
        Ok(Self { shards, view: seen, driver, threads })
    }

    /// Returns the stores of all shards, by number.
    pub fn shards(&self) -> &[Arc<SharedShard>] {
        &self.shards
    }

    /// Returns the store of a shard, or `None` if the shard does not exist.
    pub fn shard(&self, shard: u32) -> Option<&Arc<SharedShard>> {
        self.shards.get(usize::try_from(shard).ok()?)
    }

    /// Returns a channel with the node's view of the cluster. It is updated several times a second
    /// and when the owner of a shard changes.
    pub fn view(&self) -> watch::Receiver<View> {
        self.view.clone()
    }

    /// Stops all threads without notifying the ledger, as if the process were killed.
    pub fn stop(&self) {
        let _ = self.driver.send(DriverCommand::Stop);
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

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, Error> {
    let thread = std::thread::Builder::new().name(name.to_owned()).spawn(work);
    thread.map_err(|error| io_error("start a thread", &error))
}

fn io_error(context: &str, error: &std::io::Error) -> Error {
    Error::new(Kind::Unavailable, format!("{context}: {error}"))
}
