//! A copy whose journal is not synced with every group: a power failure loses the entries since the
//! last sync, and no other file of the copy may depend on a lost entry. The copy receives the lost
//! entries again from the leader.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use journal::{
    AppendFailure, EncodedEntry, Entry, Journal, JournalExtent, JournalFolder, JournalOptions,
    LocalJournal, OpenJournal,
};
use store::{Commit, Error, Mutation, Space, Store as _, laws::ManualTime};
use store_tree::{TreeOptions, TreeStore};
use tempfile::TempDir;

use crate::{
    journals::{Directory, OnMemory, rows_of},
    laws::{copy_of_one_moment, options},
};

/// The journal of a copy, which records up to which entry it was synced.
struct KeptFolder {
    folder: JournalFolder,
    synced: Arc<AtomicU64>,
}

struct KeptJournal {
    journal: Arc<dyn Journal>,
    synced: Arc<AtomicU64>,
}

impl OpenJournal for KeptFolder {
    fn open(&self, known_durable: u64, accept_loss: bool) -> Result<Arc<dyn Journal>, Error> {
        let journal = self.folder.open(known_durable, accept_loss)?;
        self.synced.store(journal.end(), Ordering::SeqCst);
        Ok(Arc::new(KeptJournal { journal, synced: Arc::clone(&self.synced) }))
    }

    fn wipe(&self) -> Result<(), Error> {
        self.folder.wipe()
    }
}

impl Journal for KeptJournal {
    fn append(&self, group: &[EncodedEntry]) -> Result<u64, AppendFailure> {
        let end = self.journal.append(group)?;
        self.synced.store(end, Ordering::SeqCst);
        Ok(end)
    }

    fn follow(&self, group: &[EncodedEntry]) -> Result<u64, AppendFailure> {
        self.journal.append_unsynced(group)
    }

    fn sync(&self) -> Result<(), Error> {
        let end = self.journal.end();
        self.journal.sync()?;
        self.synced.fetch_max(end, Ordering::SeqCst);
        Ok(())
    }

    fn read(&self, after: u64, limit_bytes: usize) -> Result<Vec<Entry>, Error> {
        self.journal.read(after, limit_bytes)
    }

    fn truncate_before(&self, before: u64, floors: &[u8]) -> Result<(), Error> {
        self.journal.truncate_before(before, floors)
    }

    fn end(&self) -> u64 {
        self.journal.end()
    }

    fn floors(&self) -> Vec<u8> {
        self.journal.floors()
    }

    fn extent(&self) -> JournalExtent {
        self.journal.extent()
    }

    fn bytes_after(&self, after: u64) -> u64 {
        self.journal.bytes_after(after)
    }

    fn group_bytes_max(&self) -> usize {
        self.journal.group_bytes_max()
    }

    fn has_single_user(&self) -> bool {
        false
    }
}

/// A copy of a leader's data.
struct Copy {
    directory: TempDir,
    synced: Arc<AtomicU64>,
    store: Option<TreeStore>,
}

impl Copy {
    fn options(&self) -> TreeOptions {
        // Memtables are flushed all the time; a flush must sync the journal before it writes.
        TreeOptions { buffer_bytes: 96 << 10, ..options(self.directory.path()) }
    }

    fn open(&mut self) -> &TreeStore {
        let options = self.options();
        let synced = Arc::clone(&self.synced);
        let journal = Arc::new(KeptFolder { folder: options.journal_of_copy(), synced });
        let time = ManualTime::default().commit_clock();
        self.store
            .get_or_insert_with(|| TreeStore::open_on(&options, journal, time, false).unwrap())
    }

    /// Simulates a power failure: the journal keeps only synced entries, all other files are kept.
    fn cut_power(&mut self) {
        let after = copy_of_one_moment(self.directory.path());
        let synced = self.synced.load(Ordering::SeqCst);
        self.store = None;
        self.directory = after;
        forget_behind(&self.options(), synced);
    }
}

/// Truncates a journal after an entry.
fn forget_behind(options: &TreeOptions, synced: u64) {
    let folder = options.journal_of_copy();
    let old = folder.open(0, false).unwrap();
    let first = old.extent().first;
    let mut entries = Vec::new();
    while let Some(entry) = old.read(first - 1 + entries.len() as u64, 0).unwrap().first() {
        if synced < entry.n {
            break;
        }
        entries.push(entry.encode().unwrap());
    }
    drop(old);
    folder.wipe().unwrap();
    let options = JournalOptions { empty_after: first - 1, ..folder.options };
    let new = LocalJournal::open(&folder.path, &options).unwrap();
    for entry in &entries {
        new.append(std::slice::from_ref(entry)).unwrap();
    }
}

#[tokio::test]
async fn a_copy_that_loses_what_was_not_synced_follows_it_again() {
    let mut lost = 0;
    for seed in 0..12 {
        let mut random = fastrand::Rng::with_seed(seed);
        let leader = OnMemory::new(Directory::Copied);
        let owner = leader.open_here();
        let synced = Arc::default();
        let mut held = Copy { directory: TempDir::new().unwrap(), synced, store: None };
        held.open();
        // The rows that exist after each entry, by the entry's number.
        let mut rows = BTreeMap::from([(owner.last_entry().unwrap(), Vec::new())]);
        for _ in 0..60 {
            match random.u32(..12) {
                0 => {
                    let before = held.open().last_entry().unwrap();
                    held.cut_power();
                    let last = held.open().last_entry().unwrap();
                    assert_eq!(rows_of(held.open(), Space::Catalog).await, rows[&last], "{last}");
                    lost += before - last;
                }
                1 => held.store = None,
                2 | 3 => held.open().tick().unwrap(),
                4 | 5 => held.open().close().await.unwrap(),
                6..9 => {
                    let keys: Vec<u16> = (0..40).map(|_| random.u16(..500)).collect();
                    let value = random.u8(..);
                    let put = move |key: &u16| Mutation::Put {
                        space: Space::Catalog,
                        key: key.to_be_bytes().to_vec().into(),
                        value: vec![value; 300].into(),
                    };
                    let commit = Commit::new(vec![], move |_| keys.iter().map(put).collect());
                    owner.commit(vec![commit]).await.unwrap();
                    let last = owner.last_entry().unwrap();
                    rows.insert(last, rows_of(&owner, Space::Catalog).await);
                }
                _ => {
                    follow(held.open(), &leader);
                    // The copy's flusher may write tables at this point or not.
                    std::thread::park_timeout(Duration::from_millis(random.u64(..30)));
                }
            }
        }
        follow(held.open(), &leader);
        let last = owner.last_entry().unwrap();
        assert_eq!(rows_of(held.open(), Space::Catalog).await, rows[&last], "seed {seed}");
    }
    assert!(20 < lost, "{lost} entries were lost");
}

fn follow(copy: &TreeStore, leader: &OnMemory) {
    let known = copy.last_entry().unwrap();
    let news = leader.journals.newest().read(known, usize::MAX).unwrap();
    copy.follow(news.iter().map(|entry| entry.encode().unwrap()).collect()).unwrap();
}
