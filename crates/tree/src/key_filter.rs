//! Filters of keys: Bloom filters in blocks of one cache line, so that a look-up touches one line.

use crate::options::FILTER_BITS;

/// Bytes of a block of the filter.
const LINE: usize = 64;
/// Bits that each key sets in its block.
const PROBES: usize = 6;

/// Returns the hash of a key for filters and hash indexes. It is stored in tables.
pub(crate) fn hash_of(key: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(key)
}

/// Builds the filter of the keys with these hashes.
pub(crate) fn build(hashes: &[u64]) -> Vec<u8> {
    let lines = (hashes.len() * FILTER_BITS).div_ceil(LINE * 8).max(1);
    let mut filter = vec![0; lines * LINE];
    for hash in hashes {
        let start = line_of(*hash, lines) * LINE;
        for bit in bits_of(*hash) {
            filter[start + bit / 8] |= 1 << (bit % 8);
        }
    }
    filter
}

/// Returns whether the filter may contain the key with this hash. A malformed filter contains all.
pub(crate) fn may_contain(filter: &[u8], hash: u64) -> bool {
    let lines = filter.len() / LINE;
    if lines == 0 {
        return true;
    }
    let start = line_of(hash, lines) * LINE;
    bits_of(hash).all(|bit| filter[start + bit / 8] & (1 << (bit % 8)) != 0)
}

fn line_of(hash: u64, lines: usize) -> usize {
    (((hash >> 32) * lines as u64) >> 32) as usize
}

fn bits_of(hash: u64) -> impl Iterator<Item = usize> {
    let mut low = hash as u32;
    (0..PROBES).map(move |_| {
        low = low.wrapping_mul(0x9E37_79B9);
        (low >> 23) as usize
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_found_and_few_others() {
        let hashes: Vec<u64> = (0..20_000_u32).map(|n| hash_of(&n.to_be_bytes())).collect();
        let filter = build(&hashes);
        assert!(hashes.iter().all(|hash| may_contain(&filter, *hash)));
        let others = (20_000..40_000_u32).map(|n| hash_of(&n.to_be_bytes()));
        let wrong = others.filter(|hash| may_contain(&filter, *hash)).count();
        assert!(wrong < 600, "{wrong} of 20,000");
        assert!(!may_contain(&build(&[]), 7));
    }
}
