//! Conformance tests of pages, snapshots, spaces and reaping.

use std::sync::{Arc, Barrier};

use bytes::Bytes;

use super::{
    Bench,
    commits::{commit_one, get, put},
};
use crate::{
    commit::{Commit, Mutation, Outcome},
    contract::{Direction, DropFilter, DropPredicate, KeyRange, Limit, Snapshot, Store},
    space::Space,
};

const ROWS: Space = Space::Rows(1);

fn key(number: u32) -> Vec<u8> {
    number.to_be_bytes()[2..].to_vec()
}

async fn fill(store: &dyn Store, count: u32) {
    store.create_space(ROWS).expect("a space");
    let commit =
        Commit::new(vec![], move |_| (0..count).map(|n| put(&key(n * 2), &key(n))).collect());
    assert!(matches!(commit_one(store, commit).await, Outcome::Committed(_)));
}

/// Reads all rows of a range page by page.
async fn read_all(
    snapshot: &dyn Snapshot,
    range: KeyRange,
    direction: Direction,
    limit: Limit,
) -> Vec<(Bytes, Bytes)> {
    let mut rows = Vec::new();
    let mut rest = range;
    loop {
        let page = snapshot.scan(ROWS, &rest, direction, limit).await.expect("a page");
        assert!(page.rows.len() <= limit.rows.max(1));
        rows.extend(page.rows.iter().cloned());
        match page.rows.last() {
            Some((last, _)) if page.more => rest = rest.remaining_after(last, direction),
            _ => return rows,
        }
    }
}

pub(super) async fn pages_of_every_size_in_both_directions(bench: &mut impl Bench) {
    let store = bench.open().await;
    fill(&*store, 40).await;
    let snapshot = store.snapshot();
    for (start, end) in [(0, Some(100)), (0, None), (3, Some(41)), (4, Some(40)), (9, Some(9))] {
        let range = KeyRange { start: key(start), end: end.map(key) };
        let want: Vec<Vec<u8>> = (0..40_u32)
            .map(|n| n * 2)
            .filter(|n| start <= *n && end.is_none_or(|end| *n < end))
            .map(key)
            .collect();
        for rows in 1..45 {
            for direction in [Direction::Forward, Direction::Backward] {
                let limit = Limit { rows, bytes: 1 << 20 };
                let got = read_all(&*snapshot, range.clone(), direction, limit).await;
                let mut got: Vec<Vec<u8>> = got.iter().map(|(key, _)| key.to_vec()).collect();
                if direction == Direction::Backward {
                    got.reverse();
                }
                assert_eq!(got, want, "{rows} rows {direction:?} from {start} to {end:?}");
            }
        }
        let limit = Limit { rows: 100, bytes: 1 };
        assert_eq!(read_all(&*snapshot, range, Direction::Forward, limit).await.len(), want.len());
    }
}

pub(super) async fn snapshots_do_not_move(bench: &mut impl Bench) {
    let store = bench.open().await;
    fill(&*store, 10).await;
    let snapshot = store.snapshot();
    let copy = snapshot.clone();
    for round in 0..5_u8 {
        let commit = Commit::new(vec![], move |_| {
            let gone = Mutation::Delete { space: ROWS, key: Bytes::from(key(2)) };
            vec![put(&key(0), &[round]), put(&key(1), &[round]), gone]
        });
        commit_one(&*store, commit).await;
    }
    drop(snapshot);
    let limit = Limit { rows: 3, bytes: 1 << 20 };
    let rows = read_all(&*copy, KeyRange::all(), Direction::Forward, limit).await;
    let want: Vec<_> = (0..10).map(|n| (Bytes::from(key(n * 2)), Bytes::from(key(n)))).collect();
    assert_eq!(rows, want);
    assert_eq!(get(&*store, &key(2)).await, None);
    assert_eq!(get(&*store, &key(0)).await.as_deref(), Some(&[4][..]));
}

pub(super) async fn spaces_are_apart_and_can_be_dropped(bench: &mut impl Bench) {
    let store = bench.open().await;
    let other = Space::Index(7);
    store.create_space(ROWS).expect("a space");
    store.create_space(other).expect("a space");
    store.create_space(other).expect("the same space again");
    let commit = Commit::new(vec![], move |_| {
        let key = Bytes::from_static(b"k");
        vec![
            put(b"k", b"row"),
            Mutation::Put { space: other, key, value: Bytes::from_static(b"entry") },
        ]
    });
    commit_one(&*store, commit).await;
    let entry = store.snapshot().get(other, b"k").await.expect("a read");
    assert_eq!(entry.as_deref(), Some(&b"entry"[..]));
    store.drop_space(other).expect("a drop");
    assert!(!store.all_spaces().contains(&other));
    let store = bench.crash(store).await;
    assert!(!store.all_spaces().contains(&other));
    assert_eq!(get(&*store, b"k").await.as_deref(), Some(&b"row"[..]));
    store.create_space(Space::Index(8)).expect("a space");
    assert_eq!(store.snapshot().get(Space::Index(8), b"k").await.expect("a read"), None);
}

/// A new space never contains keys of a dropped one, even if it reuses its storage slot.
pub(super) async fn a_new_space_is_empty(bench: &mut impl Bench) {
    let mut store = bench.open().await;
    for round in 0..8 {
        let space = Space::Rows(100 + round);
        store.create_space(space).expect("a space");
        let own = Bytes::from(format!("of {round}"));
        let value = own.clone();
        let put = Commit::new(vec![], move |_| {
            let put = |key: &'static [u8]| {
                let key = Bytes::from_static(key);
                Mutation::Put { space, key, value: value.clone() }
            };
            vec![put(b"a"), put(b"b"), put(b"\xff\xff\xff\xff\xff")]
        });
        commit_one(&*store, put).await;
        if round % 4 == 1 {
            store.set_drop_predicate(Arc::new(DropSmall(0)));
            store.reap_space(space).await.expect("a compaction");
        }
        if round % 3 == 2 {
            store = bench.crash(store).await;
        }
        for direction in [Direction::Forward, Direction::Backward] {
            let all = Limit { rows: 10, bytes: usize::MAX };
            let found = store.snapshot().scan(space, &KeyRange::all(), direction, all).await;
            let rows = found.expect("a scan").rows;
            let values: Vec<_> = rows.iter().map(|(_, value)| value.clone()).collect();
            assert_eq!(values, vec![own.clone(); 3], "round {round}, {direction:?}");
        }
        store.drop_space(space).expect("a drop");
        if round % 3 == 0 {
            store = bench.crash(store).await;
        }
        assert_eq!(store.snapshot().get(space, b"a").await.expect("a read"), None);
    }
}

/// Concurrent creators of a space get the same one: the writes of all of them exist, before and
/// after a crash.
pub(super) async fn two_creators_of_a_space_get_one(bench: &mut impl Bench) {
    const CREATORS: u32 = 4;
    let mut store = bench.open().await;
    for round in 0..8 {
        let spaces = [Space::Rows(200 + round), Space::Index(200 + round)];
        let start = Barrier::new(CREATORS as usize);
        std::thread::scope(|scope| {
            for _ in 0..CREATORS {
                scope.spawn(|| {
                    start.wait();
                    for space in spaces {
                        store.create_space(space).expect("a space");
                    }
                });
            }
        });
        for n in 0..CREATORS {
            let commit = Commit::new(vec![], move |_| {
                let put = |space| Mutation::Put { space, key: key(n).into(), value: key(n).into() };
                spaces.map(put).to_vec()
            });
            commit_one(&*store, commit).await;
        }
        if round % 2 == 1 {
            store = bench.crash(store).await;
        }
        for space in spaces {
            let times = store.all_spaces().iter().filter(|held| **held == space).count();
            assert_eq!(times, 1, "round {round}");
            for n in 0..CREATORS {
                let held = store.snapshot().get(space, &key(n)).await.expect("a read");
                assert_eq!(held.as_deref(), Some(&key(n)[..]), "round {round}");
            }
        }
    }
}

struct DropSmall(u8);

impl DropPredicate for DropSmall {
    fn filter_for(&self, space: Space) -> DropFilter {
        let bound = self.0;
        Box::new(move |_, value| space == ROWS && value.first().is_some_and(|first| *first < bound))
    }
}

pub(super) async fn reaping_drops_what_the_predicate_says(bench: &mut impl Bench) {
    let store = bench.open().await;
    store.create_space(ROWS).expect("a space");
    let commit = |value: u8| {
        Commit::new(vec![], move |_| {
            (0..100_u32)
                .map(|n| put(&key(n), &[value + u8::try_from(n % 2).unwrap_or(0)]))
                .collect()
        })
    };
    commit_one(&*store, commit(5)).await;
    commit_one(&*store, commit(1)).await;
    store.set_drop_predicate(Arc::new(DropSmall(2)));
    assert_eq!(store.filtered_through(ROWS), 0);
    store.reap_space(ROWS).await.expect("a reap");
    assert!(store.filtered_through(ROWS) <= store.published());
    // Each even key first had the value 5, then 1, and was then reaped: the 5 must not reappear.
    // Each odd key has the value 2.
    if !bench.reaped_stays_gone() {
        commit_one(&*store, commit(7)).await;
        store.tick().expect("a tick");
        assert_eq!(store.filtered_through(ROWS), 0, "it may be on another disk");
        return;
    }
    let store = if store.capabilities().drops { bench.crash(store).await } else { store };
    for n in 0..100_u32 {
        let held = get(&*store, &key(n)).await;
        if n % 2 == 1 {
            assert_eq!(held.as_deref(), Some(&[2][..]), "{n}");
        } else if store.capabilities().drops {
            assert_eq!(held, None, "{n}");
        }
    }
}
