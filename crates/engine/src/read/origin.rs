//! Where a document on its way came from: its row's key and header, as opaque bytes that stages
//! carry along.

use crate::view::Row;

/// The origin of a row.
pub(crate) fn of(row: &Row) -> Box<[u8]> {
    let len = u32::try_from(row.key.len()).unwrap_or(u32::MAX);
    let header = row.value.get(..row.start).unwrap_or_default();
    [&len.to_be_bytes()[..], &row.key, header].concat().into_boxed_slice()
}

/// Key and header.
pub(crate) fn split(origin: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = origin.split_first_chunk()?;
    rest.split_at_checked(usize::try_from(u32::from_be_bytes(*len)).ok()?)
}
