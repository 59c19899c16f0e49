//! The stores a server can be started with, as one type, so that the engine is compiled once.

use std::sync::Arc;

use bytes::Bytes;
use store::{
    Capabilities, Direction, DropPredicate, Error, Flight, Health, Limit, MemoryStore, Outcome,
    Page, Range, Snapshot, Space, Store, Unit,
};
use store_lsm::{LsmSnapshot, LsmStore, Measured};

/// A store.
#[derive(Debug)]
pub(crate) enum AnyStore {
    Memory(MemoryStore),
    Lsm(LsmStore),
}

/// A snapshot of one of them.
#[derive(Clone, Debug)]
pub(crate) enum AnySnapshot {
    Memory(<MemoryStore as Store>::Snapshot),
    Lsm(LsmSnapshot),
}

macro_rules! each {
    ($store:expr, $inner:ident => $call:expr) => {
        match $store {
            Self::Memory($inner) => $call,
            Self::Lsm($inner) => $call,
        }
    };
}

impl AnyStore {
    /// What its committer measured; `None` where nothing is written to a disk.
    pub(crate) fn measured(&self) -> Option<Arc<Measured>> {
        match self {
            Self::Memory(_) => None,
            Self::Lsm(store) => Some(store.measured()),
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
        range: &Range,
        direction: Direction,
        limit: Limit,
    ) -> Result<Page, Error> {
        each!(self, inner => inner.scan(space, range, direction, limit).await)
    }
}

impl Store for AnyStore {
    type Snapshot = AnySnapshot;

    fn capabilities(&self) -> Capabilities {
        each!(self, inner => inner.capabilities())
    }

    fn snapshot(&self) -> AnySnapshot {
        match self {
            Self::Memory(inner) => AnySnapshot::Memory(inner.snapshot()),
            Self::Lsm(inner) => AnySnapshot::Lsm(inner.snapshot()),
        }
    }

    fn published(&self) -> u64 {
        each!(self, inner => inner.published())
    }

    fn flight(&self) -> &Flight {
        each!(self, inner => inner.flight())
    }

    async fn commit(&self, units: Vec<Unit>) -> Result<Vec<Outcome>, Error> {
        each!(self, inner => inner.commit(units).await)
    }

    fn create_space(&self, space: Space) -> Result<(), Error> {
        each!(self, inner => inner.create_space(space))
    }

    fn drop_space(&self, space: Space) -> Result<(), Error> {
        each!(self, inner => inner.drop_space(space))
    }

    fn spaces(&self) -> Vec<Space> {
        each!(self, inner => inner.spaces())
    }

    fn set_drop_predicate(&self, predicate: Arc<dyn DropPredicate>) {
        each!(self, inner => inner.set_drop_predicate(predicate));
    }

    async fn reap(&self, space: Space) -> Result<(), Error> {
        each!(self, inner => inner.reap(space).await)
    }

    fn judged(&self, space: Space) -> u64 {
        each!(self, inner => inner.judged(space))
    }

    fn space_bytes(&self, space: Space) -> u64 {
        each!(self, inner => inner.space_bytes(space))
    }

    fn disk_bytes(&self) -> u64 {
        each!(self, inner => inner.disk_bytes())
    }

    fn tick(&self) -> Result<(), Error> {
        each!(self, inner => inner.tick())
    }

    fn health(&self) -> Health {
        each!(self, inner => inner.health())
    }

    fn resume(&self) {
        each!(self, inner => inner.resume());
    }

    async fn close(&self) -> Result<(), Error> {
        each!(self, inner => inner.close().await)
    }
}
