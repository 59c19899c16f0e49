//! The archive of the journal: durable and applied entries, copied in order into files for
//! incremental backups. The files are kept up to a size limit. The journal keeps entries that are
//! not copied yet, up to a bound: an archive that cannot keep up is discarded and restarted.
//! Commits never wait for the archive.
//!
//! ```text
//!  archive:  [ 1 .. 40 ][ 41 .. 97 ]         the oldest files are deleted beyond the limit
//!  journal:               .. 95 96 97 98 .. 120     truncated up to 97 at most
//! ```

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::Arc,
};

use bytes::{Bytes, BytesMut};
use journal::{Entry, Journal};
use parking_lot::Mutex;
use store::{Error, Kind, Stamp};

use crate::{
    archive_file::{
        Archived, EntryRange, UNFINISHED, read_file, read_start, write_file, write_start,
    },
    errors::from_io,
};

/// Directory of the archive within the store's directory.
pub(crate) const ARCHIVE: &str = "archive";
/// Bytes of the journal that are written to one file.
const FILE_BYTES: u64 = 8 << 20;
/// Bytes of entries read at once.
const PART_BYTES: usize = 2 << 20;
/// Maximum bytes of the journal that wait to be archived.
const BEHIND_BYTES: u64 = 256 << 20;

/// The archived range of entries.
#[derive(Debug)]
struct State {
    /// Number of the last archived entry or, if nothing is archived, of the entry after which the
    /// archive starts.
    last: u64,
    /// Stamp of the last archived entry.
    stamp: Stamp,
    files: Vec<EntryRange>,
}

/// The archive of the journal while the store is open; each opening of the store creates a new one.
#[derive(Debug)]
pub(crate) struct Archive {
    folder: PathBuf,
    /// Maximum total size of the archive's files in bytes.
    limit: u64,
    state: Mutex<State>,
    /// Cloned by readers; files are kept while any clone exists.
    readers: Arc<()>,
    /// The error because of which the archive was discarded, until it is reported.
    given_up: Mutex<Option<Error>>,
}

/// Deletes the archive of a store that no longer keeps one, because the archive would lack later
/// entries.
pub(crate) fn remove(directory: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(directory.join(ARCHIVE)) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(from_io("remove the archive of the journal", &error))
        }
        _ => Ok(()),
    }
}

impl Archive {
    /// Opens the archive. It continues after the last entry in its files if the journal still has
    /// the following entries; otherwise it restarts after the last applied entry.
    pub(crate) fn open(
        directory: &Path,
        limit: u64,
        journal: &dyn Journal,
        applied: (u64, Stamp),
    ) -> Result<Self, Error> {
        let folder = directory.join(ARCHIVE);
        let context = |error: std::io::Error| from_io("open the archive of the journal", &error);
        fs::create_dir_all(&folder).map_err(context)?;
        let mut files = Vec::new();
        for entry in fs::read_dir(&folder).map_err(context)? {
            let entry = entry.map_err(context)?;
            let bytes = entry.metadata().map_err(context)?.len();
            let name = entry.file_name();
            match name.to_str().and_then(|name| EntryRange::of_name(name, bytes)) {
                Some(stretch) => files.push(stretch),
                None if name == UNFINISHED => fs::remove_file(entry.path()).map_err(context)?,
                None => {}
            }
        }
        files.sort_by_key(|file| file.first);
        let state = State { last: applied.0, stamp: applied.1, files };
        let archive = Self {
            folder,
            limit,
            state: Mutex::new(state),
            readers: Arc::default(),
            given_up: Mutex::default(),
        };
        archive.find_end(journal, applied)?;
        Ok(archive)
    }

    /// Determines the entry after which the archive continues.
    fn find_end(&self, journal: &dyn Journal, applied: (u64, Stamp)) -> Result<(), Error> {
        let (last, follow_each_other) = {
            let state = self.state.lock();
            let follow = state.files.windows(2).all(|pair| match pair {
                [before, next] => before.last + 1 == next.first,
                _ => true,
            });
            (state.files.last().map(|file| file.last), follow)
        };
        let Some(last) = last else { return self.find_start(journal, applied) };
        let has_next = journal.extent().first <= last + 1 && last <= applied.0;
        if !has_next || !follow_each_other {
            return self.restart(applied);
        }
        let stamp = match last == applied.0 {
            true => Some(applied.1),
            // An error means that the file is damaged; it counts as missing.
            false => self.stamp_in_files(last).unwrap_or(None),
        };
        match stamp {
            Some(stamp) => {
                let mut state = self.state.lock();
                (state.last, state.stamp) = (last, stamp);
                Ok(())
            }
            None => self.restart(applied),
        }
    }

    /// Determines the entry after which the archive starts, if it has no file yet.
    fn find_start(&self, journal: &dyn Journal, applied: (u64, Stamp)) -> Result<(), Error> {
        match read_start(&self.folder) {
            Some((last, stamp)) if journal.extent().first <= last + 1 && last <= applied.0 => {
                let mut state = self.state.lock();
                (state.last, state.stamp) = (last, stamp);
                Ok(())
            }
            Some(_) => self.restart(applied),
            None => write_start(&self.folder, applied),
        }
    }

    /// Discards the archived files and restarts the archive after this entry.
    fn restart(&self, applied: (u64, Stamp)) -> Result<(), Error> {
        let mut state = self.state.lock();
        let text = "the archive of the journal has a gap and starts over: take a full backup \
                    before the next incremental one";
        *self.given_up.lock() = Some(Error::new(Kind::Unavailable, text));
        let files = std::mem::take(&mut state.files);
        (state.last, state.stamp) = applied;
        drop(state);
        files.into_iter().try_for_each(|file| self.remove_file(file))?;
        write_start(&self.folder, applied)
    }

    fn remove_file(&self, file: EntryRange) -> Result<(), Error> {
        match fs::remove_file(self.folder.join(file.name())) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(from_io("remove a file of the archive", &error))
            }
            _ => Ok(()),
        }
    }

    /// Returns, once, the error because of which the archive was discarded, if it was.
    pub(crate) fn take_failure(&self) -> Result<(), Error> {
        self.given_up.lock().take().map_or(Ok(()), Err)
    }

    /// Returns the number of the first entry that is not archived, which the journal must keep.
    pub(crate) fn next(&self) -> u64 {
        self.state.lock().last + 1
    }

    /// Copies applied entries into a new file if there are enough of them to fill it. Returns true
    /// if a file was written, so that more entries may have to be copied.
    pub(crate) fn copy(&self, journal: &dyn Journal, applied: (u64, Stamp)) -> Result<bool, Error> {
        let (last, before) = {
            let state = self.state.lock();
            (state.last, state.stamp)
        };
        let behind = journal.bytes_after(last);
        if BEHIND_BYTES < behind {
            self.restart(applied)?;
            return Ok(false);
        }
        if behind < FILE_BYTES || applied.0 <= last {
            return Ok(false);
        }
        let (mut parts, mut bytes, mut at, mut stamp) = (Vec::new(), 0, last, before);
        while bytes < FILE_BYTES && at < applied.0 {
            let page = journal.read(at, PART_BYTES)?;
            let page = page.into_iter().filter(|entry| entry.n <= applied.0);
            let mut part = BytesMut::new();
            for entry in page {
                (at, stamp) = (entry.n, entry.last);
                part.extend_from_slice(entry.encode()?.bytes());
            }
            if part.is_empty() {
                break;
            }
            bytes += part.len() as u64;
            parts.push(part.freeze());
        }
        if at == last {
            return Ok(false);
        }
        let file = write_file(&self.folder, (last + 1, at), before, &parts)?;
        let mut state = self.state.lock();
        state.files.push(file);
        (state.last, state.stamp) = (at, stamp);
        drop(state);
        self.shrink()?;
        Ok(true)
    }

    /// Deletes the oldest files beyond the limit, unless there are readers.
    fn shrink(&self) -> Result<(), Error> {
        loop {
            let oldest = {
                let mut state = self.state.lock();
                let bytes: u64 = state.files.iter().map(|file| file.bytes).sum();
                if bytes <= self.limit || 1 < Arc::strong_count(&self.readers) {
                    return Ok(());
                }
                state.files.remove(0)
            };
            self.remove_file(oldest)?;
        }
    }

    /// Keeps the archive's files from being deleted while the returned value exists.
    pub(crate) fn hold(&self) -> Arc<()> {
        Arc::clone(&self.readers)
    }

    /// Returns the stamp of an archived entry, or of the entry before the first archived one;
    /// `None` if the entry was deleted from the archive.
    pub(crate) fn stamp(&self, n: u64) -> Result<Option<Stamp>, Error> {
        let state = self.state.lock();
        if n == state.last {
            return Ok(Some(state.stamp));
        }
        drop(state);
        self.stamp_in_files(n)
    }

    fn stamp_in_files(&self, n: u64) -> Result<Option<Stamp>, Error> {
        let files = self.state.lock().files.clone();
        if let Some(file) = files.iter().find(|file| file.first == n + 1) {
            return Ok(Some(read_file(&self.folder, *file)?.before));
        }
        let Some(file) = files.iter().find(|file| (file.first..=file.last).contains(&n)) else {
            return Ok(None);
        };
        for part in read_file(&self.folder, *file)?.entries {
            for entry in entries_of(part)? {
                if entry.n() == n {
                    return Ok(entry.last());
                }
            }
        }
        Err(Error::new(Kind::Corrupt, format!("entry {n} is missing in the archive")))
    }

    /// Returns the archive file that contains entry `n`, with the number of the file's last entry;
    /// `None` if no file contains it.
    pub(crate) fn read_from(&self, n: u64) -> Result<Option<(Archived, u64)>, Error> {
        let holds = |file: &&EntryRange| (file.first..=file.last).contains(&n);
        let file = self.state.lock().files.iter().find(holds).copied();
        let Some(file) = file else { return Ok(None) };
        Ok(Some((read_file(&self.folder, file)?, file.last)))
    }
}

pub(crate) fn entries_of(mut rest: Bytes) -> Result<Vec<journal::EncodedEntry>, Error> {
    let mut all = Vec::new();
    while !rest.is_empty() {
        let (entry, behind) = journal::EncodedEntry::first_of(&rest)?;
        rest = behind;
        all.push(entry);
    }
    Ok(all)
}

/// Encodes and concatenates entries of the journal up to number `until`. Also returns the number of
/// the last one; 0 without entries.
pub(crate) fn encoded(entries: Vec<Entry>, until: u64) -> Result<(Bytes, u64), Error> {
    let (mut out, mut last) = (BytesMut::new(), 0);
    for entry in entries.into_iter().filter(|entry| entry.n <= until) {
        last = entry.n;
        out.extend_from_slice(entry.encode()?.bytes());
    }
    Ok((out.freeze(), last))
}
