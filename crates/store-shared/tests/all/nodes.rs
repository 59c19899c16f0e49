//! A test cluster: several nodes in one process, on one in-memory ledger.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use cluster::{ClockLowerBounds, MemoryLedger, Settings};
use journal::OpenJournal;
use store::{CommitClock, Error, Store as _, laws::ManualTime};
use store_shared::{NodeClock, NodeOptions, Role, ShardOptions, SharedNode, SharedShard};
use store_tree::TreeOptions;
use tempfile::TempDir;
use uuid::Uuid;

use crate::faulty::FaultyFolder;

const MS: u64 = 1_000_000;
/// Milliseconds for which an owner may serve after an applied heartbeat.
pub(crate) const LEASE_MS: i64 = 3_000;
/// Time skipped at each check while waiting for an owner, in milliseconds.
const SKIP_MS: u64 = 20;
/// Limits of a tree's backlog, and size of one read.
pub(crate) const HOLD_BYTES: u64 = 512 << 10;
pub(crate) const HOLD_ENTRIES: u64 = 400;
pub(crate) const READ_BYTES: usize = 32 << 10;
/// Timeout when waiting for a role.
const PATIENCE: Duration = Duration::from_secs(60);

/// A shard clock that does nothing: the test provides the time of commits.
struct Still;

impl NodeClock for Still {
    fn begin(&self, _: &ClockLowerBounds) -> Bytes {
        Bytes::new()
    }

    fn open(&self, _: &ClockLowerBounds) -> Result<(), Error> {
        Ok(())
    }

    fn checkpoint(&self) -> Bytes {
        Bytes::new()
    }

    fn has_new_checkpoint(&self) -> bool {
        false
    }

    fn confirm_checkpoint(&self) {}

    fn finish(&self) -> Bytes {
        Bytes::new()
    }

    fn end(&self) {}
}

/// The boot clock of all nodes of a test, plus the time that the test has skipped. Leases last
/// three seconds, so that none expires on a busy machine; tests skip this time.
#[derive(Clone, Debug, Default)]
pub(crate) struct BootTime {
    skipped_ns: Arc<AtomicU64>,
}

impl BootTime {
    pub(crate) fn now_ns(&self) -> u64 {
        let machine = u64::try_from(clock::ClockSource::boot_ns(&clock::Machine)).unwrap();
        machine + self.skipped_ns.load(Ordering::SeqCst)
    }

    pub(crate) fn skipped_ms(&self) -> i64 {
        i64::try_from(self.skipped_ns.load(Ordering::SeqCst) / MS).unwrap()
    }

    pub(crate) fn skip(&self, ms: u64) {
        self.skipped_ns.fetch_add(ms * MS, Ordering::SeqCst);
    }
}

/// A cluster whose nodes are started and stopped.
pub(crate) struct Nodes {
    pub(crate) boot: BootTime,
    pub(crate) ledger: Arc<MemoryLedger>,
    pub(crate) time: ManualTime,
    /// Journal size after which a base is written, with small segments; `None` uses the defaults.
    pub(crate) base_bytes: Option<u64>,
}

/// A node of a cluster with one shard.
#[derive(Debug)]
pub(crate) struct OneShard {
    node: SharedNode,
    shard: Arc<SharedShard>,
}

impl OneShard {
    fn of(node: SharedNode) -> Self {
        let shard = Arc::clone(node.shard(0).unwrap());
        Self { node, shard }
    }

    /// Stops the node as if its process were killed.
    pub(crate) fn stop(&self) {
        self.node.stop();
    }
}

impl std::ops::Deref for OneShard {
    type Target = SharedShard;

    fn deref(&self) -> &SharedShard {
        &self.shard
    }
}

/// What remains of a node after its process has ended: its id and directory.
pub(crate) struct Machine {
    pub(crate) id: Uuid,
    pub(crate) directory: TempDir,
}

impl Machine {
    pub(crate) fn new() -> Self {
        Self { id: Uuid::from_u128(fastrand::u128(..)), directory: TempDir::new().unwrap() }
    }
}

impl Nodes {
    pub(crate) fn new(time: ManualTime) -> Self {
        Self { boot: BootTime::default(), ledger: Arc::default(), time, base_bytes: None }
    }

    /// Starts a node that uses the test's time.
    pub(crate) fn start(&self, machine: &Machine) -> OneShard {
        self.start_with(machine, Arc::new(Still), self.time.commit_clock())
    }

    /// Starts a node with this clock.
    pub(crate) fn start_with(
        &self,
        machine: &Machine,
        clock: Arc<dyn NodeClock>,
        time: Arc<dyn CommitClock>,
    ) -> OneShard {
        let options = self.one_shard(machine, clock, time);
        OneShard::of(SharedNode::open(options, Arc::clone(&self.ledger)).unwrap())
    }

    /// Starts a node with this local copy of the journal.
    pub(crate) fn start_on(&self, machine: &Machine, own: impl OpenJournal) -> OneShard {
        let options = self.one_shard(machine, Arc::new(Still), self.time.commit_clock());
        let own: Arc<dyn OpenJournal> = Arc::new(own);
        let position = |_| Some(Arc::clone(&own));
        let node = SharedNode::open_on(options, position, Arc::clone(&self.ledger));
        OneShard::of(node.unwrap())
    }

    /// Returns the store options of a machine.
    pub(crate) fn tree_options(&self, machine: &Machine) -> TreeOptions {
        TreeOptions {
            segment_bytes: 1 << 20,
            spare_segments: 0,
            ..TreeOptions::new(machine.directory.path())
        }
    }

    /// Starts a node of a cluster with `shards` shards. The local journal copy of the last shard is
    /// on a disk that fails on demand.
    pub(crate) fn start_many(&self, machine: &Machine, shards: u32) -> (SharedNode, FaultyFolder) {
        let path = |shard: u32| machine.directory.path().join(shard.to_string());
        let options =
            |shard| TreeOptions { segment_bytes: 1 << 20, ..TreeOptions::new(path(shard)) };
        let disk = FaultyFolder::new(options(shards - 1).journal_of_copy());
        let shard_options = (0..shards).map(|shard| ShardOptions {
            tree: options(shard),
            clock: Arc::new(Still),
            time: self.time.commit_clock(),
        });
        let node_options = self.options(machine, shard_options.collect());
        let own =
            |shard| (shard == shards - 1).then(|| Arc::new(disk.clone()) as Arc<dyn OpenJournal>);
        (SharedNode::open_on(node_options, own, Arc::clone(&self.ledger)).unwrap(), disk)
    }

    fn one_shard(
        &self,
        machine: &Machine,
        clock: Arc<dyn NodeClock>,
        time: Arc<dyn CommitClock>,
    ) -> NodeOptions {
        self.options(machine, vec![ShardOptions { tree: self.tree_options(machine), clock, time }])
    }

    fn options(&self, machine: &Machine, shards: Vec<ShardOptions>) -> NodeOptions {
        let about = Bytes::from_static(b"test");
        let mut settings = Settings::new(Uuid::from_u128(1), 0, machine.id, about);
        (settings.poll_interval, settings.read) = (20 * MS, 5 * MS);
        (settings.idle, settings.again) = (5 * MS, 5 * MS);
        (settings.hold_bytes, settings.hold_entries) = (HOLD_BYTES, HOLD_ENTRIES);
        settings.read_bytes = READ_BYTES;
        if let Some(bytes) = self.base_bytes {
            (settings.base_bytes, settings.piece_bytes) = (bytes, 16 << 10);
            settings.segment_bytes = 64 << 10;
        }
        let boot = self.boot.clone();
        let boot_clock = Arc::new(move || boot.now_ns());
        NodeOptions { settings, boot_clock, shards }
    }
}

/// Waits until the role of a node satisfies a condition.
pub(crate) async fn wait_for(node: &SharedShard, wanted: impl Fn(&Role) -> bool) {
    let mut role = node.role();
    let waited = tokio::time::timeout(PATIENCE, role.wait_for(|role| wanted(role))).await;
    // The returned guard holds a read lock on the role. It has to be dropped before the role is
    // read again: with a writer waiting in between, both would deadlock.
    let came = waited.is_ok_and(|waited| waited.is_ok());
    assert!(came, "{node:?} is not what was waited for");
}

impl Nodes {
    /// Waits until a node serves, skipping the time of leases.
    pub(crate) fn take_over(&self, node: &SharedShard) {
        for _ in 0..60_000 {
            if serves(&node.role().borrow()) {
                return;
            }
            self.boot.skip(SKIP_MS);
            std::thread::park_timeout(Duration::from_millis(1));
        }
        panic!("{node:?} does not serve");
    }
}

pub(crate) fn serves(role: &Role) -> bool {
    matches!(role, Role::Serving { .. })
}

/// Waits until a node has applied as much as another.
pub(crate) fn wait_until_level(node: &SharedShard, owner: &SharedShard) {
    // An entry counts as the last one slightly before it is visible, so both are compared.
    let stands = |node: &SharedShard| (node.tree().last_entry().unwrap(), node.tree().published());
    let (wanted, published) = stands(owner);
    for _ in 0..6_000 {
        let (last, visible) = stands(node);
        if wanted <= last && published <= visible {
            return;
        }
        std::thread::park_timeout(Duration::from_millis(5));
    }
    panic!("{node:?} does not come up to {owner:?}");
}
