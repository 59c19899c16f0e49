//! A durable watermark outside the tree: the number of a batch that was certainly durable, in a
//! file of two slots. A start that finds fewer batches has lost some to damage, and says so.
//!
//! ```text
//!  batches in the journal:   1 … 90 91 92 93 94       watermark, moved once a second: 92
//!  found by a start:         1 … 90 91                refused: 92 was durable
//!  found by a start:         1 … 90 91 92             taken: what was later may never have been durable
//! ```
//!
//! The two slots are written in turn, each with a checksum: a write that is cut off in the middle
//! leaves the other one, which is a second older.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::FileExt,
    path::Path,
};

/// Bytes between the slots: a device writes a sector as a whole.
const SLOT: u64 = 512;
/// Number of the write, batch, checksum.
const RECORD: usize = 8 + 8 + 4;

/// The file of the watermark.
#[derive(Debug)]
pub(crate) struct DurableWatermark {
    file: File,
    /// Of the last write; its parity says which slot.
    number: u64,
    /// The batch it stands at.
    pub(crate) batch: u64,
}

impl DurableWatermark {
    /// Opens the file, or makes it with room for both slots.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        if file.metadata()?.len() < 2 * SLOT {
            file.write_all_at(&[0; 2 * SLOT as usize], 0)?;
            file.sync_all()?;
        }
        let mut newest = (0, 0);
        for slot in 0..2 {
            let mut record = [0; RECORD];
            file.read_exact_at(&mut record, slot * SLOT)?;
            newest = newest.max(decode_slot(&record).unwrap_or((0, 0)));
        }
        Ok(Self { file, number: newest.0, batch: newest.1 })
    }

    /// Moves the watermark; durable when this returns.
    pub(crate) fn move_to(&mut self, batch: u64) -> io::Result<()> {
        if batch == self.batch {
            return Ok(());
        }
        // The other slot than last time.
        let number = self.number + 1;
        let mut record = number.to_be_bytes().to_vec();
        record.extend_from_slice(&batch.to_be_bytes());
        let checksum = crc32c::crc32c(&record);
        record.extend_from_slice(&checksum.to_be_bytes());
        self.file.write_all_at(&record, number % 2 * SLOT)?;
        self.file.sync_data()?;
        (self.number, self.batch) = (number, batch);
        Ok(())
    }
}

/// Number and batch of a slot; `None` where it was never written, or not to its end.
fn decode_slot(record: &[u8; RECORD]) -> Option<(u64, u64)> {
    let (body, checksum) = record.split_at_checked(16)?;
    if crc32c::crc32c(body).to_be_bytes() != *checksum {
        return None;
    }
    let number = u64::from_be_bytes(body.get(..8)?.try_into().ok()?);
    Some((number, u64::from_be_bytes(body.get(8..)?.try_into().ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_slot_leaves_the_older_mark() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("mark");
        let mut mark = DurableWatermark::open(&path).unwrap();
        assert_eq!(mark.batch, 0);
        mark.move_to(7).unwrap();
        mark.move_to(9).unwrap();
        assert_eq!(DurableWatermark::open(&path).unwrap().batch, 9);
        mark.file.write_all_at(&[0xff; 4], (mark.number % 2) * SLOT).unwrap();
        assert_eq!(DurableWatermark::open(&path).unwrap().batch, 7);
    }
}
