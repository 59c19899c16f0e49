//! Values that end: whole files go without being read, and dead bodies are collected.

use bytes::Bytes;

use super::{
    rules::{HEADER, Rules, value},
    sim_disk::SimDisk,
    world::{open, small_options},
};
use crate::{Expired, JobKind, Layout, Options, Tree, Write};

fn options() -> Options {
    Options {
        table_bytes: 1 << 20,
        level_bytes: 1 << 20,
        body_file_bytes: 1 << 20,
        apart_bytes: 100,
        ..small_options()
    }
}

struct Setting {
    disk: SimDisk,
    rules: Rules,
    tree: Tree,
    number: u64,
}

impl Setting {
    fn new() -> Self {
        let (disk, rules) = (SimDisk::default(), Rules::default());
        let tree = open(&disk, &rules, &options()).unwrap();
        tree.create_space(1, Layout::Points).unwrap();
        Self { disk, rules, tree, number: 0 }
    }

    /// Writes rows of 200 bytes that end at a second.
    fn write(&mut self, rows: std::ops::Range<u32>, kind: u8, end: i64) {
        self.number += 1;
        let body = |n: u32| [n as u8; 200];
        let row = |n: u32| Write {
            space: 1,
            key: Bytes::from(format!("{n:06}")),
            value: Some(value(kind, end, &body(n))),
        };
        self.tree.apply(self.number, rows.map(row).collect()).unwrap();
        self.tree.publish(self.number).unwrap();
    }

    fn flush(&self) {
        self.tree.flush(1).unwrap();
    }

    fn get(&self, n: u32) -> Option<Bytes> {
        self.tree.snapshot().get(1, format!("{n:06}").as_bytes()).unwrap()
    }

    fn body_files(&self) -> u64 {
        self.tree.space_figures(1).unwrap().body_files
    }
}

#[test]
fn a_file_whose_bodies_have_ended_is_removed_unread() {
    let mut setting = Setting::new();
    setting.write(0..100, 1, 1_000);
    setting.flush();
    setting.write(100..200, 1, 2_000);
    setting.flush();
    assert_eq!(setting.body_files(), 2);
    // An older version below keeps the table, not the body file.
    setting.write(0..100, 1, 1_005);
    setting.flush();
    assert_eq!(setting.body_files(), 2, "the same group is continued");
    let files = setting.disk.image().len();
    setting.rules.set_now(1_004);
    let space = setting.tree.shared.space(1).unwrap();
    let bytes = space.load().version.tables().last().unwrap().meta.bytes;
    // The first table has nothing older below it.
    let first = Expired { body_files: 0, tables: 1, bytes };
    assert_eq!(setting.tree.expire().unwrap(), first);
    setting.rules.set_now(1_005);
    let before = setting.disk.calls();
    let expired = setting.tree.expire().unwrap();
    assert_eq!((expired.body_files, expired.tables), (1, 1));
    setting.tree.sweep().unwrap();
    let after = setting.disk.calls();
    assert_eq!(after.reads, before.reads);
    assert!(after.written - before.written < 100, "one record");
    assert_eq!(setting.disk.image().len(), files - 3);
    assert_eq!((setting.get(5), setting.get(105).map(|value| value.len())), (None, Some(209)));
    assert_eq!(setting.tree.verify().unwrap(), []);
    setting.rules.set_now(2_000);
    setting.tree.expire().unwrap();
    let figures = setting.tree.space_figures(1).unwrap();
    assert_eq!((figures.tables, figures.body_files), (0, 0));
}

#[test]
fn an_older_version_does_not_surface_when_a_file_ends() {
    let mut setting = Setting::new();
    setting.write(0..50, 0, 0);
    setting.flush();
    setting.write(0..50, 1, 1_000);
    setting.flush();
    setting.rules.set_now(1_000);
    let expired = setting.tree.expire().unwrap();
    // The newer table hides the older one and stays.
    assert_eq!((expired.body_files, expired.tables), (1, 0));
    assert_eq!(setting.get(7), None);
    while let Some(job) = setting.tree.pick(|_| Some(2)) {
        setting.tree.run(&job).unwrap();
    }
    assert_eq!(setting.get(7), None);
    let figures = setting.tree.space_figures(1).unwrap();
    assert_eq!((figures.entries, figures.body_files), (0, 0));
}

#[test]
fn a_value_that_ended_in_memory_reaches_no_file() {
    let mut setting = Setting::new();
    setting.write(0..50, 1, 1_000);
    setting.rules.set_now(1_000);
    setting.flush();
    let figures = setting.tree.space_figures(1).unwrap();
    assert_eq!((figures.memory_entries, figures.tables, figures.body_files), (0, 0, 0));
    assert!(setting.disk.image().keys().all(|name| !name.ends_with(".ebb")));
}

#[test]
fn groups_share_files_and_kinds_do_not() {
    let mut setting = Setting::new();
    for second in 1..40 {
        setting.write(second * 10..second * 10 + 10, 1, i64::from(second));
    }
    setting.write(1_000..1_010, 2, 5);
    setting.write(2_000..2_010, 0, 0);
    setting.flush();
    // 10 seconds are a group.
    assert_eq!(setting.body_files(), 4 + 1 + 1);
    setting.rules.set_now(19);
    assert_eq!(setting.tree.expire().unwrap().body_files, 2 + 1);
    assert_eq!(setting.get(150), None);
    assert!(setting.get(200).is_some() && setting.get(2_000).is_some());
    let figures = setting.tree.space_figures(1).unwrap();
    assert_eq!(figures.endless, 10);
    let kinds: Vec<_> = figures.endings.iter().map(|of| (of.kind, of.count, of.last)).collect();
    assert_eq!(kinds, [(1, 390, 39), (2, 10, 5)]);
}

#[test]
fn updates_leave_at_most_the_allowed_garbage() {
    let mut setting = Setting::new();
    for round in 0..30 {
        setting.write(0..100 + round % 7, 1, 10_000);
        setting.flush();
        while let Some(job) = setting.tree.pick(|_| Some(4)) {
            setting.tree.run(&job).unwrap();
            setting.tree.sweep().unwrap();
        }
    }
    let job = setting.tree.pick_whole(1).unwrap().unwrap();
    setting.tree.run(&job).unwrap();
    drop(job);
    let mut rewrites = 0;
    while let Some(job) = setting.tree.pick(|_| Some(4)) {
        rewrites += u32::from(job.kind() == JobKind::Rewrite);
        setting.tree.run(&job).unwrap();
    }
    assert!(0 < rewrites);
    let figures = setting.tree.space_figures(1).unwrap();
    let live = figures.body_bytes - figures.dead_body_bytes;
    assert!(figures.body_bytes * 2 <= live * 3, "{figures:?}");
    for n in 0..106 {
        assert_eq!(setting.get(n).map(|value| value.len()), Some(200 + HEADER));
    }
    assert_eq!(setting.tree.verify().unwrap(), []);
    assert_eq!(setting.tree.verify_handles().unwrap(), []);
    // A rewritten file may be rewritten again and ends like any other.
    setting.rules.set_now(10_000);
    setting.tree.expire().unwrap();
    assert_eq!(setting.body_files(), 0);
}
