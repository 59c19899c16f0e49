//! A server's reply: success or error, and the batch of a cursor.

use document::{ArrayRef, DocRef, RawElements, ValueRef};

use crate::{Error, Result};

/// The body of a reply, still encoded.
#[derive(Clone, Copy, Debug)]
pub struct Reply<'a>(DocRef<'a>);

/// A batch of a cursor.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// The cursor id for the next batch, 0 if this is the last one.
    pub cursor: i64,
    /// The array of documents, still encoded.
    documents: &'a [u8],
}

impl<'a> Reply<'a> {
    /// Parses a body. An error of the command, of one of its writes or of its write concern is
    /// returned as an error, since after each of them the request was not executed, or not
    /// completely.
    pub fn new(body: &'a [u8]) -> Result<Self> {
        let Self(body) = Self::of_writes(body)?;
        if let Some(errors) = body.get("writeErrors").and_then(ValueRef::as_array)
            && let Some(first) = errors.get(0).and_then(ValueRef::as_document)
        {
            return Err(refusal_error(first));
        }
        if let Some(error) = body.get("writeConcernError").and_then(ValueRef::as_document) {
            return Err(refusal_error(error));
        }
        Ok(Self(body))
    }

    /// Parses a body. An error of the command is returned as an error; errors of single writes are
    /// left in the body for the caller.
    pub fn of_writes(body: &'a [u8]) -> Result<Self> {
        let body = DocRef::Raw(body);
        match whole_number(body.get("ok")) {
            Some(1) => Ok(Self(body)),
            _ => Err(refusal_error(body)),
        }
    }

    /// Returns a field of the reply.
    pub fn get_field(self, name: &str) -> Option<ValueRef<'a>> {
        self.0.get(name)
    }

    /// Returns the login message in the reply.
    pub fn payload(self) -> Result<String> {
        let text = match self.get_field("payload") {
            Some(ValueRef::Binary { bytes, .. }) => String::from_utf8(bytes.to_vec()).ok(),
            _ => None,
        };
        text.ok_or_else(|| Error::Protocol("a reply without the message of a login".to_owned()))
    }

    /// Returns a number of the reply, 0 if it is missing.
    pub fn integer_field(self, name: &str) -> i64 {
        whole_number(self.get_field(name)).unwrap_or(0)
    }

    /// Returns the first or a later batch of a cursor.
    pub fn read_batch(self) -> Result<Batch<'a>> {
        let broken = || Error::Protocol("a reply without a cursor".to_owned());
        let cursor = self.get_field("cursor").and_then(ValueRef::as_document).ok_or_else(broken)?;
        let batch = cursor.get("firstBatch").or_else(|| cursor.get("nextBatch"));
        match batch {
            Some(ValueRef::Array(ArrayRef::Raw(documents))) => {
                Ok(Batch { cursor: whole_number(cursor.get("id")).unwrap_or(0), documents })
            }
            _ => Err(broken()),
        }
    }
}

impl<'a> Batch<'a> {
    /// Returns the number of documents.
    pub fn document_count(self) -> usize {
        RawElements::new(self.documents).count()
    }

    /// Returns whether the batch has no documents, without counting them.
    pub fn is_empty(self) -> bool {
        RawElements::new(self.documents).next().is_none()
    }

    /// Returns the batch's documents, still encoded.
    pub fn iter_documents(self) -> impl Iterator<Item = DocRef<'a>> {
        ArrayRef::Raw(self.documents).iter().filter_map(ValueRef::as_document)
    }
}

/// Returns the error in a document with `code` and `errmsg`.
fn refusal_error(from: DocRef<'_>) -> Error {
    let code =
        whole_number(from.get("code")).and_then(|code| i32::try_from(code).ok()).unwrap_or(0);
    let message = from.get("errmsg").and_then(ValueRef::as_str).unwrap_or("no reason given");
    Error::Server { code, message: message.to_owned() }
}

/// Returns a number of any type as an integer; `None` if it is not a number or is missing.
pub fn whole_number(value: Option<ValueRef<'_>>) -> Option<i64> {
    match value? {
        ValueRef::Int32(v) => Some(i64::from(v)),
        ValueRef::Int64(v) => Some(v),
        #[expect(clippy::cast_possible_truncation, reason = "counts and flags are small")]
        ValueRef::Double(v) => Some(v as i64),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use document::{Document, array, doc};

    use super::*;

    #[test]
    fn refusals_are_errors() {
        let error = |code: i32, message: &str| doc! { "code": code, "errmsg": message };
        let check = |reply: Document, want: Option<(i32, &str)>| {
            let bytes = reply.to_buf();
            let got = match Reply::new(bytes.bytes()) {
                Ok(_) => None,
                Err(Error::Server { code, message }) => Some((code, message)),
                Err(other) => panic!("{other}"),
            };
            assert_eq!(got, want.map(|(code, text)| (code, text.to_owned())), "{bytes:?}");
        };
        check(doc! { "ok": 1.0 }, None);
        check(doc! { "ok": 1 }, None);
        check(doc! { "n": 1, "ok": true }, Some((0, "no reason given")));
        check(doc! { "ok": 0.0, "code": 59, "errmsg": "no" }, Some((59, "no")));
        check(doc! { "ok": 1, "writeErrors": array![error(11000, "dup")] }, Some((11000, "dup")));
        check(doc! { "ok": 1, "writeErrors": array![] }, None);
        let refused = doc! { "ok": 1, "writeErrors": array![error(11000, "dup")] }.to_buf();
        let kept = Reply::of_writes(refused.bytes()).unwrap();
        assert!(kept.get_field("writeErrors").is_some());
        check(doc! { "ok": 1, "writeConcernError": error(64, "late") }, Some((64, "late")));
    }

    #[test]
    fn batches_are_read() {
        for (name, cursor, count) in [("firstBatch", 0i64, 2), ("nextBatch", 77, 0)] {
            let mut inner = doc! { "id": cursor };
            let documents = vec![document::Value::from(doc! { "_id": 1 }); count];
            inner.push(name, document::Value::Array(documents));
            let bytes = doc! { "cursor": inner, "ok": 1 }.to_buf();
            let batch = Reply::new(bytes.bytes()).unwrap().read_batch().unwrap();
            assert_eq!((batch.cursor, batch.document_count()), (cursor, count));
            assert_eq!(batch.iter_documents().count(), count);
            assert_eq!(batch.is_empty(), count == 0);
        }
        let bytes = doc! { "ok": 1 }.to_buf();
        assert!(Reply::new(bytes.bytes()).unwrap().read_batch().is_err());
    }
}
