//! What the owner of a tree needs besides reads and writes: a replay of its log, the newest values,
//! reports of flushes, figures and verification.

use std::sync::Arc;

use super::{
    basics::{all, commit, key, put, tree_on},
    sim_disk::SimDisk,
};
use crate::{Caching, Direction, Disk as _, Error, FlushReport, Layout, Write, verify_closed};

#[test]
fn parts_of_batches_are_replayed_before_the_first_publication_only() {
    let tree = tree_on(&SimDisk::default());
    tree.create_space(2, Layout::Points).unwrap();
    std::thread::scope(|scope| {
        for space in [1, 2] {
            let tree = &tree;
            scope.spawn(move || {
                for number in 3..200 {
                    tree.replay(number, vec![put(space, number as u32 % 7, b"value")]).unwrap();
                }
            });
        }
    });
    assert!(matches!(tree.replay(198, vec![put(1, 1, b"late")]), Err(Error::Refused(_))));
    assert!(matches!(tree.replay(200, vec![put(9, 1, b"none")]), Err(Error::UnknownSpace(9))));
    assert_eq!(tree.first_unflushed(None), Some(3));
    assert!(matches!(tree.publish(198), Err(Error::Refused(_))));
    tree.publish(199).unwrap();
    assert_eq!(all(&tree.snapshot(), Direction::Forward).len(), 7);
    assert!(matches!(tree.replay(199, vec![put(1, 1, b"late")]), Err(Error::Refused(_))));
    commit(&tree, 200, vec![put(1, 1, b"next")]);
}

#[test]
fn the_newest_value_is_found_before_it_is_published() {
    let tree = tree_on(&SimDisk::default());
    commit(&tree, 1, vec![put(1, 1, b"old")]);
    tree.flush(1).unwrap();
    tree.apply(2, vec![put(1, 1, b"new"), Write { space: 1, key: key(2), value: None }]).unwrap();
    assert_eq!(tree.newest(1, &key(1)).unwrap().unwrap(), "new");
    assert_eq!(tree.snapshot().get(1, &key(1)).unwrap().unwrap(), "old");
    assert_eq!(tree.newest(1, &key(2)).unwrap(), None);
    assert_eq!(tree.newest(2, &key(1)).unwrap(), None);
    tree.flush(1).unwrap();
    assert_eq!(tree.newest(1, &key(1)).unwrap().unwrap(), "new");
}

#[test]
fn a_flush_reports_what_it_has_freed_and_written() {
    let tree = tree_on(&SimDisk::default());
    assert_eq!(tree.flush(1).unwrap(), FlushReport::default());
    let grown = tree.apply(1, (0..100).map(|n| put(1, n, b"value")).collect()).unwrap();
    tree.publish(1).unwrap();
    let memory = tree.memory();
    assert_eq!(memory.len(), 1);
    assert_eq!((memory[0].space, memory[0].bytes, memory[0].entries), (1, grown, 100));
    assert_eq!((memory[0].first, memory[0].last), (1, 1));
    let snapshot = tree.snapshot();
    let scan = snapshot.scan(1, b"", None, Direction::Forward, Caching::Fill).unwrap();
    let report = tree.flush(1).unwrap();
    assert_eq!((report.freed, report.written), (grown, tree.figures().file_bytes));
    assert_eq!(tree.memory(), []);
    assert_eq!(tree.figures().held_bytes, grown, "the scan uses the memtable");
    drop(scan);
    assert_eq!(tree.figures().held_bytes, 0);
    // The memory of a dropped space is released by the drop.
    let grown = tree.apply(2, vec![put(1, 1, b"value")]).unwrap();
    assert_eq!(tree.drop_space(1).unwrap(), grown);
}

#[test]
fn superseded_versions_are_counted_until_they_go() {
    let tree = tree_on(&SimDisk::default());
    commit(&tree, 1, (0..50).map(|n| put(1, n, b"seen by the snapshot")).collect());
    let old = tree.snapshot();
    commit(&tree, 2, (0..50).map(|n| put(1, n, b"new")).collect());
    tree.flush(1).unwrap();
    let superseded = 50 * (key(1).len() + b"seen by the snapshot".len()) as u64;
    assert_eq!(tree.figures().superseded_bytes, superseded);
    assert_eq!(tree.space_figures(1).unwrap().superseded_bytes, superseded);
    drop(old);
    tree.run(&tree.pick_whole(1).unwrap().unwrap()).unwrap();
    assert_eq!(tree.figures().superseded_bytes, 0);
}

#[test]
fn a_closed_tree_is_verified_without_a_change() {
    let disk = SimDisk::default();
    let tree = tree_on(&disk);
    commit(&tree, 1, (0..50).map(|n| put(1, n, b"value")).collect());
    tree.flush(1).unwrap();
    let last_edit = tree.last_edit();
    drop(tree);
    let before = disk.image();
    let verify = |last_edit| verify_closed(Arc::new(disk.clone()), last_edit).unwrap();
    assert_eq!(verify(last_edit), []);
    assert_eq!(verify(last_edit + 1).len(), 1, "the list of files ends early");
    assert_eq!(disk.image(), before);
    let table = before.keys().find(|name| name.ends_with(".ebb")).unwrap();
    let file = disk.open(table).unwrap();
    file.write_at(&[0xff; 4], 20).unwrap();
    let damages = verify(last_edit);
    assert!(damages.iter().all(|damage| damage.file == *table) && !damages.is_empty());
}

#[test]
fn a_space_is_left_alone_when_jobs_are_picked() {
    let tree = tree_on(&SimDisk::default());
    for number in 1..=5 {
        commit(&tree, number, vec![put(1, 1, b"value")]);
        tree.flush(1).unwrap();
    }
    assert!(tree.pick(|_| None).is_none());
    assert_eq!(tree.pick(|space| (space == 1).then_some(2)).map(|job| job.space()), Some(1));
}
