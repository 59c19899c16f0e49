//! The journal and the memory of the trees stay within their bounds while spaces are written,
//! dropped and re-created. Values are incompressible, so that bytes written equal bytes in the
//! journal.

use std::{collections::BTreeMap, path::Path, time::Duration};

use store::{Commit, Direction, KeyRange, Limit, Mutation, Space, Store, laws::ManualTime};
use store_tree::{TreeOptions, TreeStore};
use tempfile::TempDir;

const MIB: u64 = 1 << 20;
/// Journal budget of the store.
const BOUND: u64 = 64 * MIB;
/// Size of a journal segment. Besides the entries within the bound, the journal has a segment that
/// is being filled, one that is kept for its last entry, and spare segments.
const SEGMENT: u64 = 16 * MIB;
const SEGMENTS: u64 = 4 * SEGMENT;
/// Size of the values of one commit.
const COMMIT: u64 = MIB;
/// Size of a row's value.
const VALUE: u64 = 64 * 1024;

/// A store with a small journal in its own directory.
struct Bounded {
    directory: TempDir,
    /// `None` while it is reopened.
    store: Option<TreeStore>,
    /// Number of rows of each existing collection.
    rows: BTreeMap<u32, u64>,
    /// State for generating different values.
    state: u64,
    /// Maximum size of the journal so far.
    longest: u64,
}

impl Bounded {
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let store = Some(open(directory.path()));
        Self { directory, store, rows: BTreeMap::new(), state: 1, longest: 0 }
    }

    fn store(&self) -> &TreeStore {
        self.store.as_ref().unwrap()
    }

    /// Reopens the store; collections must be unchanged.
    async fn restart(&mut self) {
        drop(self.store.take());
        self.store = Some(open(self.directory.path()));
        let limit = Limit { rows: 100_000, bytes: usize::MAX };
        let snapshot = self.store().snapshot();
        for (number, rows) in &self.rows {
            // Each row has an index entry, which is cheaper to read.
            let found = snapshot
                .scan(Space::Index(*number), &KeyRange::all(), Direction::Forward, limit)
                .await
                .unwrap();
            assert_eq!(found.rows.len() as u64, *rows, "collection {number}");
        }
    }

    fn journal_bytes(&self) -> u64 {
        self.store().stored_bytes().journal
    }

    fn make(&mut self, number: u32) {
        self.store().create_space(Space::Rows(number)).unwrap();
        self.store().create_space(Space::Index(number)).unwrap();
        self.rows.insert(number, 0);
    }

    fn drop_spaces(&mut self, number: u32) {
        self.store().drop_space(Space::Rows(number)).unwrap();
        self.store().drop_space(Space::Index(number)).unwrap();
        self.rows.remove(&number);
    }

    /// Writes this many bytes to a collection, measuring the journal after each commit.
    async fn write(&mut self, number: u32, bytes: u64) {
        for _ in 0..bytes.div_ceil(COMMIT) {
            self.state += 1;
            let state = self.state;
            let commit = Commit::new(vec![], move |_| mutations(number, state));
            self.store().commit(vec![commit]).await.unwrap();
            *self.rows.get_mut(&number).unwrap() += COMMIT / VALUE;
            self.longest = self.longest.max(self.journal_bytes());
        }
    }

    /// Checks that the journal never exceeded the size at which commits wait.
    fn assert_never_long(&self) {
        assert!(self.longest <= 2 * BOUND * 4 / 3 + SEGMENTS, "{} MiB", self.longest / MIB);
    }

    /// Waits until the journal is within its budget, as long as a slow disk needs.
    fn assert_short(&self, what: &str) {
        for _ in 0..600 {
            if self.journal_bytes() <= BOUND * 4 / 3 + SEGMENTS {
                return;
            }
            std::thread::park_timeout(Duration::from_millis(50));
        }
        panic!("{what}: {} MiB of journal at rest", self.journal_bytes() / MIB);
    }
}

fn open(path: &Path) -> TreeStore {
    let options = TreeOptions {
        journal_bytes: BOUND,
        buffer_bytes: BOUND,
        segment_bytes: SEGMENT,
        ..TreeOptions::new(path)
    };
    TreeStore::open(&options, ManualTime::default().commit_clock()).unwrap()
}

/// Incompressible rows of 64 KB with an index entry each.
fn mutations(number: u32, mut state: u64) -> Vec<Mutation> {
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        state ^ state >> 29
    };
    let mut rows = Vec::new();
    for _ in 0..COMMIT / VALUE {
        let value: Vec<u8> = (0..VALUE / 8).flat_map(|_| next().to_le_bytes()).collect();
        let key = next().to_be_bytes().to_vec();
        let (space, value) = (Space::Rows(number), value.into());
        rows.push(Mutation::Put { space, key: key.clone().into(), value });
        let space = Space::Index(number);
        rows.push(Mutation::Put { space, key: key.into(), value: "".into() });
    }
    rows
}

#[tokio::test]
async fn collections_that_come_and_go_beside_an_idle_one() {
    let mut bounded = Bounded::new();
    bounded.make(1);
    bounded.write(1, 4 * MIB).await;
    for round in 0..3 {
        for number in [2, 3] {
            bounded.make(number + 10 * round);
            bounded.write(number + 10 * round, 40 * MIB).await;
        }
        for number in [2, 3] {
            bounded.drop_spaces(number + 10 * round);
        }
    }
    bounded.make(90);
    bounded.write(90, 160 * MIB).await;
    bounded.assert_never_long();
    bounded.assert_short("after the load");
}

#[tokio::test]
async fn many_collections_that_are_half_full() {
    let mut bounded = Bounded::new();
    for number in 1..=16 {
        bounded.make(number);
        bounded.write(number, 20 * MIB).await;
    }
    bounded.assert_never_long();
    bounded.assert_short("after the load");
}

#[tokio::test]
async fn a_small_one_that_never_fills_its_memory_holds_no_journal() {
    let mut bounded = Bounded::new();
    for number in 1..=30 {
        bounded.make(number);
    }
    for _ in 0..3 {
        for number in 1..=30 {
            bounded.write(number, 4 * MIB).await;
        }
    }
    bounded.assert_never_long();
    bounded.assert_short("after the load");
}

#[tokio::test]
async fn a_hundred_of_five_megabytes_that_come_and_go_over_restarts() {
    let mut bounded = Bounded::new();
    for number in 1..=100 {
        bounded.make(number);
        bounded.write(number, 5 * MIB).await;
        // Every seventh collection is dropped and re-created while others are written.
        if number % 7 == 0 {
            bounded.drop_spaces(number - 3);
            bounded.make(number - 3);
            bounded.write(number - 3, MIB).await;
        }
        if number % 40 == 0 {
            bounded.restart().await;
        }
    }
    bounded.assert_never_long();
    bounded.assert_short("after the load");
    bounded.restart().await;
    bounded.assert_short("after a restart");
}

#[tokio::test]
async fn a_thousand_trees_with_a_little_in_each() {
    let mut bounded = Bounded::new();
    for number in 1..=500 {
        bounded.make(number);
    }
    for number in 1..=500 {
        // Most collections are empty, so that few trees need old entries of the journal.
        if number % 3 == 0 {
            bounded.write(number, MIB).await;
        }
        if number % 50 == 0 {
            bounded.drop_spaces(number - 1);
        }
        if number % 200 == 0 {
            bounded.restart().await;
        }
    }
    bounded.assert_never_long();
    bounded.assert_short("after the load");
    bounded.restart().await;
}
