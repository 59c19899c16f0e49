//! What each batch notes about itself, in the batch: its number and last stamp, and its number
//! again in a ring of slots. After a crash the ring shows whether a batch in the middle is missing.
//!
//! ```text
//!  meta:  last  → batch 2000, stamp …      r 0976 → 2000    r 0975 → 1999    r 0974 → 1998  …
//!         (a missing 1999 would leave 975 → 975: the batch 1,024 before it)
//! ```

use fjall::{Keyspace, OwnedWriteBatch};
use store::{Error, Kind, Stamp};

use crate::errors::from_fjall;

/// Batches the ring remembers.
pub(crate) const RING: u64 = 1024;
/// Key of what a batch notes about itself.
pub(crate) const LAST: &[u8] = b"last";
/// Its value is no longer than this.
pub(crate) const MOST_BYTES: u64 = 40;

/// Where the order of batches stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    /// Number of the last batch; 0 before the first.
    pub(crate) batch: u64,
    /// The last stamp in it.
    pub(crate) stamp: Stamp,
}

impl Position {
    /// Before the first batch.
    pub(crate) const START: Self = Self { batch: 0, stamp: Stamp { seq: 0, at_ms: i64::MIN } };
}

/// The key of a batch's place in the ring.
fn ring_slot(batch: u64) -> Vec<u8> {
    let mut key = vec![b'r'];
    key.extend_from_slice(&(batch % RING).to_be_bytes());
    key
}

/// What a batch notes about when it was written, to be compared with what is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WrittenAfter {
    /// Number of the last batch that was durable.
    pub(crate) durable: u64,
    /// The tree's next sequence number: it counts on its own too, but never back.
    pub(crate) sequence: u64,
}

impl WrittenAfter {
    /// What a note says; nothing where it is older than these.
    pub(crate) fn from_note(note: &[u8]) -> Self {
        let number = |at: usize| {
            let held = note.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
            held.map_or(0, u64::from_be_bytes)
        };
        Self { durable: number(24), sequence: number(32) }
    }
}

/// Notes a batch in itself.
pub(crate) fn note_batch(
    batch: &mut OwnedWriteBatch,
    meta: &Keyspace,
    position: Position,
    around: WrittenAfter,
) {
    let mut value = position.batch.to_be_bytes().to_vec();
    value.extend_from_slice(&position.stamp.seq.to_be_bytes());
    value.extend_from_slice(&position.stamp.at_ms.to_be_bytes());
    value.extend_from_slice(&around.durable.to_be_bytes());
    value.extend_from_slice(&around.sequence.to_be_bytes());
    batch.insert(meta, LAST, value);
    batch.insert(meta, ring_slot(position.batch), position.batch.to_be_bytes().to_vec());
}

/// Reads the position and checks that the last batches are all there, unless a loss is accepted.
pub(crate) fn read_position(meta: &Keyspace, accept_loss: bool) -> Result<Position, Error> {
    let get = |key: &[u8]| meta.get(key).map_err(|error| from_fjall("read the position", &error));
    let Some(value) = get(LAST)? else { return Ok(Position::START) };
    let number = |at: usize| -> Option<[u8; 8]> { value.get(at..at + 8)?.try_into().ok() };
    let position = (|| {
        let stamp =
            Stamp { seq: u64::from_be_bytes(number(8)?), at_ms: i64::from_be_bytes(number(16)?) };
        Some(Position { batch: u64::from_be_bytes(number(0)?), stamp })
    })();
    let position =
        position.ok_or_else(|| Error::new(Kind::Corrupt, "the position of commits is damaged"))?;
    let first = position.batch.saturating_sub(RING - 1).max(1);
    for batch in first..=position.batch {
        let held = get(&ring_slot(batch))?;
        if held.as_deref() != Some(&batch.to_be_bytes()[..]) && !accept_loss {
            return Err(Error::new(
                Kind::Refused,
                format!("commits are missing: batch {batch} of {} is not there", position.batch),
            ));
        }
    }
    Ok(position)
}
