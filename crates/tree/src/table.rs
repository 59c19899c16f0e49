//! Reading of tables: files with sorted versions, their index and their filter.
//!
//! ```text
//! blocks of entries ... | index | filter | metadata | footer
//! ```
//!
//! Index and filter are read when a table is first used and stay in memory as long as a version
//! lists the table.

use std::{
    cmp::Ordering,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;

use crate::{
    cache::Held,
    codec::{Decoder, common_len, prefix_of, put_varint},
    error::{Error, Result},
    files::{Caching, Files, file_name},
    frame::FrameKind,
    key_filter,
    metadata::TableMeta,
    trash::ListedFile,
};

/// Identifies a table and the version of its format.
const MAGIC: u64 = u64::from_le_bytes(*b"ebbtab01");
/// Size of the footer in bytes.
pub(crate) const FOOTER_BYTES: usize = 48;

/// The places of the parts of a table, stored at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Footer {
    pub(crate) index: (u64, u32),
    pub(crate) filter: (u64, u32),
    pub(crate) metadata: (u64, u32),
}

impl Footer {
    /// Returns the bytes of the footer, and their checksum.
    pub(crate) fn encode(&self) -> (Vec<u8>, u32) {
        let mut out = Vec::with_capacity(FOOTER_BYTES);
        for (offset, len) in [self.index, self.filter, self.metadata] {
            out.extend_from_slice(&offset.to_le_bytes());
            out.extend_from_slice(&len.to_le_bytes());
        }
        out.extend_from_slice(&MAGIC.to_le_bytes());
        let checksum = crc32c::crc32c(&out);
        out.extend_from_slice(&checksum.to_le_bytes());
        (out, checksum)
    }

    /// Reads a footer; `None` if it is damaged or not the one with this checksum.
    pub(crate) fn decode(bytes: &[u8], checksum: u32) -> Option<Self> {
        let (fields, stored) = bytes.split_at_checked(FOOTER_BYTES - 4)?;
        if crc32c::crc32c(fields) != checksum || stored != checksum.to_le_bytes() {
            return None;
        }
        let mut decoder = Decoder::new(fields);
        let mut part = || Some((decoder.u64()?, decoder.u32()?));
        let (index, filter, metadata) = (part()?, part()?, part()?);
        (decoder.u64()? == MAGIC).then_some(Self { index, filter, metadata })
    }
}

/// The index of a table: for each block, a key above its last and not above the next block's first.
#[derive(Debug, Default)]
pub(crate) struct TableIndex {
    separators: Vec<u8>,
    /// End of each separator in `separators`.
    ends: Vec<u32>,
    /// Length of the prefix that all separators have in common.
    common: usize,
    /// The first bytes of each separator behind that prefix, which decide most comparisons.
    prefixes: Vec<u64>,
    blocks: Vec<(u64, u32)>,
    filter: Bytes,
}

impl TableIndex {
    /// Appends an entry of an index to its encoding.
    pub(crate) fn encode_entry(out: &mut Vec<u8>, separator: &[u8], block: (u64, u32)) {
        put_varint(out, block.0);
        put_varint(out, u64::from(block.1));
        crate::codec::put_bytes(out, separator);
    }

    /// Reads an index with its filter; `None` if it is malformed.
    pub(crate) fn decode(raw: &[u8], filter: Bytes) -> Option<Self> {
        let mut index = Self { filter, ..Self::default() };
        let mut decoder = Decoder::new(raw);
        while !decoder.is_empty() {
            let block = (decoder.varint()?, u32::try_from(decoder.varint()?).ok()?);
            index.separators.extend_from_slice(decoder.bytes()?);
            index.ends.push(u32::try_from(index.separators.len()).ok()?);
            index.blocks.push(block);
        }
        index.separators.shrink_to_fit();
        // Separators ascend, so that a prefix of the first and the last is one of all.
        let last = index.blocks.len().checked_sub(1)?;
        index.common = common_len(index.separator(0), index.separator(last));
        let behind = |block| index.separator(block).get(index.common..).map(prefix_of);
        index.prefixes = (0..=last).map(behind).collect::<Option<_>>()?;
        Some(index)
    }

    fn separator(&self, block: usize) -> &[u8] {
        let start = if block == 0 { 0 } else { self.ends[block - 1] as usize };
        &self.separators[start..self.ends[block] as usize]
    }

    /// Returns the block that contains a key if the table does; the number of blocks if the key is
    /// above all.
    pub(crate) fn block_of(&self, key: &[u8]) -> usize {
        let first = &self.separators[..self.common];
        let Some((start, rest)) = key.split_at_checked(self.common) else {
            return if key < first { 0 } else { self.blocks.len() };
        };
        match start.cmp(first) {
            Ordering::Less => return 0,
            Ordering::Greater => return self.blocks.len(),
            Ordering::Equal => {}
        }
        let prefix = prefix_of(rest);
        let mut low = self.prefixes.partition_point(|other| *other < prefix);
        let same = self.prefixes[low..].partition_point(|other| *other == prefix);
        let mut high = low + same;
        while low < high {
            let middle = usize::midpoint(low, high);
            if key < self.separator(middle) { high = middle } else { low = middle + 1 }
        }
        low
    }

    /// Returns the places of the blocks.
    pub(crate) fn blocks(&self) -> &[(u64, u32)] {
        &self.blocks
    }

    /// Returns the bytes that the index and the filter occupy in memory.
    pub(crate) fn bytes(&self) -> u64 {
        (self.separators.len() + self.ends.len() * 12 + self.blocks.len() * 16 + self.filter.len())
            as u64
    }
}

/// A table in a version.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) meta: TableMeta,
    pub(crate) file: Arc<ListedFile>,
    index: OnceLock<Arc<TableIndex>>,
}

impl Table {
    pub(crate) fn new(meta: TableMeta, file: Arc<ListedFile>) -> Arc<Self> {
        Arc::new(Self { meta, file, index: OnceLock::new() })
    }

    fn damaged(&self, offset: u64, problem: &str) -> Error {
        Error::damaged(&file_name(self.meta.id), offset, problem)
    }

    /// Reads the footer of the table.
    pub(crate) fn footer(&self, files: &Files) -> Result<Footer> {
        let Some(at) = self.meta.bytes.checked_sub(FOOTER_BYTES as u64) else {
            return Err(self.damaged(0, "the table is too short"));
        };
        let bytes = files.read(self.meta.id, at, FOOTER_BYTES)?;
        Footer::decode(&bytes, self.meta.footer).ok_or_else(|| {
            self.damaged(at, "the footer differs from its entry in the list of files")
        })
    }

    /// Returns the index, reading it if this is the first use of the table.
    pub(crate) fn index(&self, files: &Files) -> Result<&Arc<TableIndex>> {
        if let Some(index) = self.index.get() {
            return Ok(index);
        }
        let footer = self.footer(files)?;
        let id = self.meta.id;
        let (index_at, index_len) = footer.index;
        let raw = files.read_frame(id, FrameKind::Index, index_at, index_len)?;
        let (filter_at, filter_len) = footer.filter;
        let filter = files.read_frame(id, FrameKind::Filter, filter_at, filter_len)?;
        let index = TableIndex::decode(&raw, filter)
            .ok_or_else(|| self.damaged(index_at, "the index is malformed"))?;
        // Another reader may have set it; both are the same.
        Ok(self.index.get_or_init(|| Arc::new(index)))
    }

    /// Returns the bytes that the index occupies in memory; 0 before the first use.
    pub(crate) fn index_bytes(&self) -> u64 {
        self.index.get().map_or(0, |index| index.bytes())
    }

    /// Returns the position of the block in which a version of a key with at most this number may
    /// be. `hash` is the key's hash.
    pub(crate) fn find(
        &self,
        files: &Files,
        key: &[u8],
        hash: u64,
        number: u64,
    ) -> Result<Option<usize>> {
        if key < self.meta.first_key.as_ref()
            || self.meta.last_key.as_ref() < key
            || number < self.meta.numbers.0
        {
            return Ok(None);
        }
        let index = self.index(files)?;
        if !key_filter::may_contain(&index.filter, hash) {
            return Ok(None);
        }
        Ok(Some(index.block_of(key)))
    }

    /// Returns a block by its position; `None` behind the last block.
    pub(crate) fn block(
        &self,
        files: &Files,
        number: usize,
        caching: Caching,
    ) -> Result<Option<Held>> {
        let Some((offset, len)) = self.index(files)?.blocks.get(number).copied() else {
            return Ok(None);
        };
        files.block(self.meta.id, offset, len, caching).map(Some)
    }

    /// Returns the error that the block at this position is malformed.
    pub(crate) fn malformed(&self, number: usize) -> Error {
        let index = self.index.get();
        let offset = index.and_then(|index| index.blocks.get(number)).map_or(0, |block| block.0);
        self.damaged(offset, "the block is malformed")
    }
}

/// Returns the shortest key that is above `last` and not above `next`, which is above `last`.
pub(crate) fn separator_between(last: &[u8], next: &[u8]) -> Vec<u8> {
    let shared = common_len(last, next);
    next[..(shared + 1).min(next.len())].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_are_short_and_between() {
        for (last, next, want) in
            [("abc", "abd", "abd"), ("abc", "b", "b"), ("a", "a\0x", "a\0"), ("", "zz", "z")]
        {
            let separator = separator_between(last.as_bytes(), next.as_bytes());
            assert_eq!(separator, want.as_bytes());
            assert!(last.as_bytes() < &separator[..] && &separator[..] <= next.as_bytes());
        }
    }

    #[test]
    fn the_block_of_a_key_is_that_of_the_first_separator_above_it() {
        for (separators, others) in [
            (vec!["db/a", "db/a1234567890", "db/a1234567891", "db/b"], vec!["d", "dc", "", "db/"]),
            (vec!["a", "a\0", "a\0\0", "b"], vec!["", "a\0\0\0\0\0\0\0\0", "zz"]),
            (vec!["key"], vec!["", "kex", "ke", "kez", "key1"]),
        ] {
            let mut raw = Vec::new();
            for (separator, at) in separators.iter().zip(0..) {
                TableIndex::encode_entry(&mut raw, separator.as_bytes(), (at, 7));
            }
            let index = TableIndex::decode(&raw, Bytes::new()).unwrap();
            for key in separators.iter().chain(&others) {
                let want = separators.iter().position(|separator| key < separator);
                let found = index.block_of(key.as_bytes());
                assert_eq!(found, want.unwrap_or(separators.len()), "{key:?} {separators:?}");
            }
        }
        assert!(TableIndex::decode(&[], Bytes::new()).is_none());
    }

    #[test]
    fn footers_are_read_back_or_refused() {
        let footer = Footer { index: (1, 2), filter: (3, 4), metadata: (5, 6) };
        let (bytes, checksum) = footer.encode();
        assert_eq!(bytes.len(), FOOTER_BYTES);
        assert_eq!(Footer::decode(&bytes, checksum), Some(footer));
        assert_eq!(Footer::decode(&bytes, checksum ^ 1), None);
        assert_eq!(Footer::decode(&bytes[1..], checksum), None);
    }
}
