//! The binary JSON encoding of this protocol, which clients may use for items and batches: a format
//! byte, then one value. It is only decoded; responses are text, which every client accepts.
//!
//! SDKs use this encoding if the application enables it. Each value starts with a marker, a byte
//! that gives the value's type and the encoding of its length (`marker`). Strings have some ten
//! encodings, among them references to earlier strings and packed forms for digits, dates and
//! base64 (`strings`).
//!
//! A few bytes of this encoding can expand to much text: a reference of two bytes may repeat a long
//! string, and an array of arrays of numbers stores no bytes for empty rows. Decoding therefore
//! spends a budget of text bytes (`TextBudget`), with the limit that the same body would have as
//! text.

mod cursor;
#[cfg(test)]
mod laws;
mod marker;
mod reader;
mod strings;
mod system;
#[cfg(test)]
mod tests;

use document::{Document, Value};

use crate::failure::{Failure, Result};

/// The format byte before the value. Neither JSON text nor a HybridRow batch starts with it, so the
/// first byte of a body identifies its encoding.
const FIRST: u8 = 0x80;

/// Returns whether a body is in this encoding.
pub(crate) fn is_binary(body: &[u8]) -> bool {
    body.first() == Some(&FIRST)
}

/// Decodes a body that is one value. `depth` limits the nesting of objects and arrays,
/// `max_text_bytes` the bytes of the value as text.
pub(crate) fn read_value(body: &[u8], depth: usize, max_text_bytes: usize) -> Result<Value> {
    reader::Reader::new(body, max_text_bytes).read_whole(depth)
}

/// Decodes a body that must be an object.
pub(crate) fn read_document(body: &[u8], depth: usize, max_text_bytes: usize) -> Result<Document> {
    match read_value(body, depth, max_text_bytes)? {
        Value::Document(document) => Ok(document),
        _ => Err(invalid("the value is not an object", FIRST_VALUE)),
    }
}

/// Offset of the root value in a body.
const FIRST_VALUE: usize = 1;

/// Returns the failure for a body that is invalid at this byte.
fn invalid(what: &str, at: usize) -> Failure {
    Failure::bad_request(format!("The input content is invalid binary JSON: {what} at byte {at}"))
}
