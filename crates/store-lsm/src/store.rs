//! The contract over the tree.

use std::{
    collections::HashSet,
    sync::{Arc, atomic::Ordering, mpsc},
};

use fjall::{AbstractTree as _, PersistMode};
use store::{
    AtomicScope, Capabilities, DropPredicate, Error, Flight, Health, Kind, Outcome, Space, Store,
    Unit,
};
use tokio::sync::oneshot;

use crate::{
    compactor::{compact_whole, forget},
    errors::{from_fjall, from_io},
    filter::MARK,
    inner::Inner,
    judged::journals,
    messages::{Message, Request},
    open::LsmStore,
    snapshot::LsmSnapshot,
    spaces::Place,
};

impl Store for LsmStore {
    type Snapshot = LsmSnapshot;

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            max_key_bytes: 65_535 - 4,
            max_value_bytes: 64 * 1024 * 1024,
            atomic_scope: AtomicScope::Everything,
            still_snapshots: true,
            drops: true,
        }
    }

    fn snapshot(&self) -> LsmSnapshot {
        LsmSnapshot::new(&self.shared)
    }

    fn published(&self) -> u64 {
        self.shared.lasting.published.load(Ordering::SeqCst)
    }

    fn flight(&self) -> &Flight {
        &self.shared.lasting.flight
    }

    async fn commit(&self, units: Vec<Unit>) -> Result<Vec<Outcome>, Error> {
        let frees = units.iter().all(|unit| unit.frees);
        let (answer, outcome) = oneshot::channel();
        let closed = || Error::new(Kind::Unavailable, "the store is closed");
        self.shared
            .taking(frees)?
            .sender
            .send(Message::Commit(Request { units, answer }))
            .map_err(|_| closed())?;
        outcome.await.map_err(|_| closed())?
    }

    fn create_space(&self, space: Space) -> Result<(), Error> {
        self.shared.taking(false)?.inner.spaces.create(space)
    }

    fn drop_space(&self, space: Space) -> Result<(), Error> {
        let live = self.shared.taking(true)?;
        live.inner.judged.forget(space);
        if let Some(leftover) = live.inner.spaces.remove(space)? {
            live.inner.compactor.left(leftover);
        }
        Ok(())
    }

    fn spaces(&self) -> Vec<Space> {
        let Ok(live) = self.shared.live() else { return Vec::new() };
        live.inner.spaces.all().into_iter().map(|(space, _)| space).collect()
    }

    fn set_drop_predicate(&self, predicate: Arc<dyn DropPredicate>) {
        self.shared.lasting.predicate.set(predicate);
    }

    async fn reap(&self, space: Space) -> Result<(), Error> {
        let live = self.shared.taking(true)?;
        let (inner, committer) = (Arc::clone(&live.inner), live.sender.clone());
        drop(live);
        in_thread("reaper", move || compact(&inner, &committer, space)).await
    }

    fn judged(&self, space: Space) -> u64 {
        let Ok(live) = self.shared.live() else { return 0 };
        let oldest = journals(&live.inner.tree).map_or(0, |(oldest, _)| oldest);
        live.inner.judged.up_to(space, oldest)
    }

    fn space_bytes(&self, space: Space) -> u64 {
        let Ok(live) = self.shared.live() else { return 0 };
        live.inner.spaces.with(space, |place| place.keyspace.disk_space()).unwrap_or(0)
    }

    fn disk_bytes(&self) -> u64 {
        let Ok(live) = self.shared.live() else { return 0 };
        live.inner.database.disk_space().unwrap_or(0)
    }

    fn tick(&self) -> Result<(), Error> {
        let Ok(live) = self.shared.live() else { return Ok(()) };
        live.inner.move_mark()?;
        live.inner.compactor.failure().map_or(Ok(()), Err)
    }

    fn health(&self) -> Health {
        self.shared.health()
    }

    fn resume(&self) {
        self.shared.anew.store(false, Ordering::SeqCst);
    }

    async fn close(&self) -> Result<(), Error> {
        let inner = Arc::clone(&self.shared.live()?.inner);
        in_thread("closer", move || flush(&inner)).await
    }
}

/// Runs what blocks where it delays nobody.
async fn in_thread(
    name: &str,
    work: impl FnOnce() -> Result<(), Error> + Send + 'static,
) -> Result<(), Error> {
    let (done, result) = oneshot::channel();
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(move || done.send(work()))
        .map_err(|error| from_io("start a thread", &error))?;
    result.await.map_err(|_| Error::new(Kind::Unavailable, "a thread of the store stopped"))?
}

/// Compacts one keyspace as a whole, under its filter. All others are flushed too: the journal can
/// only go when nothing in memory depends on it.
fn compact(inner: &Inner, committer: &mpsc::Sender<Message>, space: Space) -> Result<(), Error> {
    let Some(Place { keyspace, .. }) = inner.spaces.get(space) else { return Ok(()) };
    let context = |error: fjall::Error| from_fjall("compact a keyspace", &error);
    // Newer than all that is dropped: a start replays only what is newer than the tables.
    keyspace.insert(MARK, []).map_err(context)?;
    let seq = inner.published.load(Ordering::SeqCst);
    let newest = journals(&inner.tree).map(|(_, newest)| newest);
    inner.flush(&keyspace)?;
    let tables = || -> HashSet<_> {
        keyspace.tree.current_version().iter_tables().map(|table| table.id()).collect()
    };
    let before = tables();
    compact_whole(inner, &keyspace).map_err(context)?;
    let (done, refreshed) = mpsc::channel();
    if committer.send(Message::Refresh(done)).is_ok() {
        let _ = refreshed.recv();
    }
    forget(inner, &keyspace).map_err(context)?;
    if let (Some(newest), true) = (newest, before.is_disjoint(&tables())) {
        inner.judged.compacted(space, seq, newest);
    }
    inner.flush_all()
}

/// Flushes everything, so that the next start has nothing to replay.
fn flush(inner: &Inner) -> Result<(), Error> {
    let context = |error: fjall::Error| from_fjall("flush", &error);
    inner.flush_all()?;
    inner.database.persist(PersistMode::SyncAll).map_err(context)?;
    inner.move_mark()
}
