//! The archive of the journal: consecutive entries, kept over restarts and beyond the journal's
//! truncation, up to a limit; gaps are detected.

use bytes::Bytes;
use journal::EncodedEntry;
use store::{Commit, Mutation, Space, Stamp, Store, laws::ManualTime};
use store_tree::{Archiving, TreeOptions, TreeStore};
use tempfile::TempDir;

const MIB: usize = 1 << 20;
const LARGE: Archiving = Archiving::Within(1 << 40);

fn open(directory: &TempDir, archive: Archiving) -> TreeStore {
    let options = TreeOptions {
        archive,
        journal_bytes: 4 << 20,
        segment_bytes: 4 << 20,
        ..TreeOptions::new(directory.path())
    };
    TreeStore::open(&options, ManualTime::default().commit_clock()).unwrap()
}

fn noise(seed: u64) -> Bytes {
    let mut random = fastrand::Rng::with_seed(seed);
    std::iter::repeat_with(|| random.u8(..)).take(MIB / 2).collect::<Vec<_>>().into()
}

/// Makes this many commits of half a megabyte each.
async fn fill(store: &TreeStore, seed: u64, count: u64) {
    store.create_space(Space::Rows(1)).unwrap();
    for number in 0..count {
        let value = noise(seed + number);
        let key = Bytes::copy_from_slice(&(number % 8).to_be_bytes());
        let put = Mutation::Put { space: Space::Rows(1), key, value };
        store.commit(vec![Commit::new(vec![], move |_| vec![put])]).await.unwrap();
    }
}

/// Waits until the archive has its first file.
fn wait_until_archived(store: &TreeStore, directory: &TempDir) {
    for _ in 0..2_000 {
        store.tick().unwrap_or(());
        let files = std::fs::read_dir(directory.path().join("archive")).unwrap().count();
        // The directory has a file with the start of the archive from the beginning.
        if 1 < files {
            return;
        }
        std::thread::park_timeout(std::time::Duration::from_millis(10));
    }
    panic!("nothing is archived");
}

/// Returns numbers and stamps of the entries after this one.
fn read_after(store: &TreeStore, entry: u64, stamp: Stamp) -> Result<Vec<(u64, Stamp)>, String> {
    let mut reader =
        store.images().entries_after(entry, stamp).map_err(|error| error.to_string())?;
    let mut all = Vec::new();
    while let Some(mut rest) = reader.next_piece(MIB).map_err(|error| error.to_string())? {
        while !rest.is_empty() {
            let (entry, behind) = EncodedEntry::first_of(&rest).unwrap();
            rest = behind;
            all.push((entry.n(), entry.last().unwrap()));
        }
    }
    assert_eq!(all.last().map_or(entry, |last| last.0), reader.last_entry());
    Ok(all)
}

fn here(store: &TreeStore) -> (u64, Stamp) {
    let base = store.base().unwrap();
    (base.last_entry(), base.last_stamp())
}

#[tokio::test]
async fn entries_are_there_behind_the_journal_and_over_restarts() {
    let directory = TempDir::new().unwrap();
    let store = open(&directory, LARGE);
    let (first, stamp) = here(&store);
    assert!(read_after(&store, first, stamp).unwrap().is_empty());
    fill(&store, 0, 2).await;
    store.close().await.unwrap();
    drop(store);
    // Nothing was archived yet, but the journal still has the entries.
    let store = open(&directory, LARGE);
    assert!(!read_after(&store, first, stamp).unwrap().is_empty());
    fill(&store, 10, 60).await;
    wait_until_archived(&store, &directory);
    store.close().await.unwrap();
    drop(store);
    let store = open(&directory, LARGE);
    fill(&store, 100, 60).await;
    let (last, last_stamp) = here(&store);
    let read = read_after(&store, first, stamp).unwrap();
    let numbers: Vec<u64> = read.iter().map(|(n, _)| *n).collect();
    assert_eq!(numbers, (first + 1..=last).collect::<Vec<_>>());
    assert_eq!(read.last(), Some(&(last, last_stamp)));
    // The entries after any of these can be read, provided that its stamp matches.
    for (n, stamp) in read.iter().step_by(7) {
        assert_eq!(read_after(&store, *n, *stamp).unwrap().len() as u64, last - n);
        let other = Stamp { at_ms: stamp.at_ms + 1, ..*stamp };
        assert!(read_after(&store, *n, other).unwrap_err().contains("a different history"));
    }
    assert!(read_after(&store, last + 1, last_stamp).unwrap_err().contains("a different one"));
}

#[tokio::test]
async fn what_is_gone_is_refused() {
    let directory = TempDir::new().unwrap();
    let store = open(&directory, Archiving::Within(12 << 20));
    let (first, stamp) = here(&store);
    fill(&store, 0, 120).await;
    for _ in 0..2_000 {
        if read_after(&store, first, stamp).is_err() {
            break;
        }
        std::thread::park_timeout(std::time::Duration::from_millis(10));
    }
    let gone = read_after(&store, first, stamp).unwrap_err();
    assert!(gone.contains("take a full backup"), "{gone}");
    let (last, stamp) = here(&store);
    drop(store);
    // Running the store without an archive leaves a gap, so the archive is discarded.
    let store = open(&directory, Archiving::Off);
    assert!(read_after(&store, last, stamp).unwrap_err().contains("--backup-journal"));
    fill(&store, 300, 2).await;
    drop(store);
    assert!(!directory.path().join("archive").exists());
    let store = open(&directory, LARGE);
    assert!(read_after(&store, last, stamp).unwrap_err().contains("take a full backup"));
    let (now, stamp) = here(&store);
    assert!(read_after(&store, now, stamp).unwrap().is_empty());
}

#[tokio::test]
async fn a_damaged_file_is_found_and_the_store_opens_all_the_same() {
    let directory = TempDir::new().unwrap();
    let store = open(&directory, LARGE);
    let (first, stamp) = here(&store);
    fill(&store, 0, 60).await;
    wait_until_archived(&store, &directory);
    store.close().await.unwrap();
    drop(store);
    for file in std::fs::read_dir(directory.path().join("archive")).unwrap() {
        let path = file.unwrap().path();
        if path.ends_with("start") {
            continue;
        }
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&path, bytes).unwrap();
    }
    let store = open(&directory, LARGE);
    assert!(read_after(&store, first, stamp).is_err());
    fill(&store, 100, 4).await;
}
