//! Adds a last field `_ts` with the second of the write to stored documents, without decoding them.
//!
//! ```text
//!  length u32 | fields … | 0          stored
//!  length u32 | fields … | 0x12 "_ts" 0 seconds i64 | 0
//! ```

use bytes::Bytes;

use crate::row::Row;

/// Type and name of the field `_ts`, a 64-bit integer.
const SECOND_FIELD: &[u8] = b"\x12_ts\0";

/// Returns a stored document with the second of its write appended.
pub(super) fn with_second(row: &Row) -> Bytes {
    let body = row.value.slice(row.start..);
    let Some(header) = row.header() else { return body };
    // The new field precedes the document's terminating zero byte.
    let Some((_, fields)) = body.split_last() else { return body };
    let mut out = Vec::with_capacity(body.len() + SECOND_FIELD.len() + 9);
    out.extend_from_slice(fields);
    out.extend_from_slice(SECOND_FIELD);
    out.extend_from_slice(&header.ts.to_le_bytes());
    out.push(0);
    let len = u32::try_from(out.len()).unwrap_or(u32::MAX);
    // The length includes itself and the terminator.
    if let Some(length) = out.get_mut(..4) {
        length.copy_from_slice(&len.to_le_bytes());
    }
    out.into()
}
