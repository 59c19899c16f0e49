//! The store on another journal than the one in its directory: what it has is a copy of what the
//! journal says, and may be older, or gone.

use std::sync::Arc;

use journal::{Fault, MemoryJournal, MemoryJournals};
use store::{
    Commit, Health, Kind, Mutation, Snapshot as _, Space, Store as _,
    laws::{self, Bench, ManualTime},
};
use store_tree::TreeStore;
use tempfile::TempDir;

use crate::laws::{copy, options};

/// What becomes of the directory in a crash.
#[derive(Clone, Copy)]
enum Directory {
    /// It is as it was.
    Copied,
    /// It is as it was at the crash before, or empty.
    Old,
    /// It is lost with its machine.
    Lost,
}

/// Stores on a journal in memory.
struct OnMemory {
    time: ManualTime,
    crash: Directory,
    journals: MemoryJournals,
    directory: TempDir,
    /// A copy of the directory at the crash before.
    before: TempDir,
}

impl OnMemory {
    fn new(crash: Directory) -> Self {
        Self {
            time: ManualTime::default(),
            crash,
            journals: MemoryJournals::default(),
            directory: TempDir::new().unwrap(),
            before: TempDir::new().unwrap(),
        }
    }

    fn open_here(&self) -> TreeStore {
        let journals = Arc::new(self.journals.clone());
        let options = options(self.directory.path());
        TreeStore::open_on(&options, journals, self.time.timepiece()).unwrap()
    }

    /// A copy of the directory while a store has it open: of a moment in which nothing is removed.
    fn copied(&self) -> TempDir {
        let copied = (0..20).find_map(|_| {
            let after = TempDir::new().unwrap();
            copy(self.directory.path(), after.path()).is_ok().then_some(after)
        });
        copied.unwrap()
    }
}

impl Bench for OnMemory {
    type Store = TreeStore;

    async fn open(&mut self) -> TreeStore {
        let keeping = MemoryJournal::keeping_all();
        self.journals = MemoryJournals::new(keeping);
        self.directory = TempDir::new().unwrap();
        self.before = TempDir::new().unwrap();
        self.open_here()
    }

    async fn crash(&mut self, store: TreeStore) -> TreeStore {
        let copied = self.copied();
        drop(store);
        self.directory = match self.crash {
            Directory::Copied => copied,
            Directory::Old => std::mem::replace(&mut self.before, copied),
            Directory::Lost => TempDir::new().unwrap(),
        };
        self.open_here()
    }

    fn reaped_stays_gone(&self) -> bool {
        false
    }

    fn time(&self) -> &ManualTime {
        &self.time
    }
}

#[tokio::test]
async fn a_store_that_follows_another_journal_keeps_the_laws() {
    laws::check(&mut OnMemory::new(Directory::Copied)).await;
}

#[tokio::test]
async fn a_store_with_an_older_directory_keeps_the_laws() {
    laws::check(&mut OnMemory::new(Directory::Old)).await;
}

#[tokio::test]
async fn a_store_that_lost_its_directory_keeps_the_laws() {
    laws::check(&mut OnMemory::new(Directory::Lost)).await;
}

fn put(key: &'static str) -> Commit {
    Commit::new(vec![], move |_| {
        vec![Mutation::Put { space: Space::Catalog, key: key.into(), value: "v".into() }]
    })
}

async fn has(store: &TreeStore, key: &'static str) -> bool {
    store.snapshot().get(Space::Catalog, key.as_bytes()).await.unwrap().is_some()
}

/// Waits until it was opened again after a failure, and lets it go on.
fn go_on(store: &TreeStore) {
    for _ in 0..2_000 {
        if store.health() == Health::Anew {
            store.resume_commits();
            return;
        }
        std::thread::park_timeout(std::time::Duration::from_millis(5));
    }
    panic!("{:?}", store.health());
}

#[tokio::test]
async fn what_the_journal_kept_is_there_and_what_it_did_not_keep_is_not() {
    for (fault, kept) in [(Fault::AnswerLost, true), (Fault::WriteLost, false)] {
        let mut bench = OnMemory::new(Directory::Copied);
        let store = bench.open().await;
        store.commit(vec![put("before")]).await.unwrap();
        bench.journals.newest().fail_nth(fault, 1);
        let unknown = store.commit(vec![put("unknown")]).await.unwrap_err();
        assert_eq!(unknown.kind, Kind::Unavailable, "{fault:?}");
        assert!(!has(&store, "unknown").await, "nobody sees it before it is known");
        go_on(&store);
        assert_eq!(has(&store, "unknown").await, kept, "{fault:?}");
        store.commit(vec![put("after")]).await.unwrap();
        assert!(has(&store, "before").await && has(&store, "after").await);
    }
}

#[tokio::test]
async fn a_directory_that_is_ahead_of_the_journal_is_refused() {
    let mut bench = OnMemory::new(Directory::Copied);
    let store = bench.open().await;
    store.commit(vec![put("a")]).await.unwrap();
    store.tick().unwrap();
    drop(store);
    bench.journals = MemoryJournals::default();
    let journals = Arc::new(bench.journals.clone());
    let options = options(bench.directory.path());
    let opened = TreeStore::open_on(&options, journals, bench.time.timepiece());
    assert_eq!(opened.unwrap_err().kind, Kind::Corrupt);
}
