//! The journal's entries in an entry of the cluster's.

use bytes::Bytes;
use journal::EncodedEntry;
use store::{Error, Kind};

/// The journal's entries in the body of one of the cluster's: each begins with its length. What is wrong
/// with them is wrong in the cluster's journal.
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
