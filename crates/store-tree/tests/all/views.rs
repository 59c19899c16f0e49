//! Views are unaffected by their age and by flushes and compactions, and hold neither memory nor
//! files of earlier states of the trees.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use bytes::Bytes;
use store::{
    Commit, Direction, KeyRange, Kind, Limit, Mutation, Snapshot, Space, Store as _,
    laws::ManualTime,
};
use store_tree::{OldViewsBound, TreeOptions, TreeStore};
use tempfile::TempDir;

const SPACES: [Space; 3] = [Space::Rows(1), Space::Index(1), Space::Counts];
/// Few keys, so that each has many versions.
const KEYS: u64 = 40;
const MIB: u64 = 1 << 20;

/// A seeded random number generator.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) % bound
    }

    fn bytes(&mut self, length: u64) -> Bytes {
        (0..length).map(|_| u8::try_from(self.below(256)).unwrap()).collect()
    }
}

type Rows = BTreeMap<(usize, Bytes), Bytes>;

/// A view and its expected contents.
struct Held {
    snapshot: Arc<dyn Snapshot>,
    rows: Rows,
}

fn open(directory: &TempDir, buffer_bytes: u64) -> TreeStore {
    open_with_bound(directory, buffer_bytes, OldViewsBound::default())
}

fn open_with_bound(directory: &TempDir, buffer_bytes: u64, old_views: OldViewsBound) -> TreeStore {
    let options = TreeOptions {
        old_views,
        buffer_bytes,
        journal_bytes: 64 * MIB,
        segment_bytes: 4 * MIB,
        cache_bytes: MIB,
        ..TreeOptions::new(directory.path())
    };
    TreeStore::open(&options, ManualTime::default().commit_clock()).unwrap()
}

fn key(number: u64) -> Bytes {
    Bytes::from(format!("key-{number:04}"))
}

/// Compares a view with its expected contents: all rows in both directions with various page sizes,
/// and some keys individually.
async fn check(held: &Held, random: &mut Random) {
    for (at, space) in SPACES.into_iter().enumerate() {
        let want: Vec<(Bytes, Bytes)> = held
            .rows
            .iter()
            .filter(|((of, _), _)| *of == at)
            .map(|((_, key), value)| (key.clone(), value.clone()))
            .collect();
        for direction in [Direction::Forward, Direction::Backward] {
            let rows = 1 + usize::try_from(random.below(50)).unwrap();
            let (mut range, mut found) = (KeyRange::all(), Vec::new());
            loop {
                let limit = Limit { rows, bytes: usize::MAX };
                let page = held.snapshot.scan(space, &range, direction, limit).await.unwrap();
                found.extend(page.rows);
                let Some((last, _)) = found.last().filter(|_| page.more) else { break };
                match direction {
                    Direction::Forward => range.start = [&last[..], &[0]].concat(),
                    Direction::Backward => range.end = Some(last.to_vec()),
                }
            }
            if direction == Direction::Backward {
                found.reverse();
            }
            assert!(found == want, "{space:?} {direction:?}");
        }
        for number in 0..KEYS {
            let found = held.snapshot.get(space, &key(number)).await.unwrap();
            assert_eq!(found.as_ref(), held.rows.get(&(at, key(number))), "{space:?} {number}");
        }
    }
}

/// Runs one history: commits of a few keys, views kept for a while, and compactions.
async fn run_history(seed: u64) {
    let directory = TempDir::new().unwrap();
    let store = open(&directory, 64 * 1024);
    for space in SPACES {
        store.create_space(space).unwrap();
    }
    let mut random = Random(seed);
    let (mut rows, mut views) = (Rows::new(), Vec::<Held>::new());
    for step in 0..600 {
        let count = 1 + random.below(8);
        let mut mutations = Vec::new();
        for _ in 0..count {
            let at = usize::try_from(random.below(3)).unwrap();
            let key = key(random.below(KEYS));
            if random.below(5) == 0 {
                rows.remove(&(at, key.clone()));
                mutations.push(Mutation::Delete { space: SPACES[at], key });
            } else {
                // Mostly small, so that a block has several versions; some values fill several
                // blocks.
                let length = [10, 100, 1_000, 20_000][usize::try_from(random.below(4)).unwrap()];
                let value = random.bytes(length);
                rows.insert((at, key.clone()), value.clone());
                mutations.push(Mutation::Put { space: SPACES[at], key, value });
            }
        }
        store.commit(vec![Commit::new(vec![], move |_| mutations.clone())]).await.unwrap();
        if random.below(20) == 0 {
            views.push(Held { snapshot: store.snapshot(), rows: rows.clone() });
        }
        if random.below(25) == 0 {
            store.reap_space(SPACES[usize::try_from(random.below(2)).unwrap()]).await.unwrap();
        }
        if !views.is_empty() && random.below(12) == 0 {
            let at = usize::try_from(random.below(views.len() as u64)).unwrap();
            check(&views[at], &mut random).await;
            if random.below(3) == 0 {
                views.swap_remove(at);
            }
        }
        if step % 100 == 99 {
            check(&Held { snapshot: store.snapshot(), rows: rows.clone() }, &mut random).await;
        }
    }
    for view in &views {
        check(view, &mut random).await;
    }
}

#[tokio::test]
async fn views_of_every_age_find_what_there_was() {
    for seed in 1..=4 {
        run_history(seed).await;
    }
}

/// Waits for background work of the store, as long as a slow disk needs.
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..600 {
        if holds() {
            return;
        }
        std::thread::park_timeout(Duration::from_millis(50));
    }
    panic!("{what}");
}

#[tokio::test]
async fn an_old_view_holds_no_memory_and_its_disk_comes_back() {
    let directory = TempDir::new().unwrap();
    let store = open(&directory, 2 * MIB);
    store.create_space(SPACES[0]).unwrap();
    let mut random = Random(7);
    let mut rows_of = |round: u64| {
        let rows: Vec<_> = (0..64).map(|number| (key(number), random.bytes(16 * 1024))).collect();
        let last = (key(999), Bytes::from(round.to_string()));
        let put = |(key, value)| Mutation::Put { space: SPACES[0], key, value };
        let mutations: Vec<_> = rows.into_iter().chain([last]).map(put).collect();
        vec![Commit::new(vec![], move |_| mutations.clone())]
    };
    store.commit(rows_of(0)).await.unwrap();
    let old = store.snapshot();
    let before = store.old_views();
    assert_eq!((before.memory, before.tables), (0, 0));
    // Writes many times what memtables may hold, always to the same keys.
    for round in 1..=40 {
        store.commit(rows_of(round)).await.unwrap();
        assert!(store.old_views().memory <= 4 * MIB, "{:?}", store.old_views());
    }
    wait_until("memory stays", || store.old_views().memory == 0);
    store.reap_space(SPACES[0]).await.unwrap();
    // Of each key the version that the view sees and the newest one are left.
    let (held, all) = (store.old_views(), store.stored_bytes());
    assert!((MIB..MIB + MIB / 8).contains(&held.tables), "{held:?}");
    assert!((2 * MIB..3 * MIB).contains(&all.tables), "{all:?}");
    let found = old.get(SPACES[0], &key(999)).await.unwrap();
    assert_eq!(found.as_deref(), Some(&b"0"[..]));
    drop(old);
    // Without further writes, only a compaction at the end of the view removes old versions.
    wait_until("the disk is not given back", || store.stored_bytes().tables < 3 * MIB / 2);
    assert_eq!(store.old_views().tables, 0);
    let found = store.snapshot().get(SPACES[0], &key(999)).await.unwrap();
    assert_eq!(found.as_deref(), Some(&b"40"[..]));
}

#[tokio::test]
async fn a_dropped_space_stays_for_the_views_that_show_it() {
    let directory = TempDir::new().unwrap();
    let store = open(&directory, 64 * MIB);
    let mut random = Random(3);
    for flushed in [false, true] {
        store.create_space(SPACES[0]).unwrap();
        let value = random.bytes(MIB);
        let mutation = Mutation::Put { space: SPACES[0], key: key(1), value: value.clone() };
        store.commit(vec![Commit::new(vec![], move |_| vec![mutation.clone()])]).await.unwrap();
        if flushed {
            store.reap_space(SPACES[0]).await.unwrap();
        }
        let view = store.snapshot();
        store.drop_space(SPACES[0]).unwrap();
        assert_eq!(store.snapshot().get(SPACES[0], &key(1)).await.unwrap(), None);
        // Created again, it is another space.
        store.create_space(SPACES[0]).unwrap();
        assert_eq!(store.snapshot().get(SPACES[0], &key(1)).await.unwrap(), None);
        store.close().await.unwrap();
        std::thread::park_timeout(Duration::from_millis(300));
        assert_eq!(view.get(SPACES[0], &key(1)).await.unwrap(), Some(value));
        assert!(MIB < store.stored_bytes().tables);
        drop(view);
        let bytes = || store.stored_bytes().tables + store.stored_bytes().garbage;
        wait_until("its files stay", || bytes() < MIB / 2);
        store.drop_space(SPACES[0]).unwrap();
    }
}

#[tokio::test]
async fn the_oldest_view_is_ended_when_too_much_of_the_disk_is_kept_for_it() {
    let directory = TempDir::new().unwrap();
    let store = open_with_bound(&directory, MIB, OldViewsBound::Bytes(6 * MIB));
    store.create_space(SPACES[0]).unwrap();
    let mut random = Random(11);
    let mut rows_of = |round: u64, count: u64| {
        let last = (key(999), Bytes::from(round.to_string()));
        let rows: Vec<_> = (0..count).map(|number| (key(number), random.bytes(MIB))).collect();
        let put = |(key, value)| Mutation::Put { space: SPACES[0], key, value };
        let mutations: Vec<_> = rows.into_iter().chain([last]).map(put).collect();
        vec![Commit::new(vec![], move |_| mutations.clone())]
    };
    store.commit(rows_of(0, 12)).await.unwrap();
    let old = store.snapshot();
    // The view continues as long as less than the bound is kept for it.
    store.commit(rows_of(1, 3)).await.unwrap();
    assert_eq!(store.old_views().kept, 0);
    store.reap_space(SPACES[0]).await.unwrap();
    assert!((3 * MIB..4 * MIB).contains(&store.old_views().kept), "{:?}", store.old_views());
    assert_eq!(old.get(SPACES[0], &key(999)).await.unwrap().as_deref(), Some(&b"0"[..]));
    store.commit(rows_of(2, 12)).await.unwrap();
    let newer = store.snapshot();
    store.reap_space(SPACES[0]).await.unwrap();
    wait_until("the view continues", || store.old_views().ended == 1);
    let error = old.get(SPACES[0], &key(999)).await.unwrap_err();
    assert_eq!(error.kind, Kind::ViewEnded);
    let limit = Limit { rows: 1, bytes: usize::MAX };
    let scanned = old.scan(SPACES[0], &KeyRange::all(), Direction::Forward, limit).await;
    assert_eq!(scanned.unwrap_err().kind, Kind::ViewEnded);
    // Views for which less is kept continue, and the ended view's space is freed although it is
    // still open.
    store.commit(rows_of(3, 0)).await.unwrap();
    let found = newer.get(SPACES[0], &key(999)).await.unwrap();
    assert_eq!(found.as_deref(), Some(&b"2"[..]));
    wait_until("the disk is not given back", || store.stored_bytes().tables < 13 * MIB);
    assert_eq!(store.old_views().ended, 1);
    drop((old, newer));
}
