//! What a write counts: totals per class, and buckets by second and coarser of what can expire
//! (docs/ttl.md, section 5.3): by class while TTL is on, by date where an index expires documents.
//!
//! ```text
//!  insert of a document of class inherit, 100 bytes, written in second 1,000,000
//!    total      inherit               + [1, 100]
//!    bucket     level 0, 1,000,000    + [1, 100]      (1 s)
//!    bucket     level 1,    15,625    + [1, 100]      (64 s)
//!    bucket     level 2,       244    + [1, 100]      (4,096 s)
//!    bucket     level 3,         3    + [1, 100]      (262,144 s)
//! ```
//!
//! A replacement takes away what the old header says and adds what the new one says. Both are known
//! from the headers alone, so that what is taken away is always what was added, whatever settings
//! are in force by then.

use expiry::{Class, Header};
use store::{Mutation, Space};

use crate::{
    catalog::Record,
    keys::{self, Buckets},
};

/// Seconds of a bucket of each level.
pub(crate) const LEVELS: [i64; 4] = [1, 64, 4_096, 262_144];

/// A document as the counters see it.
#[derive(Clone, Debug)]
pub(crate) struct Counted {
    /// Which totals it is in.
    pub(crate) class: Class,
    /// Second of its last write.
    pub(crate) ts: i64,
    /// Length of its body.
    pub(crate) bytes: i64,
    /// Earliest dates by index, milliseconds.
    pub(crate) dates: Vec<(u32, i64)>,
}

impl Counted {
    /// A stored row.
    pub(crate) fn of_row(header: &Header<'_>, body: &[u8]) -> Self {
        let bytes = i64::try_from(body.len()).unwrap_or(i64::MAX);
        Self { class: header.class, ts: header.ts, bytes, dates: header.dates.iter().collect() }
    }
}

/// Adds (`sign` 1) or takes away (`sign` -1) a document.
pub(crate) fn count_document(
    record: &Record,
    counted: &Counted,
    sign: i64,
    out: &mut Vec<Mutation>,
) {
    let by = [sign, sign.saturating_mul(counted.bytes)];
    let key = keys::class_total(record.id, keys::class_code(counted.class));
    out.push(Mutation::Add { space: Space::Counts, key, by });
    count_sums(record, counted, sign, out);
}

/// The same for the sums alone.
pub(crate) fn count_sums(record: &Record, counted: &Counted, sign: i64, out: &mut Vec<Mutation>) {
    let by = [sign, sign.saturating_mul(counted.bytes)];
    let class = Buckets::Class(keys::class_code(counted.class));
    match counted.class {
        // Nothing expires by class, so nobody keeps these buckets.
        _ if !record.sums_classes() => {}
        Class::Never => {}
        Class::Inherit => count_second(record, class, counted.ts, by, out),
        Class::Explicit { deadline } => count_second(record, class, deadline, by, out),
    }
    for (index, date_ms) in &counted.dates {
        count_second(record, Buckets::Date(*index), date_ms.div_euclid(1000), by, out);
    }
}

/// Adds to the sums of a second, on every level.
pub(crate) fn count_second(
    record: &Record,
    of: Buckets,
    second: i64,
    by: [i64; 2],
    out: &mut Vec<Mutation>,
) {
    let build = record.counters.build_number();
    for (level, width) in (0_u8..).zip(LEVELS) {
        let key = keys::bucket_key(record.id, build, of, level, second.div_euclid(width));
        out.push(Mutation::Add { space: Space::Counts, key, by });
    }
}
