//! A change record, its key and its stored form.
//!
//! The key gives the order of the log and names the document; the body is a small BSON document:
//!
//! ```text
//!  key    cluster time (8 bytes), operation within the commit (4), UUID of the collection (16),
//!         row key of the document (empty for a change of a collection)
//!  body   k kind      d, c  database and collection      i  the document's _id
//!         a, b  the document after and before            x  description of the change
//!         t  identity of the transaction that made the change
//! ```

use bytes::Bytes;
use document::{DocBuf, DocRef, Value, ValueRef};
use store::ClusterTime;

use crate::{error::Error, names::Namespace};

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// The insert of a document.
    Insert,
    /// A document was edited; the description lists the changed fields.
    Update,
    /// The replacement of a whole document.
    Replace,
    /// A document was deleted by a request.
    Delete,
    /// A document has expired, without any request.
    Expire,
    /// A collection was created; the description contains its options.
    Create,
    /// The removal of a collection by a drop.
    Drop,
    /// A collection was renamed; the description contains its new name.
    Rename,
    /// All collections of a database were dropped.
    DropDatabase,
    /// Indexes were created; the description contains their specifications.
    CreateIndexes,
    /// Indexes were dropped; the description contains their specifications.
    DropIndexes,
    /// Options of a collection were changed; the description contains the new ones.
    Modify,
}

impl ChangeKind {
    const ALL: [Self; 12] = [
        Self::Insert,
        Self::Update,
        Self::Replace,
        Self::Delete,
        Self::Expire,
        Self::Create,
        Self::Drop,
        Self::Rename,
        Self::DropDatabase,
        Self::CreateIndexes,
        Self::DropIndexes,
        Self::Modify,
    ];

    /// Returns the kind's code in stored records, which never changes.
    pub(super) fn code(self) -> i32 {
        match self {
            Self::Insert => 1,
            Self::Update => 2,
            Self::Replace => 3,
            Self::Delete => 4,
            Self::Expire => 5,
            Self::Create => 6,
            Self::Drop => 7,
            Self::Rename => 8,
            Self::DropDatabase => 9,
            Self::CreateIndexes => 10,
            Self::DropIndexes => 11,
            Self::Modify => 12,
        }
    }

    fn from_code(code: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }
}

/// A record of the change log.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Whether a document or a collection was changed, and how.
    pub kind: ChangeKind,
    /// Time of the commit, or of the expiry.
    pub time: ClusterTime,
    /// Position of the change among those of its commit.
    pub operation: u32,
    /// UUID of the collection; zeros for a change of a database.
    pub uuid: [u8; 16],
    /// Name of the collection at the time of the change; the collection's name is empty for a
    /// change of a database.
    pub namespace: Namespace,
    /// Row key of the document; empty for a change of a collection.
    pub row_key: Bytes,
    /// The `_id` of the changed document; `None` for changes of collections and databases.
    pub id: Option<Value>,
    /// The document after the change: of every insert and replacement, and of an edit if the
    /// collection keeps images.
    pub after: Option<DocBuf>,
    /// The document before the change, if the collection keeps images.
    pub before: Option<DocBuf>,
    /// Description of the change, in the form that the API shows.
    pub description: Option<DocBuf>,
    /// The identity of the transaction that made the change, in the form that the API shows;
    /// `None` for a change outside of transactions.
    pub transaction: Option<DocBuf>,
}

/// Length of the parts of a key before the row key of the document.
pub(super) const KEY_START: usize = 28;

/// Returns the start of the keys of all changes from this time on.
pub(super) fn key_from(time: ClusterTime) -> Vec<u8> {
    time.timestamp().to_be_bytes().to_vec()
}

/// Returns the part of a record's key after its time.
pub(super) fn key_rest(operation: u32, uuid: [u8; 16], row_key: &[u8]) -> Vec<u8> {
    [&operation.to_be_bytes()[..], &uuid, row_key].concat()
}

/// Returns the key with another operation, if it is a key of this time.
pub(super) fn numbered_key(key: &Bytes, time: ClusterTime, operation: u32) -> Bytes {
    match (time_of(key), key.get(12..)) {
        (Some((of, _)), Some(rest)) if of == time => {
            Bytes::from([&key_from(time)[..], &operation.to_be_bytes(), rest].concat())
        }
        _ => key.clone(),
    }
}

/// Returns the time and the operation in a key.
pub(super) fn time_of(key: &[u8]) -> Option<(ClusterTime, u32)> {
    let time = u64::from_be_bytes(*key.first_chunk()?);
    let operation = u32::from_be_bytes(*key.get(8..)?.first_chunk()?);
    Some((ClusterTime::from_timestamp(time), operation))
}

impl Change {
    /// Decodes a record; documents share its bytes.
    pub(super) fn decode(key: &Bytes, body: &Bytes) -> Result<Self, Error> {
        Self::from_parts(key, body).ok_or_else(|| Error::corrupt("a change record is damaged"))
    }

    fn from_parts(key: &Bytes, body: &Bytes) -> Option<Self> {
        let (time, operation) = time_of(key)?;
        let fields = DocRef::Raw(body);
        let ValueRef::Int32(kind) = fields.get("k")? else { return None };
        let text = |name| fields.get(name).and_then(ValueRef::as_str).map(str::to_owned);
        let document = |name| match fields.get(name) {
            Some(ValueRef::Document(DocRef::Raw(bytes))) => {
                Some(DocBuf::from_trusted(body.slice_ref(bytes)))
            }
            _ => None,
        };
        Some(Self {
            kind: ChangeKind::from_code(kind)?,
            time,
            operation,
            uuid: *key.get(12..)?.first_chunk()?,
            namespace: Namespace { database: text("d")?, collection: text("c")? },
            row_key: Bytes::copy_from_slice(key.get(KEY_START..)?),
            id: fields.get("i").map(ValueRef::to_value),
            after: document("a"),
            before: document("b"),
            description: document("x"),
            transaction: document("t"),
        })
    }
}
