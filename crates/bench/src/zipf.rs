//! YCSB's zipfian key distributions. All functions are pure; the caller provides the random
//! generator. After Gray and others, "Quickly generating billion-record synthetic databases"
//! (1994).
//!
//! With a zipfian distribution, the item of rank `r` (from 1) is chosen with a probability
//! proportional to `1 / r^THETA`: a few items get most of the requests. The sum of these terms over
//! all items is called zeta. For many items it is expensive to compute, so it is computed once and
//! later only extended.

use fastrand::Rng;

/// The skew of every YCSB workload; 0 is a uniform distribution.
const THETA: f64 = 0.99;
/// Number of ranks from which YCSB draws scrambled keys. It is independent of the number of keys,
/// so that the sum over all ranks is a known constant, and large enough for every key to be drawn.
const SCRAMBLED_ITEMS: u64 = 10_000_000_000;
/// Zeta (generalized harmonic number) of [`SCRAMBLED_ITEMS`], which would take minutes to compute.
const SCRAMBLED_ZETA: f64 = 26.469_028_201_783_02;

/// A zipfian distribution of ranks, which count from 0. Lower ranks are more probable.
#[derive(Clone, Debug)]
pub(crate) struct Zipfian {
    /// Number of ranks. Lower ranks are more probable.
    items: u64,
    /// The sum of `1 / n^THETA` for n from 1 to `items`.
    zeta: f64,
    /// Factor of the rank approximation, computed from `items` and `zeta`.
    eta: f64,
}

impl Zipfian {
    /// Creates a distribution of `items` ranks, at least 1. Takes time proportional to `items`.
    pub(crate) fn new(items: u64) -> Self {
        let mut zipfian = Self::with_known_sum(1, 1.0);
        zipfian.grow_to(items);
        zipfian
    }

    /// Creates a distribution of `items` ranks, where `zeta` is the sum of `1 / n^THETA` for n from
    /// 1 to `items`.
    #[expect(clippy::cast_precision_loss, reason = "item counts are far below 2^53")]
    fn with_known_sum(items: u64, zeta: f64) -> Self {
        let zeta_2 = 1.0 + 0.5f64.powf(THETA);
        let eta = (1.0 - (2.0 / items as f64).powf(1.0 - THETA)) / (1.0 - zeta_2 / zeta);
        Self { items, zeta, eta }
    }

    /// Extends the distribution to more items, by adding the terms of the new items to the sum
    /// `zeta`. Fewer items change nothing.
    #[expect(clippy::cast_precision_loss, reason = "item counts are far below 2^53")]
    pub(crate) fn grow_to(&mut self, items: u64) {
        if self.items < items {
            let added: f64 = (self.items + 1..=items).map(|n| (n as f64).powf(-THETA)).sum();
            *self = Self::with_known_sum(items, self.zeta + added);
        }
    }

    /// Returns the next rank. The two most probable ranks are exact; the others use the
    /// approximation of Gray et al., which needs no table.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rank between 0 and the number of items"
    )]
    pub(crate) fn next_rank(&self, rng: &mut Rng) -> u64 {
        let draw = rng.f64();
        let share = draw * self.zeta;
        let rank = if share < 1.0 {
            0.0
        } else if share < 1.0 + 0.5f64.powf(THETA) {
            1.0
        } else {
            self.items as f64 * (self.eta * draw - self.eta + 1.0).powf(1.0 / (1.0 - THETA))
        };
        // Rounding may yield the number of items itself.
        (rank as u64).min(self.items - 1)
    }
}

/// Keys with a zipfian popularity, scattered over the whole range, so that popular keys are not
/// neighbors in an index.
#[derive(Clone, Debug)]
pub(crate) struct Scrambled(Zipfian);

impl Default for Scrambled {
    fn default() -> Self {
        Self(Zipfian::with_known_sum(SCRAMBLED_ITEMS, SCRAMBLED_ZETA))
    }
}

impl Scrambled {
    /// Returns the next key below `keys`. The rank is hashed; several ranks may map to one key.
    pub(crate) fn next_key(&self, keys: u64, rng: &mut Rng) -> u64 {
        fnv_hash(self.0.next_rank(rng)) % keys
    }
}

/// Chooses keys, the newest with the highest probability: ranks count from the newest key.
#[derive(Clone, Debug)]
pub(crate) struct Latest(Zipfian);

impl Latest {
    /// Creates a distribution over this many keys.
    pub(crate) fn new(keys: u64) -> Self {
        Self(Zipfian::new(keys))
    }

    /// Returns the next key below `keys`. The number of keys may have grown since the last call.
    pub(crate) fn next_key(&mut self, keys: u64, rng: &mut Rng) -> u64 {
        self.0.grow_to(keys);
        (keys - 1).saturating_sub(self.0.next_rank(rng))
    }
}

/// Returns FNV-1a over the eight bytes of a number, with which YCSB scatters ranks.
fn fnv_hash(number: u64) -> u64 {
    number.to_le_bytes().iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u32 = 200_000;

    fn shares(items: usize, mut next: impl FnMut(&mut Rng) -> u64) -> Vec<f64> {
        let mut rng = Rng::with_seed(7);
        let mut counts = vec![0.0; items];
        for _ in 0..DRAWS {
            counts[usize::try_from(next(&mut rng)).unwrap()] += 1.0 / f64::from(DRAWS);
        }
        counts
    }

    #[test]
    fn ranks_follow_the_law() {
        for items in [1u32, 2, 10, 1000] {
            let zipfian = Zipfian::new(u64::from(items));
            let sum: f64 = (1..=items).map(|n| f64::from(n).powf(-THETA)).sum();
            assert!((zipfian.zeta - sum).abs() < 1e-9, "{items}");
            let got = shares(items as usize, |rng| zipfian.next_rank(rng));
            for rank in 0..items.min(2) {
                let want = f64::from(rank + 1).powf(-THETA) / sum;
                assert!((got[rank as usize] - want).abs() < 0.005, "{items} {rank} {got:?}");
            }
        }
    }

    #[test]
    fn growing_is_the_same_as_starting_large() {
        let mut grown = Zipfian::new(10);
        grown.grow_to(500);
        grown.grow_to(400);
        let large = Zipfian::new(500);
        assert_eq!(grown.items, large.items);
        assert!((grown.zeta - large.zeta).abs() < 1e-9);
        assert!((grown.eta - large.eta).abs() < 1e-9);
    }

    #[test]
    fn scrambled_keys_reach_everywhere_and_are_skewed() {
        let keys = 100;
        let scrambled = Scrambled::default();
        let got = shares(100, |rng| scrambled.next_key(keys, rng));
        assert!(got.iter().all(|share| 0.0 < *share), "a key is never touched");
        let hottest = got.iter().copied().fold(0.0, f64::max);
        assert!((0.03..0.08).contains(&hottest), "{hottest}");
        let place = got.iter().position(|share| *share >= hottest).unwrap();
        assert_eq!(place as u64, fnv_hash(0) % keys);
    }

    #[test]
    fn the_newest_key_is_the_likeliest() {
        let mut latest = Latest::new(10);
        let got = shares(20, |rng| latest.next_key(20, rng));
        for key in 1..20 {
            assert!(got[key - 1] < got[key] + 0.01, "{key} {got:?}");
        }
        assert!(got[10] < got[19] / 3.0, "{got:?}");
    }

    #[test]
    fn known_hashes() {
        for (number, want) in [(0, 0xa8c7_f832_281a_39c5), (1, 0x89cd_3129_1d2a_efa4)] {
            assert_eq!(fnv_hash(number), want, "{number}: {:x}", fnv_hash(number));
        }
    }
}
