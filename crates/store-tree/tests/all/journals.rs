//! Stores whose journal is outside of their directory. The directory then contains a copy of the
//! data in the journal, and may be outdated or missing.

use std::sync::Arc;

use journal::{EncodedEntry, Fault, Journal as _, MemoryJournal, MemoryJournals};
use store::{
    Commit, Health, Kind, Mutation, Space, Store as _,
    laws::{self, Bench, ManualTime},
};
use store_tree::TreeStore;
use tempfile::TempDir;

use crate::laws::{copy_of_one_moment, options};

/// Effect of a crash on the directory.
#[derive(Clone, Copy)]
pub(crate) enum Directory {
    Copied,
    /// The next opening finds the directory as of the previous crash, or empty.
    Old,
    /// The directory is lost with its machine.
    Lost,
}

/// Stores on a journal in memory.
pub(crate) struct OnMemory {
    time: ManualTime,
    crash: Directory,
    pub(crate) journals: MemoryJournals,
    directory: TempDir,
    /// A copy of the directory at the previous crash.
    before: TempDir,
}

impl OnMemory {
    pub(crate) fn new(crash: Directory) -> Self {
        Self {
            time: ManualTime::default(),
            crash,
            journals: MemoryJournals::default(),
            directory: TempDir::new().unwrap(),
            before: TempDir::new().unwrap(),
        }
    }

    pub(crate) fn open_here(&self) -> TreeStore {
        let journals = Arc::new(self.journals.clone());
        let options = options(self.directory.path());
        TreeStore::open_on(&options, journals, self.time.commit_clock(), true).unwrap()
    }

    /// Copies the directory while a store has it open.
    fn copied(&self) -> TempDir {
        copy_of_one_moment(self.directory.path())
    }
}

impl Bench for OnMemory {
    type Store = TreeStore;
    type Opened = Box<TreeStore>;

    async fn open(&mut self) -> Box<TreeStore> {
        let keeping = MemoryJournal::keeping_all();
        self.journals = MemoryJournals::new(keeping);
        self.directory = TempDir::new().unwrap();
        self.before = TempDir::new().unwrap();
        Box::new(self.open_here())
    }

    async fn crash(&mut self, store: Box<TreeStore>) -> Box<TreeStore> {
        let copied = self.copied();
        drop(store);
        self.directory = match self.crash {
            Directory::Copied => copied,
            Directory::Old => std::mem::replace(&mut self.before, copied),
            Directory::Lost => TempDir::new().unwrap(),
        };
        Box::new(self.open_here())
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

/// Waits until the store was reopened after a failure, and resumes commits.
fn go_on(store: &TreeStore) {
    for _ in 0..2_000 {
        if store.health() == Health::Reopened {
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
    let opened = TreeStore::open_on(&options, journals, bench.time.commit_clock(), true);
    assert_eq!(opened.unwrap_err().kind, Kind::Corrupt);
}

/// Returns the entry of the owner's journal after this one.
fn entry_after(journals: &MemoryJournals, after: u64) -> Option<EncodedEntry> {
    let entries = journals.newest().read(after, 1).unwrap();
    Some(entries.first()?.encode().unwrap())
}

/// Two stores on journals of their own; the second follows the first.
struct Pair {
    time: ManualTime,
    benches: [OnMemory; 2],
    stores: [TreeStore; 2],
}

impl Pair {
    fn new() -> Self {
        let benches = [(); 2].map(|()| OnMemory::new(Directory::Copied));
        let time = ManualTime::default();
        let mut leads = true;
        let stores = benches.each_ref().map(|bench| {
            let journals = Arc::new(bench.journals.clone());
            let options = options(bench.directory.path());
            let store = TreeStore::open_on(&options, journals, time.commit_clock(), leads);
            leads = false;
            store.unwrap()
        });
        Self { time, benches, stores }
    }

    /// Makes one store follow everything that the other has appended.
    fn follow(&self, owner: usize, follower: usize) {
        let mut after = self.stores[follower].last_entry().unwrap();
        while let Some(entry) = entry_after(&self.benches[owner].journals, after) {
            after = entry.n();
            self.stores[follower].follow(vec![entry]).unwrap();
        }
    }

    /// Makes the other one the owner.
    fn hand_over(&self, from: usize, to: usize) {
        self.stores[from].leave().unwrap();
        self.follow(from, to);
        self.stores[to].lead().unwrap();
    }
}

#[tokio::test]
async fn a_follower_has_what_its_owner_has_and_goes_on_as_the_owner() {
    let pair = Pair::new();
    let rows = Space::Rows(7);
    let [first, second] = &pair.stores;
    let row = |key: String| {
        Commit::new(vec![], move |_| {
            let put = Mutation::Put { space: rows, key: key.into(), value: "v".into() };
            let add = Mutation::Add { space: Space::Counts, key: "sum".into(), by: [1, 10] };
            vec![put, add]
        })
    };
    let mut stamps = Vec::new();
    for round in 0..6_usize {
        let (owner, other) = if round % 2 == 0 { (0, 1) } else { (1, 0) };
        let [led, followed] = [owner, other].map(|at| &pair.stores[at]);
        led.create_space(rows).unwrap();
        for n in 0..20 {
            let told = led.commit(vec![row(format!("{round}.{n}"))]).await.unwrap();
            stamps.push(match told[..] {
                [store::Outcome::Committed(stamp)] => stamp,
                _ => panic!("{told:?}"),
            });
        }
        let refused = followed.commit(vec![put("refused")]).await.unwrap_err();
        assert_eq!(refused.kind, Kind::Moved);
        assert_eq!(followed.create_space(Space::Rows(8)).unwrap_err().kind, Kind::Moved);
        pair.time.set(i64::try_from(round).unwrap() + 1);
        pair.hand_over(owner, other);
        if round == 3 {
            pair.stores[other].drop_space(rows).unwrap();
            pair.hand_over(other, owner);
            assert!(!pair.stores[owner].all_spaces().contains(&rows));
            pair.hand_over(owner, other);
        }
    }
    assert!(stamps.is_sorted_by(|a, b| a.seq < b.seq && a.at_ms <= b.at_ms), "{stamps:?}");
    pair.stores[0].leave().unwrap();
    pair.follow(0, 1);
    for store in [first, second] {
        let snapshot = store.snapshot();
        for (round, there) in [(0, false), (3, false), (4, true), (5, true)] {
            let held = snapshot.get(rows, format!("{round}.19").as_bytes()).await.unwrap();
            assert_eq!(held.is_some(), there, "{round}");
        }
        let sum = snapshot.get(Space::Counts, b"sum").await.unwrap().unwrap();
        assert_eq!(store::decode_count(&sum), [120, 1_200]);
        assert_eq!(snapshot.get(Space::Catalog, b"refused").await.unwrap(), None);
    }
    assert_eq!(first.published(), second.published());
}

#[tokio::test]
async fn a_follower_takes_entries_in_order_alone_and_an_owner_none() {
    let pair = Pair::new();
    let [owner, follower] = &pair.stores;
    for key in ["a", "b", "c"] {
        owner.commit(vec![put(key)]).await.unwrap();
    }
    let entry = |after| entry_after(&pair.benches[0].journals, after).unwrap();
    let begun = follower.last_entry().unwrap();
    assert_eq!(follower.follow(vec![entry(begun + 1)]).unwrap_err().kind, Kind::Invalid);
    follower.follow(vec![entry(begun)]).unwrap();
    assert_eq!(follower.follow(vec![entry(begun)]).unwrap_err().kind, Kind::Invalid);
    follower.follow(vec![entry(begun + 1)]).unwrap();
    assert_eq!(owner.follow(vec![entry(begun + 2)]).unwrap_err().kind, Kind::Invalid);
    assert!(has(follower, "b").await && !has(follower, "c").await);
    // An entry that the follower's own journal refused can be sent again.
    pair.benches[1].journals.newest().fail_nth(Fault::Full, 1);
    assert_eq!(follower.follow(vec![entry(begun + 2)]).unwrap_err().kind, Kind::Full);
    follower.follow(vec![entry(begun + 2)]).unwrap();
    assert!(has(follower, "c").await);
}

/// A wiped copy is empty, and is rebuilt from the first entry on.
#[tokio::test]
async fn a_wiped_store_is_empty_and_follows_from_the_beginning() {
    let time = ManualTime::default();
    let put = |key: String| {
        Commit::new(vec![], move |_| {
            let value = vec![7; 1_000].into();
            vec![Mutation::Put { space: Space::Catalog, key: key.into(), value }]
        })
    };
    let leader = OnMemory::new(Directory::Copied);
    let owner = leader.open_here();
    for n in 0..50 {
        owner.commit(vec![put(format!("key {n}"))]).await.unwrap();
    }
    let entries: Vec<EncodedEntry> = {
        let journal = leader.journals.newest();
        journal.read(1, usize::MAX).unwrap().iter().map(|entry| entry.encode().unwrap()).collect()
    };
    let directory = TempDir::new().unwrap();
    let options = options(directory.path());
    let journal = Arc::new(options.journal_folder());
    let copy = TreeStore::open_on(&options, journal.clone(), time.commit_clock(), false).unwrap();
    copy.follow(entries.clone()).unwrap();
    copy.close().await.unwrap();
    let held = copy.snapshot();
    assert!(held.get(Space::Catalog, b"key 7").await.unwrap().is_some());
    copy.wipe(&store::Error::new(Kind::Corrupt, "damaged on purpose")).unwrap();
    // The wipe waits for open snapshots, whose reads fail soon.
    while held.get(Space::Catalog, b"key 7").await.is_ok() {
        std::thread::park_timeout(std::time::Duration::from_millis(1));
    }
    assert!(copy.is_wiping());
    drop(held);
    while copy.is_wiping() || copy.health() != Health::Reopened {
        std::thread::park_timeout(std::time::Duration::from_millis(1));
    }
    assert_eq!(copy.last_entry(), Ok(1));
    assert_eq!(copy.snapshot().get(Space::Catalog, b"key 7").await, Ok(None));
    copy.follow(entries.clone()).unwrap();
    assert!(copy.snapshot().get(Space::Catalog, b"key 7").await.unwrap().is_some());
    drop(copy);
    // A closed store is wiped when it is opened.
    TreeStore::wipe_at_opening(directory.path()).unwrap();
    let copy = TreeStore::open_on(&options, journal, time.commit_clock(), false).unwrap();
    assert_eq!(copy.last_entry(), Ok(1));
    copy.follow(entries).unwrap();
    assert!(copy.snapshot().get(Space::Catalog, b"key 7").await.unwrap().is_some());
}

pub(crate) async fn rows_of(store: &TreeStore, space: Space) -> Vec<(bytes::Bytes, bytes::Bytes)> {
    let limit = store::Limit { rows: usize::MAX, bytes: usize::MAX };
    let (all, forward) = (store::KeyRange::all(), store::Direction::Forward);
    store.snapshot().scan(space, &all, forward, limit).await.unwrap().rows
}

/// A store created from the pieces of another has the same state, follows and leads.
#[tokio::test]
async fn a_store_that_is_made_of_a_base_is_as_the_one_it_was_made_of() {
    let time = ManualTime::default();
    let leader = OnMemory::new(Directory::Copied);
    let owner = leader.open_here();
    let spaces = [1, 2, 3].map(Space::Rows);
    for space in spaces {
        owner.create_space(space).unwrap();
    }
    let write = |from: u64| {
        let put = move |n: u64| {
            let (key, value) = (n.to_be_bytes().to_vec().into(), vec![n as u8; 700].into());
            Mutation::Put { space: spaces[n as usize % 3], key, value }
        };
        Commit::new(vec![], move |_| (from..from + 30).map(put).collect())
    };
    for from in [0, 20, 60, 10, 90] {
        owner.commit(vec![write(from)]).await.unwrap();
        owner.close().await.unwrap();
    }
    let gone = Mutation::Delete { space: spaces[2], key: 5u64.to_be_bytes().to_vec().into() };
    owner.commit(vec![Commit::new(vec![], move |_| vec![gone.clone()])]).await.unwrap();
    owner.drop_space(spaces[1]).unwrap();
    let mut reader = owner.base().unwrap();
    let at = reader.last_entry();
    // Later commits are not in the base.
    owner.commit(vec![write(500)]).await.unwrap();
    let directory = TempDir::new().unwrap();
    let options = options(directory.path());
    let open = || {
        let journal = Arc::new(options.journal_folder());
        TreeStore::open_on(&options, journal, time.commit_clock(), false).unwrap()
    };
    let copy = open();
    let mut pieces = 0;
    while let Some(piece) = reader.next_piece(4_000).unwrap() {
        assert!(piece.len() < 6_000);
        copy.store_piece(pieces, &piece).unwrap();
        pieces += 1;
    }
    assert!(10 < pieces);
    drop(reader);
    assert_eq!(copy.last_entry(), Ok(1), "not yet");
    copy.load_base(pieces).unwrap();
    while copy.is_loading() || copy.health() != Health::Reopened {
        std::thread::park_timeout(std::time::Duration::from_millis(1));
    }
    copy.resume_commits();
    let mut copies = vec![copy];
    for round in 0..2 {
        let copy = copies.pop().unwrap_or_else(open);
        assert_eq!(copy.last_entry(), Ok(at + round), "round {round}");
        if round == 0 {
            assert_eq!(copy.all_spaces().len(), owner.all_spaces().len());
            assert!(rows_of(&copy, spaces[0]).await.len() < rows_of(&owner, spaces[0]).await.len());
            let behind = leader.journals.newest().read(at, usize::MAX).unwrap();
            copy.follow(behind.iter().map(|entry| entry.encode().unwrap()).collect()).unwrap();
        }
        for space in spaces {
            assert_eq!(rows_of(&copy, space).await, rows_of(&owner, space).await, "{space:?}");
        }
        assert_eq!(copy.published(), owner.published());
    }
    let copy = open();
    copy.lead().unwrap();
    for store in [&copy, &owner] {
        store.create_space(Space::Rows(9)).unwrap();
        store.commit(vec![write(700)]).await.unwrap();
    }
    for space in spaces {
        assert_eq!(rows_of(&copy, space).await, rows_of(&owner, space).await, "{space:?}");
    }
    let last = |store: &TreeStore| store.last_entry().unwrap();
    assert_eq!(last(&copy), last(&owner));
}

/// Pieces of two bases from different moments are refused, and the store's existing contents are
/// discarded with them.
#[tokio::test]
async fn pieces_of_two_moments_make_no_store() {
    let time = ManualTime::default();
    let leader = OnMemory::new(Directory::Copied);
    let owner = leader.open_here();
    let put = |n: u8| {
        Commit::new(vec![], move |_| {
            let put = |k: u8| {
                let (key, value) = (vec![k].into(), vec![n; 500].into());
                Mutation::Put { space: Space::Catalog, key, value }
            };
            (0..10).map(put).collect()
        })
    };
    let directory = TempDir::new().unwrap();
    let options = options(directory.path());
    let journal = Arc::new(options.journal_folder());
    let copy = TreeStore::open_on(&options, journal, time.commit_clock(), false).unwrap();
    let mut pieces = 0;
    for n in [1, 2] {
        owner.commit(vec![put(n)]).await.unwrap();
        let mut reader = owner.base().unwrap();
        pieces = 0;
        while let Some(piece) = reader.next_piece(1_000).unwrap() {
            // Replaces all pieces of the first base but one by pieces of the second.
            if n == 1 || pieces != 3 {
                copy.store_piece(pieces, &piece).unwrap();
            }
            pieces += 1;
        }
    }
    copy.load_base(pieces).unwrap();
    while copy.opening_failure().is_none() {
        std::thread::park_timeout(std::time::Duration::from_millis(1));
    }
    let failure = copy.opening_failure().unwrap();
    assert_eq!(failure.kind, Kind::Corrupt, "{failure}");
    copy.wipe(&failure).unwrap();
    while copy.is_wiping() || copy.health() != Health::Reopened {
        std::thread::park_timeout(std::time::Duration::from_millis(1));
    }
    assert_eq!((copy.last_entry(), copy.is_loading()), (Ok(1), false));
}
