//! Merges the versions of several sources in order.

use std::{
    cmp::Ordering,
    collections::{BinaryHeap, binary_heap::PeekMut},
};

use crate::{
    entry::{Entry, Slot},
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
    fn next(&mut self) -> Result<Option<Entry>> {
        match self {
            Self::Memtable(cursor) => Ok(cursor.next()),
            Self::Tables(cursor) => cursor.next(),
        }
    }
}

/// The next version of a source. The greatest one comes first.
#[derive(Debug)]
struct Head {
    entry: Entry,
    /// Position of the source; smaller ones are newer.
    source: usize,
    forward: bool,
}

impl Ord for Head {
    fn cmp(&self, other: &Self) -> Ordering {
        let (this, that) = (&self.entry, &other.entry);
        let order = that.key.cmp(&this.key).then(this.number.cmp(&that.number));
        let order = if self.forward { order } else { order.reverse() };
        order.then(other.source.cmp(&self.source))
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Head {}

/// The versions of several sources in order: forward, keys ascend and numbers of a key descend;
/// backward, the reverse.
#[derive(Debug)]
pub(crate) struct Merge {
    sources: Vec<Source>,
    heads: BinaryHeap<Head>,
}

impl Merge {
    /// Creates the merge of sources that all read in this direction, the newest first.
    pub(crate) fn new(mut sources: Vec<Source>, forward: bool) -> Result<Self> {
        let mut heads = BinaryHeap::with_capacity(sources.len());
        for (at, source) in sources.iter_mut().enumerate() {
            if let Some(entry) = source.next()? {
                heads.push(Head { entry, source: at, forward });
            }
        }
        Ok(Self { sources, heads })
    }

    pub(crate) fn next(&mut self) -> Result<Option<Entry>> {
        let Some(mut head) = self.heads.peek_mut() else { return Ok(None) };
        Ok(Some(match self.sources[head.source].next()? {
            Some(next) => std::mem::replace(&mut head.entry, next),
            None => PeekMut::pop(head).entry,
        }))
    }

    /// Returns the key of the next version.
    pub(crate) fn peek(&self) -> Option<&bytes::Bytes> {
        self.heads.peek().map(|head| &head.entry.key)
    }

    /// Reads all versions of the next key in this order; leaves none at the end.
    pub(crate) fn next_key(&mut self, versions: &mut Vec<Entry>) -> Result<()> {
        versions.clear();
        while self.peek().is_some_and(|key| versions.last().is_none_or(|last| last.key == *key)) {
            versions.extend(self.next()?);
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
