//! The thread that makes written batches durable: one sync for all that wait, then they become
//! visible and their writers hear of it, in their order.
//!
//! For each batch: snapshot, position, fence, in-flight table, answers. A writer that hears of its
//! commit finds it in any view that it opens then; and a view that finds the table empty sees all
//! that was in it.

use std::{
    fs::File,
    io,
    path::PathBuf,
    sync::{Arc, atomic::Ordering, mpsc},
};

use store::{Error, Outcome, Timepiece};

use crate::{
    errors::from_io,
    filter_progress::journal_numbers,
    inner::OpenTree,
    messages::{CommitterMessage, WrittenBatch},
};

/// Makes batches durable until the committer ends.
pub(crate) fn sync_until_closed(
    inner: &OpenTree,
    mut journal: SyncedJournal,
    batches: &mpsc::Receiver<WrittenBatch>,
    committer: &mpsc::Sender<CommitterMessage>,
) {
    // After a failed sync nobody knows what is on disk: nothing is published any more.
    let mut broken: Option<Error> = None;
    while let Ok(first) = batches.recv() {
        let mut written = vec![first];
        written.extend(batches.try_iter());
        // A refresh alone needs no sync.
        let waits = written.iter().any(|batch| batch.position.is_some());
        // One sync covers whatever was written to the journal before it, later batches of the
        // committer included.
        if waits && broken.is_none() {
            match journal.sync_newest() {
                Ok(took) => {
                    inner.metrics.fsync_ns.observe(took);
                    let committed = written.iter().map(|batch| batch.committed).sum();
                    inner.metrics.group_size.observe(committed);
                }
                Err(error) => {
                    inner.stop_commits(&from_io("sync the journal", &error));
                    let context =
                        "sync the journal, so that it is not known whether the write took place";
                    broken = Some(from_io(context, &error));
                }
            }
        }
        for batch in written {
            publish_batch(inner, batch, broken.as_ref());
        }
        let _ = committer.send(CommitterMessage::Idle);
    }
}

/// Makes a durable batch visible and tells whoever waits; after a failure it only tells.
fn publish_batch(inner: &OpenTree, batch: WrittenBatch, broken: Option<&Error>) {
    let failed = batch.failed.or_else(|| broken.cloned());
    if failed.is_none() {
        // Readers share this snapshot, which ends with the batch.
        if let Some(open) = batch.open {
            inner.current.store(open);
        }
        if let Some(position) = batch.position {
            inner.durable_batch.store(position.batch, Ordering::SeqCst);
            inner.published.store(position.stamp.seq, Ordering::SeqCst);
        }
    }
    if let Some((fence, outcome)) = batch.fence {
        fence.lower(match outcome {
            Outcome::Committed(stamp) if failed.is_none() => Some(stamp),
            _ => None,
        });
    }
    // After the snapshot: whoever finds the table empty must find the commit visible.
    if batch.in_flight {
        inner.in_flight.finish_oldest();
    }
    for answer in batch.answers {
        let result = match &failed {
            None => Ok(answer.outcomes),
            Some(error) => Err(error.clone()),
        };
        // Nobody may be waiting any more.
        let _ = answer.asker.send(result);
    }
    if let Some(done) = batch.done {
        let _ = done.send(());
    }
}

/// The tree's journal as files. The tree holds its own lock while it syncs, so that nothing could
/// be written meanwhile; here the newest file is synced from beside it. Older files need nothing:
/// the tree syncs a file before it begins the next (fjall 3.1.13, `journal/writer`).
pub(crate) struct SyncedJournal {
    /// The tree's directory.
    folder: PathBuf,
    /// For measuring how long a sync takes.
    time: Arc<dyn Timepiece>,
    /// Number and handle of the file that was written last time.
    newest: Option<(u64, File)>,
}

impl SyncedJournal {
    /// The journal in this folder; no file is opened yet.
    pub(crate) fn new(folder: PathBuf, time: Arc<dyn Timepiece>) -> Self {
        Self { folder, time, newest: None }
    }

    /// Makes durable whatever the tree has written by now; returns how long that took,
    /// nanoseconds.
    fn sync_newest(&mut self) -> io::Result<u64> {
        let began = self.time.monotonic_ns();
        let (number, file) = self.newest_file()?;
        file.sync_data()?;
        self.newest = Some((number, file));
        Ok(self.time.monotonic_ns().saturating_sub(began))
    }

    /// The file that is written now. Files have consecutive numbers.
    fn newest_file(&mut self) -> io::Result<(u64, File)> {
        let path = |number: u64| self.folder.join(format!("{number}.jnl"));
        // The tree begins a new file when the old one is full. Looking for its name is cheap.
        if let Some((number, file)) = self.newest.take()
            && !path(number + 1).try_exists()?
        {
            return Ok((number, file));
        }
        let missing = || io::Error::new(io::ErrorKind::NotFound, "the journal is missing");
        let (_, number) = journal_numbers(&self.folder).ok_or_else(missing)?;
        Ok((number, File::open(path(number))?))
    }
}
