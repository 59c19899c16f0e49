//! The stores a server can be started with, as one type, so that the engine is compiled once. Each
//! call costs one branch. What a call does is documented in `store`.

use std::sync::Arc;

use bytes::Bytes;
use store::{Direction, Error, KeyRange, Limit, MemoryStore, Page, Snapshot, Space, Store};
use store_tree::{TreeMetrics, TreeSnapshot, TreeStore};

/// A store, chosen once at the start: in memory without a data directory, else on disk.
#[derive(Debug)]
pub(crate) enum AnyStore {
    Memory(MemoryStore),
    Tree(TreeStore),
}

/// A snapshot of one of them, of the same kind as its store.
#[derive(Clone, Debug)]
pub(crate) enum AnySnapshot {
    Memory(<MemoryStore as Store>::Snapshot),
    Tree(TreeSnapshot),
}

/// Calls the same method on whichever store it is.
macro_rules! each {
    ($store:expr, $inner:ident => $call:expr) => {
        match $store {
            Self::Memory($inner) => $call,
            Self::Tree($inner) => $call,
        }
    };
}

impl AnyStore {
    /// Returns what the store's committer measures; `None` where nothing is written to a disk.
    pub(crate) fn tree_metrics(&self) -> Option<Arc<TreeMetrics>> {
        match self {
            Self::Memory(_) => None,
            Self::Tree(store) => Some(store.metrics()),
        }
    }
}

impl Snapshot for AnySnapshot {
    async fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, Error> {
        each!(self, inner => inner.get(space, key).await)
    }

    async fn scan(
        &self,
        space: Space,
        range: &KeyRange,
        direction: Direction,
        limit: Limit,
    ) -> Result<Page, Error> {
        each!(self, inner => inner.scan(space, range, direction, limit).await)
    }
}

impl Store for AnyStore {
    type Snapshot = AnySnapshot;

    fn snapshot(&self) -> AnySnapshot {
        match self {
            Self::Memory(inner) => AnySnapshot::Memory(inner.snapshot()),
            Self::Tree(inner) => AnySnapshot::Tree(inner.snapshot()),
        }
    }

    store::delegate_store! { self via each:
        capabilities, published, in_flight, commit, create_space, drop_space, all_spaces,
        set_drop_predicate, reap_space, filtered_through, space_bytes, disk_bytes, tick, health,
        resume_commits, close
    }
}
