//! What stays the same for every row of one operation, and its stream of random numbers.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use document::Document;

use crate::{budget::Budget, holding::Holding, pattern::Patterns, spill::Spill};

/// What stays the same for every row of one operation. It is shared by all stages and by the
/// operations inside (joins, facets), which take a clone with some of it replaced.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// The operation's instant, milliseconds since 1970: `$$NOW`.
    pub now_ms: i64,
    /// Constants that the request bound (`let`); an undefined one is bound to nothing.
    pub constants: Document,
    /// Random numbers, from a seed that the caller chose.
    pub random: Random,
    /// What evaluation has done so far.
    pub budget: Arc<Budget>,
    /// Where the memory that it needs is taken from.
    pub holding: Holding,
    /// Where stages put what they cannot hold.
    pub spill: Spill,
    /// Regular expressions that were compiled for earlier rows.
    pub patterns: Patterns,
}

impl Context {
    /// The first timestamp of the operation's second: seconds in the high half, the increment 1.
    pub fn operation_timestamp(&self) -> u64 {
        let seconds = u32::try_from(self.now_ms.div_euclid(1000)).unwrap_or(0);
        u64::from(seconds) << 32 | 1
    }
}

/// A reproducible stream of random numbers (splitmix64): each number is a mix of a counter that
/// goes on by a fixed odd step. A clone is another stream.
#[derive(Debug, Default)]
pub struct Random(AtomicU64);

impl Random {
    /// A stream that this seed determines.
    pub fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    /// The next number.
    pub fn next_number(&self) -> u64 {
        let step = 0x9e37_79b9_7f4a_7c15_u64;
        let state = self.0.fetch_add(step, Ordering::Relaxed).wrapping_add(step);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// The next number of `[0, 1)`.
    pub fn next_fraction(&self) -> f64 {
        (self.next_number() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

impl Context {
    /// An evaluation begins: of one expression over one document. Its work is counted from here,
    /// and what the last one held is given back.
    pub fn begin_evaluation(&self) {
        self.budget.begin_evaluation();
        self.holding.release_expression();
    }
}

impl Clone for Random {
    fn clone(&self) -> Self {
        Self::new(self.next_number())
    }
}
