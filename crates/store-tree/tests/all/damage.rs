//! One bit of one file of a store changes. Later reads return correct data or fail with a named
//! error: nothing is silently lost or wrong, and nothing panics.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use store::{
    Commit, Direction, Error, KeyRange, Kind, Limit, Mutation, Space, Store, laws::ManualTime,
};
use store_tree::{TreeOptions, TreeStore};
use tempfile::TempDir;

use crate::laws::{copy, copy_of_one_moment};

type Rows = BTreeMap<Vec<u8>, Vec<u8>>;

fn open(path: &Path) -> Result<TreeStore, Error> {
    let options = TreeOptions {
        segment_bytes: 32 * 1024,
        spare_segments: 0,
        cache_bytes: 1 << 20,
        ..TreeOptions::new(path)
    };
    TreeStore::open(&options, ManualTime::default().commit_clock())
}

fn rows(from: u32) -> Commit {
    Commit::new(vec![], move |_| {
        let row = |n: u32| {
            let key = n.to_be_bytes().to_vec().into();
            Mutation::Put { space: Space::Rows(1), key, value: vec![n as u8; 40].into() }
        };
        (from..from + 20).map(row).collect()
    })
}

async fn read(store: &TreeStore) -> Result<Rows, Error> {
    let limit = Limit { rows: 10_000, bytes: usize::MAX };
    let snapshot = store.snapshot();
    let page = snapshot.scan(Space::Rows(1), &KeyRange::all(), Direction::Forward, limit).await?;
    Ok(page.rows.into_iter().map(|(key, value)| (key.to_vec(), value.to_vec())).collect())
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

/// A store with tables and with entries that are only in its journal.
async fn killed_store() -> (TempDir, Rows) {
    let directory = TempDir::new().unwrap();
    let store = open(directory.path()).unwrap();
    store.create_space(Space::Rows(1)).unwrap();
    for from in [0, 20, 40] {
        store.commit(vec![rows(from)]).await.unwrap();
        store.close().await.unwrap();
    }
    for from in [50, 70, 90] {
        store.commit(vec![rows(from)]).await.unwrap();
    }
    store.tick().unwrap();
    let held = read(&store).await.unwrap();
    let killed = copy_of_one_moment(directory.path());
    drop(store);
    (killed, held)
}

#[tokio::test]
async fn a_changed_bit_is_noticed_or_changes_nothing() {
    let (killed, held) = killed_store().await;
    let mut all = Vec::new();
    files(killed.path(), &mut all);
    let mut rng = fastrand::Rng::with_seed(5);
    let (mut refused, mut truth) = (0, 0);
    for path in all.iter().filter(|path| path.file_name().is_some_and(|name| name != "reserve")) {
        let bytes = std::fs::read(path).unwrap();
        // Changes all bytes of short files, and random ones in the written part of long files.
        let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        let count = used.min(50);
        for at in (0..count).map(|n| if used <= 50 { n } else { rng.usize(0..used) }) {
            let name = format!("{} byte {at}", path.display());
            let changed = TempDir::new().unwrap();
            copy(killed.path(), changed.path()).unwrap();
            let target = changed.path().join(path.strip_prefix(killed.path()).unwrap());
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at % 8);
            std::fs::write(target, damaged).unwrap();
            let found = match open(changed.path()) {
                Ok(store) => read(&store).await,
                Err(error) => Err(error),
            };
            match found {
                Ok(found) => {
                    assert!(found == held, "{name}: {} rows", found.len());
                    truth += 1;
                }
                Err(error) => {
                    let named = matches!(error.kind, Kind::Corrupt | Kind::Refused);
                    assert!(named, "{name}: {error}");
                    refused += 1;
                }
            }
        }
    }
    assert!(100 < refused && 10 < truth, "{refused} {truth}");
}

#[tokio::test]
async fn a_missing_file_is_noticed() {
    let (killed, _) = killed_store().await;
    for gone in ["journal", "trees/0", "trees/1", "trees/3", "trees/3/current"] {
        let changed = TempDir::new().unwrap();
        copy(killed.path(), changed.path()).unwrap();
        let path = changed.path().join(gone);
        if path.is_dir() {
            std::fs::remove_dir_all(&path).unwrap();
        } else {
            std::fs::remove_file(&path).unwrap();
        }
        let refused = open(changed.path()).unwrap_err();
        assert_eq!(refused.kind, Kind::Corrupt, "{gone}: {refused}");
    }
}
