//! The results of views: live rows, live index entries and items.

use bytes::{Buf, Bytes};
use clock::Instant;
use document::DocRef;
use expiry::Header;

use crate::{entry::NamedRow, item_key::ItemKey};

/// A stored row that is live in a view.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// Row key: the id, or partition and id of an item.
    pub(crate) key: Bytes,
    /// Stamp of the row's last write.
    pub(crate) stamp: u64,
    /// Stamp of the row's creation.
    pub(crate) creation_stamp: u64,
    /// Second of the row's last write.
    pub(crate) ts: i64,
    /// The row's expiry under the view's settings.
    pub(crate) expires_at: Instant,
    /// Offset of the document in `value`, after its header.
    pub(crate) start: usize,
    /// Header and document as stored.
    pub(crate) value: Bytes,
}

impl Row {
    /// Returns the parts of the row that the keys of its index entries contain.
    pub(crate) fn named(&self) -> NamedRow<'_> {
        NamedRow { key: &self.key, creation_stamp: self.creation_stamp }
    }

    /// Returns the bytes of the stored document.
    pub(crate) fn body(&self) -> &[u8] {
        self.value.get(self.start..).unwrap_or_default()
    }

    pub(crate) fn document(&self) -> DocRef<'_> {
        DocRef::Raw(self.body())
    }

    /// Returns the stored document without its header.
    pub(crate) fn into_body(self) -> Bytes {
        let mut body = self.value;
        body.advance(self.start);
        body
    }

    /// Returns the row's header. The result is not `None`, since the header was verified when the
    /// row was read.
    pub(crate) fn header(&self) -> Option<Header<'_>> {
        Header::split(&self.value).ok().map(|(header, _)| header)
    }
}

/// An index entry of a live row.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: Bytes,
    /// Key of the row that the entry refers to.
    pub(crate) row_key: Bytes,
    /// Stamp of the row's last write.
    pub(crate) stamp: u64,
}

/// The live part of a page of a scan, in scan order.
#[derive(Debug)]
pub(crate) struct Page<T> {
    /// Rows or entries of the page; none if all of them have expired.
    pub(crate) items: Vec<T>,
    /// Number of keys examined, including expired ones.
    pub(crate) examined: usize,
}

/// The number of live keys in a page of a scan.
#[derive(Debug, Default)]
pub(crate) struct CountedPage {
    /// Number of live rows or entries.
    pub(crate) live: u64,
    /// Number of keys examined, including expired ones.
    pub(crate) examined: usize,
    pub(crate) last: Option<Bytes>,
}

/// An item that is live in a view.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Encoded key of the item's row.
    pub key: Bytes,
    /// The stored document, as well-formed BSON.
    pub body: Bytes,
    /// Stamp of the item's last write, which is its version.
    pub stamp: u64,
    /// Stamp of the item's creation: unique, and larger than the stamps of items created before.
    pub creation_stamp: u64,
    /// Second of the item's last write.
    pub ts: i64,
}

impl Item {
    pub(crate) fn from_row(mut row: Row) -> Self {
        let key = std::mem::take(&mut row.key);
        let Row { stamp, creation_stamp, ts, .. } = row;
        Self { key, body: row.into_body(), stamp, creation_stamp, ts }
    }

    /// Returns the key of the item.
    pub fn item_key(&self) -> ItemKey {
        ItemKey(self.key.clone())
    }

    /// Returns the item's stored document.
    pub fn document(&self) -> DocRef<'_> {
        DocRef::Raw(&self.body)
    }
}

impl<T> Default for Page<T> {
    fn default() -> Self {
        Self { items: Vec::new(), examined: 0 }
    }
}
