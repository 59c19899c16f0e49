//! The thread that supervises the store: it monitors the free space of the device and whether it
//! accepts writes, and reopens the store when the cause of a failure is removed.
//!
//! ```text
//!  fine --(a write or sync failed)--> stopped: commits are refused, reads continue
//!   ^                                    | every 0.5 s: has the disk space, can a file be written?
//!   |                                    v
//!   +-- reopened <------------------- its threads stop, it releases the journal
//! ```
//!
//! The old opening serves reads until there is a new one; then running reads end.

use std::{
    fs::File,
    io::{self, Write},
    path::Path,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use store::{Error, Kind};

use crate::{base, errors::from_io, generation::Generation, shared::StoreShared, wipe};

const EVERY: Duration = Duration::from_millis(100);
/// Number of checks between two attempts to reopen a stopped store.
const CHECKS_BETWEEN: u32 = 5;
/// Bytes that must be writable before a store that still serves reads is closed.
const PROBE_BYTES: usize = 1024 * 1024;
/// Number of files that must be openable before the store is reopened.
const PROBE_FILES: usize = 16;

/// Supervises the store until it is closed, then stops its threads.
pub(crate) fn supervise_until_closed(shared: &Arc<StoreShared>) {
    supervise(shared);
    if let Some(last) = shared.generation.swap(None) {
        last.end_threads();
    }
}

/// Supervises the store until it is closed.
fn supervise(shared: &Arc<StoreShared>) {
    let mut wait = 0;
    loop {
        std::thread::park_timeout(EVERY);
        if shared.closed.load(Ordering::SeqCst) {
            return;
        }
        let live = shared.generation.load_full();
        let fine = match &live {
            Some(live) => {
                shared.retained.disk_space.check_device(live.inner.budget.in_memory());
                live.inner.stop_reason().is_none()
            }
            None => false,
        };
        drop(live);
        if fine || 0 < wait {
            wait = if fine { 0 } else { wait - 1 };
            continue;
        }
        wait = CHECKS_BETWEEN;
        let reopened = reopen(shared);
        shared.notify_waiting(reopened.err());
    }
}

/// Closes a stopped store and opens it again, with the same steps as at startup. If the disk has
/// too little space or cannot be written, it fails without closing the store, unless the contents
/// are to be discarded.
fn reopen(shared: &Arc<StoreShared>) -> Result<(), Error> {
    let directory = &shared.retained.options.path;
    let wipes = wipe::is_requested(directory) || base::pieces(directory).is_some();
    // The reserve is checked first: deletes must work again even if other programs have filled the
    // device.
    shared.retained.disk_space.check_device(0);
    if !wipes {
        shared.retained.disk_space.check_commit(true)?;
        probe_disk(&shared.retained.options.path)
            .map_err(|error| from_io("try the disk", &error))?;
    }
    let stopped = shared.generation.load_full();
    if let Some(stopped) = &stopped {
        stopped.end_threads();
        // The stopped opening releases the journal and serves reads until the store is open again.
        stopped.inner.retire()?;
        if wipes {
            // The old tables must have no readers: these would read the new tables, which have the
            // same names.
            stopped.inner.closing.store(true, Ordering::SeqCst);
            if 1 < Arc::strong_count(&stopped.inner) {
                return Err(Error::new(Kind::Unavailable, "the store still has readers"));
            }
        }
    }
    // As at startup, any damage found fails the opening; it is retried later.
    let opened = Generation::open(&shared.retained)?;
    shared.anew.store(true, Ordering::SeqCst);
    shared.generation.store(Some(Arc::new(opened)));
    if let Some(stopped) = stopped {
        stopped.inner.closing.store(true, Ordering::SeqCst);
    }
    Ok(())
}

/// Checks whether files can be created, written and synced.
fn probe_disk(folder: &Path) -> io::Result<()> {
    let path = folder.join("probe");
    let probed = (|| {
        let mut file = File::create(&path)?;
        file.write_all(&vec![0x5a; PROBE_BYTES])?;
        file.sync_all()?;
        (0..PROBE_FILES).map(|_| File::open(&path)).collect::<io::Result<Vec<_>>>().map(|_| ())
    })();
    let removed = std::fs::remove_file(&path);
    probed.and(removed)
}

#[cfg(test)]
mod tests {
    use store::{
        Commit, Fence, Health, Kind, Mutation, Space, Stamp, Store as _, laws::ManualTime,
    };

    use super::*;
    use crate::{TreeOptions, TreeStore, inner::OpenStore};

    fn put(key: &'static str) -> Commit {
        Commit::new(vec![], move |_| {
            vec![Mutation::Put { space: Space::Catalog, key: key.into(), value: "v".into() }]
        })
    }

    fn wait_for(store: &TreeStore, wanted: impl Fn(&Health) -> bool) {
        for _ in 0..2_000 {
            if wanted(&store.health()) {
                return;
            }
            std::thread::park_timeout(EVERY / 20);
        }
        panic!("{:?}", store.health());
    }

    async fn has(store: &TreeStore, key: &str) -> bool {
        let found = store.snapshot().get(Space::Catalog, key.as_bytes()).await;
        found.unwrap().is_some()
    }

    #[tokio::test]
    async fn a_store_that_stopped_is_opened_again_with_all_that_was_acknowledged() {
        let directory = tempfile::tempdir().unwrap();
        let time = ManualTime::default();
        let options = TreeOptions::new(directory.path());
        let store = TreeStore::open(&options, time.commit_clock()).unwrap();
        for (round, key) in ["a", "b", "c"].into_iter().enumerate() {
            store.commit(vec![put(key)]).await.unwrap();
            let before = store.published();
            let failure = Error::new(Kind::Unavailable, "fault on purpose");
            store.shared.open_generation().unwrap().inner.stop_commits(&failure);
            let refused = store.commit(vec![put("refused")]).await.unwrap_err();
            assert_eq!(refused.kind, Kind::Unavailable);
            wait_for(&store, |health| *health == Health::Reopened);
            // The store accepts no commits before its user has re-read cached state.
            store.commit(vec![put("refused")]).await.unwrap_err();
            assert!(has(&store, key).await);
            store.resume_commits();
            assert_eq!(store.health(), Health::Good);
            assert!(before <= store.published(), "round {round}");
        }
        store.commit(vec![put("d")]).await.unwrap();
        for key in ["a", "b", "c", "d"] {
            assert!(has(&store, key).await, "{key}");
        }
        assert!(!has(&store, "refused").await);
        drop(store);
        let store = TreeStore::open(&options, time.commit_clock()).unwrap();
        assert!(has(&store, "d").await);
    }

    /// Stops a store as soon as its first commit is visible.
    struct Stopping(Arc<OpenStore>);

    impl Fence for Stopping {
        fn raise(&self) {}

        fn lower(&self, _: Option<Stamp>) {
            self.0.stop_commits(&Error::new(Kind::Unavailable, "fault on purpose"));
        }
    }

    /// Sends requests to be ordered in one turn; each commit marked `true` stops the store.
    async fn in_one_turn(store: &TreeStore, sent: [&[(&'static str, bool)]; 3]) -> [bool; 3] {
        let inner = Arc::clone(&store.shared.open_generation().unwrap().inner);
        let stopping: Arc<dyn Fence> = Arc::new(Stopping(inner));
        let commit = |of: &[(&'static str, bool)]| {
            let commits = of.iter().map(|(key, stops)| match stops {
                true => put(key).with_fence(Arc::clone(&stopping)),
                false => put(key),
            });
            store.commit(commits.collect())
        };
        let (go_on, waits) = std::sync::mpsc::channel::<()>();
        let holding = Commit::new(vec![], move |_| {
            let _ = waits.recv();
            vec![]
        });
        let [first, second, third] = sent;
        // The commits are sent in this order; the committer is blocked until all have arrived.
        let (held, first, second, third, ()) = tokio::join!(
            store.commit(vec![holding]),
            commit(first),
            commit(second),
            commit(third),
            async { drop(go_on) },
        );
        held.unwrap();
        [first, second, third].map(|told| match told {
            Ok(_) => true,
            Err(error) if error.message.contains("unknown") => true,
            Err(_) => false,
        })
    }

    #[tokio::test]
    async fn who_is_refused_by_a_store_that_stops_was_not_written() {
        for (sent, written) in [
            ([&[("a", false)][..], &[("b", true)], &[("c", false)]], [true, true, false]),
            ([&[("a", true)], &[("b", false)], &[("c", false)]], [true, false, false]),
            // The outcome of a request that was committed in part is unknown.
            ([&[("a", false)], &[("b", true), ("x", false)], &[("c", false)]], [true, true, false]),
        ] {
            let directory = tempfile::tempdir().unwrap();
            let time = ManualTime::default();
            let options = TreeOptions::new(directory.path());
            let store = TreeStore::open(&options, time.commit_clock()).unwrap();
            assert_eq!(in_one_turn(&store, sent).await, written, "{sent:?}");
            wait_for(&store, |health| *health == Health::Reopened);
            let mut there = Vec::new();
            for key in ["a", "b", "c"] {
                there.push(has(&store, key).await);
            }
            assert_eq!(there, written, "{sent:?}");
        }
    }

    #[tokio::test]
    async fn a_read_under_way_ends_and_one_that_begins_waits_for_the_new_store() {
        let directory = tempfile::tempdir().unwrap();
        let time = ManualTime::default();
        let store =
            TreeStore::open(&TreeOptions::new(directory.path()), time.commit_clock()).unwrap();
        store.commit(vec![put("a")]).await.unwrap();
        let held = store.snapshot();
        assert!(held.get(Space::Catalog, b"a").await.unwrap().is_some());
        let failure = Error::new(Kind::Full, "fault on purpose");
        store.shared.open_generation().unwrap().inner.stop_commits(&failure);
        assert_eq!(store.health(), Health::Refusing(failure));
        let mut ended = None;
        for _ in 0..2_000 {
            ended = held.get(Space::Catalog, b"a").await.err();
            if ended.is_some() {
                break;
            }
            std::thread::park_timeout(EVERY / 20);
        }
        assert_eq!(ended.unwrap().kind, Kind::Reopened);
        let began = store.snapshot();
        drop(held);
        assert!(began.get(Space::Catalog, b"a").await.unwrap().is_some());
        drop(began);
        wait_for(&store, |health| *health == Health::Reopened);
    }
}
