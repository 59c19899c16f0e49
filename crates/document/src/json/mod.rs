//! Reads and writes JSON text. A whole number within `i64` is an int64; any other number is the
//! nearest double.

mod parse;
mod write;

pub use parse::{Invalid, parse, parse_document};
pub use write::{to_string, write, write_string};
