//! Implements the store contract on journal and tree. Each method uses the open generation. During
//! a reopening reads wait for the next generation; in a stopped store reads continue and commits
//! fail with the reason.

use std::sync::{Arc, atomic::Ordering, mpsc};

use parking_lot::RwLockReadGuard;
use store::{
    BoxFuture, Capabilities, Commit, DropPredicate, Error, Health, InFlight, Kind, Outcome,
    Snapshot, Space, Store,
};
use tokio::sync::oneshot;

use crate::{
    archive::Archive,
    compactor::compact_whole,
    errors::{closed_error, from_io},
    generation::Generation,
    inner::OpenStore,
    messages::{CommitRequest, CommitterMessage, CompletionSender},
    open::TreeStore,
    snapshot::take_snapshot,
};

impl Store for TreeStore {
    fn capabilities(&self) -> Capabilities {
        let copies = self.shared.open_generation().is_ok_and(|live| live.inner.has_copies());
        Capabilities { max_key_bytes: 65_535 - 4, drops: true, copies }
    }

    fn snapshot(&self) -> Arc<dyn Snapshot> {
        take_snapshot(&self.shared)
    }

    fn published(&self) -> u64 {
        self.shared.retained.published.load(Ordering::SeqCst)
    }

    fn in_flight(&self) -> &InFlight {
        &self.shared.retained.in_flight
    }

    fn commit(&self, commits: Vec<Commit>) -> BoxFuture<'_, Result<Vec<Outcome>, Error>> {
        Box::pin(async move {
            let frees = commits.iter().all(|commit| commit.frees);
            let (reply, outcome) = oneshot::channel();
            // Fails if the committer has stopped: its mailbox or the reply was dropped.
            self.shared
                .taking_commits(frees)?
                .sender
                .send(CommitterMessage::Commit(CommitRequest { commits, reply }))
                .map_err(|_| closed_error())?;
            outcome.await.map_err(|_| closed_error())?
        })
    }

    fn create_space(&self, space: Space) -> Result<(), Error> {
        let live = self.shared.taking_commits(false)?;
        if live.inner.published.view().numbers.contains_key(&space) {
            return Ok(());
        }
        request_committer(&live, |done| CommitterMessage::MakeSpace(space, done))
    }

    fn drop_space(&self, space: Space) -> Result<(), Error> {
        let live = self.shared.taking_commits(true)?;
        // The progress must not apply to a space that is created later under this name.
        live.inner.filtered.forget_space(space);
        request_committer(&live, |done| CommitterMessage::DropSpace(space, done))
    }

    fn all_spaces(&self) -> Vec<Space> {
        let Ok(live) = self.shared.open_generation() else { return Vec::new() };
        live.inner.published.space_numbers().keys().copied().collect()
    }

    fn set_drop_predicate(&self, predicate: Arc<dyn DropPredicate>) {
        self.shared.retained.predicate.set_predicate(predicate);
    }

    fn reap_space(&self, space: Space) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            let live = self.shared.taking_commits(true)?;
            let inner = Arc::clone(&live.inner);
            drop(live);
            in_thread("reaper", move || compact_space(&inner, space)).await
        })
    }

    fn filtered_through(&self, space: Space) -> u64 {
        let Ok(live) = self.shared.open_generation() else { return 0 };
        // Dropped rows may reappear from other copies of the data, so no commit counts as filtered.
        if live.inner.has_copies() {
            return 0;
        }
        live.inner.filtered.filtered_through(space, live.inner.durable_tail())
    }

    fn space_bytes(&self, space: Space) -> u64 {
        let Ok(live) = self.shared.open_generation() else { return 0 };
        let Some(number) = live.inner.number_of(space) else { return 0 };
        let figures = live.inner.tree.space_figures(number);
        figures.map_or(0, |figures| figures.table_bytes + figures.body_file_bytes)
    }

    fn disk_bytes(&self) -> u64 {
        let Ok(live) = self.shared.open_generation() else { return 0 };
        live.inner.tree.figures().file_bytes + live.inner.journal_bytes()
    }

    fn tick(&self) -> Result<(), Error> {
        let Ok(live) = self.shared.open_generation() else { return Ok(()) };
        live.inner.move_watermark()?;
        live.inner.archive.as_ref().map_or(Ok(()), Archive::take_failure)?;
        live.inner.compactor.take_failure().map_or(Ok(()), Err)
    }

    fn health(&self) -> Health {
        self.shared.health()
    }

    fn resume_commits(&self) {
        self.shared.anew.store(false, Ordering::SeqCst);
    }

    fn close(&self) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            let inner = Arc::clone(&self.shared.open_generation()?.inner);
            in_thread("closer", move || {
                let _working = begin_work(&inner)?;
                inner.flush_up_to(u64::MAX)?;
                inner.move_watermark()
            })
            .await
        })
    }
}

/// Sends a message to the committer and waits until its effect is durable and visible.
pub(crate) fn request_committer(
    live: &Generation,
    message: impl FnOnce(CompletionSender) -> CommitterMessage,
) -> Result<(), Error> {
    send_to_committer(live, message)?.recv().map_err(|_| closed_error())?
}

/// Sends a message to the committer; the receiver is notified when its effect is durable and
/// visible.
pub(crate) fn send_to_committer(
    live: &Generation,
    message: impl FnOnce(CompletionSender) -> CommitterMessage,
) -> Result<mpsc::Receiver<Result<(), Error>>, Error> {
    let (done, reply) = mpsc::channel();
    live.sender.send(message(done)).map_err(|_| closed_error())?;
    Ok(reply)
}

/// Runs blocking work on a thread of its own.
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

/// Allows work on the tree while the returned value exists; fails if the opening is ending.
fn begin_work(inner: &OpenStore) -> Result<RwLockReadGuard<'_, ()>, Error> {
    let working = inner.working.read();
    if inner.ending.load(Ordering::SeqCst) { Err(closed_error()) } else { Ok(working) }
}

/// Compacts a whole space and drops the rows that the space's drop filter selects. They count as
/// filtered once no start would replay the entries that contained them.
fn compact_space(inner: &OpenStore, space: Space) -> Result<(), Error> {
    let _working = begin_work(inner)?;
    let Some(number) = inner.number_of(space) else { return Ok(()) };
    let began = *inner.applied.lock();
    inner.flush_space(number)?;
    compact_whole(inner, number)?;
    inner.compactor.record_change();
    inner.filtered.record_compacted(space, began.stamp.seq, began.n);
    inner.flush_up_to(began.n)?;
    inner.move_watermark()
}
