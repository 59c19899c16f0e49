//! A changed bit, a cut or a zeroed piece of any file is detected, named by file and offset, and
//! leaves the rest readable.

use std::sync::Arc;

use bytes::Bytes;

use super::{
    rules::{Rules, value},
    sim_disk::{Image, SimDisk},
    world::{open, small_options},
};
use crate::{Caching, Direction, Error, Layout, Options, Tree, Write};

const ROWS: u32 = 24;

fn key(n: u32) -> Bytes {
    Bytes::from(format!("key {n:03}"))
}

fn value_of(n: u32) -> Bytes {
    value(1, 1_000 + i64::from(n), &vec![n as u8; 10 + (n % 5) as usize * 20])
}

/// Creates a folder with tables in several levels, body files, one of them rewritten, and edits;
/// returns it with the number of the last edit.
fn folder() -> (Image, Options) {
    let (disk, rules) = (SimDisk::default(), Rules::default());
    let options = Options { garbage_percent: 10, group_bytes: 200, ..small_options() };
    let tree = open(&disk, &rules, &options).unwrap();
    tree.create_space(1, Layout::Points).unwrap();
    for number in 1..4 {
        let rows = (0..ROWS).filter(|n| number == 1 || n.is_multiple_of(number as u32));
        let write = |n| Write { space: 1, key: key(n), value: Some(value_of(n)) };
        tree.apply(number, rows.map(write).collect()).unwrap();
        tree.publish(number).unwrap();
        tree.flush(1).unwrap();
        while let Some(job) = tree.pick(|_| Some(2)) {
            tree.run(&job).unwrap();
        }
    }
    tree.sweep().unwrap();
    let rewritten = tree.shared.all_spaces()[&1]
        .load()
        .version
        .bodies
        .values()
        .any(|body| body.meta.map.is_some());
    assert!(rewritten);
    let options = Options { last_edit: tree.last_edit(), ..options };
    (disk.image(), options)
}

/// Opens a folder with one changed file: each read is right or an error that names the file.
fn check(image: &Image, options: &Options, changed: &str, harmless: bool) {
    let disk = SimDisk::of_image(image);
    let tree = match Tree::open(Arc::new(disk), Arc::new(Rules::default()), options.clone()) {
        Ok(tree) => tree,
        Err(Error::Damaged(damage)) => {
            assert_eq!(damage.file, changed);
            return;
        }
        Err(error) => panic!("{changed}: {error}"),
    };
    tree.create_space(1, Layout::Points).unwrap();
    tree.publish(10).unwrap();
    let mut wrong = 0;
    for n in 0..ROWS {
        match tree.snapshot().get(1, &key(n)) {
            Ok(found) => assert_eq!(found, Some(value_of(n))),
            Err(Error::Damaged(damage)) => {
                assert_eq!(damage.file, changed);
                wrong += 1;
            }
            Err(error) => panic!("{changed}: {error}"),
        }
    }
    let scan = tree.snapshot().scan(1, b"", None, Direction::Forward, Caching::Bypass);
    let rows = scan.and_then(|scan| scan.collect::<Result<Vec<_>, _>>());
    assert!(rows.is_err() || rows.is_ok_and(|rows| rows.len() == ROWS as usize));
    let damages = tree.verify().unwrap();
    assert!(damages.iter().all(|damage| damage.file == changed));
    assert!(harmless || !damages.is_empty(), "{changed} is changed and nothing is found");
    assert!(wrong == 0 || !damages.is_empty());
}

#[test]
fn every_flipped_bit_is_detected() {
    let (image, options) = folder();
    assert!(image.len() < 20, "{}", image.len());
    for (name, bytes) in &image {
        for at in 0..bytes.len() {
            let mut changed = image.clone();
            let Some(file) = changed.get_mut(name) else { continue };
            file[at] ^= 1 << (at % 8);
            check(&changed, &options, name, false);
        }
    }
}

#[test]
fn cut_and_zeroed_files_are_detected() {
    let (image, options) = folder();
    for (name, bytes) in &image {
        for at in (0..bytes.len()).step_by(7) {
            let mut cut = image.clone();
            cut.insert(name.clone(), bytes[..at].to_vec());
            check(&cut, &options, name, false);
            let mut zeroed = image.clone();
            let end = (at + 64).min(bytes.len());
            let Some(file) = zeroed.get_mut(name) else { continue };
            file[at..end].fill(0);
            let harmless = file == bytes;
            check(&zeroed, &options, name, harmless);
        }
    }
}

#[test]
fn files_with_each_others_contents_are_detected() {
    let (image, options) = folder();
    let names: Vec<&String> = image.keys().filter(|name| name.ends_with(".ebb")).collect();
    for pair in names.windows(2) {
        let mut swapped = image.clone();
        swapped.insert(pair[0].clone(), image[pair[1]].clone());
        check(&swapped, &options, pair[0], false);
    }
}
