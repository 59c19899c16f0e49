//! Documents as JSON text: MongoDB's Extended JSON v2 in canonical and relaxed form, and plain
//! JSON. One text is one document; files and lines are handled by `texts`.

mod read;
mod wrapped;
mod write;

pub(crate) use read::{Reading, parse_document};
pub(crate) use wrapped::date;
pub(crate) use write::{Style, write_document, write_value};

#[cfg(test)]
mod tests;
