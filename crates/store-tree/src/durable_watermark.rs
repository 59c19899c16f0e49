//! A durable watermark outside the journal: the number of an entry that was certainly durable, in a
//! file with two slots. A start that finds fewer entries reports that some were lost to damage.
//!
//! ```text
//!  entries of the journal:   1 .. 90 91 92 93 94      watermark, moved each half second: 92
//!  found at startup:         1 .. 90 91               refused: 92 was durable
//!  found at startup:         1 .. 90 91 92            accepted: later ones maybe not durable
//! ```
//!
//! The file also has the tail, the first entry that startup must replay, and the last change of the
//! tree's list of files, which must not be older than the cut of the journal. Both may lag, since
//! replaying entries twice is harmless. The slots are written alternately, each with a checksum, so
//! that a torn write leaves the other one, which is half a second older.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::FileExt,
    path::Path,
};

use store::Stamp;

/// Distance between the slots: a device writes a sector atomically.
const SLOT: u64 = 512;
/// Size of a record without its checksum: write number and the five numbers of the watermark.
const BODY: usize = 8 * 6;
/// Size of a record with its checksum.
const RECORD: usize = BODY + 4;

/// The last entry that is certainly durable, and the first entry that startup must replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Watermark {
    /// Number of the last durable entry; 0 if none.
    pub(crate) durable: u64,
    /// Number of the first entry that is not completely in tables.
    pub(crate) tail: u64,
    /// Stamp of the last commit in the durable entries.
    pub(crate) stamp: Stamp,
    /// Number of a durable change of the tree's list of files that lists all entries before the
    /// tail; 0 if unknown.
    pub(crate) last_edit: u64,
}

impl Watermark {
    /// The watermark of a store without entries.
    pub(crate) const START: Self =
        Self { durable: 0, tail: 1, stamp: Stamp { seq: 0, at_ms: i64::MIN }, last_edit: 0 };
}

#[derive(Debug)]
pub(crate) struct DurableWatermark {
    file: File,
    /// Number of times the file was written; its parity selects the slot.
    number: u64,
    /// The watermark as it was last written.
    pub(crate) written: Watermark,
}

impl DurableWatermark {
    /// Opens the file, creating it with both slots if missing.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        if file.metadata()?.len() < 2 * SLOT {
            file.write_all_at(&[0; 2 * SLOT as usize], 0)?;
            file.sync_all()?;
        }
        let mut newest = (0, Watermark::START);
        for slot in 0..2 {
            let mut record = [0; RECORD];
            file.read_exact_at(&mut record, slot * SLOT)?;
            if let Some(found) = decode_slot(&record).filter(|found| newest.0 < found.0) {
                newest = found;
            }
        }
        Ok(Self { file, number: newest.0, written: newest.1 })
    }

    /// Writes the watermark, which is durable when this returns.
    pub(crate) fn move_to(&mut self, watermark: Watermark) -> io::Result<()> {
        if watermark == self.written {
            return Ok(());
        }
        // The slot is selected by the number, so writes alternate between the slots.
        let number = self.number + 1;
        let mut record = number.to_be_bytes().to_vec();
        record.extend_from_slice(&watermark.durable.to_be_bytes());
        record.extend_from_slice(&watermark.tail.to_be_bytes());
        record.extend_from_slice(&watermark.stamp.seq.to_be_bytes());
        record.extend_from_slice(&watermark.stamp.at_ms.to_be_bytes());
        record.extend_from_slice(&watermark.last_edit.to_be_bytes());
        let checksum = crc32c::crc32c(&record);
        record.extend_from_slice(&checksum.to_be_bytes());
        self.file.write_all_at(&record, number % 2 * SLOT)?;
        self.file.sync_data()?;
        (self.number, self.written) = (number, watermark);
        Ok(())
    }
}

/// Decodes write number and watermark of a slot; `None` if it was never completely written.
fn decode_slot(record: &[u8; RECORD]) -> Option<(u64, Watermark)> {
    let (body, checksum) = record.split_at_checked(BODY)?;
    if crc32c::crc32c(body).to_be_bytes() != *checksum {
        return None;
    }
    let number = |at: usize| -> Option<[u8; 8]> { body.get(8 * at..8 * at + 8)?.try_into().ok() };
    let stamp =
        Stamp { seq: u64::from_be_bytes(number(3)?), at_ms: i64::from_be_bytes(number(4)?) };
    let (durable, tail) = (u64::from_be_bytes(number(1)?), u64::from_be_bytes(number(2)?));
    let last_edit = u64::from_be_bytes(number(5)?);
    Some((u64::from_be_bytes(number(0)?), Watermark { durable, tail, stamp, last_edit }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_slot_leaves_the_older_mark() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("mark");
        let mut watermark = DurableWatermark::open(&path).unwrap();
        assert_eq!(watermark.written, Watermark::START);
        let stamp = Stamp { seq: 5, at_ms: -7 };
        let at = |durable| Watermark { durable, tail: durable - 2, stamp, last_edit: durable * 3 };
        watermark.move_to(at(7)).unwrap();
        watermark.move_to(at(9)).unwrap();
        assert_eq!(DurableWatermark::open(&path).unwrap().written, at(9));
        watermark.file.write_all_at(&[0xff; 4], (watermark.number % 2) * SLOT).unwrap();
        assert_eq!(DurableWatermark::open(&path).unwrap().written, at(7));
    }
}
