//! Reads the entries after the last one of a backup, from the archive and the journal, up to the
//! last entry applied when the reader was created.

use std::sync::{Arc, atomic::Ordering};

use bytes::{Bytes, BytesMut};
use store::{Error, Kind, Stamp};

use crate::{
    archive::{Archive, encoded, entries_of},
    inner::{Applied, OpenStore},
};

/// Reads journal entries in the order of their numbers.
pub struct EntryReader {
    inner: Arc<OpenStore>,
    /// Number of the last entry read.
    last: u64,
    until: Applied,
    /// Keeps the archive's files from being deleted.
    _held: Arc<()>,
}

impl std::fmt::Debug for EntryReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EntryReader").field("last", &self.last).finish_non_exhaustive()
    }
}

impl EntryReader {
    /// Creates a reader of the entries after `after`, which must have this stamp.
    pub(crate) fn new(inner: &Arc<OpenStore>, after: u64, stamp: Stamp) -> Result<Self, Error> {
        let archive = archive_of(inner)?;
        let _held = archive.hold();
        let until = *inner.applied.lock();
        if until.n < after {
            return Err(refused(
                "the backup has later entries than this database: it belongs to a different one",
            ));
        }
        let found = match archive.stamp(after)? {
            Some(stamp) => Some(stamp),
            None => stamp_in_journal(inner, after)?,
        };
        match found {
            Some(found) if found == stamp => {
                Ok(Self { inner: Arc::clone(inner), last: after, until, _held })
            }
            Some(_) => Err(refused(
                "the previous backup belongs to a different history of this database: take a full \
                 backup",
            )),
            None => Err(refused(
                "the changes since the previous backup are no longer kept: take a full backup, and \
                 start the server with a larger --backup-journal",
            )),
        }
    }

    /// Returns the number of the last entry that will be read.
    pub fn last_entry(&self) -> u64 {
        self.until.n
    }

    /// Returns the stamp of the last entry read.
    pub fn last_stamp(&self) -> Stamp {
        self.until.stamp
    }

    /// Returns the next entries, encoded and concatenated; `None` after the last.
    pub fn next_piece(&mut self, bytes: usize) -> Result<Option<Bytes>, Error> {
        if self.until.n <= self.last {
            return Ok(None);
        }
        if self.inner.closing.load(Ordering::Relaxed) {
            return Err(Error::new(Kind::Reopened, "the store was reopened"));
        }
        let next = self.last + 1;
        let archive = archive_of(&self.inner)?;
        // Tried twice, because entries removed from the journal after the first try are in the
        // archive.
        for _ in 0..2 {
            if let Some((found, end)) = archive.read_from(next)? {
                let piece = self.wanted_of(found.entries)?;
                self.last = end.min(self.until.n);
                return Ok(Some(piece));
            }
            match self.inner.journal()?.read(self.last, bytes) {
                Ok(page) => {
                    let (piece, last) = encoded(page, self.until.n)?;
                    if piece.is_empty() {
                        return Err(Error::new(Kind::Corrupt, "the journal ends early"));
                    }
                    self.last = last;
                    return Ok(Some(piece));
                }
                Err(error) if error.kind == Kind::Invalid => {}
                Err(error) => return Err(error),
            }
        }
        Err(refused("the journal's archive was discarded during the backup: take a full backup"))
    }

    /// Returns the wanted entries of a file: after the last entry read, up to number `until`.
    fn wanted_of(&self, parts: Vec<Bytes>) -> Result<Bytes, Error> {
        let mut out = BytesMut::new();
        for part in parts {
            for entry in entries_of(part)? {
                if self.last < entry.n() && entry.n() <= self.until.n {
                    out.extend_from_slice(entry.bytes());
                }
            }
        }
        Ok(out.freeze())
    }
}

fn archive_of(inner: &OpenStore) -> Result<&Archive, Error> {
    let none = || {
        refused(
            "the server keeps no journal for incremental backups: start it with --backup-journal, \
             then take a full backup",
        )
    };
    inner.archive.as_ref().ok_or_else(none)
}

/// Returns the stamp of an entry that is not archived yet; `None` if the journal does not have it.
fn stamp_in_journal(inner: &OpenStore, n: u64) -> Result<Option<Stamp>, Error> {
    if n < inner.archive.as_ref().map_or(u64::MAX, Archive::next) {
        return Ok(None);
    }
    let read = inner.journal()?.read(n.saturating_sub(1), 1)?;
    Ok(read.iter().find(|entry| entry.n == n).map(|entry| entry.last))
}

fn refused(text: &str) -> Error {
    Error::new(Kind::Refused, text)
}
