//! The local journal on a real disk.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use bytes::Bytes;
use journal::{Entry, Journal, JournalOptions, LocalJournal, Mutation};
use store::{Kind, Stamp};

fn entry(n: u64, bytes: usize) -> Entry {
    let value = Some(Bytes::from(vec![n as u8; bytes]));
    let mutations = vec![Mutation { space: 3, key: Bytes::from_static(b"k"), value }];
    Entry { n, last: Stamp { seq: n, at_ms: 0 }, under: n, dropped: Vec::new(), mutations }
}

fn small() -> JournalOptions {
    JournalOptions { segment_bytes: 64 * 1024, ..JournalOptions::default() }
}

#[test]
fn it_is_open_once_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let first = LocalJournal::open(folder.path(), &small()).unwrap();
    let error = LocalJournal::open(folder.path(), &small()).unwrap_err();
    assert_eq!(error.kind, Kind::Refused, "{error}");
    drop(first);
    LocalJournal::open(folder.path(), &small()).unwrap();
}

#[test]
fn what_is_not_a_segment_is_left_alone_and_what_was_not_finished_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("notes.txt"), "kept").unwrap();
    std::fs::write(folder.path().join("7.new"), "half").unwrap();
    let options = JournalOptions { spare_segments: 0, ..small() };
    let journal = LocalJournal::open(folder.path(), &options).unwrap();
    journal.append(&[entry(1, 10).encode().unwrap()]).unwrap();
    let mut names: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["8.journal", "lock", "notes.txt"]);
}

#[test]
fn the_bytes_of_a_segment_are_on_the_device_before_it_is_used() {
    use std::os::unix::fs::MetadataExt;
    let folder = tempfile::tempdir().unwrap();
    let journal = LocalJournal::open(folder.path(), &small()).unwrap();
    journal.append(&[entry(1, 10).encode().unwrap()]).unwrap();
    let files = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap());
    let segments = files.filter(|file| file.file_name().to_str().unwrap().ends_with(".journal"));
    for segment in segments {
        let about = segment.metadata().unwrap();
        assert!(64 * 1024 <= about.blocks() * 512 && about.len() == 64 * 1024, "{about:?}");
    }
}

#[test]
fn readers_see_whole_entries_while_segments_are_cut_and_used_again() {
    let folder = tempfile::tempdir().unwrap();
    let journal = LocalJournal::open(folder.path(), &small()).unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut pages = 0;
            while !done.load(Ordering::SeqCst) || pages == 0 {
                let first = journal.extent().first;
                match journal.read(first - 1, 100_000) {
                    Ok(page) => {
                        for (n, read) in (first..).zip(&page) {
                            assert_eq!(*read, entry(n, (n * 997 % 20_000) as usize));
                        }
                        pages += 1;
                    }
                    Err(error) => assert_eq!(error.kind, Kind::Invalid, "{error}"),
                }
            }
        });
        for n in 1..300 {
            let bytes = (n * 997 % 20_000) as usize;
            journal.append(&[entry(n, bytes).encode().unwrap()]).unwrap();
            journal.truncate_before(n.saturating_sub(3), b"").unwrap();
        }
        done.store(true, Ordering::SeqCst);
        reader.join().unwrap();
    });
    assert!(journal.extent().disk_bytes <= 6 * 64 * 1024);
}
