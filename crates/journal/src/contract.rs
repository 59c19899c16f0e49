//! What every journal does. Calls block the thread that makes them: a store has threads of its own
//! for that, one that appends and one that applies.
//!
//! A journal that is replicated fits as it is. Its `append` waits until a majority has the group
//! and it has made sure that nobody else may append; two groups are under way when two threads call
//! with groups that follow each other. An answer that did not come is *unknown*, and the caller
//! appends the same bytes again, which such a journal takes as done when they are there.

use std::{fmt, sync::Arc};

use store::Error;

use crate::entry::{EncodedEntry, Entry};

/// Why an append was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AppendFailure {
    /// Nothing of the group was written, and nothing of it will ever be read. Kinds: `Full`,
    /// `Invalid` (it breaks a limit, or does not go on where the journal ends), `Unavailable` (the
    /// journal stopped before).
    Refused(Error),
    /// The group may have been written, or not: whoever waits for it must not be told either. The
    /// next opening of the journal knows. A local journal takes nothing more until then.
    Unknown(Error),
}

impl AppendFailure {
    /// What went wrong.
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

/// What a journal holds, for budgets and metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// The number of the first entry that can be read; the end plus one when there is none.
    pub first: u64,
    /// Bytes of the groups that can be read.
    pub group_bytes: u64,
    /// Bytes of everything it keeps, spare room included.
    pub disk_bytes: u64,
}

/// A journal of entries. Numbers are dense: each entry has the number of the one before it plus one.
pub trait Journal: Send + Sync + 'static {
    /// Appends entries as one group, all or nothing, and returns the number of the last when the
    /// group is durable. The first must have the number after [`end`](Self::end).
    fn append(&self, group: &[EncodedEntry]) -> Result<u64, AppendFailure>;

    /// Keeps entries that somebody else's journal has made durable, as one group: like
    /// [`append`](Self::append), but nobody else is asked or told. A journal that only its user
    /// appends to takes them as its own.
    fn follow(&self, group: &[EncodedEntry]) -> Result<u64, AppendFailure> {
        self.append(group)
    }

    /// Keeps a group that is durable somewhere else: like [`append`](Self::append), but here it is
    /// durable only with the next [`sync`](Self::sync). When the machine stops before that, it and all
    /// behind it may be gone. A journal for which that is no gain appends.
    fn keep(&self, group: &[EncodedEntry]) -> Result<u64, AppendFailure> {
        self.append(group)
    }

    /// Makes durable what was kept so far. A journal that fails here takes nothing more until it was
    /// opened again.
    fn sync(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Entries after number `after`, in order: whole groups of about `limit_bytes`, at
    /// least one where there is one; none is the end. `Invalid` when the entry after it was cut,
    /// `Corrupt` when it is there but damaged.
    fn read(&self, after: u64, limit_bytes: usize) -> Result<Vec<Entry>, Error>;

    /// Lets go of entries with numbers below `before`, of as many as it can; the last group is
    /// always kept. `floors` are bytes of the user, at most
    /// [`FLOORS_BYTES_MAX`](crate::FLOORS_BYTES_MAX), that are kept from now on; they may be lost,
    /// and those of before come back.
    fn cut(&self, before: u64, floors: &[u8]) -> Result<(), Error>;

    /// The number of the last entry.
    fn end(&self) -> u64;

    /// The floors that were kept last: of before a restart, maybe not the last that were given.
    fn floors(&self) -> Vec<u8>;

    /// What it holds.
    fn held(&self) -> Held;

    /// Bytes of the groups that hold entries after this number.
    fn bytes_after(&self, after: u64) -> u64;

    /// Bytes of all entries of a group together, at most.
    fn group_bytes_max(&self) -> usize;

    /// Whether its entries are applied by nobody once its user has let go of them with
    /// [`cut`](Self::cut). Where others apply them too, or the user may have to apply all again, what
    /// it removed of what they say may still be somewhere.
    fn has_one_user(&self) -> bool;
}

/// Opens a journal: at the start of whoever follows it, and again after a failure, when the one that
/// was open before has been let go of.
pub trait OpenJournal: Send + Sync + 'static {
    /// Opens it. Entries up to `known_durable` were durable: a journal that ends before has lost some,
    /// and is refused with `Corrupt` unless `accept_loss` is set; then it goes on behind that number.
    /// `Refused` when somebody else has it.
    fn open(&self, known_durable: u64, accept_loss: bool) -> Result<Arc<dyn Journal>, Error>;

    /// Throws away all entries, so that the next opening begins with the first; nobody has it open.
    fn wipe(&self) -> Result<(), Error>;
}
