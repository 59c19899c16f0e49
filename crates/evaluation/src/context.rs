//! The context of an operation, which is the same for all of its rows: its random numbers, whether
//! and where its stages write data that exceeds their memory, and more.

use std::{
    cmp,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use collation::Collation;
use document::{
    Document, ValueRef,
    key::{TypeOrder, encode},
};
use spill::Area;

use crate::{budget::Budget, operation_memory::OperationMemory, pattern::Patterns};

/// The context of an operation, which is the same for all of its rows. Stages share it. Nested
/// operations (joins, facets) use a clone with some fields replaced.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// The operation's instant in milliseconds since 1970: `$$NOW`.
    pub now_ms: i64,
    /// Constants bound by the request (`let`). A constant with the value undefined counts as
    /// missing.
    pub constants: Document,
    /// Random numbers, from a seed of the caller.
    pub random: Random,
    /// The work of the evaluation, and its limits.
    pub budget: Arc<Budget>,
    /// The memory that the operation holds.
    pub operation_memory: OperationMemory,
    /// Storage to which stages spill data that exceeds their memory.
    pub spill: Spill,
    /// Cache of regular expressions compiled for earlier rows.
    pub patterns: Patterns,
    /// The order of texts; `None` if they compare by their bytes.
    pub collation: Option<Arc<Collation>>,
}

impl Context {
    /// Returns the first timestamp of the operation's second: seconds in the high half, increment
    /// 1.
    pub fn operation_timestamp(&self) -> u64 {
        let seconds = u32::try_from(self.now_ms.div_euclid(1000)).unwrap_or(0);
        u64::from(seconds) << 32 | 1
    }

    /// Returns the order of texts; `None` if they compare by their bytes.
    pub fn collation(&self) -> Option<&Collation> {
        self.collation.as_deref()
    }

    /// Compares two values in the operation's order.
    pub fn compare(&self, a: ValueRef<'_>, b: ValueRef<'_>) -> cmp::Ordering {
        compare_by(self.collation(), a, b)
    }

    /// Appends the canonical encoding of a value: two values have the same encoding if they compare
    /// as equal in the operation's order.
    pub fn encode_value(&self, value: ValueRef<'_>, out: &mut Vec<u8>) {
        match self.collation() {
            None => encode(value, TypeOrder::Bson, false, out),
            Some(collation) => {
                encode(collation.key_of_value(value).as_ref(), TypeOrder::Bson, false, out)
            }
        };
    }
}

/// Compares two values; texts compare by the collation or, without one, by their bytes.
pub fn compare_by(
    collation: Option<&Collation>,
    a: ValueRef<'_>,
    b: ValueRef<'_>,
) -> cmp::Ordering {
    match collation {
        None => document::compare(a, b),
        Some(collation) => collation.compare(a, b),
    }
}

/// A reproducible stream of random numbers (splitmix64). Each number is a hash of a counter that
/// advances by a fixed odd step. A clone is a different stream.
#[derive(Debug, Default)]
pub struct Random(AtomicU64);

impl Random {
    /// Creates the sequence of random numbers that the seed determines.
    pub fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    /// Returns the next random number.
    pub fn next_number(&self) -> u64 {
        let step = 0x9e37_79b9_7f4a_7c15_u64;
        let state = self.0.fetch_add(step, Ordering::Relaxed).wrapping_add(step);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns the next random number in `[0, 1)`.
    pub fn next_fraction(&self) -> f64 {
        (self.next_number() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

impl Context {
    /// Starts an evaluation of one expression over one document: resets the count of its work, and
    /// releases the memory of the previous one.
    pub fn begin_evaluation(&self) {
        self.budget.begin_evaluation();
        self.operation_memory.release_expression();
    }
}

impl Clone for Random {
    fn clone(&self) -> Self {
        Self::new(self.next_number())
    }
}

/// Storage to which stages of an operation spill data that exceeds their memory.
#[derive(Clone, Debug, Default)]
pub enum Spill {
    /// Stages spill to temporary files in this area.
    To(Area),
    /// Spilling fails, since the request does not allow it.
    Refused,
    /// Spilling fails, since an in-memory server writes no files.
    #[default]
    Nowhere,
}

impl Spill {
    /// Returns the area for temporary files, if spilling is possible.
    pub fn temporary_area(&self) -> Option<&Area> {
        match self {
            Self::To(area) => Some(area),
            Self::Refused | Self::Nowhere => None,
        }
    }
}
