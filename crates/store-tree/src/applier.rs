//! Applies durable groups to the tree, publishes them to readers and notifies writers, in order.
//!
//! For each group, this thread updates the tree and the view of new readers, in this order; then for
//! each batch the number of the last published commit, the fence, the in-flight table and the
//! replies. A writer thus finds its acknowledged commit in any new view, and a view that finds the
//! in-flight table empty sees everything that was in it.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
};

use journal::Mutation;
use store::{Error, Kind, Outcome};
use tree::Write;

use crate::{
    directory::DirectoryChange,
    errors::from_tree,
    inner::{Applied, OpenStore},
    messages::{Batch, PendingEntry},
    published::Applying,
};

/// Applies groups of entries until the appender stops.
pub(crate) fn apply_until_closed(
    inner: &OpenStore,
    groups: &mpsc::Receiver<Vec<Batch>>,
    applying: &AtomicUsize,
) {
    while let Ok(group) = groups.recv() {
        apply_group(inner, group);
        applying.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Applies one group of entries.
pub(crate) fn apply_group(inner: &OpenStore, mut group: Vec<Batch>) {
    // Held until the whole group is published, so that the last applied entry is the newest that
    // views show.
    let applying = inner.published.begin_applying();
    // A failure may leave an entry half applied, so nothing is published and the store is reopened.
    let applied = catch_unwind(AssertUnwindSafe(|| apply_entries(inner, &mut group, &applying)));
    let applied = applied.unwrap_or_else(|_| {
        let text = "panic while applying an entry; the tree's state is unknown";
        Err(Error::new(Kind::Unavailable, text))
    });
    let broken = applied.inspect_err(|error| inner.stop_commits(error)).err();
    // After a failure the store is already stopped, which creators of views check.
    drop(applying);
    for mut batch in group {
        batch.failed = batch.failed.take().or_else(|| broken.clone());
        finish_batch(inner, batch);
    }
}

/// Applies the entries of a group to the tree and publishes them.
fn apply_entries(
    inner: &OpenStore,
    group: &mut [Batch],
    applying: &Applying<'_>,
) -> Result<(), Error> {
    let (mut bytes, mut mutations, mut last) = (0, 0, None);
    for batch in group {
        bytes += batch.bytes() as u64;
        mutations += batch.mutations() as u64;
        let entry = batch.entry.take().filter(|_| batch.failed.is_none());
        if let Some(entry) = entry {
            last = Some((entry.encoded.n(), entry.last));
            apply_entry(inner, entry, applying)?;
        }
    }
    let Some((last, stamp)) = last else { return Ok(()) };
    inner.budget.record_group(last, bytes, mutations);
    inner.disk_space.record_written(bytes);
    if inner.budget.excess().is_some()
        && let Some(flusher) = inner.flusher.get()
    {
        flusher.unpark();
    }
    inner.published.publish(applying, inner.batch_of(last))?;
    // Updated after the view, so that a reader of this number finds all commits up to it.
    inner.published_seq.fetch_max(stamp.seq, Ordering::SeqCst);
    inner.in_flight.record_published(stamp);
    Ok(())
}

/// Applies one entry to the tree.
fn apply_entry(
    inner: &OpenStore,
    entry: PendingEntry,
    applying: &Applying<'_>,
) -> Result<(), Error> {
    let (n, under) = (entry.encoded.n(), entry.under);
    for change in &entry.changes {
        if let DirectoryChange::Created(number, space) = change {
            inner.make_space(applying, *number, *space)?;
        }
    }
    let write = |Mutation { space, key, value }| Write { space, key, value };
    let writes = entry.mutations.into_iter().map(write).collect();
    let grown = inner.tree.apply(inner.batch_of(n), writes);
    inner.budget.record_memory(grown.map_err(|error| from_tree("apply an entry", &error))?);
    *inner.applied.lock() = Applied { n, under, stamp: entry.last };
    for change in &entry.changes {
        if let DirectoryChange::Dropped(number) = change {
            inner.drop_space(applying, n, *number);
        }
    }
    Ok(())
}

/// Notifies all that wait for a batch, after it is visible or has failed.
fn finish_batch(inner: &OpenStore, batch: Batch) {
    let failed = batch.failed;
    if let Some((fence, outcome)) = batch.fence {
        fence.lower(match outcome {
            Outcome::Committed(stamp) if failed.is_none() => Some(stamp),
            _ => None,
        });
    }
    // Removed after the view was published: if the table is empty, the commit must be visible.
    if batch.in_flight {
        inner.in_flight.finish_oldest();
    }
    for reply in batch.replies {
        let result = match &failed {
            None => Ok(reply.outcomes),
            Some(error) if reply.continues => {
                let text = format!("it is unknown how much of it was written: {}", error.message);
                Err(Error::new(Kind::Unavailable, text))
            }
            Some(error) => Err(error.clone()),
        };
        // The receiver may have been dropped.
        let _ = reply.outcome_sender.send(result);
    }
    if let Some(done) = batch.done {
        let _ = done.send(failed.map_or(Ok(()), Err));
    }
}

#[cfg(test)]
mod tests {
    use store::{Commit, Error, Kind, Space, Store as _, laws::ManualTime};
    use tree::Write;

    use crate::{TreeOptions, TreeStore};

    const SPACES: [Space; 2] = [Space::Rows(1), Space::Index(1)];

    /// Returns the values of the test's key that a new view finds in the two test spaces.
    async fn seen(store: &TreeStore) -> [Option<bytes::Bytes>; 2] {
        let snapshot = store.snapshot();
        let [first, second] = SPACES.map(|space| snapshot.get(space, b"key"));
        [first.await.unwrap(), second.await.unwrap()]
    }

    fn commit(value: &'static str) -> Commit {
        Commit::new(vec![], move |_| {
            let put =
                |space| store::Mutation::Put { space, key: "key".into(), value: value.into() };
            SPACES.map(put).into()
        })
    }

    #[tokio::test]
    async fn a_view_beside_a_flush_misses_nothing_that_an_unpublished_entry_replaces() {
        let directory = tempfile::tempdir().unwrap();
        let options = TreeOptions::new(directory.path());
        let store = TreeStore::open(&options, ManualTime::default().commit_clock()).unwrap();
        for space in SPACES {
            store.create_space(space).unwrap();
        }
        store.commit(vec![commit("old")]).await.unwrap();
        let inner = store.shared.open_generation().unwrap().inner.clone();
        let number = inner.number_of(SPACES[0]).unwrap();
        let applied = *inner.applied.lock();
        // Simulates an applier that has applied an entry and not published it.
        let applying = inner.published.begin_applying();
        let new = Write { space: number, key: "key".into(), value: Some("new".into()) };
        inner.tree.apply(inner.batch_of(applied.n + 1), vec![new]).unwrap();
        inner.flush_space(number).unwrap();
        assert_eq!(seen(&store).await, [Some("old".into()), Some("old".into())]);
        // The flush has written the version before the unpublished one, and no memtable is held.
        assert_eq!(inner.old_views().memory, 0);
        // A failure between the two: no view may show that entry.
        inner.stop_commits(&Error::new(Kind::Unavailable, "fault on purpose"));
        drop(applying);
        assert_eq!(seen(&store).await, [Some("old".into()), Some("old".into())]);
    }
}
