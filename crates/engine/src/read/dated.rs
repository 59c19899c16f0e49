//! Stored documents that say when they were written.

use bytes::Bytes;

use crate::row::Row;

/// The beginning of a field `_ts` with a 64-bit number.
const SECOND_FIELD: &[u8] = b"\x12_ts\0";

/// A stored document with the second of its write behind its own fields.
pub(super) fn with_second(row: &Row) -> Bytes {
    let body = row.value.slice(row.start..);
    let Some(header) = row.header() else { return body };
    let Some((_, fields)) = body.split_last() else { return body };
    let mut out = Vec::with_capacity(body.len() + SECOND_FIELD.len() + 9);
    out.extend_from_slice(fields);
    out.extend_from_slice(SECOND_FIELD);
    out.extend_from_slice(&header.ts.to_le_bytes());
    out.push(0);
    let len = u32::try_from(out.len()).unwrap_or(u32::MAX);
    if let Some(place) = out.get_mut(..4) {
        place.copy_from_slice(&len.to_le_bytes());
    }
    out.into()
}
