//! Merges the versions of several sources in order.

use std::cmp::Ordering;

use crate::{
    codec::prefix_of,
    entry::{Entry, Slot, SlotRef},
    error::Result,
    hooks::DropFilter,
    memtable::MemtableCursor,
    pins::Retention,
    run_cursor::RunCursor,
};

/// A source of versions in order.
#[derive(Debug)]
pub(crate) enum Source {
    Memtable(MemtableCursor),
    Tables(RunCursor),
}

impl Source {
    fn key(&self) -> Option<&[u8]> {
        match self {
            Self::Memtable(cursor) => cursor.key(),
            Self::Tables(cursor) => cursor.key(),
        }
    }

    fn number(&self) -> u64 {
        match self {
            Self::Memtable(cursor) => cursor.number(),
            Self::Tables(cursor) => cursor.number(),
        }
    }

    fn slot(&self) -> Result<SlotRef<'_>> {
        match self {
            Self::Memtable(cursor) => Ok(cursor.slot()),
            Self::Tables(cursor) => cursor.slot(),
        }
    }

    fn entry(&self) -> Result<Option<Entry>> {
        match self {
            Self::Memtable(cursor) => Ok(cursor.entry()),
            Self::Tables(cursor) => cursor.entry().map(Some),
        }
    }

    fn advance(&mut self) -> Result<()> {
        match self {
            Self::Memtable(cursor) => cursor.advance(),
            Self::Tables(cursor) => cursor.advance()?,
        }
        Ok(())
    }
}

/// A source that is not at its end.
#[derive(Clone, Copy, Debug)]
struct Head {
    /// The first bytes of the current key, which decide most comparisons.
    prefix: u64,
    /// Position of the source; smaller ones are newer.
    source: usize,
}

/// The versions of several sources in order: forward, keys ascend and numbers of a key descend;
/// backward, the reverse. Keys are compared where the sources have them.
#[derive(Debug)]
pub(crate) struct Merge {
    sources: Vec<Source>,
    /// The sources by their current version; the next version is that of the last one.
    heads: Vec<Head>,
    forward: bool,
}

impl Merge {
    /// Creates the merge of sources that all read in this direction, the newest first.
    pub(crate) fn new(sources: Vec<Source>, forward: bool) -> Self {
        let heads = Vec::with_capacity(sources.len());
        let mut merge = Self { sources, heads, forward };
        for source in 0..merge.sources.len() {
            merge.add(source);
        }
        merge
    }

    /// Puts a source in its place among the heads, unless it is at its end.
    fn add(&mut self, source: usize) {
        let Some(key) = self.sources[source].key() else { return };
        let new = Head { prefix: prefix_of(key), source };
        // Neighbouring versions often come from the same source.
        let is_next = self.heads.last().is_none_or(|last| self.order(last, &new).is_gt());
        let at = if is_next {
            self.heads.len()
        } else {
            self.heads.partition_point(|head| self.order(head, &new).is_gt())
        };
        self.heads.insert(at, new);
    }

    /// Returns the order in which the current versions of two sources are read.
    fn order(&self, one: &Head, other: &Head) -> Ordering {
        let (this, that) = (&self.sources[one.source], &self.sources[other.source]);
        let order = one.prefix.cmp(&other.prefix);
        let order = order.then_with(|| this.key().cmp(&that.key()));
        let order = order.then_with(|| that.number().cmp(&this.number()));
        let order = if self.forward { order } else { order.reverse() };
        order.then(one.source.cmp(&other.source))
    }

    fn source(&self) -> Option<&Source> {
        self.heads.last().map(|head| &self.sources[head.source])
    }

    /// Returns the key of the next version; `None` at the end.
    pub(crate) fn key(&self) -> Option<&[u8]> {
        self.source()?.key()
    }

    /// Returns the number of the next version; 0 at the end.
    pub(crate) fn number(&self) -> u64 {
        self.source().map_or(0, Source::number)
    }

    /// Returns the value of the next version.
    pub(crate) fn slot(&self) -> Result<SlotRef<'_>> {
        self.source().map_or(Ok(SlotRef::Removed), Source::slot)
    }

    /// Passes the next version. After a failure the merge may not be used.
    pub(crate) fn advance(&mut self) -> Result<()> {
        if let Some(head) = self.heads.pop() {
            self.sources[head.source].advance()?;
            self.add(head.source);
        }
        Ok(())
    }

    /// Reads all versions of the next key in this order; leaves none at the end.
    pub(crate) fn next_key(&mut self, versions: &mut Vec<Entry>) -> Result<()> {
        versions.clear();
        while let Some(source) = self.source()
            && (versions.last()).is_none_or(|last| source.key() == Some(last.key.as_ref()))
        {
            versions.extend(source.entry()?);
            self.advance()?;
        }
        Ok(())
    }
}

/// Removes the versions of a key that a flush or compaction does not write. The versions are in
/// descending order; `oldest` says that no older version of the key is stored elsewhere.
pub(crate) fn retain(
    versions: &mut Vec<Entry>,
    retention: &Retention,
    filter: Option<&DropFilter>,
    oldest: bool,
) {
    let mut newer = None;
    versions.retain_mut(|entry| {
        let keep = retention.keeps(entry.number, newer);
        newer = Some(entry.number);
        if keep
            && let (Some(filter), Some(inline)) = (filter, entry.slot.inline())
            && filter(&entry.key, inline)
        {
            // The mark stays, so that no older version can surface.
            entry.slot = Slot::Removed;
        }
        keep
    });
    while oldest && versions.last().is_some_and(|last| last.slot == Slot::Removed) {
        versions.pop();
    }
}
