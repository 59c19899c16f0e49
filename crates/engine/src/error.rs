//! The engine's errors, classified by how the caller must react. The APIs map each kind to a code
//! and use their own texts; details are in the kind, and the message is the engine's description.

use std::fmt;

use document::Document;

use crate::{amount::Amount, names::Namespace};

/// The object that was not found or already exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErrorSubject {
    /// The collection that does not exist or already exists.
    Collection(Namespace),
    /// A collection that was dropped after the operation had looked it up.
    DroppedCollection(Namespace),
    /// A collection that already has the target name of a rename.
    RenameTarget(Namespace),
    /// A database whose name differs only in case from the one to be created.
    DatabaseOfOtherCase {
        /// Name of the existing database.
        existing: String,
        /// Name of the database that was to be created.
        wanted: String,
    },
    /// The index that does not exist or already exists.
    Index(String),
    /// A document, or a resource record of an API.
    Document,
}

/// Reason why a requested index conflicts with an existing one.
#[derive(Clone, Debug, PartialEq)]
pub enum IndexConflict {
    /// Another index already has the name of the requested index.
    NameTaken {
        /// Key pattern of the requested index.
        wanted: Document,
        /// Key pattern of the existing index with the same name.
        existing: Document,
    },
    /// The index exists under this name with a different TTL.
    OtherOptions(String),
    /// The index exists under this other name.
    OtherName(String),
    /// The index exists under this other name with a different TTL.
    OtherNameAndOptions(String),
}

/// Reason why an index cannot be created.
#[derive(Clone, Debug, PartialEq)]
pub enum IndexRefusal {
    /// The collection has the maximum number of indexes.
    TooMany {
        /// Name of the collection that has too many indexes.
        namespace: Namespace,
        /// Key pattern of the requested index.
        pattern: Document,
    },
    /// The collection has a text index, of this name, and may have no second one.
    SecondText(String),
    /// The key pattern has no fields, or too many.
    FieldCount,
}

/// Reason why a hint cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HintRefusal {
    /// No index that queries may use matches the hint.
    NoIndex,
    /// Several indexes have the key pattern; two of them are named.
    SeveralIndexes {
        /// Name of the first index that matches the hint.
        first: String,
        /// Name of another index that matches the hint.
        second: String,
    },
    /// The index is a wildcard index that does not serve the filter.
    Wildcard,
    /// The index is one of geometries that does not serve the filter.
    Geometries,
    /// Bounds of keys (`min`, `max`) do not have the fields of the index.
    OtherFields,
    /// The lower bound of keys does not precede the upper one.
    BoundsReversed,
}

/// The kind of an error, which decides the caller's reaction. The APIs match it exhaustively.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// The request itself is invalid.
    Invalid,
    /// The object does not exist.
    NotFound(ErrorSubject),
    /// The object to create already exists.
    Exists(ErrorSubject),
    /// A unique index contains this value for another document.
    DuplicateKey {
        /// Name of the unique index.
        index: String,
        /// Key pattern of the index.
        pattern: Document,
        /// Fields and values of the duplicate key.
        value: Document,
    },
    /// The requested index conflicts with an existing one.
    IndexConflict(IndexConflict),
    /// The requested index is not allowed, or the collection has the maximum number of indexes.
    IndexRefused(IndexRefusal),
    /// The hint matches no index or several, or its index cannot be used as requested.
    HintRefused(HintRefusal),
    /// A document has an array at a path of a hashed index.
    HashedArray,
    /// A document has more than one array where an index allows only one.
    ParallelArrays,
    /// The document does not meet the rule of its collection.
    FailedRule {
        /// The reason, in the form that the API shows.
        details: Document,
    },
    /// The document is not the requested version or does not meet the given condition.
    Precondition,
    /// Too many conflicting writers: retry.
    Conflict,
    /// A document or request exceeds a size limit.
    TooLarge,
    /// A document is larger than a capped collection may be.
    ExceedsCapped,
    /// A known but unsupported feature; the message names it.
    Unsupported,
    /// The collection that a cursor was reading was dropped.
    Gone,
    /// Documents that a reader of a capped collection has not read yet were evicted.
    PositionLost,
    /// Evaluation of a query failed.
    Query(evaluation::Error),
    /// The operation was cancelled or exceeded its time limit.
    Stopped(evaluation::Error),
    /// Other operations hold the memory that this operation needs: retry later.
    Busy,
    /// No space is left on the device.
    Full,
    /// The store has stopped or its device failed.
    Unavailable,
    /// This node no longer owns the store, or lost it while it waited for the clock. The new owner
    /// knows the outcome of unacknowledged commits.
    Moved,
    /// The store was reopened during the read. Reads that can retry in a new view do
    /// ([`Halt::LookAgain`]), so few callers see this.
    Reopened,
    /// The view (a snapshot at one instant) was ended because it retained too much disk space; the
    /// operation can be repeated.
    ViewEnded,
    /// A collection has changed since the snapshot of a transaction, which must be retried.
    SnapshotUnavailable,
    /// The transaction was aborted or committed before this operation.
    TransactionEnded,
    /// The operation is not possible in a transaction.
    OutsideTransactions,
    /// Stored data is damaged or cannot be decoded.
    Corrupt,
}

/// A failed operation of the engine.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    /// The kind of the error.
    pub kind: Kind,
    /// An explanation of the error, as a sentence.
    pub message: String,
}

impl Error {
    /// Creates an error of this kind.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// Creates an error for stored bytes that no version of this code wrote.
    pub(crate) fn corrupt(message: impl Into<String>) -> Self {
        Self::new(Kind::Corrupt, message)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        let kind = match error.kind {
            store::Kind::Full => Kind::Full,
            store::Kind::Corrupt => Kind::Corrupt,
            store::Kind::Refused | store::Kind::Unavailable => Kind::Unavailable,
            store::Kind::Moved => Kind::Moved,
            store::Kind::Reopened => Kind::Reopened,
            store::Kind::ViewEnded => Kind::ViewEnded,
            store::Kind::Invalid => Kind::Invalid,
        };
        Self::new(kind, error.message)
    }
}

impl From<clock::ClockEnded> for Error {
    fn from(ended: clock::ClockEnded) -> Self {
        Self::new(Kind::Moved, ended.to_string())
    }
}

impl From<evaluation::Error> for Error {
    fn from(error: evaluation::Error) -> Self {
        let message = error.message.clone();
        let kind = match error.kind {
            evaluation::Kind::Stopped => Kind::Stopped(error),
            evaluation::Kind::Short => Kind::Busy,
            evaluation::Kind::Full => Kind::Full,
            evaluation::Kind::Device => Kind::Unavailable,
            _ => Kind::Query(error),
        };
        Self::new(kind, message)
    }
}

impl From<memory::InsufficientMemory> for Error {
    fn from(short: memory::InsufficientMemory) -> Self {
        Self::new(Kind::Busy, short.to_string())
    }
}

impl From<expiry::Damaged> for Error {
    fn from(error: expiry::Damaged) -> Self {
        Self::corrupt(error.to_string())
    }
}

/// Reason why a read stopped: what must happen before it retries in a new view, or a failure.
#[derive(Debug)]
pub(crate) enum Halt {
    /// The view cannot decide whether a document is live: the document expired so recently that a
    /// commit in flight may have extended it, or the store was reopened and ended the view. The
    /// operation retries in a new view once the commits in flight have finished.
    LookAgain,
    /// A document has several entries in these indexes for the first time; the indexes have to be
    /// marked as multikey before the retry.
    Multikey(Vec<u32>),
    /// An expired item occupies the key and its expiry event is unpublished; the event has to be
    /// published before the retry.
    Unpublished,
    /// A writer found a large row without memory reserved for it; it reserves the memory before its
    /// next attempt.
    NeedsMemory,
    /// More documents of a capped collection must be evicted than one commit may delete, before this
    /// amount is inserted.
    NeedsRoom(Amount),
    /// The operation failed; do not retry.
    Failed(Error),
}

impl<E: Into<Error>> From<E> for Halt {
    fn from(error: E) -> Self {
        let error = error.into();
        match error.kind {
            Kind::Reopened => Self::LookAgain,
            _ => Self::Failed(error),
        }
    }
}
