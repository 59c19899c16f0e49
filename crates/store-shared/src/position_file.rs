//! Stores the position in the cluster's journal up to which a directory's local copy is complete.
//! The file has two slots written alternately, so that a torn write leaves the older one. The
//! stored position may lag: entries that the copy already contains are recognized by their numbers
//! and skipped.
//!
//! ```text
//! byte 0              512             1024
//!      | record, CRC-32C | record, CRC-32C |
//!
//! record: count u64 · n u64 · epoch u64 · segment u64 · number u64 · checksum u32
//! ```
//!
//! `count` is the number of records written; of two valid slots the one with the higher `count` is
//! current. `n` is the last entry of the local journal; `epoch`, `segment`, `number` and `checksum`
//! are the position after it in the cluster's journal ([`Position`]). `checksum` is that of the
//! journal entry and does not cover the slot. Numbers are little-endian.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::FileExt,
    path::Path,
};

use cluster::Position;

/// Size of a slot: a disk sector.
const SLOT: u64 = 512;
/// Size of a record without its checksum.
const RECORD: usize = 5 * 8 + 4;

/// A position in the cluster's journal, and the corresponding entry of the local journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PositionRecord {
    /// Number of the last entry of the local journal at the position.
    pub(crate) n: u64,
    /// Position in the cluster's journal.
    pub(crate) position: Position,
}

#[derive(Debug)]
pub(crate) struct PositionFile {
    file: File,
    count: u64,
    pub(crate) noted: PositionRecord,
}

impl PositionFile {
    /// Opens or creates the file; without a valid record, the position is the start of the journal.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let options = OpenOptions::new().read(true).write(true).create(true).clone();
        let file = options.clone().truncate(false).open(path)?;
        let mut newest = (0, PositionRecord::default());
        for slot in 0..2 {
            let mut bytes = [0; RECORD + 4];
            match file.read_exact_at(&mut bytes, slot * SLOT) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => continue,
                read => read?,
            }
            if let Some((count, noted)) = decode(&bytes)
                && newest.0 < count
            {
                newest = (count, noted);
            }
        }
        let (count, noted) = newest;
        Ok(Self { file, count, noted })
    }

    pub(crate) fn write(&mut self, noted: PositionRecord) -> io::Result<()> {
        if noted == self.noted {
            return Ok(());
        }
        let count = self.count + 1;
        self.file.write_all_at(&encode(count, noted), count % 2 * SLOT)?;
        self.file.sync_data()?;
        (self.count, self.noted) = (count, noted);
        Ok(())
    }
}

fn encode(count: u64, noted: PositionRecord) -> Vec<u8> {
    let PositionRecord { n, position } = noted;
    let mut bytes = Vec::with_capacity(RECORD + 4);
    for number in [count, n, position.epoch, position.segment, position.n] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(position.checksum.to_le_bytes());
    bytes.extend(crc32c::crc32c(&bytes).to_le_bytes());
    bytes
}

fn decode(bytes: &[u8]) -> Option<(u64, PositionRecord)> {
    let (record, checksum) = bytes.split_at_checked(RECORD)?;
    if checksum != crc32c::crc32c(record).to_le_bytes() {
        return None;
    }
    let number = |at: usize| -> Option<u64> {
        Some(u64::from_le_bytes(record.get(at * 8..at * 8 + 8)?.try_into().ok()?))
    };
    let checksum = u32::from_le_bytes(record.get(40..44)?.try_into().ok()?);
    let position = Position { epoch: number(2)?, segment: number(3)?, n: number(4)?, checksum };
    Some((number(0)?, PositionRecord { n: number(1)?, position }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(n: u64) -> PositionRecord {
        PositionRecord { n, position: Position { epoch: 2, segment: 3, n: n + 1, checksum: 7 } }
    }

    #[test]
    fn the_newest_whole_record_is_found() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("place");
        assert_eq!(PositionFile::open(&path).unwrap().noted, PositionRecord::default());
        let mut file = PositionFile::open(&path).unwrap();
        for n in 1..6 {
            file.write(noted(n)).unwrap();
            assert_eq!(PositionFile::open(&path).unwrap().noted, noted(n));
        }
        let whole = std::fs::read(&path).unwrap();
        // The fifth record is in the second slot.
        for at in 0..RECORD + 4 {
            let mut torn = whole.clone();
            torn[512 + at] ^= 1;
            std::fs::write(&path, torn).unwrap();
            assert_eq!(PositionFile::open(&path).unwrap().noted, noted(4), "{at}");
        }
        std::fs::write(&path, &whole[..100]).unwrap();
        assert_eq!(PositionFile::open(&path).unwrap().noted, noted(4));
    }
}
