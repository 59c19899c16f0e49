//! What views yield: live rows and live index entries.

use bytes::Bytes;
use clock::Instant;
use document::DocRef;
use expiry::Header;
use store::Range;

/// A live row.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) key: Bytes,
    /// Stamp of its last write.
    pub(crate) stamp: u64,
    /// Stamp of its creation.
    pub(crate) birth: u64,
    /// Second of its last write.
    pub(crate) ts: i64,
    /// When it dies under the view's settings.
    pub(crate) death: Instant,
    pub(crate) start: usize,
    pub(crate) value: Bytes,
}

impl Row {
    /// The stored document.
    pub(crate) fn body(&self) -> &[u8] {
        self.value.get(self.start..).unwrap_or_default()
    }

    /// The stored document, to be read.
    pub(crate) fn document(&self) -> DocRef<'_> {
        DocRef::Raw(self.body())
    }

    /// Its header; it was checked when the row was read.
    pub(crate) fn header(&self) -> Option<Header<'_>> {
        Header::split(&self.value).ok().map(|(header, _)| header)
    }
}

/// A live index entry.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: Bytes,
    pub(crate) row_key: Bytes,
    /// Stamp of the row's last write.
    pub(crate) stamp: u64,
}

/// Items in scan order.
#[derive(Debug)]
pub(crate) struct Page<T> {
    pub(crate) items: Vec<T>,
    /// What is left to scan.
    pub(crate) rest: Option<Range>,
    /// How many were looked at, dead ones included.
    pub(crate) examined: usize,
}
