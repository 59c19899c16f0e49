//! Conformance tests: which appends and floors a journal refuses, and which entries it never drops.

use store::Kind;

use super::{Bench, encoded, entry, read_all};
use crate::{
    contract::{AppendFailure, Journal},
    segment_header::FLOORS_BYTES_MAX,
};

pub(super) fn numbers_go_on_one_by_one(bench: &mut impl Bench) {
    let journal = bench.open();
    assert_eq!((journal.end(), journal.extent().first), (0, 1));
    assert_eq!(journal.append(&[encoded(1, 10), encoded(2, 0)]), Ok(2));
    for numbers in [&[][..], &[0], &[1], &[2], &[4], &[3, 5], &[3, 3], &[4, 3]] {
        let group: Vec<_> = numbers.iter().map(|n| encoded(*n, 10)).collect();
        match journal.append(&group) {
            Err(AppendFailure::Refused(error)) => assert_eq!(error.kind, Kind::Invalid),
            other => panic!("{numbers:?}: {other:?}"),
        }
    }
    let journal = bench.crash(journal);
    assert_eq!(journal.append(&[encoded(3, 10)]), Ok(3));
    let expected: Vec<_> = [(1, 10), (2, 0), (3, 10)].map(|(n, bytes)| entry(n, bytes)).into();
    assert_eq!(read_all(&journal, 0, 1), expected);
}

pub(super) fn what_is_too_large_is_refused_by_name(bench: &mut impl Bench) {
    let journal = bench.open();
    let most = journal.group_bytes_max();
    let rest = encoded(1, most).bytes().len() - most;
    match journal.append(&[encoded(1, most - rest + 1)]) {
        Err(AppendFailure::Refused(error)) => assert_eq!(error.kind, Kind::Invalid),
        other => panic!("{other:?}"),
    }
    assert_eq!(journal.append(&[encoded(1, most - rest)]), Ok(1));
    let journal = bench.crash(journal);
    assert_eq!(read_all(&journal, 0, 1), [entry(1, most - rest)]);
}

pub(super) fn the_last_group_is_never_cut(bench: &mut impl Bench) {
    let journal = bench.open();
    journal.truncate_before(5, b"").expect("a cut of nothing");
    for n in 1..=4 {
        assert_eq!(journal.append(&[encoded(n, 10)]), Ok(n));
    }
    journal.truncate_before(u64::MAX, b"").expect("a cut");
    assert!(journal.extent().first <= 4);
    let journal = bench.crash(journal);
    assert_eq!(journal.end(), 4);
    assert_eq!(read_all(&journal, 3, 1), [entry(4, 10)]);
    assert_eq!(journal.append(&[encoded(5, 10)]), Ok(5));
}

pub(super) fn floors_come_back(bench: &mut impl Bench) {
    let journal = bench.open();
    assert_eq!(journal.floors(), b"");
    let large = vec![7; FLOORS_BYTES_MAX];
    for floors in [&b"a"[..], &large] {
        journal.truncate_before(1, floors).expect("a cut");
        assert_eq!(journal.floors(), floors);
    }
    let error = journal.truncate_before(1, &vec![7; FLOORS_BYTES_MAX + 1]).expect_err("too large");
    assert_eq!(error.kind, Kind::Invalid);
    let journal = bench.crash(journal);
    let floors = journal.floors();
    assert!(floors.is_empty() || floors == large || floors == b"a", "some that were given");
}
