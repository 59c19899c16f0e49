//! JSON text to values and back, by one rule for numbers: whole and within `i64` is an int64,
//! anything else the nearest double, which is written so that it stays a double.

mod parse;
mod write;

pub use parse::{Invalid, parse, parse_document};
pub use write::{to_string, write, write_string};
