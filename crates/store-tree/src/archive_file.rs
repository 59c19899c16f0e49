//! A file of the archive: consecutive journal entries, compressed and checksummed. It is written
//! under a temporary name and renamed once durable, so a file with its final name is complete.
//!
//! ```text
//! ebb archive, format 1 ⏎ | entry before it and its stamp | entries … | SHA-256 of everything before
//! ```

use std::{
    fs::{self, File},
    io::{BufReader, BufWriter},
    path::{Path, PathBuf},
};

use backup::{FrameKind, FrameReader, FrameWriter};
use bytes::Bytes;
use store::{Error, Kind, Stamp};

use crate::errors::from_io;

/// First line of an archive file.
const LINE: &str = "ebb archive, format 1\n";
/// Name of a file that is being written.
pub(crate) const UNFINISHED: &str = "new";

/// File that records the entry after which the archive starts.
const START: &str = "start";

/// The range of entries in a file, and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryRange {
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) bytes: u64,
}

impl EntryRange {
    /// Returns the file's name; names sort by entry.
    pub(crate) fn name(self) -> String {
        format!("{:020}-{:020}", self.first, self.last)
    }

    /// Parses a file's name; `None` if it is not an archive file.
    pub(crate) fn of_name(name: &str, bytes: u64) -> Option<Self> {
        let (first, last) = name.split_once('-')?;
        let found = Self { first: first.parse().ok()?, last: last.parse().ok()?, bytes };
        (found.name() == name && found.first <= found.last).then_some(found)
    }
}

/// The contents of an archive file.
#[derive(Debug)]
pub(crate) struct Archived {
    /// Stamp of the entry before the file's first one.
    pub(crate) before: Stamp,
    pub(crate) entries: Vec<Bytes>,
}

/// Records durably the entry after which an archive without files starts.
pub(crate) fn write_start(folder: &Path, (entry, stamp): (u64, Stamp)) -> Result<(), Error> {
    let mut bytes = entry.to_be_bytes().to_vec();
    bytes.extend_from_slice(&stamp.seq.to_be_bytes());
    bytes.extend_from_slice(&stamp.at_ms.to_be_bytes());
    bytes.extend_from_slice(&crc32c::crc32c(&bytes).to_be_bytes());
    let unfinished = folder.join(UNFINISHED);
    let written = fs::write(&unfinished, &bytes)
        .and_then(|()| File::open(&unfinished)?.sync_all())
        .and_then(|()| fs::rename(&unfinished, folder.join(START)))
        .and_then(|()| File::open(folder)?.sync_all());
    written.map_err(|error| from_io("create the archive of the journal", &error))
}

/// Returns the entry after which the archive starts; `None` if it is unknown.
pub(crate) fn read_start(folder: &Path) -> Option<(u64, Stamp)> {
    let bytes = fs::read(folder.join(START)).ok()?;
    let (body, checksum) = bytes.split_at_checked(24)?;
    if crc32c::crc32c(body).to_be_bytes() != *checksum {
        return None;
    }
    let (entry, stamp) = body.split_at_checked(8)?;
    Some((u64::from_be_bytes(entry.try_into().ok()?), stamp_of(stamp)?))
}

/// Writes entries `first` to `last` into a new file; durable on return.
pub(crate) fn write_file(
    folder: &Path,
    (first, last): (u64, u64),
    before: Stamp,
    entries: &[Bytes],
) -> Result<EntryRange, Error> {
    let context = |error: std::io::Error| from_io("write the archive of the journal", &error);
    let written = |error: backup::Error| match error {
        backup::Error::Io(error) => context(error),
        other => Error::new(Kind::Invalid, other.to_string()),
    };
    let unfinished = folder.join(UNFINISHED);
    let file = File::create(&unfinished).map_err(context)?;
    let mut out = FrameWriter::begin(BufWriter::new(&file), LINE).map_err(written)?;
    let mut header = before.seq.to_be_bytes().to_vec();
    header.extend_from_slice(&before.at_ms.to_be_bytes());
    out.write_frame(FrameKind::Header, &header).map_err(written)?;
    for part in entries {
        out.write_frame(FrameKind::Entries, part).map_err(written)?;
    }
    let hash = out.hash();
    out.write_frame(FrameKind::Trailer, hash.as_bytes()).map_err(written)?;
    drop(out.finish().map_err(written)?);
    file.sync_all().map_err(context)?;
    let bytes = file.metadata().map_err(context)?.len();
    let stretch = EntryRange { first, last, bytes };
    fs::rename(&unfinished, folder.join(stretch.name()))
        .and_then(|()| File::open(folder)?.sync_all())
        .map_err(context)?;
    Ok(stretch)
}

/// Reads a complete file and verifies its checksum.
pub(crate) fn read_file(folder: &Path, stretch: EntryRange) -> Result<Archived, Error> {
    let path: PathBuf = folder.join(stretch.name());
    let damaged = |why: &str| {
        let text = format!("{} is damaged: {why}; take a full backup", path.display());
        Error::new(Kind::Corrupt, text)
    };
    let read = |error: backup::Error| match error {
        backup::Error::Io(error) => from_io("read the archive of the journal", &error),
        other => damaged(&other.to_string()),
    };
    let file = File::open(&path);
    let file = file.map_err(|error| from_io("read the archive of the journal", &error))?;
    let known = |line: &[u8]| match line == LINE.as_bytes() {
        true => Ok(()),
        false => Err(backup::Error::Refused("it has another format".to_owned())),
    };
    let mut frames = FrameReader::begin(BufReader::new(file), LINE.len(), known).map_err(read)?;
    let mut before = None;
    let mut entries = Vec::new();
    while let Some((kind, payload)) = frames.next_frame().map_err(read)? {
        match kind {
            FrameKind::Header if before.is_none() => {
                before = Some(stamp_of(&payload).ok_or_else(|| damaged("its header"))?);
            }
            FrameKind::Entries if before.is_some() => entries.push(payload),
            FrameKind::Trailer if payload == frames.hash_before().as_bytes() => {
                let before = before.ok_or_else(|| damaged("it has no header"))?;
                return Ok(Archived { before, entries });
            }
            _ => return Err(damaged("a block is out of order")),
        }
    }
    Err(damaged("it ends early"))
}

fn stamp_of(payload: &[u8]) -> Option<Stamp> {
    let (seq, at_ms) = payload.split_at_checked(8)?;
    Some(Stamp {
        seq: u64::from_be_bytes(seq.try_into().ok()?),
        at_ms: i64::from_be_bytes(at_ms.try_into().ok()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_as_it_was_written_and_damage_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let before = Stamp { seq: 7, at_ms: -3 };
        let parts = [Bytes::from(vec![5; 9_000]), Bytes::from_static(b"more")];
        let stretch = write_file(folder.path(), (4, 9), before, &parts).unwrap();
        assert_eq!(EntryRange::of_name(&stretch.name(), stretch.bytes), Some(stretch));
        assert!(!folder.path().join(UNFINISHED).exists());
        let read = read_file(folder.path(), stretch).unwrap();
        assert_eq!((read.before, &read.entries[..]), (before, &parts[..]));
        let path = folder.path().join(stretch.name());
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            fs::write(&path, changed).unwrap();
            assert!(read_file(folder.path(), stretch).is_err(), "byte {at}");
            fs::write(&path, &whole[..at]).unwrap();
            assert!(read_file(folder.path(), stretch).is_err(), "{at} bytes");
        }
    }

    #[test]
    fn a_damaged_start_is_none() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read_start(folder.path()), None);
        let start = (9, Stamp { seq: 8, at_ms: -7 });
        write_start(folder.path(), start).unwrap();
        assert_eq!(read_start(folder.path()), Some(start));
        let path = folder.path().join(START);
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            fs::write(&path, changed).unwrap();
            assert_eq!(read_start(folder.path()), None, "byte {at}");
        }
    }

    #[test]
    fn other_names_are_no_files_of_it() {
        for name in ["new", "1-2", "00000000000000000005-00000000000000000004", ""] {
            assert_eq!(EntryRange::of_name(name, 1), None, "{name}");
        }
    }
}
