//! The sums that a write updates: totals per class, and buckets for documents that can expire. The
//! class ([`Class`]) says whether a document expires by the collection's default TTL, by its own,
//! or never. Buckets cover a second or a longer interval; they are kept by class while TTL is on,
//! and by date for date indexes (docs/ttl.md, section 5.4).
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
//! A replacement subtracts by the old header and adds by the new one. Both steps use headers only,
//! so the amount subtracted always equals the amount added, even if the settings have changed in
//! between.

use expiry::{Class, Header};
use store::{Mutation, Space};

use crate::{
    catalog::Record,
    keys::{self, Buckets},
};

/// Width of the buckets of each level, seconds.
pub(crate) const LEVELS: [i64; 4] = [1, 64, 4_096, 262_144];

/// The properties of a document that counters use.
#[derive(Clone, Debug)]
pub(crate) struct Counted {
    pub(crate) class: Class,
    /// Second of the document's last write.
    pub(crate) ts: i64,
    /// Size of the document's body.
    pub(crate) bytes: i64,
    /// Id of each date index that contains the document, with the document's earliest date in
    /// milliseconds.
    pub(crate) dates: Vec<(u32, i64)>,
}

impl Counted {
    /// Returns the properties of a stored row.
    pub(crate) fn of_row(header: &Header<'_>, body: &[u8]) -> Self {
        let bytes = i64::try_from(body.len()).unwrap_or(i64::MAX);
        Self { class: header.class, ts: header.ts, bytes, dates: header.dates.iter().collect() }
    }
}

/// Adds a document to the counters (`sign` 1) or subtracts it (`sign` -1).
pub(crate) fn count_document(
    record: &Record,
    counted: &Counted,
    sign: i64,
    out: &mut Vec<Mutation>,
) {
    let by = [sign, sign.saturating_mul(counted.bytes)];
    let key = keys::class_total(record.id, keys::class_code(counted.class));
    out.push(Mutation::Add { space: Space::Counts, key, by });
    count_in_buckets(record, counted, sign, out);
}

/// Adds a document to the buckets of the seconds at which it expires (`sign` 1) or subtracts it
/// from them (-1); the totals of its class are not changed.
pub(crate) fn count_in_buckets(
    record: &Record,
    counted: &Counted,
    sign: i64,
    out: &mut Vec<Mutation>,
) {
    let by = [sign, sign.saturating_mul(counted.bytes)];
    let class = Buckets::Class(keys::class_code(counted.class));
    match counted.class {
        // Nothing expires by the default or own TTL, so buckets by class are not kept.
        _ if !record.counts_by_class() => {}
        Class::Never => {}
        Class::Inherit => count_second(record, class, counted.ts, by, out),
        Class::Explicit { deadline } => count_second(record, class, deadline, by, out),
    }
    for (index, date_ms) in &counted.dates {
        count_second(record, Buckets::Date(*index), date_ms.div_euclid(1000), by, out);
    }
}

/// Adds amounts to the buckets that contain a second, on every level.
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
