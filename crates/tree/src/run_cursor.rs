//! Reads the versions in a list of tables with disjoint keys, in ascending or descending order.

use std::sync::Arc;

use crate::{
    entry::Entry,
    error::Result,
    files::{Caching, Files},
    table::Table,
};

/// The position of a scan in a sorted list of tables.
#[derive(Debug)]
pub(crate) struct RunCursor {
    files: Arc<Files>,
    caching: Caching,
    forward: bool,
    /// The tables that are not finished; the current one is the last.
    tables: Vec<Arc<Table>>,
    /// Block of the current table and group of the block to read next; `None` at the end of the
    /// table.
    next: Option<(usize, usize)>,
    /// Entries of the current group, the next one last.
    entries: Vec<Entry>,
}

impl RunCursor {
    /// Creates a cursor at the first version with at least this key.
    pub(crate) fn forward(
        files: &Arc<Files>,
        caching: Caching,
        tables: &[Arc<Table>],
        from: &[u8],
    ) -> Result<Self> {
        let start = tables.partition_point(|table| table.meta.last_key.as_ref() < from);
        let tables: Vec<_> = tables[start..].iter().rev().cloned().collect();
        let next = match tables.last() {
            Some(table) => Some(table.place_of(files, from, caching)?),
            None => None,
        };
        let mut cursor = Self::new(files, caching, true, tables, next);
        // The first group may begin before the key.
        while cursor.load()? {
            while cursor.entries.last().is_some_and(|entry| entry.key.as_ref() < from) {
                cursor.entries.pop();
            }
            if !cursor.entries.is_empty() {
                break;
            }
        }
        Ok(cursor)
    }

    /// Creates a cursor at the last version with a key below this one, or at the last of all.
    pub(crate) fn backward(
        files: &Arc<Files>,
        caching: Caching,
        tables: &[Arc<Table>],
        below: Option<&[u8]>,
    ) -> Result<Self> {
        let is_below = |table: &Arc<Table>| below.is_none_or(|key| table.meta.first_key < key);
        let end = tables.partition_point(is_below);
        let tables = tables[..end].to_vec();
        let next = match (tables.last(), below) {
            (Some(table), Some(key)) => {
                let place = table.place_of(files, key, caching)?;
                let blocks = table.index(files)?.blocks().len();
                // A key above all leads behind the last block.
                Some(if place.0 < blocks { place } else { (blocks.saturating_sub(1), usize::MAX) })
            }
            (Some(table), None) => Some(last_place(table, files)?),
            (None, _) => None,
        };
        let mut cursor = Self::new(files, caching, false, tables, next);
        while cursor.load()? {
            while let Some(key) = below
                && cursor.entries.last().is_some_and(|entry| key <= entry.key.as_ref())
            {
                cursor.entries.pop();
            }
            if !cursor.entries.is_empty() {
                break;
            }
        }
        Ok(cursor)
    }

    fn new(
        files: &Arc<Files>,
        caching: Caching,
        forward: bool,
        tables: Vec<Arc<Table>>,
        next: Option<(usize, usize)>,
    ) -> Self {
        Self { files: Arc::clone(files), caching, forward, tables, next, entries: Vec::new() }
    }

    /// Reads the next group of entries; returns false at the end.
    fn load(&mut self) -> Result<bool> {
        loop {
            let Some(table) = self.tables.last() else { return Ok(false) };
            if let Some(place) = self.next {
                let entries = &mut self.entries;
                if let Some(groups) = table.read_group(&self.files, place, self.caching, entries)? {
                    self.next = if self.forward {
                        self.entries.reverse();
                        let last = groups <= place.1 + 1;
                        Some(if last { (place.0 + 1, 0) } else { (place.0, place.1 + 1) })
                    } else {
                        match (place.0, place.1.min(groups - 1)) {
                            (0, 0) => None,
                            (block, 0) => Some((block - 1, usize::MAX)),
                            (block, group) => Some((block, group - 1)),
                        }
                    };
                    return Ok(true);
                }
            }
            self.tables.pop();
            self.next = match self.tables.last() {
                Some(_) if self.forward => Some((0, 0)),
                Some(table) => Some(last_place(table, &self.files)?),
                None => None,
            };
        }
    }

    pub(crate) fn next(&mut self) -> Result<Option<Entry>> {
        loop {
            if let Some(entry) = self.entries.pop() {
                return Ok(Some(entry));
            }
            if !self.load()? {
                return Ok(None);
            }
        }
    }
}

/// Returns the place of the last entries of a table.
fn last_place(table: &Table, files: &Files) -> Result<(usize, usize)> {
    Ok((table.index(files)?.blocks().len().saturating_sub(1), usize::MAX))
}
