//! The engine's errors, sorted by what the caller does next. Doors map every kind to a code, and
//! have the texts that their clients know: what happened is in the data of a kind, and the message
//! is the engine's own words for it.

use std::fmt;

use document::Document;

use crate::names::Namespace;

/// What was not found or exists already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A collection of this name.
    Collection(Namespace),
    /// A collection that was dropped after the operation had found it.
    DroppedCollection(Namespace),
    /// A collection that has the name which another one was to get.
    RenameTarget(Namespace),
    /// A database whose name differs only in case from that of the collection which was to be made.
    DatabaseOfOtherCase {
        /// The database that is there.
        existing: String,
        /// The one that was to be made.
        wanted: String,
    },
    /// An index of this name.
    Index(String),
    /// A document or a small record of a door.
    Document,
}

/// Why an index that is asked for does not go with one that exists.
#[derive(Clone, Debug, PartialEq)]
pub enum IndexConflict {
    /// The name is that of another index.
    NameTaken {
        /// Key pattern of the index that is asked for.
        wanted: Document,
        /// Key pattern of the index that has the name.
        existing: Document,
    },
    /// The index exists under this name, but expires documents at another time.
    OtherOptions(String),
    /// The index exists under this other name.
    OtherName(String),
    /// The index exists under this other name, and expires documents at another time.
    OtherNameAndOptions(String),
}

/// Why there cannot be an index like the one asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum IndexRefusal {
    /// The collection has as many as it may have.
    TooMany {
        /// The collection.
        namespace: Namespace,
        /// Key pattern of the index that is asked for.
        pattern: Document,
    },
    /// It has no fields, or too many.
    FieldCount,
}

/// Why a hint cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HintRefusal {
    /// No index that can be read is meant.
    NoIndex,
    /// A key pattern that several indexes have, of which these are two.
    SeveralIndexes {
        /// Name of the first.
        first: String,
        /// Name of another.
        second: String,
    },
}

/// What the caller does about a failure. Doors match it exhaustively.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// The request is wrong: correct it.
    Invalid,
    /// It does not exist.
    NotFound(What),
    /// It exists already.
    Exists(What),
    /// A unique index holds this value for another document.
    DuplicateKey {
        /// Name of the index.
        index: String,
        /// Its key pattern.
        pattern: Document,
        /// The value that is held.
        value: Document,
    },
    /// Indexes that exist do not go with the one asked for.
    IndexConflict(IndexConflict),
    /// There cannot be an index like the one asked for, or not one more.
    IndexRefused(IndexRefusal),
    /// The hint means no index, or more than one.
    HintRefused(HintRefusal),
    /// A document has arrays where an index allows at most one.
    ParallelArrays,
    /// It is not the version that was asked for, or does not meet the condition given.
    Precondition,
    /// Too many writers of the same document: try again.
    Conflict,
    /// A document or request is larger than allowed.
    TooLarge,
    /// Known, but not supported; the message names it.
    Unsupported,
    /// What a cursor was reading is gone.
    Gone,
    /// Evaluation failed.
    Query(evaluation::Error),
    /// The operation was told to stop, or its time is over.
    Stopped(evaluation::Error),
    /// Other operations hold the memory that it needs: try again later.
    Busy,
    /// No space is left on the device.
    Full,
    /// The store stopped.
    Unavailable,
    /// This node does not own the store any more, or ended while it waited for time: another one does,
    /// and knows what took place.
    Moved,
    /// The store was opened again during the read. Whoever can look again in a new view does so
    /// ([`Halt::LookAgain`]), so that few callers ever meet it.
    Reopened,
    /// The view was ended, because too much of the disk was kept for it: the operation can be repeated.
    ViewEnded,
    /// Stored bytes are damaged.
    Corrupt,
}

/// A failed operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    /// What the caller does about it.
    pub kind: Kind,
    /// For people.
    pub message: String,
}

impl Error {
    /// A failure of this kind.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// Stored bytes that no version of this code wrote.
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

impl From<memory::Short> for Error {
    fn from(short: memory::Short) -> Self {
        Self::new(Kind::Busy, short.to_string())
    }
}

impl From<expiry::Damaged> for Error {
    fn from(error: expiry::Damaged) -> Self {
        Self::corrupt(error.to_string())
    }
}

/// Why a read stopped: what it waits for before it looks again in a new view, or a failure.
#[derive(Debug)]
pub(crate) enum Halt {
    /// The view cannot tell: something expired in the last moments, and a commit in flight may have
    /// extended its life; or the store was opened again, and the view ended with that. A new view
    /// can, once the commits that were in flight have finished.
    LookAgain,
    /// A document has several entries in these indexes for the first time: note that first.
    Multikey(Vec<u32>),
    /// An expired item occupies the key and its expiry event is unpublished: publish it first.
    Unpublished,
    /// It cannot go on.
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
