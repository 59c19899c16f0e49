//! An event, how it is stored, and what a write enters besides its item.
//!
//! An event is kept among the index entries, under a header that never expires; the reaper drops it
//! by the second it was entered in. Its body is a small BSON document:
//!
//! ```text
//!  k  kind (1 create, 2 replace, 3 delete, 4 expire)      t  when, milliseconds
//!  i  the item's key        b, a  the item before and after: {s stamp, b birth, t second, d document}
//! ```

use bytes::Bytes;
use clock::Instant;
use document::{DocBuilder, DocRef, ValueRef};
use expiry::{Header, HeaderDraft, Lifetime, body_checksum};
use store::{Mutation, Space, Stamp};

use crate::{catalog::Record, error::Error, keys, row::Item};

/// What happened to an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// It was created.
    Create,
    /// It was replaced or edited.
    Replace,
    /// Somebody removed it.
    Delete,
    /// Its time was up.
    Expire,
}

impl EventKind {
    /// In stored events; never changes.
    fn code(self) -> i32 {
        match self {
            Self::Create => 1,
            Self::Replace => 2,
            Self::Delete => 3,
            Self::Expire => 4,
        }
    }

    /// The kind with this code.
    fn from_code(code: i32) -> Option<Self> {
        [Self::Create, Self::Replace, Self::Delete, Self::Expire]
            .into_iter()
            .find(|kind| kind.code() == code)
    }
}

/// An event of a feed.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// What happened.
    pub kind: EventKind,
    /// The commit that entered it: feeds go on after it.
    pub stamp: u64,
    /// When it happened; of an expiration the deadline.
    pub at: Instant,
    /// The item's key, the later one where it has changed.
    pub key: Bytes,
    /// The item before.
    pub before: Option<Item>,
    /// The item after.
    pub after: Option<Item>,
}

impl Event {
    /// The stored form, after a header that only carries the second it was entered in.
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
                    out.append("b", ValueRef::Int64(int(item.birth)));
                    out.append("t", ValueRef::Int64(item.ts));
                    out.append("d", ValueRef::Document(item.document()));
                });
            }
        }
        never_expiring(body.finish().bytes(), entered)
    }

    /// From its stored form, and the second it was entered in.
    pub(crate) fn decode(value: &Bytes) -> Result<(Self, i64), Error> {
        let (header, body) = Header::split_row(value)?;
        let event = Self::from_body(header.stamp, value, DocRef::Raw(body));
        let event = event.ok_or_else(|| Error::corrupt("an event of a feed is damaged"))?;
        Ok((event, header.ts))
    }

    /// From its body; `None` when that is damaged. Items share the bytes of the event.
    fn from_body(stamp: u64, value: &Bytes, body: DocRef<'_>) -> Option<Self> {
        let ValueRef::Int32(kind) = body.get("k")? else { return None };
        let ValueRef::Int64(at_ms) = body.get("t")? else { return None };
        let ValueRef::Binary { bytes: key, .. } = body.get("i")? else { return None };
        // Slices of the event's bytes: a page of events holds what was read, and no copies.
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

/// The stored form of what no rule makes expire: a header of class never, and a body.
pub(super) fn never_expiring(body: &[u8], entered: Stamp) -> Vec<u8> {
    let draft = HeaderDraft {
        lifetime: Lifetime::Never,
        birth: None,
        dates: Vec::new(),
        body_checksum: body_checksum(body),
    };
    let mut out = draft.encode_stamped(entered.seq, entered.at_ms.div_euclid(1000));
    out.extend_from_slice(body);
    out
}

/// An item inside an event; its key is the event's.
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
        birth: stamp("b")?,
        ts: int("t")?,
    })
}

/// Enters the event of a write, where its container has a feed.
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
    // By birth, not by id: an item that took the place of a removed one is created, not replaced.
    let kind = match (&before, &after) {
        (None, _) => EventKind::Create,
        // Another birth: the document that was there is gone, and this one is new.
        (Some(before), Some(after)) if before.birth == after.birth => EventKind::Replace,
        (Some(_), Some(_)) => EventKind::Create,
        (Some(_), None) => EventKind::Delete,
    };
    let key = after.as_ref().or(before.as_ref()).map(|item| item.key.clone()).unwrap_or_default();
    let at = Instant::from_ms(stamp.at_ms);
    let event = Event { kind, stamp: stamp.seq, at, key, before, after };
    // Commits of several writes number theirs when they are put together.
    let value = event.encode(stamp).into();
    out.push(Mutation::Put { space, key: keys::event(stamp.seq, 0), value });
}
