//! The journal contract. Calls block the calling thread: a store runs them on dedicated threads,
//! one that appends and one that applies.
//!
//! A replicated journal can implement it unchanged. Its `append` waits until a majority has the
//! group and until it has excluded other writers; two groups are in flight when two threads append
//! consecutive groups. When no reply arrives, the outcome is *unknown*: the caller appends the same
//! bytes again, and the journal accepts them as already appended if they are present.

use std::{fmt, sync::Arc};

use store::Error;

use crate::entry::{EncodedEntry, Entry};

/// Reason why a group was not appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AppendFailure {
    /// Nothing of the group was written, and no later read returns it. Kinds: `Full`, `Invalid`
    /// (exceeds a limit, or does not continue at the journal's end), `Unavailable` (already
    /// stopped).
    Refused(Error),
    /// The group may or may not have been written, so neither success nor failure may be reported
    /// to its writers. The next opening of the journal determines the outcome. A local journal
    /// refuses writes until then.
    Unknown(Error),
}

impl AppendFailure {
    /// Returns the error that caused the failure.
    pub fn error(&self) -> &Error {
        match self {
            Self::Refused(error) | Self::Unknown(error) => error,
        }
    }
}

impl fmt::Display for AppendFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error().fmt(f)
    }
}

impl std::error::Error for AppendFailure {}

/// Size and extent of a journal, for metrics and for limits on disk space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JournalExtent {
    /// Number of the first readable entry; the end plus one if the journal is empty.
    pub first: u64,
    /// Bytes of the readable groups.
    pub group_bytes: u64,
    /// Total size of the journal's files in bytes, spare segments included.
    pub disk_bytes: u64,
}

/// A journal of entries. Entry numbers are dense: each is the previous one plus one.
pub trait Journal: Send + Sync + 'static {
    /// Appends entries as one atomic group; returns the number of the last once the group is
    /// durable. The first must be numbered [`end`](Self::end) plus one.
    fn append(&self, group: &[EncodedEntry]) -> Result<u64, AppendFailure>;

    /// Appends a group that another journal has already made durable. Like
    /// [`append`](Self::append), but without replicating it; a journal with a single user simply
    /// appends.
    fn follow(&self, group: &[EncodedEntry]) -> Result<u64, AppendFailure> {
        self.append(group)
    }

    /// Appends a group that is already durable in another journal, without syncing it: it becomes
    /// durable here with the next [`sync`](Self::sync). A crash of the machine before that may lose
    /// the group and everything after it. By default this is the same as [`append`](Self::append).
    fn append_unsynced(&self, group: &[EncodedEntry]) -> Result<u64, AppendFailure> {
        self.append(group)
    }

    /// Makes the groups of [`append_unsynced`](Self::append_unsynced) durable. A journal that fails
    /// here refuses writes until it is reopened.
    fn sync(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Returns the entries after number `after`, in order: whole groups, about `limit_bytes` in
    /// total, but at least one if any exists; empty at the end of the journal. Fails with `Invalid`
    /// if the next entry was truncated, `Corrupt` if it is damaged.
    fn read(&self, after: u64, limit_bytes: usize) -> Result<Vec<Entry>, Error>;

    /// Drops entries numbered below `before`, as far as it can; the last group is always kept.
    /// `floors` are opaque bytes of the user, at most
    /// [`FLOORS_BYTES_MAX`](crate::FLOORS_BYTES_MAX), stored from now on. A crash may lose the new
    /// floors, in which case the previous ones reappear.
    fn truncate_before(&self, before: u64, floors: &[u8]) -> Result<(), Error>;

    /// Returns the number of the last entry.
    fn end(&self) -> u64;

    /// Returns the stored floors; after a restart they may be older than the last ones set.
    fn floors(&self) -> Vec<u8>;

    /// Returns the journal's size and extent.
    fn extent(&self) -> JournalExtent;

    /// Returns the bytes of the groups that hold entries after this number.
    fn bytes_after(&self, after: u64) -> u64;

    /// Returns the maximum total size of a group's entries, in bytes.
    fn group_bytes_max(&self) -> usize;

    /// Returns whether entries are never applied again once the journal's user has dropped them
    /// with [`truncate_before`](Self::truncate_before). If other users apply them too, or this user
    /// may have to reapply all of them, data that the user has since removed may still exist in
    /// another copy.
    fn has_single_user(&self) -> bool;
}

/// Opens a journal: initially, and after a failure once the previous instance was dropped.
pub trait OpenJournal: Send + Sync + 'static {
    /// Opens the journal. Entries up to `known_durable` were durable: a journal that ends earlier
    /// has lost some and is refused with `Corrupt`, unless `accept_loss` is set; it then continues
    /// after that number. Fails with `Refused` if it is already open in this or another process.
    fn open(&self, known_durable: u64, accept_loss: bool) -> Result<Arc<dyn Journal>, Error>;

    /// Deletes all entries, so that a later opening starts again at entry number 1. The journal
    /// must not be open.
    fn wipe(&self) -> Result<(), Error>;
}
