//! The readers of lists of tables, each alone, for tests that hand them any bytes. No opening goes this
//! way.

use crate::manifest::{parse_tables, parse_trailer, parse_version};

/// Reads bytes as the pointer to a list, as the end of a file and as a list.
pub fn read_lists(bytes: &[u8]) {
    let _ = parse_version(bytes);
    let _ = parse_trailer(bytes, bytes.len() as u64);
    let _ = parse_tables(bytes);
}
