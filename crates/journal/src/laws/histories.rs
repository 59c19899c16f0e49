//! Random histories of appends, truncations, reads and crashes, compared with a plain list.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use store::Kind;

use super::{Bench, encoded, entry, read_all};
use crate::{contract::Journal, entry::Entry};

/// A pseudo-random sequence determined by its seed.
struct Numbers(u64);

impl Numbers {
    /// Returns a number below `end`.
    fn below(&mut self, end: u64) -> u64 {
        self.0 = BuildHasherDefault::<DefaultHasher>::default().hash_one(self.0);
        self.0 % end
    }
}

pub(super) fn random_histories_agree_with_a_list(bench: &mut impl Bench, seed: u64) {
    let mut numbers = Numbers(seed);
    let mut journal = bench.open();
    let mut list: Vec<Entry> = Vec::new();
    let mut cut = 1;
    for step in 0..60 {
        let context = format!("seed {seed} step {step}");
        let end = list.len() as u64;
        match numbers.below(12) {
            0 | 1 => journal = bench.crash(journal),
            2 | 3 => {
                let before = numbers.below(end + 2);
                let kept_before = journal.bytes_after(before.saturating_sub(1));
                journal.truncate_before(before, &before.to_le_bytes()).expect("a cut");
                cut = cut.max(before);
                assert!(journal.extent().first <= cut, "{context}");
                assert_eq!(journal.bytes_after(before.saturating_sub(1)), kept_before, "{context}");
            }
            _ => {
                let count = 1 + numbers.below(4);
                let group: Vec<_> =
                    (1..=count).map(|more| (end + more, numbers.below(3_000) as usize)).collect();
                list.extend(group.iter().map(|(n, bytes)| entry(*n, *bytes)));
                let group: Vec<_> = group.iter().map(|(n, bytes)| encoded(*n, *bytes)).collect();
                assert_eq!(journal.append(&group), Ok(end + count), "{context}");
            }
        }
        let end = list.len() as u64;
        let first = journal.extent().first;
        assert_eq!(journal.end(), end, "{context}");
        let after = first - 1 + numbers.below(end + 2 - first);
        let limit = 1 + numbers.below(20_000) as usize;
        let read = read_all(&journal, after, limit);
        assert_eq!(read, list[after as usize..], "{context}");
        assert_eq!(journal.bytes_after(end), 0, "{context}");
        assert_eq!(journal.bytes_after(first - 1), journal.extent().group_bytes, "{context}");
        if 1 < first {
            let error = journal.read(numbers.below(first - 1), 1).expect_err("it was cut");
            assert_eq!(error.kind, Kind::Invalid, "{context}");
        }
    }
}
