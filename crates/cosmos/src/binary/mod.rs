//! JSON in the binary form of this protocol, which clients may send items and batches in: a byte
//! that says so, then one value. It is only read; responses are text, which every client reads.
//!
//! SDKs write it where their binary encoding is switched on. Each value begins with a marker, a
//! byte that says its type and how its length is given (`marker`). Strings have some ten forms,
//! among them references to earlier strings and packed forms for digits, dates and base64
//! (`strings`).
//!
//! The danger of the form is that little can stand for much: a reference of two bytes may repeat a
//! long string, and an array of arrays of numbers has no bytes for its empty rows. So reading
//! spends a budget of bytes as text (`TextBudget`), which is the limit that the same body would
//! have as text.

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

/// The byte before the value. No JSON text begins with it, and no batch in HybridRow does, so the
/// first byte of a body tells its form.
const FIRST: u8 = 0x80;

/// Whether a body is in this form.
pub(crate) fn is_binary(body: &[u8]) -> bool {
    body.first() == Some(&FIRST)
}

/// Reads one value that is the whole body. `depth` is how deep objects and arrays may be nested,
/// `room` the bytes that the value may have as text.
pub(crate) fn read_value(body: &[u8], depth: usize, room: usize) -> Result<Value> {
    reader::Reader::new(body, room).read_whole(depth)
}

/// The same for a body that has to be an object.
pub(crate) fn read_document(body: &[u8], depth: usize, room: usize) -> Result<Document> {
    match read_value(body, depth, room)? {
        Value::Document(document) => Ok(document),
        _ => Err(invalid("the value is not an object", FIRST_VALUE)),
    }
}

/// Where the value begins.
const FIRST_VALUE: usize = 1;

/// The failure for a body that is wrong at this byte. The position is for people who write clients.
fn invalid(what: &str, at: usize) -> Failure {
    Failure::bad_request(format!("The input content is invalid binary JSON: {what} at byte {at}"))
}
