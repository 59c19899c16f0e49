//! The origin of a document: view index of its collection, row key and header, as opaque bytes that
//! stages carry.
//!
//! ```text
//!  view index u32 | length of the key u32 | key | header
//! ```

use crate::row::Row;

/// Returns the origin of a row in the collection with this view index.
pub(crate) fn of_row(row: &Row, view_index: u32) -> Box<[u8]> {
    of_key(view_index, &row.key, row.value.get(..row.start).unwrap_or_default())
}

/// Returns the origin (view index, key and header) of a row.
pub(crate) fn of_key(view_index: u32, key: &[u8], header: &[u8]) -> Box<[u8]> {
    let len = u32::try_from(key.len()).unwrap_or(u32::MAX);
    [&view_index.to_be_bytes()[..], &len.to_be_bytes(), key, header].concat().into_boxed_slice()
}

/// Splits an origin into view index, key and header.
pub(crate) fn split_origin(origin: &[u8]) -> Option<(u32, &[u8], &[u8])> {
    let (view_index, rest) = origin.split_first_chunk()?;
    let (len, rest) = rest.split_first_chunk()?;
    let (key, header) = rest.split_at_checked(usize::try_from(u32::from_be_bytes(*len)).ok()?)?;
    Some((u32::from_be_bytes(*view_index), key, header))
}
