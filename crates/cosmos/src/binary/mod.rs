//! JSON in the binary form of this protocol, which clients may send items in: a byte that says so,
//! then one value. Only read; answers are text.

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

/// The byte before the value. No JSON text, and no batch in another form, begins with it.
const FIRST: u8 = 0x80;

/// Whether a body is in this form.
pub(crate) fn is_binary(body: &[u8]) -> bool {
    body.first() == Some(&FIRST)
}

/// One value that is the whole body; `depth` counts nested objects and arrays, `room` are the bytes
/// that it may have as text.
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

/// A body that is wrong at this byte.
fn invalid(what: &str, at: usize) -> Failure {
    Failure::bad_request(format!("The input content is invalid binary JSON: {what} at byte {at}"))
}
