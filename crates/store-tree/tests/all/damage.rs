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
    let mut all = vec![killed.path().join("journal"), killed.path().join("trees")];
    files(&killed.path().join("trees"), &mut all);
    let suffix =
        |name: &str| all.iter().filter(|path| path.to_string_lossy().contains(name)).count();
    assert_eq!((suffix("current-"), suffix("manifest-")), (1, 1));
    assert!(3 < suffix(".ebb"));
    for gone in &all {
        let changed = TempDir::new().unwrap();
        copy(killed.path(), changed.path()).unwrap();
        let path = changed.path().join(gone.strip_prefix(killed.path()).unwrap());
        if path.is_dir() {
            std::fs::remove_dir_all(&path).unwrap();
        } else {
            std::fs::remove_file(&path).unwrap();
        }
        let refused = open(changed.path()).unwrap_err();
        assert_eq!(refused.kind, Kind::Corrupt, "{}: {refused}", gone.display());
    }
}

#[tokio::test]
async fn damaged_parts_of_a_closed_store_are_found() {
    let (killed, _) = killed_store().await;
    let damaged = || store_tree::damaged_tables(killed.path()).unwrap();
    assert_eq!(damaged(), Vec::<String>::new());
    let mut all = Vec::new();
    files(&killed.path().join("trees"), &mut all);
    let table = all.iter().find(|path| path.extension().is_some()).unwrap();
    let mut bytes = std::fs::read(table).unwrap();
    bytes[20] ^= 1;
    std::fs::write(table, bytes).unwrap();
    let found = damaged();
    assert_eq!(found.len(), 1, "{found:?}");
    let name = table.file_name().unwrap().to_str().unwrap();
    assert!(found[0].contains(name) && found[0].contains("offset 0"), "{found:?}");
}

/// Earlier versions had a folder for each tree.
#[tokio::test]
async fn the_folder_of_an_earlier_version_is_refused() {
    let (killed, _) = killed_store().await;
    std::fs::remove_dir_all(killed.path().join("trees")).unwrap();
    std::fs::create_dir_all(killed.path().join("trees/0/tables")).unwrap();
    std::fs::write(killed.path().join("trees/0/current"), "v1").unwrap();
    let before = crate::laws::copy_of_one_moment(killed.path());
    let refused = open(killed.path()).unwrap_err();
    assert_eq!(refused.kind, Kind::Refused);
    assert!(refused.message.contains("`ebb backup`"), "{refused}");
    let names = |path: &Path| {
        let mut all = Vec::new();
        files(&path.join("trees"), &mut all);
        let relative = |file: &PathBuf| file.strip_prefix(path).unwrap().to_owned();
        all.iter().map(relative).collect::<Vec<_>>()
    };
    assert_eq!(names(killed.path()), names(before.path()), "nothing is changed");
}
