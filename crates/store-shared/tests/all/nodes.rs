//! Nodes for tests: several in one process, on one ledger in memory, with short leases.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use cluster::{Heritage, Host, MemoryLedger, Settings};
use store::laws::ManualTime;
use store_shared::{NodeOptions, Role, SharedNode};
use store_tree::TreeOptions;
use tempfile::TempDir;
use uuid::Uuid;

const MS: u64 = 1_000_000;
/// How long a role is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// A clock that says nothing: time comes from the test.
struct Still;

impl Host for Still {
    fn begin(&mut self, _: &Heritage, _: u64) -> Bytes {
        Bytes::new()
    }

    fn checkpoint(&mut self, _: u64) -> Bytes {
        Bytes::new()
    }

    fn claim(&mut self) -> Uuid {
        Uuid::from_u128(fastrand::u128(..))
    }
}

/// The boot clock of this machine.
fn boot_ns() -> u64 {
    u64::try_from(clock::ClockSource::boot_ns(&clock::Machine)).unwrap()
}

/// A cluster of nodes that come and go.
pub(crate) struct Nodes {
    pub(crate) ledger: Arc<MemoryLedger>,
    pub(crate) time: ManualTime,
}

/// What is left of a node when its process has gone.
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
        Self { ledger: Arc::new(MemoryLedger::new()), time }
    }

    /// Starts a node on a machine.
    pub(crate) fn start(&self, machine: &Machine) -> SharedNode {
        let about = Bytes::from_static(b"test");
        let mut settings = Settings::new(Uuid::from_u128(1), 0, machine.id, about, true);
        (settings.lease, settings.margin) = (120 * MS, 20 * MS);
        (settings.beat, settings.watch) = (30 * MS, 10 * MS);
        (settings.read, settings.idle, settings.again) = (5 * MS, 5 * MS, 5 * MS);
        let tree = TreeOptions {
            segment_bytes: 1 << 20,
            spare_segments: 0,
            ..TreeOptions::new(machine.directory.path())
        };
        let options = NodeOptions {
            tree,
            settings,
            boot_clock: Arc::new(boot_ns),
            host: Box::new(Still),
            time: self.time.timepiece(),
        };
        SharedNode::open(options, Arc::clone(&self.ledger)).unwrap()
    }
}

/// Waits until a node is what is wanted.
pub(crate) async fn wait_for(node: &SharedNode, wanted: impl Fn(&Role) -> bool) {
    let mut role = node.role();
    let waited = tokio::time::timeout(PATIENCE, role.wait_for(|role| wanted(role))).await;
    let failed = format!("{node:?} is not what was waited for");
    assert!(waited.is_ok_and(|waited| waited.is_ok()), "{failed}");
}

pub(crate) fn serves(role: &Role) -> bool {
    matches!(role, Role::Serving { .. })
}

/// Waits until a node has applied as much as another.
pub(crate) fn wait_until_level(node: &SharedNode, owner: &SharedNode) {
    let wanted = owner.tree().last_entry().unwrap();
    for _ in 0..6_000 {
        if wanted <= node.tree().last_entry().unwrap() {
            return;
        }
        std::thread::park_timeout(Duration::from_millis(5));
    }
    panic!("{node:?} does not come up to {owner:?}");
}
