//! Applies durable groups to their trees, publishes them to readers and notifies writers, in order.
//!
//! For each group, this thread updates the trees, the sequence number counter and the view of new
//! readers, in this order; then for each batch the number of the last published commit, the fence,
//! the in-flight table and the replies. A writer thus finds its acknowledged commit in any new
//! view, and a view that finds the in-flight table empty sees everything that was in it.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
};

use store::{Error, Kind, Outcome};

use crate::{
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
    // Held until the whole group is published: a view created before that could miss both a
    // half-applied entry and the version that the entry replaces.
    let applying = inner.published.begin_applying();
    // A panic may leave an entry half applied, so nothing is published and the store is reopened.
    let applied = catch_unwind(AssertUnwindSafe(|| apply_entries(inner, &mut group, &applying)));
    let broken = applied.is_err().then(|| {
        let text = "panic while applying an entry; the tree's state is unknown";
        let error = Error::new(Kind::Unavailable, text);
        inner.stop_commits(&error);
        error
    });
    // After a panic the store is already stopped, which creators of views check.
    drop(applying);
    for mut batch in group {
        batch.failed = batch.failed.take().or_else(|| broken.clone());
        finish_batch(inner, batch);
    }
}

/// Applies the entries of a group to their trees and publishes them.
fn apply_entries(inner: &OpenStore, group: &mut [Batch], applying: &Applying<'_>) {
    let (mut bytes, mut mutations, mut last) = (0, 0, None);
    for batch in group {
        bytes += batch.bytes() as u64;
        mutations += batch.mutations() as u64;
        let entry = batch.entry.take().filter(|_| batch.failed.is_none());
        if let Some(entry) = entry {
            last = Some((entry.encoded.n(), entry.last));
            apply_entry(inner, entry, applying);
        }
    }
    let Some((last, stamp)) = last else { return };
    inner.budget.record_group(last, bytes, mutations);
    inner.disk_space.record_written(bytes);
    if inner.budget.excess().is_some()
        && let Some(flusher) = inner.flusher.get()
    {
        flusher.unpark();
    }
    inner.published.publish(applying);
    // Updated after the view, so that a reader of this number finds all commits up to it.
    inner.published_seq.fetch_max(stamp.seq, Ordering::SeqCst);
    inner.in_flight.record_published(stamp);
}

/// Applies one entry to its trees.
fn apply_entry(inner: &OpenStore, entry: PendingEntry, applying: &Applying<'_>) {
    let (n, under) = (entry.encoded.n(), entry.under);
    let tick = inner.tick.load(Ordering::Relaxed);
    for run in entry.runs {
        let grown = run.space_tree.apply(n, under, run.mutations, tick);
        inner.budget.record_memory(grown);
    }
    // New views may read the entry from here on.
    inner.trees.counter.fetch_max(under + 1);
    *inner.applied.lock() = Applied { n, under, stamp: entry.last };
    if let Some(made) = entry.made {
        inner.published.publish_trees(applying, |space_trees| {
            if let Some(space) = made.space {
                space_trees.insert(space, Arc::clone(&made));
            }
        });
    }
    if let Some(dropped) = entry.dropped {
        inner.budget.record_freed(dropped.record_dropped());
        inner.published.publish_trees(applying, |space_trees| {
            if let Some(space) = dropped.space {
                space_trees.remove(&space);
            }
        });
        inner.compactor.record_dropped(dropped);
    }
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
    use journal::Mutation;
    use store::{Commit, Error, Kind, Space, Store as _, laws::ManualTime};

    use crate::{TreeOptions, TreeStore, published::number_after};

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
    async fn a_view_beside_a_flush_misses_nothing_that_half_an_entry_replaces() {
        let directory = tempfile::tempdir().unwrap();
        let options = TreeOptions::new(directory.path());
        let store = TreeStore::open(&options, ManualTime::default().commit_clock()).unwrap();
        for space in SPACES {
            store.create_space(space).unwrap();
        }
        store.commit(vec![commit("old")]).await.unwrap();
        let inner = store.shared.open_generation().unwrap().inner.clone();
        let space_tree = inner.published.space_trees()[&SPACES[0]].clone();
        let applied = *inner.applied.lock();
        // Simulates an applier that has applied an entry to the first of its two trees.
        let applying = inner.published.begin_applying();
        let under = number_after(applied.under, &inner.trees.counter);
        let new =
            Mutation { space: space_tree.number, key: "key".into(), value: Some("new".into()) };
        space_tree.apply(applied.n + 1, under, vec![new], 0);
        assert!(inner.flush_tree(&space_tree).unwrap());
        assert_eq!(seen(&store).await, [Some("old".into()), Some("old".into())]);
        // The flush has written the version before the half-applied one, and no memtable is held.
        assert!(!inner.release_tree(&space_tree).unwrap());
        assert_eq!(inner.old_views().memory, 0);
        // The applier also stops within an entry when a tree panics: no view may show that entry.
        inner.stop_commits(&Error::new(Kind::Unavailable, "fault on purpose"));
        drop(applying);
        let number = inner.published.view().number;
        inner.release_tree(&space_tree).unwrap();
        assert_eq!(inner.published.view().number, number);
    }
}
