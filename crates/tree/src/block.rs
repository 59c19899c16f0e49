//! Blocks of entries in tables.
//!
//! ```text
//! entry ... | offset of each restart u32 ... | bucket u8 ... | buckets u16 | restarts u32
//! entry: shared varint | rest varint | kind u8 | number varint | length varint | rest of key | value
//! ```
//!
//! `shared` is the length of the prefix that the key has in common with the previous key; at a
//! restart it is 0. The buckets are a hash index from a key to the restart of its newest version,
//! in blocks with a restart per entry. All versions of a key are in the same block.

use bytes::Bytes;

use crate::{
    codec::{Decoder, common_len, put_varint},
    entry::{Slot, SlotRef},
    key_filter::hash_of,
};

/// A bucket of the hash index without a key.
const EMPTY: u8 = 0xff;
/// A bucket with several keys.
const AMBIGUOUS: u8 = 0xfe;

/// Builds a block from entries in order.
#[derive(Debug)]
pub(crate) struct BlockBuilder {
    data: Vec<u8>,
    restarts: Vec<u32>,
    interval: usize,
    since_restart: usize,
    last_key: Vec<u8>,
    /// Hash of each key, and the restart of its newest version; used with a restart per entry.
    hashes: Vec<(u64, usize)>,
}

impl BlockBuilder {
    /// Creates the builder of blocks that store a whole key at least every `interval` entries.
    pub(crate) fn new(interval: usize) -> Self {
        Self {
            data: Vec::new(),
            restarts: Vec::new(),
            interval,
            since_restart: 0,
            last_key: Vec::new(),
            hashes: Vec::new(),
        }
    }

    /// Returns the approximate size of the block in bytes; 0 if it has no entries.
    pub(crate) fn len(&self) -> usize {
        self.data.len() + self.restarts.len() * 5
    }

    /// Appends an entry. `hash` is the hash of its key.
    pub(crate) fn add(&mut self, key: &[u8], hash: u64, number: u64, slot: &Slot) {
        let restart = self.restarts.is_empty() || self.interval <= self.since_restart;
        let shared = if restart {
            if self.restarts.is_empty() || self.last_key != key {
                self.hashes.push((hash, self.restarts.len()));
            }
            self.restarts.push(self.data.len() as u32);
            self.since_restart = 0;
            0
        } else {
            common_len(&self.last_key, key)
        };
        self.since_restart += 1;
        put_varint(&mut self.data, shared as u64);
        put_varint(&mut self.data, (key.len() - shared) as u64);
        self.data.push(slot.kind());
        put_varint(&mut self.data, number);
        put_varint(&mut self.data, slot.encoded_len() as u64);
        self.data.extend_from_slice(&key[shared..]);
        slot.encode(&mut self.data);
        self.last_key.clear();
        self.last_key.extend_from_slice(key);
    }

    /// Completes the block and leaves an empty builder.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        // The next block will be about as large.
        let next = Vec::with_capacity(self.data.len());
        let mut block = std::mem::replace(&mut self.data, next);
        for restart in &self.restarts {
            block.extend_from_slice(&restart.to_le_bytes());
        }
        let indexed = self.interval == 1 && self.restarts.len() < usize::from(AMBIGUOUS);
        let buckets = if indexed { self.hashes.len() * 4 / 3 + 1 } else { 0 };
        let start = block.len();
        block.resize(start + buckets, EMPTY);
        if indexed {
            for (hash, restart) in &self.hashes {
                let bucket = &mut block[start + bucket_of(*hash, buckets)];
                *bucket = if *bucket == EMPTY { *restart as u8 } else { AMBIGUOUS };
            }
        }
        block.extend_from_slice(&(buckets as u16).to_le_bytes());
        block.extend_from_slice(&(self.restarts.len() as u32).to_le_bytes());
        self.restarts.clear();
        self.hashes.clear();
        self.since_restart = 0;
        block
    }
}

fn bucket_of(hash: u64, buckets: usize) -> usize {
    (hash % buckets as u64) as usize
}

/// A block that was read and verified.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    data: Bytes,
    /// Offset of the list of restarts.
    restarts_at: usize,
    restarts: usize,
    buckets: usize,
}

/// The fixed fields of an entry, and where the rest of its key and its value are in the block.
pub(crate) struct Fields {
    pub(crate) shared: usize,
    pub(crate) kind: u8,
    pub(crate) number: u64,
    pub(crate) key: (usize, usize),
    /// The value follows the key and ends with the entry.
    pub(crate) value: (usize, usize),
}

impl Block {
    /// Interprets the raw contents of a frame as a block.
    pub(crate) fn parse(data: Bytes) -> Option<Self> {
        let tail = data.len().checked_sub(6)?;
        let mut decoder = Decoder::new(data.get(tail..)?);
        let (buckets, restarts) = (usize::from(decoder.u16()?), decoder.u32()? as usize);
        let restarts_at = tail.checked_sub(buckets)?.checked_sub(restarts.checked_mul(4)?)?;
        (0 < restarts).then_some(Self { data, restarts_at, restarts, buckets })
    }

    /// Returns the number of bytes that the block occupies in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.data.len()
    }

    /// Returns the number of restarts. The entries from one restart to the next are a group.
    pub(crate) fn groups(&self) -> usize {
        self.restarts
    }

    /// Returns the offset of the first entry of a group.
    fn restart(&self, group: usize) -> Option<usize> {
        let at = self.restarts_at + group.checked_mul(4)?;
        Decoder::new(self.data.get(at..self.restarts_at + self.restarts * 4)?)
            .u32()
            .map(|at| at as usize)
    }

    /// Reads the fields of the entry at this offset.
    pub(crate) fn fields_at(&self, at: usize) -> Option<Fields> {
        let entries = self.data.get(..self.restarts_at)?;
        let mut decoder = Decoder::new(entries.get(at..)?);
        let (shared, rest) = (decoder.length()?, decoder.length()?);
        let kind = decoder.u8()?;
        let (number, len) = (decoder.varint()?, decoder.length()?);
        let key_at = entries.len() - decoder.remaining();
        let value_at = key_at.checked_add(rest)?;
        let end = value_at.checked_add(len)?;
        (end <= entries.len()).then_some(Fields {
            shared,
            kind,
            number,
            key: (key_at, value_at),
            value: (value_at, end),
        })
    }

    /// Returns the whole key at a restart.
    fn restart_key(&self, group: usize) -> Option<&[u8]> {
        let fields = self.fields_at(self.restart(group)?)?;
        (fields.shared == 0).then(|| self.data.get(fields.key.0..fields.key.1))?
    }

    /// Returns the offsets of the first entry of a group and of the end of the group.
    pub(crate) fn group(&self, group: usize) -> Option<(usize, usize)> {
        let end =
            if group + 1 < self.restarts { self.restart(group + 1)? } else { self.restarts_at };
        Some((self.restart(group)?, end))
    }

    /// Returns the contents of the block.
    pub(crate) fn data(&self) -> &Bytes {
        &self.data
    }

    /// Returns the value of this kind at a place in the block.
    pub(crate) fn slot(&self, kind: u8, value: (usize, usize)) -> Option<SlotRef<'_>> {
        SlotRef::decode(kind, self.data.get(value.0..value.1)?, &self.data)
    }

    /// Returns the group in which the first entry with at least this key is, or the last group
    /// before it.
    pub(crate) fn group_of(&self, key: &[u8]) -> Option<usize> {
        // Most scans begin at a key that exists.
        if self.buckets != 0
            && let Some(group @ ..AMBIGUOUS) = self.bucket(hash_of(key))
            && self.restart_key(usize::from(group))? == key
        {
            return Some(usize::from(group));
        }
        // Versions of a key may span groups, so the search is for the last smaller restart.
        let (mut low, mut high) = (0, self.restarts);
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.restart_key(middle)? < key { low = middle + 1 } else { high = middle }
        }
        Some(low.saturating_sub(1))
    }

    /// Returns the newest version of a key with at most this number: `Some(None)` if the block has
    /// none, `None` if the block is malformed. `hash` is the hash of the key.
    pub(crate) fn get(
        &self,
        key: &[u8],
        hash: u64,
        number: u64,
    ) -> Option<Option<(u64, SlotRef<'_>)>> {
        let group = match self.bucket(hash) {
            Some(EMPTY) => return Some(None),
            Some(AMBIGUOUS) | None => self.group_of(key)?,
            Some(group) => usize::from(group),
        };
        let mut at = self.restart(group)?;
        let mut current: Vec<u8> = Vec::new();
        while at < self.restarts_at {
            let fields = self.fields_at(at)?;
            let rest = &self.data[fields.key.0..fields.key.1];
            let order = if fields.shared == 0 && self.buckets != 0 {
                // Each key is stored whole, so that none has to be assembled.
                rest.cmp(key)
            } else {
                if current.len() < fields.shared {
                    return None;
                }
                current.truncate(fields.shared);
                current.extend_from_slice(rest);
                current.as_slice().cmp(key)
            };
            if order.is_gt() {
                break;
            }
            if order.is_eq() && fields.number <= number {
                return Some(Some((fields.number, self.slot(fields.kind, fields.value)?)));
            }
            at = fields.value.1;
        }
        Some(None)
    }

    /// Returns the bucket for a hash; `None` in blocks without a hash index.
    fn bucket(&self, hash: u64) -> Option<u8> {
        if self.buckets == 0 {
            return None;
        }
        let start = self.restarts_at + self.restarts * 4;
        self.data.get(start + bucket_of(hash, self.buckets)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{entry::Entry, group::Group};

    fn entries() -> Vec<Entry> {
        let mut entries = Vec::new();
        for n in 0..100_u32 {
            for number in (0..=n % 3).rev() {
                let key = Bytes::from(format!("collection/{:05}", n * 2));
                let slot = match (n + number) % 3 {
                    0 => Slot::Removed,
                    _ => Slot::Inline(Bytes::from(format!("value {n} {number}"))),
                };
                entries.push(Entry { key, number: 10 + u64::from(number), slot });
            }
        }
        entries
    }

    fn block_of(entries: &[Entry], interval: usize) -> Block {
        let mut builder = BlockBuilder::new(interval);
        for entry in entries {
            builder.add(&entry.key, hash_of(&entry.key), entry.number, &entry.slot);
        }
        Block::parse(Bytes::from(builder.finish())).unwrap()
    }

    #[test]
    fn entries_are_read_back_in_both_layouts() {
        for interval in [1, 3, 16] {
            let entries = entries();
            let block = block_of(&entries, interval);
            let (mut group, mut read) = (Group::default(), Vec::new());
            for number in 0..block.groups() {
                group.read(&block, number).unwrap();
                read.extend((0..group.len()).map(|at| group.entry(&block, at).unwrap()));
            }
            assert_eq!(read, entries);
        }
    }

    #[test]
    fn a_key_is_found_at_each_number() {
        for interval in [1, 3, 16] {
            let entries = entries();
            let block = block_of(&entries, interval);
            for n in 0..201_u32 {
                let key = format!("collection/{n:05}");
                for number in 8..14 {
                    let of_key = entries.iter().filter(|entry| entry.key == key.as_bytes());
                    let want =
                        of_key.filter(|entry| entry.number <= number).max_by_key(|e| e.number);
                    let found = block.get(key.as_bytes(), hash_of(key.as_bytes()), number).unwrap();
                    let found = found.map(|(number, slot)| (number, slot.to_slot()));
                    assert_eq!(found, want.map(|entry| (entry.number, entry.slot.clone())));
                }
            }
        }
    }

    #[test]
    fn changed_blocks_are_read_or_refused() {
        let mut builder = BlockBuilder::new(4);
        for entry in entries().iter().take(20) {
            builder.add(&entry.key, 0, entry.number, &entry.slot);
        }
        let whole = builder.finish();
        for at in 0..whole.len() {
            for change in [1, 0x80, 0xff] {
                let mut changed = whole.clone();
                changed[at] ^= change;
                let Some(block) = Block::parse(Bytes::from(changed)) else { continue };
                let _ = block.get(b"collection/00010", 0, 99);
                let mut group = Group::default();
                for number in 0..block.groups().min(100) {
                    if group.read(&block, number).is_some() {
                        for at in 0..group.len() {
                            let _ = (group.key(&block, at), group.slot(&block, at));
                        }
                    }
                }
            }
        }
    }
}
