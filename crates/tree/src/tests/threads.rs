//! Threads that write, flush, compact, expire, sweep and read at the same time.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use bytes::Bytes;

use super::{
    rules::{Rules, value},
    sim_disk::SimDisk,
    world::{open, small_options},
};
use crate::{Caching, Direction, Layout, Result, Snapshot, Tree, Write};

const KEYS: u32 = 60;
const SPACES: [u64; 3] = [1, 2, 3];

/// A batch sets all keys of all spaces to its number, or deletes them.
fn batch(number: u64) -> Vec<Write> {
    let body = vec![number as u8; 20 + (number % 90) as usize];
    let value = |n: u32| {
        let mut stamped = number.to_be_bytes().to_vec();
        stamped.extend_from_slice(&body);
        (number % 11 != u64::from(n % 11)).then(|| value(0, 0, &stamped))
    };
    let write =
        |space: u64, n: u32| Write { space, key: Bytes::from(format!("{n:04}")), value: value(n) };
    SPACES.iter().flat_map(|space| (0..KEYS).map(move |n| write(*space, n))).collect()
}

/// Checks that a snapshot sees exactly its batch, in all spaces.
fn check(snapshot: &Snapshot, direction: Direction) {
    let number = snapshot.number();
    let want = batch(number);
    for space in SPACES {
        let scan = snapshot.scan(space, b"", None, direction, Caching::Fill).unwrap();
        let mut rows = scan.collect::<Result<Vec<_>>>().unwrap();
        if direction == Direction::Backward {
            rows.reverse();
        }
        let of_space = want.iter().filter(|write| write.space == space);
        let rows_wanted: Vec<(Bytes, Bytes)> =
            of_space.filter_map(|of| Some((of.key.clone(), of.value.clone()?))).collect();
        assert_eq!(rows, rows_wanted, "space {space} at {number}");
    }
    let some = &want[(number % u64::from(KEYS)) as usize];
    assert_eq!(snapshot.get(some.space, &some.key).unwrap(), some.value);
}

fn maintain(tree: &Tree, done: &AtomicBool, first_runs: usize) {
    while !done.load(Ordering::SeqCst) {
        match tree.pick(|_| Some(first_runs)) {
            Some(job) => drop(tree.run(&job).unwrap()),
            None => std::thread::yield_now(),
        }
        tree.sweep().unwrap();
        tree.expire().unwrap();
    }
}

#[test]
fn snapshots_are_whole_beside_flushes_and_jobs() {
    let rules = Rules::default();
    let tree = open(&SimDisk::default(), &rules, &small_options()).unwrap();
    for space in SPACES {
        tree.create_space(space, Layout::Ranges).unwrap();
    }
    let commit = |number| {
        tree.apply(number, batch(number)).unwrap();
        tree.publish(number).unwrap();
    };
    commit(1);
    let (done, checks) = (AtomicBool::new(false), Arc::<AtomicU64>::default());
    std::thread::scope(|scope| {
        for space in SPACES {
            let (tree, done) = (&tree, &done);
            scope.spawn(move || {
                while !done.load(Ordering::SeqCst) {
                    tree.flush(space).unwrap();
                    std::thread::yield_now();
                }
            });
        }
        for first_runs in [2, 3] {
            let (tree, done) = (&tree, &done);
            scope.spawn(move || maintain(tree, done, first_runs));
        }
        for direction in [Direction::Forward, Direction::Backward] {
            let (tree, done, checks) = (&tree, &done, Arc::clone(&checks));
            scope.spawn(move || {
                let mut kept = tree.snapshot();
                while !done.load(Ordering::SeqCst) {
                    check(&tree.snapshot(), direction);
                    // An old snapshot is read again and again.
                    check(&kept, direction);
                    if checks.fetch_add(1, Ordering::SeqCst).is_multiple_of(8) {
                        kept = tree.snapshot();
                    }
                }
            });
        }
        let mut number = 1;
        while checks.load(Ordering::SeqCst) < 300 || number < 300 {
            number += 1;
            commit(number);
        }
        done.store(true, Ordering::SeqCst);
    });
    assert_eq!(tree.verify().unwrap(), []);
    assert_eq!(tree.verify_handles().unwrap(), []);
}
