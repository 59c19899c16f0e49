//! A feed event, its stored form, and the event that a write records with its item.
//!
//! An event is stored among the index entries, with a row header that never expires; the reaper
//! drops it by the second in which it was recorded. Its body is a small BSON document:
//!
//! ```text
//!  k  kind (1 create, 2 replace, 3 delete, 4 expire)      t  when, milliseconds
//!  i  the item's key        b, a  the item before and after: {s stamp, b creation stamp,
//!                                t second, d document}
//! ```

use bytes::Bytes;
use clock::Instant;
use document::{DocBuilder, DocRef, ValueRef};
use expiry::Header;
use store::{Mutation, Space, Stamp};

use crate::{catalog::Record, entry::never_expiring, error::Error, keys, row::Item};

/// The kind of a change of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The item was created by a request.
    Create,
    /// The item was replaced or edited.
    Replace,
    /// The item was deleted by a request.
    Delete,
    /// The item expired, without any request.
    Expire,
}

impl EventKind {
    /// Returns the kind's code in stored events, which never changes.
    fn code(self) -> i32 {
        match self {
            Self::Create => 1,
            Self::Replace => 2,
            Self::Delete => 3,
            Self::Expire => 4,
        }
    }

    fn from_code(code: i32) -> Option<Self> {
        [Self::Create, Self::Replace, Self::Delete, Self::Expire]
            .into_iter()
            .find(|kind| kind.code() == code)
    }
}

/// An event of a feed.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Whether the item was created, changed, deleted or expired.
    pub kind: EventKind,
    /// Stamp of the commit that recorded the event; a reader of the feed continues after this
    /// stamp.
    pub stamp: u64,
    /// Time of the change; for an expiration, the instant at which the item expired.
    pub at: Instant,
    /// The item's key; after a change of the key, the new one.
    pub key: Bytes,
    /// The item before the change.
    pub before: Option<Item>,
    /// The item after the change.
    pub after: Option<Item>,
}

impl Event {
    /// Encodes the event as stored: a row header, in which only the time of recording (`entered`)
    /// is meaningful, then the body.
    pub(crate) fn encode(&self, entered: Stamp) -> Vec<u8> {
        let mut body = DocBuilder::new();
        body.append("k", ValueRef::Int32(self.kind.code()));
        body.append("t", ValueRef::Int64(self.at.ms));
        body.append("i", ValueRef::Binary { subtype: 0, bytes: &self.key });
        for (name, item) in [("b", &self.before), ("a", &self.after)] {
            if let Some(item) = item {
                body.document(name, |out| {
                    let int = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
                    out.append("s", ValueRef::Int64(int(item.stamp)));
                    out.append("b", ValueRef::Int64(int(item.creation_stamp)));
                    out.append("t", ValueRef::Int64(item.ts));
                    out.append("d", ValueRef::Document(item.document()));
                });
            }
        }
        never_expiring(body.finish().bytes(), entered)
    }

    /// Decodes an event; also returns the second in which it was recorded.
    pub(crate) fn decode(value: &Bytes) -> Result<(Self, i64), Error> {
        let (header, body) = Header::split_row(value)?;
        let event = Self::from_body(header.stamp, value, DocRef::Raw(body));
        let event = event.ok_or_else(|| Error::corrupt("a feed event is damaged"))?;
        Ok((event, header.ts))
    }

    /// Decodes an event's body; `None` if damaged. Items share the bytes of the event.
    fn from_body(stamp: u64, value: &Bytes, body: DocRef<'_>) -> Option<Self> {
        let ValueRef::Int32(kind) = body.get("k")? else { return None };
        let ValueRef::Int64(at_ms) = body.get("t")? else { return None };
        let ValueRef::Binary { bytes: key, .. } = body.get("i")? else { return None };
        // Slices of the event's bytes, so that a page of events holds no copies.
        let key = value.slice_ref(key);
        let item = |name| match body.get(name) {
            None => Some(None),
            Some(ValueRef::Document(fields)) => read_item(value, &key, fields).map(Some),
            Some(_) => None,
        };
        let (before, after) = (item("b")?, item("a")?);
        let kind = EventKind::from_code(kind)?;
        Some(Self { kind, stamp, at: Instant::from_ms(at_ms), key: key.clone(), before, after })
    }
}

/// Decodes an item that an event contains; the item's key is that of the event.
fn read_item(value: &Bytes, key: &Bytes, fields: DocRef<'_>) -> Option<Item> {
    let int = |name| match fields.get(name)? {
        ValueRef::Int64(value) => Some(value),
        _ => None,
    };
    let stamp = |name| u64::try_from(int(name)?).ok();
    let Some(ValueRef::Document(DocRef::Raw(body))) = fields.get("d") else { return None };
    Some(Item {
        key: key.clone(),
        body: value.slice_ref(body),
        stamp: stamp("s")?,
        creation_stamp: stamp("b")?,
        ts: int("t")?,
    })
}

/// Records the event of a write if its container has a feed.
pub(crate) fn put_event(
    record: &Record,
    space: Space,
    stamp: Stamp,
    before: Option<Item>,
    after: Option<Item>,
    out: &mut Vec<Mutation>,
) {
    if record.running_feed().is_none() {
        return;
    }
    // By creation stamp, not by key: an item that reuses the key of a deleted one is created, not
    // replaced.
    let kind = match (&before, &after) {
        (None, _) => EventKind::Create,
        // With equal creation stamps the item has a new version; otherwise the previous item was
        // deleted and this one is new.
        (Some(before), Some(after)) if before.creation_stamp == after.creation_stamp => {
            EventKind::Replace
        }
        (Some(_), Some(_)) => EventKind::Create,
        (Some(_), None) => EventKind::Delete,
    };
    let key = after.as_ref().or(before.as_ref()).map(|item| item.key.clone()).unwrap_or_default();
    let at = Instant::from_ms(stamp.at_ms);
    let event = Event { kind, stamp: stamp.seq, at, key, before, after };
    // In a commit of several writes, events are numbered when the writes are merged.
    let value = event.encode(stamp).into();
    out.push(Mutation::Put { space, key: keys::event(stamp.seq, 0), value });
}
