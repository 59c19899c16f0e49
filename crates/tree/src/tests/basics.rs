//! What a tree does, one thing at a time.

use std::sync::Arc;

use bytes::Bytes;

use super::{
    rules::Rules,
    sim_disk::SimDisk,
    world::{open, small_options},
};
use crate::{
    Caching, Direction, Error, Folder, JobKind, KEY_BYTES_MAX, KeepAll, Layout, Options, Snapshot,
    Tree, Write,
};

pub(super) fn key(n: u32) -> Bytes {
    Bytes::from(format!("key {n:06}"))
}

pub(super) fn put(space: u64, n: u32, value: &[u8]) -> Write {
    Write { space, key: key(n), value: Some(Bytes::copy_from_slice(value)) }
}

fn delete(space: u64, n: u32) -> Write {
    Write { space, key: key(n), value: None }
}

pub(super) fn tree_on(disk: &SimDisk) -> Tree {
    let tree = Tree::open(Arc::new(disk.clone()), Arc::new(KeepAll), small_options()).unwrap();
    tree.create_space(1, Layout::Ranges).unwrap();
    tree
}

pub(super) fn commit(tree: &Tree, number: u64, writes: Vec<Write>) {
    tree.apply(number, writes).unwrap();
    tree.publish(number).unwrap();
}

/// Runs jobs until none is due.
fn settle(tree: &Tree) {
    for _ in 0..1_000 {
        let Some(job) = tree.pick(|_| Some(2)) else { return };
        tree.run(&job).unwrap();
        tree.sweep().unwrap();
    }
    panic!("jobs do not end");
}

pub(super) fn all(snapshot: &Snapshot, direction: Direction) -> Vec<(Bytes, Bytes)> {
    let scan = snapshot.scan(1, b"", None, direction, Caching::Fill).unwrap();
    scan.collect::<Result<_, _>>().unwrap()
}

#[test]
fn a_snapshot_keeps_what_it_sees_and_nothing_else() {
    let tree = tree_on(&SimDisk::default());
    commit(&tree, 1, (0..50).map(|n| put(1, n, b"old")).collect());
    let old = tree.snapshot();
    for number in 2..40 {
        commit(&tree, number, (0..50).map(|n| put(1, n, b"newer")).collect());
        tree.flush(1).unwrap();
    }
    settle(&tree);
    assert_eq!(old.get(1, &key(7)).unwrap().unwrap(), "old");
    assert!(all(&old, Direction::Backward).iter().all(|(_, value)| value == "old"));
    // 38 versions were replaced; of each key the old snapshot's and the newest remain.
    tree.run(&tree.pick_whole(1).unwrap().unwrap()).unwrap();
    assert_eq!(tree.space_figures(1).unwrap().entries, 100);
    assert_eq!(tree.snapshot_numbers(), [1, 39]);
    drop(old);
    assert_eq!(tree.snapshot_numbers(), [39]);
    // No write is necessary for the space to return.
    let job = tree.pick(|_| Some(4)).unwrap();
    assert_eq!(job.kind(), JobKind::Merge);
    tree.run(&job).unwrap();
    settle(&tree);
    assert_eq!(tree.space_figures(1).unwrap().entries, 50);
}

#[test]
fn an_ended_snapshot_fails_and_keeps_nothing() {
    let tree = tree_on(&SimDisk::default());
    commit(&tree, 1, vec![put(1, 1, b"one"), put(1, 2, b"two")]);
    let old = tree.snapshot();
    let mut scan = old.scan(1, b"", None, Direction::Forward, Caching::Fill).unwrap();
    assert!(scan.next().unwrap().is_ok());
    commit(&tree, 2, vec![put(1, 1, b"three")]);
    tree.end_snapshots(1);
    assert!(matches!(old.get(1, &key(1)), Err(Error::SnapshotEnded)));
    assert!(matches!(old.get_many(1, &[key(1)]), Err(Error::SnapshotEnded)));
    assert!(matches!(scan.next(), Some(Err(Error::SnapshotEnded))));
    assert!(scan.next().is_none());
    assert_eq!(tree.snapshot().get(1, &key(1)).unwrap().unwrap(), "three");
}

#[test]
fn batches_are_invisible_until_they_are_published_and_refused_out_of_order() {
    let tree = tree_on(&SimDisk::default());
    tree.apply(5, vec![put(1, 1, b"first"), put(1, 1, b"second")]).unwrap();
    assert_eq!(tree.snapshot().get(1, &key(1)).unwrap(), None);
    assert!(matches!(tree.publish(4), Err(Error::Refused(_))));
    tree.publish(5).unwrap();
    // The last change of a key in a batch counts.
    assert_eq!(tree.snapshot().get(1, &key(1)).unwrap().unwrap(), "second");
    assert!(matches!(tree.apply(5, vec![put(1, 1, b"again")]), Err(Error::Refused(_))));
    let unknown = vec![put(1, 1, b"kept out"), put(2, 1, b"of no space")];
    assert!(matches!(tree.apply(6, unknown), Err(Error::UnknownSpace(2))));
    let long = Write { space: 1, key: vec![0; KEY_BYTES_MAX + 1].into(), value: None };
    assert!(matches!(tree.apply(6, vec![put(1, 1, b"kept out"), long]), Err(Error::Refused(_))));
    tree.publish(6).unwrap();
    assert_eq!(tree.snapshot().get(1, &key(1)).unwrap().unwrap(), "second");
}

#[test]
fn long_keys_and_large_values_pass_through_all_files() {
    let disk = SimDisk::default();
    let tree = open(&disk, &Rules::default(), &small_options()).unwrap();
    tree.create_space(1, Layout::Points).unwrap();
    let large: Bytes = (0..3_000_000_u32).flat_map(|n| n.wrapping_mul(n).to_le_bytes()).collect();
    let long = Bytes::from(vec![7; KEY_BYTES_MAX]);
    let writes = vec![
        Write { space: 1, key: long.clone(), value: Some(large.clone()) },
        Write { space: 1, key: Bytes::new(), value: Some(Bytes::new()) },
    ];
    tree.apply(1, writes).unwrap();
    tree.publish(1).unwrap();
    tree.flush(1).unwrap();
    settle(&tree);
    tree.run(&tree.pick_whole(1).unwrap().unwrap()).unwrap();
    let snapshot = tree.snapshot();
    assert_eq!(snapshot.get(1, &long).unwrap().unwrap(), large);
    assert_eq!(snapshot.get(1, b"").unwrap().unwrap(), "");
    assert_eq!(tree.verify().unwrap(), []);
}

#[test]
fn a_dropped_space_is_absent_at_once_and_its_files_go() {
    let disk = SimDisk::default();
    let tree = tree_on(&disk);
    tree.create_space(2, Layout::Points).unwrap();
    commit(&tree, 1, (0..50).flat_map(|n| [put(1, n, b"kept"), put(2, n, b"dropped")]).collect());
    let snapshot = tree.snapshot();
    tree.flush(1).unwrap();
    tree.flush(2).unwrap();
    tree.drop_space(2).unwrap();
    assert_eq!(snapshot.get(2, &key(1)).unwrap(), None);
    assert_eq!(tree.spaces(), [1]);
    assert!(matches!(tree.create_space(2, Layout::Points), Err(Error::Refused(_))));
    assert!(matches!(tree.drop_space(2), Err(Error::UnknownSpace(2))));
    let before = disk.image().len();
    let job = tree.pick(|_| Some(4)).unwrap();
    assert_eq!((job.kind(), job.space()), (JobKind::Forget, 2));
    tree.run(&job).unwrap();
    assert!(0 < tree.sweep().unwrap());
    assert!(disk.image().len() < before);
    assert_eq!(all(&snapshot, Direction::Forward).len(), 50);
    // After a start the space does not exist.
    drop(tree);
    assert_eq!(tree_on(&disk).spaces(), [1]);
}

#[test]
fn a_job_beside_a_drop_ends_without_a_result() {
    let disk = SimDisk::default();
    let tree = tree_on(&disk);
    for number in 1..6 {
        commit(&tree, number, (0..50).map(|n| put(1, n, b"value")).collect());
        tree.flush(1).unwrap();
    }
    let job = tree.pick(|_| Some(2)).unwrap();
    assert!(tree.pick_whole(1).unwrap().is_none(), "its tables are in use");
    tree.drop_space(1).unwrap();
    assert!(tree.run(&job).unwrap().cancelled);
    drop(job);
    settle(&tree);
    assert!(disk.image().keys().all(|name| !name.ends_with(".ebb")));
}

#[test]
fn deletions_vanish_where_nothing_older_is_left() {
    let tree = tree_on(&SimDisk::default());
    commit(&tree, 1, vec![put(1, 1, b"one"), delete(1, 2)]);
    tree.flush(1).unwrap();
    // No table had the second key.
    assert_eq!(tree.space_figures(1).unwrap().entries, 1);
    commit(&tree, 2, vec![delete(1, 1)]);
    tree.flush(1).unwrap();
    assert_eq!(tree.space_figures(1).unwrap().removals, 1);
    tree.run(&tree.pick_whole(1).unwrap().unwrap()).unwrap();
    let figures = tree.space_figures(1).unwrap();
    assert_eq!((figures.entries, figures.tables), (0, 0));
}

#[test]
fn ascending_keys_are_moved_and_not_rewritten() {
    let disk = SimDisk::default();
    let tree = tree_on(&disk);
    for number in 0..40_u32 {
        let keys = number * 20..number * 20 + 20;
        commit(&tree, u64::from(number) + 1, keys.map(|n| put(1, n, b"value")).collect());
        tree.flush(1).unwrap();
        while let Some(job) = tree.pick(|_| Some(2)) {
            assert_eq!(job.kind(), JobKind::Move);
            tree.run(&job).unwrap();
        }
    }
    assert_eq!(all(&tree.snapshot(), Direction::Forward).len(), 800);
    assert_eq!(tree.verify().unwrap(), []);
}

#[test]
fn a_start_opens_no_table() {
    let disk = SimDisk::default();
    let opened = |tables: u64| {
        let tree = tree_on(&disk);
        let first = tree.greatest_number() + 1;
        for number in first..first + tables {
            commit(&tree, number, (0..9).map(|n| put(1, n, b"value")).collect());
            tree.flush(1).unwrap();
        }
        drop(tree);
        let before = disk.calls();
        let tree = tree_on(&disk);
        assert_eq!(tree.space_figures(1).unwrap().tables, first - 1 + tables);
        let after = disk.calls();
        (after.all - before.all, after.opens - before.opens, after.reads - before.reads)
    };
    let few = opened(2);
    assert_eq!(opened(200), few);
    assert_eq!((few.1, few.2), (1, 1));
}

#[test]
fn the_list_of_files_is_shortened_and_old_ones_are_removed() {
    let disk = SimDisk::default();
    let tree = tree_on(&disk);
    for number in 1..200 {
        commit(&tree, number, (0..9).map(|n| put(1, n, b"value")).collect());
        tree.flush(1).unwrap();
        settle(&tree);
        tree.sweep().unwrap();
    }
    let image = disk.image();
    let lists: Vec<_> = image.iter().filter(|(name, _)| name.starts_with("manifest")).collect();
    assert_eq!(lists.len(), 1);
    assert!(lists[0].1.len() < 8_000, "{}", lists[0].1.len());
    assert!(image.len() < 20);
    let edit = tree.last_edit();
    drop(tree);
    // A list that ends before a known edit has lost something.
    let ahead = Options { last_edit: edit + 1, ..small_options() };
    let refused = Tree::open(Arc::new(disk.clone()), Arc::new(KeepAll), ahead);
    assert!(matches!(refused, Err(Error::Damaged(_))));
    let known = Options { last_edit: edit, ..small_options() };
    assert!(Tree::open(Arc::new(disk), Arc::new(KeepAll), known).is_ok());
}

#[test]
fn a_missing_file_or_list_is_refused() {
    let disk = SimDisk::default();
    let tree = tree_on(&disk);
    commit(&tree, 1, vec![put(1, 1, b"value")]);
    tree.flush(1).unwrap();
    drop(tree);
    let image = disk.image();
    for name in image.keys() {
        let mut cut = image.clone();
        cut.remove(name);
        let disk = SimDisk::of_image(&cut);
        let opened = Tree::open(Arc::new(disk.clone()), Arc::new(KeepAll), small_options());
        assert!(matches!(opened, Err(Error::Damaged(_))), "without {name}");
        assert_eq!(disk.image(), cut, "a refused folder is not changed");
    }
}

#[test]
fn a_folder_of_the_file_system_is_a_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new").join("tree");
    for round in 1..4 {
        let disk = Arc::new(Folder::open(&path).unwrap());
        let tree = Tree::open(disk, Arc::new(KeepAll), Options::default()).unwrap();
        tree.create_space(1, Layout::Points).unwrap();
        let writes = (0..2_000).map(|n| put(1, n * round, b"value")).collect();
        commit(&tree, u64::from(round), writes);
        tree.flush(1).unwrap();
        settle(&tree);
        tree.sweep().unwrap();
        assert_eq!(tree.verify().unwrap(), []);
        assert_eq!(tree.snapshot().get(1, &key(1_998)).unwrap().unwrap(), "value");
        let figures = tree.figures();
        assert!(0 < figures.file_bytes && 0 < figures.index_bytes && 0 < figures.cached_bytes);
    }
}
