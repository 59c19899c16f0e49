//! The contract over the tree.

use std::{
    collections::HashSet,
    sync::{Arc, PoisonError, atomic::Ordering, mpsc},
    time::Duration,
};

use fjall::{AbstractTree as _, PersistMode};
use store::{
    AtomicScope, Capabilities, DropPredicate, Error, Flight, Kind, Outcome, Space, Store, Unit,
};
use tokio::sync::oneshot;

use crate::{
    LsmSnapshot, LsmStore,
    committer::{Message, Request},
    compactor::{compact_whole, forget},
    errors::{from_fjall, from_io},
    filter::MARK,
    judged::journals,
    open::Inner,
    spaces::Place,
};

/// How often and how many times a compaction looks whether memory has been flushed.
const FLUSH_LOOK_EVERY: Duration = Duration::from_millis(10);
const FLUSH_LOOKS: u32 = 1_000;

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
        LsmSnapshot { inner: Arc::clone(&self.inner), open: self.inner.current.load_full() }
    }

    fn published(&self) -> u64 {
        self.inner.published.load(Ordering::SeqCst)
    }

    fn flight(&self) -> &Flight {
        &self.inner.flight
    }

    async fn commit(&self, units: Vec<Unit>) -> Result<Vec<Outcome>, Error> {
        let (answer, outcome) = oneshot::channel();
        let closed = || Error::new(Kind::Unavailable, "the store is closed");
        self.sender.send(Message::Commit(Request { units, answer })).map_err(|_| closed())?;
        outcome.await.map_err(|_| closed())?
    }

    fn create_space(&self, space: Space) -> Result<(), Error> {
        self.inner.spaces.create(space)
    }

    fn drop_space(&self, space: Space) -> Result<(), Error> {
        self.inner.judged.forget(space);
        if let Some(leftover) = self.inner.spaces.remove(space)? {
            self.inner.compactor.left(leftover);
        }
        Ok(())
    }

    fn spaces(&self) -> Vec<Space> {
        self.inner.spaces.all().into_iter().map(|(space, _)| space).collect()
    }

    fn set_drop_predicate(&self, predicate: Arc<dyn DropPredicate>) {
        self.inner.predicate.set(predicate);
    }

    async fn reap(&self, space: Space) -> Result<(), Error> {
        let (inner, committer) = (Arc::clone(&self.inner), self.sender.clone());
        in_thread("reaper", move || compact(&inner, &committer, space)).await
    }

    fn judged(&self, space: Space) -> u64 {
        let oldest = journals(&self.inner.tree).map_or(0, |(oldest, _)| oldest);
        self.inner.judged.up_to(space, oldest)
    }

    fn space_bytes(&self, space: Space) -> u64 {
        self.inner.spaces.with(space, |place| place.keyspace.disk_space()).unwrap_or(0)
    }

    fn tick(&self) -> Result<(), Error> {
        self.inner.move_mark()?;
        self.inner.compactor.failure().map_or(Ok(()), Err)
    }

    async fn close(&self) -> Result<(), Error> {
        let inner = Arc::clone(&self.inner);
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
    keyspace.rotate_memtable_and_wait().map_err(context)?;
    let flushed = is_flushed(&keyspace);
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
    if let (Some(newest), true, true) = (newest, flushed, before.is_disjoint(&tables())) {
        inner.judged.compacted(space, seq, newest);
    }
    flush_memory(inner).map_err(context)
}

/// Writes all that is only in memory into tables.
fn flush_memory(inner: &Inner) -> fjall::Result<()> {
    for (_, keyspace) in inner.spaces.all() {
        keyspace.rotate_memtable_and_wait()?;
    }
    inner.meta.rotate_memtable_and_wait()
}

/// Whether no memory that was set aside before still waits to be written, after waiting a while.
fn is_flushed(keyspace: &fjall::Keyspace) -> bool {
    (0..FLUSH_LOOKS).any(|_| {
        let flushed = keyspace.tree.sealed_memtable_count() == 0;
        if !flushed {
            std::thread::park_timeout(FLUSH_LOOK_EVERY);
        }
        flushed
    })
}

/// Flushes everything, so that the next start has nothing to replay.
fn flush(inner: &Inner) -> Result<(), Error> {
    let context = |error: fjall::Error| from_fjall("flush", &error);
    flush_memory(inner).map_err(context)?;
    inner.database.persist(PersistMode::SyncAll).map_err(context)?;
    inner.move_mark()
}

impl Drop for LsmStore {
    fn drop(&mut self) {
        // The threads hold the tree's lock until they have ended.
        self.inner.compactor.close();
        self.inner.writeback.close();
        self.inner.memory.close();
        let _ = self.sender.send(Message::Close);
        let threads =
            std::mem::take(self.threads.get_mut().unwrap_or_else(PoisonError::into_inner));
        // What a fence owns is let go on these very threads, and may be the last to hold the store.
        let this = std::thread::current().id();
        if threads.iter().any(|thread| thread.thread().id() == this) {
            return;
        }
        for thread in threads {
            let _ = thread.join();
        }
    }
}
