//! Conformance tests ("laws") of journals, as one function that the tests of each journal call.

mod histories;
mod limits;

use bytes::Bytes;
use store::Stamp;

use crate::{
    contract::Journal,
    entry::{EncodedEntry, Entry, Mutation},
};

/// Opens an empty journal and reopens it after a crash; acknowledged entries must survive.
pub trait Bench {
    /// The journal type that is tested.
    type Journal: Journal;

    /// Opens a journal without any entries.
    fn open(&mut self) -> Self::Journal;

    /// Reopens the journal as after a crash of the process.
    fn crash(&mut self, journal: Self::Journal) -> Self::Journal;
}

/// Checks all laws, with this many random histories; panics on the first violation.
pub fn check(bench: &mut impl Bench, histories: u64) {
    limits::numbers_go_on_one_by_one(bench);
    limits::what_is_too_large_is_refused_by_name(bench);
    limits::the_last_group_is_never_cut(bench);
    limits::floors_come_back(bench);
    for seed in 0..histories {
        histories::random_histories_agree_with_a_list(bench, seed);
    }
}

/// Creates an entry that is unique to its number, with a value of this many bytes.
fn entry(n: u64, bytes: usize) -> Entry {
    let put = |space, value| Mutation { space, key: Bytes::from(format!("key {n}")), value };
    Entry {
        n,
        last: Stamp { seq: n * 2, at_ms: 1_000 + n as i64 },
        under: n + 7,
        dropped: if n.is_multiple_of(5) { vec![n] } else { Vec::new() },
        mutations: vec![put(1, Some(Bytes::from(vec![n as u8; bytes]))), put(2, None)],
    }
}

/// Returns an encoded entry with this number and about this size.
fn encoded(n: u64, bytes: usize) -> EncodedEntry {
    entry(n, bytes).encode().expect("the entry is within the size limit")
}

/// Reads all entries after a number, page by page.
fn read_all(journal: &impl Journal, mut after: u64, limit_bytes: usize) -> Vec<Entry> {
    let mut all = Vec::new();
    loop {
        let page = journal.read(after, limit_bytes).expect("a page");
        let Some(last) = page.last() else { return all };
        after = last.n;
        all.extend(page);
    }
}
