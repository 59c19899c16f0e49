//! The contract over the tree. Each method takes the generation that is open. While there is none,
//! reads wait for the next; while it has stopped, reads go on and commits fail with the reason.

use std::{
    collections::HashSet,
    sync::{Arc, atomic::Ordering, mpsc},
};

use fjall::{AbstractTree as _, PersistMode};
use store::{
    Capabilities, Commit, DropPredicate, Error, Health, InFlight, Kind, Outcome, Space, Store,
};
use tokio::sync::oneshot;

use crate::{
    compactor::{compact_whole, release_old_files},
    errors::{from_fjall, from_io},
    filter_progress::journal_numbers,
    inner::OpenTree,
    messages::{CommitRequest, CommitterMessage},
    open::LsmStore,
    placeholder::write_placeholder,
    snapshot::LsmSnapshot,
    spaces::SpacePlace,
};

impl Store for LsmStore {
    type Snapshot = LsmSnapshot;

    fn capabilities(&self) -> Capabilities {
        Capabilities { max_key_bytes: 65_535 - 4, drops: true }
    }

    fn snapshot(&self) -> LsmSnapshot {
        LsmSnapshot::new(&self.shared)
    }

    fn published(&self) -> u64 {
        self.shared.lasting.published.load(Ordering::SeqCst)
    }

    fn in_flight(&self) -> &InFlight {
        &self.shared.lasting.in_flight
    }

    async fn commit(&self, commits: Vec<Commit>) -> Result<Vec<Outcome>, Error> {
        let frees = commits.iter().all(|commit| commit.frees);
        let (answer, outcome) = oneshot::channel();
        // The committer ends only with the generation: its mailbox or the answer is dropped then.
        let closed = || Error::new(Kind::Unavailable, "the store is closed");
        self.shared
            .taking_commits(frees)?
            .sender
            .send(CommitterMessage::Commit(CommitRequest { commits, answer }))
            .map_err(|_| closed())?;
        outcome.await.map_err(|_| closed())?
    }

    fn create_space(&self, space: Space) -> Result<(), Error> {
        self.shared.taking_commits(false)?.inner.spaces.create_space(space)
    }

    fn drop_space(&self, space: Space) -> Result<(), Error> {
        let live = self.shared.taking_commits(true)?;
        // A space that is made later under this name is another one.
        live.inner.filtered.forget_space(space);
        if let Some(leftover) = live.inner.spaces.remove_space(space)? {
            live.inner.compactor.add_leftover(leftover);
        }
        Ok(())
    }

    fn all_spaces(&self) -> Vec<Space> {
        let Ok(live) = self.shared.open_generation() else { return Vec::new() };
        live.inner.spaces.all_keyspaces().into_iter().map(|(space, _)| space).collect()
    }

    fn set_drop_predicate(&self, predicate: Arc<dyn DropPredicate>) {
        self.shared.lasting.predicate.set_predicate(predicate);
    }

    async fn reap_space(&self, space: Space) -> Result<(), Error> {
        let live = self.shared.taking_commits(true)?;
        let (inner, committer) = (Arc::clone(&live.inner), live.sender.clone());
        drop(live);
        in_thread("reaper", move || compact_space(&inner, &committer, space)).await
    }

    fn filtered_through(&self, space: Space) -> u64 {
        let Ok(live) = self.shared.open_generation() else { return 0 };
        // Read each time: the tree deletes journals without a word.
        let oldest = journal_numbers(&live.inner.tree).map_or(0, |(oldest, _)| oldest);
        live.inner.filtered.filtered_through(space, oldest)
    }

    fn space_bytes(&self, space: Space) -> u64 {
        let Ok(live) = self.shared.open_generation() else { return 0 };
        live.inner.spaces.with_place(space, |place| place.keyspace.disk_space()).unwrap_or(0)
    }

    fn disk_bytes(&self) -> u64 {
        let Ok(live) = self.shared.open_generation() else { return 0 };
        live.inner.database.disk_space().unwrap_or(0)
    }

    fn tick(&self) -> Result<(), Error> {
        let Ok(live) = self.shared.open_generation() else { return Ok(()) };
        live.inner.move_watermark()?;
        live.inner.compactor.take_failure().map_or(Ok(()), Err)
    }

    fn health(&self) -> Health {
        self.shared.health()
    }

    fn resume_commits(&self) {
        self.shared.anew.store(false, Ordering::SeqCst);
    }

    async fn close(&self) -> Result<(), Error> {
        let inner = Arc::clone(&self.shared.open_generation()?.inner);
        in_thread("closer", move || flush_and_sync(&inner)).await
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
fn compact_space(
    inner: &OpenTree,
    committer: &mpsc::Sender<CommitterMessage>,
    space: Space,
) -> Result<(), Error> {
    let Some(SpacePlace { keyspace, .. }) = inner.spaces.place_of(space) else { return Ok(()) };
    let context = |error: fjall::Error| from_fjall("compact a keyspace", &error);
    // Newer than all that is dropped: a start replays only what is newer than the tables.
    write_placeholder(&keyspace)?;
    let seq = inner.published.load(Ordering::SeqCst);
    let newest = journal_numbers(&inner.tree).map(|(_, newest)| newest);
    inner.flush_keyspace(&keyspace)?;
    let tables = || -> HashSet<_> {
        keyspace.tree.current_version().iter_tables().map(|table| table.id()).collect()
    };
    // A compaction may leave a table where it is; then nothing is known of its rows.
    let before = tables();
    compact_whole(inner, &keyspace).map_err(context)?;
    let (done, refreshed) = mpsc::channel();
    if committer.send(CommitterMessage::Refresh(done)).is_ok() {
        let _ = refreshed.recv();
    }
    release_old_files(inner, &keyspace).map_err(context)?;
    if let (Some(newest), true) = (newest, before.is_disjoint(&tables())) {
        inner.filtered.note_compacted(space, seq, newest);
    }
    inner.flush_all()
}

/// Flushes everything, so that the next start has nothing to replay.
fn flush_and_sync(inner: &OpenTree) -> Result<(), Error> {
    let context = |error: fjall::Error| from_fjall("flush", &error);
    inner.flush_all()?;
    inner.database.persist(PersistMode::SyncAll).map_err(context)?;
    inner.move_watermark()
}
