//! The clock's checkpoints on disk: a preallocated file of two slots, so that a full disk cannot
//! stop time and a torn write leaves the older checkpoint.
//!
//! ```text
//! byte 0             512             1024
//!      | checkpoint, CRC | checkpoint, CRC |    even numbers left, odd numbers right
//! ```
//!
//! The engine writes here too, through [`Persist`]: a move of a manual clock is made durable before
//! it takes effect.

use std::{
    fs::{File, OpenOptions},
    future::Future,
    io,
    os::unix::fs::FileExt,
    path::Path,
    pin::Pin,
    sync::Arc,
};

use clock::{BootId, Checkpoint};
use engine::Persist;
use parking_lot::Mutex;

/// Bytes of a slot. It is the usual sector size of a disk, so that writing one slot does not touch
/// the other slot.
const SLOT: u64 = 512;
const FILE: &str = "clock";

/// The checkpoint file. Clones share the file and the lock that serializes writes.
#[derive(Clone, Debug)]
pub struct CheckpointFile(Arc<Mutex<File>>);

impl CheckpointFile {
    /// Opens the file and returns the newest valid checkpoint, if any. With `make`, a missing or
    /// short file is created with both slots preallocated; without `make`, the file is read as it
    /// is and must exist.
    pub fn open(directory: &Path, make: bool) -> io::Result<(Self, Option<Checkpoint>)> {
        let path = directory.join(FILE);
        let file =
            OpenOptions::new().read(true).write(true).create(make).truncate(false).open(path)?;
        if make && file.metadata()?.len() < 2 * SLOT {
            file.write_all_at(&[0; 2 * SLOT as usize], 0)?;
            // The space and the file's name have to be durable before time relies on them.
            file.sync_all()?;
            File::open(directory)?.sync_all()?;
        }
        let mut newest: Option<Checkpoint> = None;
        for slot in 0..2 {
            let mut bytes = [0; SLOT as usize];
            match file.read_exact_at(&mut bytes, slot * SLOT) {
                // The file was truncated: the other slot may still be valid.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => continue,
                read => read?,
            }
            if let Some(found) = decode_slot(&bytes)
                && newest.is_none_or(|newest| newest.number < found.number)
            {
                newest = Some(found);
            }
        }
        Ok((Self(Arc::new(Mutex::new(file))), newest))
    }

    /// Writes a checkpoint durably. Slots alternate by number, so the previous checkpoint stays
    /// until this one is complete and remains valid if the write fails.
    pub fn write(&self, checkpoint: &Checkpoint) -> io::Result<()> {
        let body = checkpoint.encode();
        let mut record = body.to_vec();
        record.extend_from_slice(&crc32c::crc32c(&body).to_be_bytes());
        let file = self.0.lock();
        // Overwrite the older checkpoint: a torn write leaves the newer one.
        file.write_all_at(&record, checkpoint.number % 2 * SLOT)?;
        file.sync_data()?;
        if !checkpoint.manual {
            return Ok(());
        }
        // The time of a manual clock cannot be derived from the machine's clocks, so its last move
        // is written to both slots, in case one of them is damaged later.
        file.write_all_at(&record, (checkpoint.number + 1) % 2 * SLOT)?;
        file.sync_data()
    }
}

/// Returns a slot's checkpoint if its checksum matches. Two encodings of different length exist
/// (older versions stored no wall clock); the checksum shows which one it is.
fn decode_slot(slot: &[u8]) -> Option<Checkpoint> {
    let is_whole = |checkpoint: &Checkpoint| {
        let body = checkpoint.encode();
        let stored = slot.get(body.len()..body.len() + 4);
        slot.starts_with(&body) && stored == Some(&crc32c::crc32c(&body).to_be_bytes()[..])
    };
    Checkpoint::decode(slot).into_iter().flatten().find(is_whole)
}

impl Persist for CheckpointFile {
    fn persist_checkpoint(
        &self,
        checkpoint: Checkpoint,
    ) -> Pin<Box<dyn Future<Output = bool> + Send + '_>> {
        let file = self.clone();
        Box::pin(async move {
            let written = tokio::task::spawn_blocking(move || file.write(&checkpoint)).await;
            matches!(written, Ok(Ok(())))
        })
    }
}

/// Returns the machine's boot ID as 16 bytes, zeros if unknown. The clock uses it to tell whether a
/// boot-clock reading in a checkpoint is still comparable.
pub fn boot_id() -> BootId {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits: Vec<u8> = text
        .chars()
        .filter_map(|digit| digit.to_digit(16))
        .filter_map(|digit| u8::try_from(digit).ok())
        .collect();
    let mut id = BootId::default();
    for (byte, pair) in id.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = pair.iter().fold(0, |sum, digit| sum * 16 + digit);
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_move_of_a_manual_clock_stands_in_both_slots() {
        let directory = tempfile::tempdir().unwrap();
        let (file, _) = CheckpointFile::open(directory.path(), true).unwrap();
        let clock = clock::Clock::start(
            clock::ClockMode::Manual,
            Box::new(clock::Machine),
            boot_id(),
            None,
        );
        let clock = clock.unwrap();
        file.write(&clock.tick()).unwrap();
        let last = clock.tick();
        file.write(&last).unwrap();
        let path = directory.path().join(FILE);
        let bytes = std::fs::read(&path).unwrap();
        for slot in 0..2 {
            let mut bytes = bytes.clone();
            bytes[(slot * SLOT) as usize + 20] ^= 1;
            std::fs::write(&path, bytes).unwrap();
            assert_eq!(CheckpointFile::open(directory.path(), true).unwrap().1, Some(last));
        }
    }

    #[test]
    fn the_newest_whole_checkpoint_is_found() {
        let directory = tempfile::tempdir().unwrap();
        let (file, none) = CheckpointFile::open(directory.path(), true).unwrap();
        assert_eq!(none, None);
        let clock = clock::Clock::start(
            clock::ClockMode::System,
            Box::new(clock::Machine),
            boot_id(),
            None,
        );
        let clock = clock.unwrap();
        let (older, newer) = (clock.tick(), clock.tick());
        file.write(&older).unwrap();
        file.write(&newer).unwrap();
        let found = CheckpointFile::open(directory.path(), true).unwrap().1;
        assert_eq!(found, Some(newer));
        let path = directory.path().join(FILE);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[(newer.number % 2 * SLOT) as usize + 20] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(CheckpointFile::open(directory.path(), true).unwrap().1, Some(older));
    }
}
