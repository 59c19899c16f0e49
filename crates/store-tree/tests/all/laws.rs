//! Runs the conformance tests on the embedded store; a crash is simulated by copying its files.
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use store::{
    Commit, Mutation, Space, Store,
    laws::{self, Bench, ManualTime},
};
use store_tree::{TreeOptions, TreeStore};
use tempfile::TempDir;

/// Options with a small journal, because it is copied often.
pub(crate) fn options(path: impl AsRef<Path>) -> TreeOptions {
    TreeOptions { segment_bytes: 1 << 20, spare_segments: 0, ..TreeOptions::new(path) }
}

#[derive(Default)]
struct Tree {
    time: ManualTime,
    directory: Option<TempDir>,
}

/// Copies a directory. Fails if the store that has it open deletes a file during the copy.
pub(crate) fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Copies a directory that a store has open, while no file is created or deleted.
pub(crate) fn copy_of_one_moment(from: &Path) -> TempDir {
    let copied = (0..1_000).find_map(|_| {
        let after = TempDir::new().unwrap();
        let copied = copy(from, after.path());
        let is_whole = copied.is_ok() && files_in(from) == files_in(after.path());
        if !is_whole {
            // Tables were created or deleted; retry.
            std::thread::park_timeout(Duration::from_millis(5));
        }
        is_whole.then_some(after)
    });
    copied.unwrap()
}

/// Returns all files of a directory with their contents, as far as readable.
fn files_in(directory: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut files = BTreeMap::new();
    let mut left = vec![PathBuf::new()];
    while let Some(path) = left.pop() {
        match std::fs::read_dir(directory.join(&path)) {
            Ok(entries) => left.extend(entries.flatten().map(|entry| path.join(entry.file_name()))),
            Err(_) => drop(files.insert(path.clone(), std::fs::read(directory.join(&path)).ok())),
        }
    }
    files
}

impl Bench for Tree {
    type Store = TreeStore;
    type Opened = Box<TreeStore>;

    async fn open(&mut self) -> Box<TreeStore> {
        let directory = TempDir::new().unwrap();
        let store = TreeStore::open(&options(directory.path()), self.time.commit_clock());
        self.directory = Some(directory);
        Box::new(store.unwrap())
    }

    async fn crash(&mut self, store: Box<TreeStore>) -> Box<TreeStore> {
        let before = self.directory.as_ref().unwrap().path();
        let after = copy_of_one_moment(before);
        drop(store);
        let store = TreeStore::open(&options(after.path()), self.time.commit_clock());
        self.directory = Some(after);
        Box::new(store.unwrap())
    }

    fn time(&self) -> &ManualTime {
        &self.time
    }
}

#[tokio::test]
async fn the_embedded_store_keeps_the_laws() {
    laws::check(&mut Tree::default()).await;
}

fn put(key: String) -> Commit {
    Commit::new(vec![], move |_| {
        vec![Mutation::Put { space: Space::Catalog, key: key.into(), value: "v".into() }]
    })
}

#[tokio::test]
async fn a_second_process_is_refused() {
    let directory = TempDir::new().unwrap();
    let time = ManualTime::default();
    let held = TreeStore::open(&options(directory.path()), time.commit_clock()).unwrap();
    let refused = TreeStore::open(&options(directory.path()), time.commit_clock());
    assert_eq!(refused.unwrap_err().kind, store::Kind::Refused);
    drop(held);
    TreeStore::open(&options(directory.path()), time.commit_clock()).unwrap();
}

fn megabytes(space: Space, count: usize) -> Commit {
    Commit::new(vec![], move |_| {
        // The values are incompressible, so that they take their full size on disk.
        let mut state = 1_u64;
        let next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        };
        let value: Vec<u8> = std::iter::repeat_with(next).take(1 << 20).collect();
        let put = |n: usize| Mutation::Put {
            space,
            key: format!("filler {n}").into(),
            value: value.clone().into(),
        };
        (0..count).map(put).collect()
    })
}

struct DropAll;

impl store::DropPredicate for DropAll {
    fn filter_for(&self, space: Space) -> store::DropFilter {
        Box::new(move |_, _| space == Space::Rows(1))
    }
}

/// Rows that a compaction has dropped may reappear from the journal as long as startup would replay
/// it. Only afterwards do they count as filtered.
#[tokio::test]
async fn what_was_dropped_counts_as_filtered_once_no_start_applies_it() {
    let directory = TempDir::new().unwrap();
    let time = ManualTime::default();
    let store = TreeStore::open(&options(directory.path()), time.commit_clock()).unwrap();
    let (rows, other) = (Space::Rows(1), Space::Rows(2));
    store.create_space(rows).unwrap();
    store.create_space(other).unwrap();
    store.set_drop_predicate(std::sync::Arc::new(DropAll));
    store.commit(vec![megabytes(rows, 1), megabytes(other, 1)]).await.unwrap();
    let seq = store.published();
    assert_eq!(store.filtered_through(rows), 0);
    store.reap_space(rows).await.unwrap();
    assert_eq!(store.filtered_through(rows), seq);
    store.commit(vec![megabytes(other, 1)]).await.unwrap();
    assert!(store.filtered_through(rows) < store.published());
    let crashed = copy_of_one_moment(directory.path());
    drop(store);
    let again = TreeStore::open(&options(crashed.path()), time.commit_clock()).unwrap();
    assert!(again.snapshot().get(rows, b"filler 0").await.unwrap().is_none());
    assert!(again.snapshot().get(other, b"filler 0").await.unwrap().is_some());
    assert_eq!(again.filtered_through(rows), 0, "it is not known after startup");
}

/// If entries follow damage in the journal, it is not a torn tail: the start is refused.
#[tokio::test]
async fn a_hole_in_the_journal_is_noticed() {
    let directory = TempDir::new().unwrap();
    let time = ManualTime::default();
    let store = TreeStore::open(&options(directory.path()), time.commit_clock()).unwrap();
    for n in 0..200 {
        store.commit(vec![put(format!("key {n}"))]).await.unwrap();
    }
    store.tick().unwrap();
    let after = copy_of_one_moment(directory.path());
    drop(store);
    let tree = after.path().join("journal");
    let journals: Vec<_> = std::fs::read_dir(&tree)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.metadata().unwrap().len() > 4096)
        .collect();
    assert!(!journals.is_empty(), "{:?}", std::fs::read_dir(&tree).unwrap().collect::<Vec<_>>());
    for journal in journals {
        let mut bytes = std::fs::read(&journal).unwrap();
        let used = bytes.iter().rposition(|byte| *byte != 0).unwrap();
        bytes[used / 2] ^= 0xff;
        std::fs::write(&journal, bytes).unwrap();
    }
    let refused = TreeStore::open(&options(after.path()), time.commit_clock());
    assert_eq!(refused.unwrap_err().kind, store::Kind::Corrupt);
    let accepted = TreeOptions { accept_loss: true, ..options(after.path()) };
    let store = TreeStore::open(&accepted, time.commit_clock()).unwrap();
    store.commit(vec![put("after the loss".to_owned())]).await.unwrap();
    drop(store);
    // The loss was accepted with the opening before; the next opening does not report it again.
    let store = TreeStore::open(&options(after.path()), time.commit_clock()).unwrap();
    let held = store.snapshot().get(Space::Catalog, b"after the loss").await.unwrap();
    assert!(held.is_some());
}

/// A fence that holds the store and blocks its commit until released.
struct Holder {
    go: std::sync::Mutex<std::sync::mpsc::Receiver<()>>,
    _store: std::sync::Arc<TreeStore>,
}

impl store::Fence for Holder {
    fn raise(&self) {
        self.go.lock().unwrap().recv().unwrap();
    }

    fn lower(&self, _: Option<store::Stamp>) {}
}

/// An abandoned commit may hold the last reference to the store, through its fence; the store then
/// ends on one of its own threads.
#[tokio::test]
async fn a_fence_may_be_the_last_to_hold_the_store() {
    let directory = TempDir::new().unwrap();
    let time = ManualTime::default();
    let options = options(directory.path());
    let store = std::sync::Arc::new(TreeStore::open(&options, time.commit_clock()).unwrap());
    let (go, wait) = std::sync::mpsc::channel();
    let holder = Holder { go: std::sync::Mutex::new(wait), _store: std::sync::Arc::clone(&store) };
    let commit = put("k".to_owned()).with_fence(std::sync::Arc::new(holder));
    let mut commit = Box::pin(store.commit(vec![commit]));
    let polled = std::future::poll_fn(|context| {
        std::task::Poll::Ready(commit.as_mut().poll(context).is_pending())
    });
    assert!(polled.await);
    drop(commit);
    drop(store);
    go.send(()).unwrap();
    let again = (0..1_000).find_map(|_| {
        std::thread::park_timeout(std::time::Duration::from_millis(10));
        TreeStore::open(&options, time.commit_clock()).ok()
    });
    let held = again.expect("the store lets go of its directory").snapshot();
    assert!(held.get(Space::Catalog, b"k").await.unwrap().is_some());
}
