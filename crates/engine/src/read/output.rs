//! What a query returns of its documents: the document, with a further last field that is added
//! without decoding it, or the key of the index by which it was found.
//!
//! ```text
//!  length u32 | fields … | 0          stored
//!  length u32 | fields … | 0x12 "_ts" 0 seconds i64 | 0
//!  length u32 | fields … | 0x05 name 0 length i32 0 row key | 0
//! ```

use bytes::Bytes;
use document::{DocBuf, DocRef, Document};
use pipeline::{RECORD_ID, exec::Source};
use store::Direction;

use super::{Finder, Output, origin};
use crate::{access::AccessPath, index::entry_within, row::Row};

/// Type and name of the field `_ts`, a 64-bit integer.
const SECOND_FIELD: &[u8] = b"\x12_ts\0";
/// Type of a field with binary data.
const BINARY_FIELD: u8 = 5;

impl Output {
    /// Returns the result for a row.
    pub(super) fn of_row(self, row: Row, finder: &Finder) -> Bytes {
        match self {
            Self::Document => row.into_body(),
            Self::WithSecond => match row.header() {
                Some(header) => {
                    with_field(row.body(), &[SECOND_FIELD, &header.ts.to_le_bytes()].concat())
                }
                None => row.into_body(),
            },
            Self::WithRecordId => with_record_id(row.body(), &row.key),
            Self::IndexKey => finder.key_of(row.document(), &row.key),
        }
    }

    /// Returns the result for a document that came out of stages, which have not changed it if the
    /// key of its index is wanted.
    pub(super) fn of_result(
        self,
        document: DocBuf,
        source: &Source,
        finder: Option<&Finder>,
    ) -> Bytes {
        if matches!(self, Self::Document | Self::WithSecond) {
            return document.into_bytes();
        }
        // The first origin is that of the document itself.
        let mut row_key: Option<Vec<u8>> = None;
        source.visit_origins(&mut |origin| {
            let key = origin::split_origin(origin).map(|(_, key, _)| key.to_vec());
            row_key = row_key.take().or(key);
        });
        match (self, row_key, finder) {
            (Self::WithRecordId, Some(key), _) => with_record_id(&document.into_bytes(), &key),
            (Self::IndexKey, Some(key), Some(finder)) => finder.key_of(document.as_ref(), &key),
            _ => document.into_bytes(),
        }
    }
}

impl Finder {
    /// Returns the key by which the access path finds a document, as a document of paths and
    /// values; an empty document for a full scan.
    fn key_of(&self, document: DocRef<'_>, row_key: &[u8]) -> Bytes {
        self.found_key(document, row_key).unwrap_or_default().to_buf().into_bytes()
    }

    /// Returns the key by which the access path finds a document; `None` if it does not find it.
    pub(super) fn found_key(&self, document: DocRef<'_>, row_key: &[u8]) -> Option<Document> {
        let (chosen, branches) = self.paths();
        match &chosen.access {
            AccessPath::Branches { .. } => {
                branches.into_iter().find_map(|branch| branch.found_key(document, row_key))
            }
            AccessPath::Index { index, ranges } => {
                let backward = chosen.direction == Direction::Backward;
                entry_within(index, ranges, backward, document, row_key)
            }
            AccessPath::Near(_) => Some(Document::new()),
            AccessPath::Ids(keys) if !keys.iter().any(|key| key == row_key) => None,
            AccessPath::Rows(_) if self.description().index.is_none() => Some(Document::new()),
            AccessPath::Ids(_) | AccessPath::Rows(_) => {
                let id = document.get("_id")?;
                let mut key = Document::new();
                key.push("_id", id.to_value());
                Some(key)
            }
        }
    }
}

fn with_record_id(body: &[u8], row_key: &[u8]) -> Bytes {
    let len = i32::try_from(row_key.len()).unwrap_or(i32::MAX).to_le_bytes();
    let name = RECORD_ID.as_bytes();
    with_field(body, &[[BINARY_FIELD].as_slice(), name, &[0], &len, &[0], row_key].concat())
}

/// Returns a document with an encoded field appended.
fn with_field(body: &[u8], field: &[u8]) -> Bytes {
    // The new field precedes the document's terminating zero byte.
    let Some((_, fields)) = body.split_last() else { return Bytes::copy_from_slice(body) };
    let mut out = [fields, field, &[0]].concat();
    let len = u32::try_from(out.len()).unwrap_or(u32::MAX);
    // The length includes itself and the terminator.
    if let Some(length) = out.get_mut(..4) {
        length.copy_from_slice(&len.to_le_bytes());
    }
    out.into()
}
