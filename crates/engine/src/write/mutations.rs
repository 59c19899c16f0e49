//! The mutations of a document's write besides its row: index entries, positions in the order of
//! changes and in the index of upcoming expirations, and counters. All of this runs where commits
//! are ordered, so it avoids work that could be done earlier.

use bytes::Bytes;
use expiry::Header;
use store::{Mutation, Space, Stamp};

use super::previous::PreviousVersion;
use crate::{
    catalog::Record,
    counters::{Counted, count_document},
    entry::{entry_value, naming_body, timed_body},
    keys,
    limits::CREATION_BITS,
};

/// Adds a document to the counters and subtracts the version that it replaces.
pub(super) fn count_change(
    record: &Record,
    previous: Option<&PreviousVersion>,
    counted: &Counted,
    out: &mut Vec<Mutation>,
) {
    if let Some(previous) = previous {
        count_document(record, &previous.counted, -1, out);
    }
    count_document(record, counted, 1, out);
}

/// Returns the second of a write: the second of its commit, or `since` if that is earlier.
pub(super) fn write_second(stamp: Stamp, since: Option<i64>) -> i64 {
    let now = stamp.at_ms.div_euclid(1000);
    since.map_or(now, |since| since.min(now))
}

/// Returns the creation stamp of an item, unique also among items created by the same commit.
pub(crate) fn item_stamp(stamp: u64, position: usize) -> u64 {
    let position = u64::try_from(position).unwrap_or(u64::MAX);
    stamp << CREATION_BITS | position.min((1 << CREATION_BITS) - 1)
}

/// Moves an item to its new position in the index of upcoming expirations (timeline).
///
/// The position is the second of the write or the deadline, by expiry class, so most writes move
/// it.
pub(super) fn put_timeline(
    record: &Record,
    space: Space,
    previous: Option<&PreviousVersion>,
    (header, row_key): (&[u8], &[u8]),
    written_ms: i64,
    out: &mut Vec<Mutation>,
) {
    if record.timeline_index().is_none() {
        return;
    }
    let Ok((header, _)) = Header::split(header) else { return };
    let before = previous.map(|previous| previous.timeline_keys(record)).unwrap_or_default();
    let after = record.timeline_keys((header.class, header.ts), header.dates.iter(), row_key);
    let gone = before.into_iter().filter(|before| !after.contains(before));
    out.extend(gone.map(|key| Mutation::Delete { space, key }));
    let body = timed_body(row_key, written_ms);
    let value = || entry_value(&header, &body);
    out.extend(after.into_iter().map(|key| Mutation::Put { space, key, value: value() }));
}

/// Moves an item to its new position in the order of changes.
///
/// The previous entry is deleted, so that each item has one entry and readers of changes see only
/// the latest version.
pub(super) fn put_change(
    header: &[u8],
    space: Space,
    row_key: &[u8],
    before: Option<&PreviousVersion>,
    stamp: u64,
    out: &mut Vec<Mutation>,
) {
    if let Some(PreviousVersion { row, .. }) = before {
        out.push(Mutation::Delete { space, key: keys::change(row.stamp, &row.key) });
    }
    let Ok((header, _)) = Header::split(header) else { return };
    let value = entry_value(&header, &naming_body(row_key));
    out.push(Mutation::Put { space, key: keys::change(stamp, row_key), value });
}

/// Rewrites all entries with the new header, even if values are unchanged, and deletes entries that
/// no longer apply.
pub(super) fn put_entries(
    header: &[u8],
    space: Space,
    entries: Vec<(Bytes, Bytes)>,
    previous: Option<&PreviousVersion>,
    out: &mut Vec<Mutation>,
) {
    if let Some(previous) = previous {
        // Entries are sorted, so a binary search finds the remaining ones.
        let gone = previous
            .entries
            .iter()
            .filter(|key| entries.binary_search_by(|(held, _)| held.cmp(key)).is_err());
        out.extend(gone.map(|key| Mutation::Delete { space, key: key.clone() }));
    }
    let Ok((header, _)) = Header::split(header) else { return };
    // Entries with equal bodies share their value; an index by path may have hundreds of them for
    // one item.
    let mut last: Option<(Bytes, Bytes)> = None;
    for (key, body) in entries {
        let made = last.take().filter(|(of, _)| *of == body);
        let (_, value) = last.insert(made.unwrap_or_else(|| {
            let value = entry_value(&header, &body);
            (body, value)
        }));
        out.push(Mutation::Put { space, key, value: value.clone() });
    }
}
