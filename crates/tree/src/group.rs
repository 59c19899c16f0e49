//! The entries of a block from one restart to the next, decoded for scans. The memory of a group is
//! used again for the next one, so that a scan allocates nothing for a row that it passes.

use bytes::Bytes;

use crate::{
    block::Block,
    entry::{Entry, SlotRef},
};

/// Location of a key: in the block if it is stored whole there, else in [`Group::keys`].
#[derive(Clone, Copy, Debug)]
enum KeyPlace {
    Block(usize, usize),
    Keys(usize, usize),
}

#[derive(Clone, Copy, Debug)]
struct Decoded {
    key: KeyPlace,
    number: u64,
    kind: u8,
    value: (usize, usize),
}

/// The entries of one group of a block, in ascending order.
#[derive(Debug, Default)]
pub(crate) struct Group {
    /// The keys, assembled from prefixes and suffixes.
    keys: Vec<u8>,
    entries: Vec<Decoded>,
}

impl Group {
    /// Reads a group of a block. Returns `None` if the block is malformed.
    pub(crate) fn read(&mut self, block: &Block, group: usize) -> Option<()> {
        self.clear();
        let (mut at, end) = block.group(group)?;
        while at < end {
            let fields = block.fields_at(at)?;
            let key = if fields.shared == 0 {
                KeyPlace::Block(fields.key.0, fields.key.1)
            } else {
                let start = self.keys.len();
                match self.entries.last()?.key {
                    KeyPlace::Block(from, to) => {
                        let prefix = block.data().get(from..to)?.get(..fields.shared)?;
                        self.keys.extend_from_slice(prefix);
                    }
                    KeyPlace::Keys(from, to) if fields.shared <= to - from => {
                        self.keys.extend_from_within(from..from + fields.shared);
                    }
                    KeyPlace::Keys(..) => return None,
                }
                self.keys.extend_from_slice(block.data().get(fields.key.0..fields.key.1)?);
                KeyPlace::Keys(start, self.keys.len())
            };
            let (number, kind, value) = (fields.number, fields.kind, fields.value);
            self.entries.push(Decoded { key, number, kind, value });
            at = value.1;
        }
        Some(())
    }

    /// Removes all entries and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.keys.clear();
        self.entries.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the key of an entry. The block must be the block of the group.
    pub(crate) fn key<'a>(&'a self, block: &'a Block, at: usize) -> Option<&'a [u8]> {
        match self.entries.get(at)?.key {
            KeyPlace::Block(from, to) => block.data().get(from..to),
            KeyPlace::Keys(from, to) => self.keys.get(from..to),
        }
    }

    /// Returns the number of an entry.
    pub(crate) fn number(&self, at: usize) -> Option<u64> {
        self.entries.get(at).map(|entry| entry.number)
    }

    /// Returns the value of an entry. Returns `None` if it is malformed.
    pub(crate) fn slot<'a>(&self, block: &'a Block, at: usize) -> Option<SlotRef<'a>> {
        let entry = self.entries.get(at)?;
        block.slot(entry.kind, entry.value)
    }

    /// Returns an entry; its bytes may keep the block in memory.
    pub(crate) fn entry(&self, block: &Block, at: usize) -> Option<Entry> {
        let entry = self.entries.get(at)?;
        let key = match entry.key {
            KeyPlace::Block(from, to) => block.data().slice(from..to),
            KeyPlace::Keys(from, to) => Bytes::copy_from_slice(self.keys.get(from..to)?),
        };
        let slot = block.slot(entry.kind, entry.value)?.to_slot();
        Some(Entry { key, number: entry.number, slot })
    }
}
