//! The store implementations a server can run on, as one type, so that the engine is compiled once
//! at the cost of one branch per call. The methods are documented in `store`.

use std::sync::Arc;

use bytes::Bytes;
use store::{Direction, Error, KeyRange, Limit, MemoryStore, Page, Snapshot, Space, Store};
use store_tree::{Images, TreeMetrics, TreeSnapshot, TreeStore};
use tokio::sync::oneshot;

use crate::give_way::apart;

/// A store, chosen at the start: in memory if there is no data directory, else on disk, or a
/// cluster node's local copy.
#[derive(Debug)]
pub(crate) enum AnyStore {
    Memory(MemoryStore),
    Tree(TreeStore),
    Shared(TermTree),
}

/// A node's tree during one term of ownership of the shard. The tree outlives it.
#[derive(Debug)]
pub(crate) struct TermTree {
    tree: Arc<TreeStore>,
    /// Dropped with the engine, which signals that the next engine may be opened.
    _engine_gone: oneshot::Sender<()>,
}

impl TermTree {
    /// Wraps the store; the receiver completes when the wrapper has been dropped.
    pub(crate) fn new(tree: Arc<TreeStore>) -> (Self, oneshot::Receiver<()>) {
        let (engine_gone, gone) = oneshot::channel();
        (Self { tree, _engine_gone: engine_gone }, gone)
    }
}

/// A snapshot of the same kind as its store.
#[derive(Clone, Debug)]
pub(crate) enum AnySnapshot {
    Memory(<MemoryStore as Store>::Snapshot),
    Tree(TreeSnapshot),
}

/// Evaluates an expression on the store inside an [`AnyStore`], whichever kind it is.
macro_rules! each {
    ($store:expr, $inner:ident => $call:expr) => {
        match $store {
            Self::Memory($inner) => $call,
            Self::Tree($inner) => $call,
            Self::Shared(shared) => {
                let $inner = &*shared.tree;
                $call
            }
        }
    };
}

impl AnyStore {
    /// Returns the metrics of the store's committer; `None` for a store in memory.
    pub(crate) fn tree_metrics(&self) -> Option<Arc<TreeMetrics>> {
        match self {
            Self::Memory(_) => None,
            Self::Tree(store) => Some(store.metrics()),
            Self::Shared(store) => Some(store.tree.metrics()),
        }
    }

    /// Returns access to backup images; `None` unless this is a standalone store on disk.
    pub(crate) fn images(&self) -> Option<Images> {
        match self {
            Self::Tree(store) => Some(store.images()),
            Self::Memory(_) | Self::Shared(_) => None,
        }
    }
}

impl Snapshot for AnySnapshot {
    async fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, Error> {
        match self {
            Self::Memory(inner) => inner.get(space, key).await,
            Self::Tree(inner) => inner.get(space, key).await,
        }
    }

    async fn scan(
        &self,
        space: Space,
        range: &KeyRange,
        direction: Direction,
        limit: Limit,
    ) -> Result<Page, Error> {
        match self {
            Self::Memory(inner) => inner.scan(space, range, direction, limit).await,
            Self::Tree(inner) => inner.scan(space, range, direction, limit).await,
        }
    }
}

impl Store for AnyStore {
    type Snapshot = AnySnapshot;

    fn snapshot(&self) -> AnySnapshot {
        match self {
            Self::Memory(inner) => AnySnapshot::Memory(inner.snapshot()),
            Self::Tree(inner) => AnySnapshot::Tree(inner.snapshot()),
            Self::Shared(inner) => AnySnapshot::Tree(inner.tree.snapshot()),
        }
    }

    // Creating and dropping a space blocks on a thread of the store, which may wait for the disk
    // or, in a cluster, for Cassandra.
    fn create_space(&self, space: Space) -> Result<(), Error> {
        apart(|| each!(self, inner => inner.create_space(space)))
    }

    fn drop_space(&self, space: Space) -> Result<(), Error> {
        apart(|| each!(self, inner => inner.drop_space(space)))
    }

    store::delegate_store! { self via each:
        capabilities, published, in_flight, commit, all_spaces,
        set_drop_predicate, reap_space, filtered_through, space_bytes, disk_bytes, tick, health,
        resume_commits, close
    }
}
