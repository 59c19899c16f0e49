//! What a write enters on the books: totals per class, and sums by second and coarser while TTL is
//! on (ttl.md 5.3).

use expiry::Class;
use store::{Mutation, Space};

use crate::{catalog::Record, keys};

/// Seconds of a bucket of each level.
pub(crate) const LEVELS: [i64; 4] = [1, 64, 4_096, 262_144];

/// A document as the books see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entered {
    pub(crate) class: Class,
    pub(crate) ts: i64,
    pub(crate) bytes: i64,
}

/// Adds (`sign` 1) or takes away (`sign` -1) a document.
pub(crate) fn add(record: &Record, entered: &Entered, sign: i64, out: &mut Vec<Mutation>) {
    let by = [sign, sign.saturating_mul(entered.bytes)];
    let class = keys::class_code(entered.class);
    let put = |key| Mutation::Add { space: Space::Counts, key, by };
    out.push(put(keys::total(record.id, class)));
    let second = match entered.class {
        Class::Never => return,
        Class::Inherit => entered.ts,
        Class::Explicit { deadline } => deadline,
    };
    let Some(build) = record.books.build() else { return };
    for (level, width) in (0_u8..).zip(LEVELS) {
        out.push(put(keys::sum(record.id, build, class, level, second.div_euclid(width))));
    }
}
