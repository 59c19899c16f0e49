//! Stored documents that say when they were written: a last field `_ts` is added to the bytes,
//! without decoding the document.
//!
//! ```text
//!  length u32 | fields … | 0          stored
//!  length u32 | fields … | 0x12 "_ts" 0 seconds i64 | 0
//! ```

use bytes::Bytes;

use crate::row::Row;

/// The beginning of a field `_ts` with a 64-bit number.
const SECOND_FIELD: &[u8] = b"\x12_ts\0";

/// A stored document with the second of its write after its own fields.
pub(super) fn with_second(row: &Row) -> Bytes {
    let body = row.value.slice(row.start..);
    let Some(header) = row.header() else { return body };
    // The document ends with a zero byte, which the new field goes in front of.
    let Some((_, fields)) = body.split_last() else { return body };
    let mut out = Vec::with_capacity(body.len() + SECOND_FIELD.len() + 9);
    out.extend_from_slice(fields);
    out.extend_from_slice(SECOND_FIELD);
    out.extend_from_slice(&header.ts.to_le_bytes());
    out.push(0);
    let len = u32::try_from(out.len()).unwrap_or(u32::MAX);
    // The length counts itself and the last zero.
    if let Some(place) = out.get_mut(..4) {
        place.copy_from_slice(&len.to_le_bytes());
    }
    out.into()
}
