//! Decoding of the journal entries in the body of a cluster entry.

use bytes::Bytes;
use journal::EncodedEntry;
use store::{Error, Kind};

/// Splits the body of a cluster entry into journal entries; each starts with its length. Malformed
/// data is an error of the cluster's journal.
pub(crate) fn entries_of(body: Bytes) -> Result<Vec<EncodedEntry>, Error> {
    let mut entries = Vec::new();
    let mut rest = body;
    while !rest.is_empty() {
        let first = EncodedEntry::first_of(&rest);
        let (entry, behind) = first.map_err(|error| {
            let text = format!("the cluster's journal cannot be followed: {error}");
            Error::new(Kind::Refused, text)
        })?;
        entries.push(entry);
        rest = behind;
    }
    Ok(entries)
}
