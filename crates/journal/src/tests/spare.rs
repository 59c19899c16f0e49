//! Reuse of segments: truncated ones become spare, surplus ones are deleted.

use store::Kind;

use super::{
    run::{Run, SEGMENT, encode, entry, floors_of, open, options},
    sim_disk::SimDisk,
};
use crate::{
    contract::{AppendFailure, Journal},
    options::JournalOptions,
};

#[test]
fn a_journal_that_is_cut_as_it_grows_uses_the_same_files() {
    let mut run = Run::new();
    for n in 1..100 {
        run.append(&[9_000]);
        run.truncate_before(n);
        let journal = run.journal.as_ref().unwrap();
        assert!(journal.extent().disk_bytes <= 2 * SEGMENT);
        assert!(journal.bytes_after(0) <= SEGMENT);
    }
    let names: Vec<_> = run.disk.image().into_keys().collect();
    assert_eq!(names, ["1.journal", "2.journal"]);
}

#[test]
fn segments_beyond_those_wanted_are_removed() {
    let mut run = Run::new();
    for _ in 0..6 {
        run.append(&[15_000]);
    }
    let held = |run: &Run| run.journal.as_ref().unwrap().extent();
    assert_eq!((held(&run).first, held(&run).disk_bytes), (1, 6 * SEGMENT));
    run.truncate_before(6);
    assert_eq!((held(&run).first, held(&run).disk_bytes), (6, 2 * SEGMENT));
    assert_eq!(run.disk.image().len(), 2);
    // That truncation wrote a header, so its floors survive a restart.
    run.kill();
    assert!(run.open());
    assert_eq!(run.journal.as_ref().unwrap().floors(), floors_of(6));
    assert_eq!(held(&run).disk_bytes, 2 * SEGMENT);
}

#[test]
fn other_sizes_take_over_as_segments_are_begun() {
    let disk = SimDisk::default();
    let mut end = 0;
    for segment_bytes in [SEGMENT, 2 * SEGMENT, SEGMENT + 4096, SEGMENT] {
        let journal = open(&disk, &JournalOptions { segment_bytes, ..options(end) }).unwrap();
        for _ in 0..3 {
            let most = journal.group_bytes_max();
            end += 1;
            journal.append(&encode(&[entry(end, 0, most - 100)])).unwrap();
            journal.truncate_before(end - 1, b"").unwrap();
        }
        assert_eq!(journal.extent().first, end - 1);
    }
}

#[test]
fn a_full_disk_refuses_by_name_and_goes_on_when_there_is_room() {
    let mut run = Run::new();
    run.append(&[9_000]);
    run.fail_nth(1, true, true);
    for _ in 0..3 {
        let journal = run.journal.as_ref().unwrap();
        let group = encode(&[entry(2, 7, 9_000)]);
        match journal.append(&group) {
            Err(AppendFailure::Refused(error)) => assert_eq!(error.kind, Kind::Full),
            other => panic!("{other:?}"),
        }
        assert_eq!(journal.stop_reason(), None);
    }
    run.heal();
    run.append(&[9_000]);
    assert_eq!(run.list.len(), 2);
    // The failed segment has left no file.
    run.kill();
    assert!(run.open());
    assert_eq!(run.disk.image().len(), 2);
}

#[test]
fn numbers_go_on_where_an_empty_journal_is_told_to() {
    let disk = SimDisk::default();
    let from = JournalOptions { empty_after: 41, ..options(41) };
    let journal = open(&disk, &from).unwrap();
    assert_eq!((journal.end(), journal.extent().first), (41, 42));
    journal.append(&encode(&[entry(42, 0, 10)])).unwrap();
    drop(journal);
    // The option only applies to an empty journal.
    let journal = open(&disk, &JournalOptions { empty_after: 7, ..options(42) }).unwrap();
    assert_eq!((journal.end(), journal.extent().first), (42, 42));
    assert_eq!(journal.read(40, 1).unwrap_err().kind, Kind::Invalid);
}
