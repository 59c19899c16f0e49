//! Exposes the parsers of table lists to fuzz tests. Not used when a store is opened.

use crate::manifest::{parse_tables, parse_trailer, parse_version};

/// Parses bytes as a version pointer, as a file trailer and as a table list.
pub fn read_lists(bytes: &[u8]) {
    let _ = parse_version(bytes);
    let _ = parse_trailer(bytes, bytes.len() as u64);
    let _ = parse_tables(bytes);
}
