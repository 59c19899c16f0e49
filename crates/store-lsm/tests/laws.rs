//! The embedded store keeps the laws of stores; a crash is a copy of its files as they lie there.
#![allow(clippy::unwrap_used, reason = "a failed assumption fails the test")]

use std::path::Path;

use store::{
    Mutation, Space, Store, Unit,
    laws::{self, Bench, ManualTime},
};
use store_lsm::{LsmOptions, LsmStore};
use tempfile::TempDir;

#[derive(Default)]
struct Lsm {
    time: ManualTime,
    directory: Option<TempDir>,
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

impl Bench for Lsm {
    type Store = LsmStore;

    async fn open(&mut self) -> LsmStore {
        let directory = TempDir::new().unwrap();
        let store = LsmStore::open(&LsmOptions::new(directory.path()), self.time.timepiece());
        self.directory = Some(directory);
        store.unwrap()
    }

    async fn crash(&mut self, store: LsmStore) -> LsmStore {
        let after = TempDir::new().unwrap();
        copy(self.directory.as_ref().unwrap().path(), after.path());
        drop(store);
        let store = LsmStore::open(&LsmOptions::new(after.path()), self.time.timepiece());
        self.directory = Some(after);
        store.unwrap()
    }

    fn time(&self) -> &ManualTime {
        &self.time
    }
}

#[tokio::test]
async fn the_embedded_store_keeps_the_laws() {
    laws::check(&mut Lsm::default()).await;
}

fn put(key: String) -> Unit {
    Unit::new(vec![], move |_| {
        vec![Mutation::Put { space: Space::Catalog, key: key.into(), value: "v".into() }]
    })
}

#[tokio::test]
async fn a_second_process_is_refused() {
    let directory = TempDir::new().unwrap();
    let time = ManualTime::default();
    let held = LsmStore::open(&LsmOptions::new(directory.path()), time.timepiece()).unwrap();
    let refused = LsmStore::open(&LsmOptions::new(directory.path()), time.timepiece());
    assert_eq!(refused.unwrap_err().kind, store::Kind::Refused);
    drop(held);
    LsmStore::open(&LsmOptions::new(directory.path()), time.timepiece()).unwrap();
}

/// Damage in the middle of the journal looks like a torn tail to the tree; the mark shows that
/// durable commits are gone.
#[tokio::test]
async fn a_hole_in_the_journal_is_noticed() {
    let directory = TempDir::new().unwrap();
    let time = ManualTime::default();
    let store = LsmStore::open(&LsmOptions::new(directory.path()), time.timepiece()).unwrap();
    for n in 0..200 {
        store.commit(vec![put(format!("key {n}"))]).await.unwrap();
    }
    store.tick().unwrap();
    let after = TempDir::new().unwrap();
    copy(directory.path(), after.path());
    drop(store);
    let tree = after.path().join("tree");
    let journals: Vec<_> = std::fs::read_dir(&tree)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jnl"))
        .collect();
    assert!(!journals.is_empty(), "{:?}", std::fs::read_dir(&tree).unwrap().collect::<Vec<_>>());
    for journal in journals {
        let mut bytes = std::fs::read(&journal).unwrap();
        let used = bytes.iter().rposition(|byte| *byte != 0).unwrap();
        bytes[used / 2] ^= 0xff;
        std::fs::write(&journal, bytes).unwrap();
    }
    let refused = LsmStore::open(&LsmOptions::new(after.path()), time.timepiece());
    assert_eq!(refused.unwrap_err().kind, store::Kind::Refused);
    let accepted = LsmOptions { accept_loss: true, ..LsmOptions::new(after.path()) };
    LsmStore::open(&accepted, time.timepiece()).unwrap();
}
