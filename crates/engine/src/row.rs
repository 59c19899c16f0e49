//! What views yield: live rows and live index entries, and a row as an item.

use bytes::{Buf, Bytes};
use clock::Instant;
use document::DocRef;
use expiry::Header;

use crate::{entry::NamedRow, item_key::ItemKey};

/// A live row.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// In the space of rows: the id, or partition and id of an item.
    pub(crate) key: Bytes,
    /// Stamp of its last write.
    pub(crate) stamp: u64,
    /// Stamp of its creation.
    pub(crate) birth: u64,
    /// Second of its last write.
    pub(crate) ts: i64,
    /// When it expires under the view's settings.
    pub(crate) expires_at: Instant,
    /// Where in `value` the document begins, after its header.
    pub(crate) start: usize,
    /// Header and document as they are stored.
    pub(crate) value: Bytes,
}

impl Row {
    /// The row as the keys of its entries name it.
    pub(crate) fn named(&self) -> NamedRow<'_> {
        NamedRow { key: &self.key, birth: self.birth }
    }

    /// The stored document.
    pub(crate) fn body(&self) -> &[u8] {
        self.value.get(self.start..).unwrap_or_default()
    }

    /// The stored document, to be read.
    pub(crate) fn document(&self) -> DocRef<'_> {
        DocRef::Raw(self.body())
    }

    /// The stored document by itself.
    pub(crate) fn into_body(self) -> Bytes {
        let mut body = self.value;
        body.advance(self.start);
        body
    }

    /// Its header; it was checked when the row was read.
    pub(crate) fn header(&self) -> Option<Header<'_>> {
        Header::split(&self.value).ok().map(|(header, _)| header)
    }
}

/// A live index entry.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// In the space of entries.
    pub(crate) key: Bytes,
    /// Of the row that it leads to.
    pub(crate) row_key: Bytes,
    /// Stamp of the row's last write.
    pub(crate) stamp: u64,
}

/// What of one page of a walk is live, in the order of the walk.
#[derive(Debug)]
pub(crate) struct Page<T> {
    /// May be empty, where all of the page has expired.
    pub(crate) items: Vec<T>,
    /// How many keys were looked at, expired ones included.
    pub(crate) examined: usize,
}

/// How much of one page of a walk is live, where that is all that is asked.
#[derive(Debug, Default)]
pub(crate) struct CountedPage {
    /// Live rows or entries.
    pub(crate) live: u64,
    /// How many keys were looked at, expired ones included.
    pub(crate) examined: usize,
    /// The last of these keys.
    pub(crate) last: Option<Bytes>,
}

/// A live item.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Its key's bytes.
    pub key: Bytes,
    /// What is stored: well-formed BSON.
    pub body: Bytes,
    /// Stamp of its last write: its version.
    pub stamp: u64,
    /// Number of its creation: that of no other item, larger than those created before.
    pub birth: u64,
    /// Second of its last write.
    pub ts: i64,
}

impl Item {
    pub(crate) fn from_row(mut row: Row) -> Self {
        let key = std::mem::take(&mut row.key);
        let Row { stamp, birth, ts, .. } = row;
        Self { key, body: row.into_body(), stamp, birth, ts }
    }

    /// Its key, as it is compared with others.
    pub fn item_key(&self) -> ItemKey {
        ItemKey(self.key.clone())
    }

    /// The stored document.
    pub fn document(&self) -> DocRef<'_> {
        DocRef::Raw(&self.body)
    }
}

impl<T> Default for Page<T> {
    fn default() -> Self {
        Self { items: Vec::new(), examined: 0 }
    }
}
