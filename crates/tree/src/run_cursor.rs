//! Reads the versions in a list of tables with disjoint keys, in ascending or descending order.

use std::sync::Arc;

use crate::{
    block::Block,
    cache::{Held, Item},
    entry::{Entry, SlotRef},
    error::{Error, Result},
    files::{Caching, Files},
    group::Group,
    table::Table,
    version::TableList,
};

/// The block in which a cursor is.
#[derive(Debug)]
struct OpenBlock {
    /// Position of the block in its table.
    number: usize,
    item: Arc<Item>,
    /// The group that was read.
    group: usize,
}

impl OpenBlock {
    fn block(&self) -> Option<&Block> {
        self.item.block()
    }

    /// Returns the number of groups of the block; 0 if it is malformed.
    fn groups(&self) -> usize {
        self.block().map_or(0, Block::groups)
    }
}

/// The position of a scan in a sorted list of tables. Each block is looked up once.
#[derive(Debug)]
pub(crate) struct RunCursor {
    files: Arc<Files>,
    caching: Caching,
    forward: bool,
    tables: TableList,
    /// Position of the current table; outside the list at the end.
    table: usize,
    open: Option<OpenBlock>,
    /// The entries of the current group.
    group: Group,
    /// Position of the current version in the group; behind its end at the end of the list.
    at: usize,
}

impl RunCursor {
    /// Creates a cursor at the first version with at least this key.
    pub(crate) fn forward(
        files: &Arc<Files>,
        caching: Caching,
        tables: &TableList,
        from: &[u8],
    ) -> Result<Self> {
        let start = tables.partition_point(|table| table.meta.last_key.as_ref() < from);
        let mut cursor = Self::new(files, caching, true, tables, start);
        if let Some(table) = cursor.table() {
            let block = table.index(files)?.block_of(from);
            cursor.seek(block, from)?;
        }
        // The group may begin before the key.
        while cursor.key().is_some_and(|key| key < from) {
            cursor.advance()?;
        }
        Ok(cursor)
    }

    /// Creates a cursor at the last version with a key below this one, or at the last of all.
    pub(crate) fn backward(
        files: &Arc<Files>,
        caching: Caching,
        tables: &TableList,
        below: Option<&[u8]>,
    ) -> Result<Self> {
        let is_below = |table: &Arc<Table>| below.is_none_or(|key| table.meta.first_key < key);
        let end = tables.partition_point(is_below);
        let mut cursor = Self::new(files, caching, false, tables, end.wrapping_sub(1));
        match (cursor.table(), below) {
            (Some(table), Some(below)) => {
                let index = table.index(files)?;
                let block = index.block_of(below);
                if block < index.blocks().len() {
                    cursor.seek(block, below)?;
                } else {
                    cursor.open_last()?;
                }
            }
            (Some(_), None) => cursor.open_last()?,
            (None, _) => {}
        }
        while let Some(below) = below
            && cursor.key().is_some_and(|key| below <= key)
        {
            cursor.advance()?;
        }
        Ok(cursor)
    }

    fn new(
        files: &Arc<Files>,
        caching: Caching,
        forward: bool,
        tables: &TableList,
        table: usize,
    ) -> Self {
        Self {
            files: Arc::clone(files),
            caching,
            forward,
            tables: Arc::clone(tables),
            table,
            open: None,
            group: Group::default(),
            at: 0,
        }
    }

    fn table(&self) -> Option<&Arc<Table>> {
        self.tables.get(self.table)
    }

    /// Moves to the group of a block of the current table in which a search for a key begins.
    fn seek(&mut self, number: usize, key: &[u8]) -> Result<()> {
        if self.open_block(number)? {
            let group = self.open.as_ref().and_then(|open| open.block()?.group_of(key));
            self.read_group(group)?;
        }
        self.skip_ends()
    }

    /// Moves to the last group of the current table.
    fn open_last(&mut self) -> Result<()> {
        let Some(table) = self.table() else { return Ok(()) };
        let last = table.index(&self.files)?.blocks().len().saturating_sub(1);
        if self.open_block(last)? {
            self.read_last_group()?;
        }
        self.skip_ends()
    }

    /// Reads a block of the current table; returns false behind its last block.
    fn open_block(&mut self, number: usize) -> Result<bool> {
        self.group.clear();
        self.open = None;
        let Some(table) = self.table() else { return Ok(false) };
        let held = table.block(&self.files, number, self.caching)?;
        let item = held.and_then(Held::into_item);
        self.open = item.map(|item| OpenBlock { number, item, group: 0 });
        Ok(self.open.is_some())
    }

    fn read_last_group(&mut self) -> Result<()> {
        let last = self.open.as_ref().and_then(|open| open.groups().checked_sub(1));
        self.read_group(last)
    }

    /// Reads a group of the open block; `None` stands for a malformed block.
    fn read_group(&mut self, group: Option<usize>) -> Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let read = group.and_then(|number| {
            open.group = number;
            self.group.read(open.item.block()?, number)
        });
        if read.is_none() {
            return self.malformed();
        }
        self.at = if self.forward { 0 } else { self.group.len().wrapping_sub(1) };
        Ok(())
    }

    /// Fails because the open block is malformed.
    fn malformed<T>(&self) -> Result<T> {
        let number = self.open.as_ref().map_or(0, |open| open.number);
        let error = self.table().map(|table| table.malformed(number));
        Err(error.unwrap_or_else(|| Error::Refused("the cursor is at its end".to_owned())))
    }

    /// Moves to the next group with entries while the position is outside the current one.
    fn skip_ends(&mut self) -> Result<()> {
        while self.group.len() <= self.at && self.table < self.tables.len() {
            if self.forward { self.next_group()? } else { self.previous_group()? }
        }
        Ok(())
    }

    fn next_group(&mut self) -> Result<()> {
        if let Some(open) = &self.open {
            let (number, group) = (open.number, open.group);
            if group + 1 < open.groups() {
                return self.read_group(Some(group + 1));
            }
            if self.open_block(number + 1)? {
                return self.read_group(Some(0));
            }
        }
        self.table += 1;
        if self.open_block(0)? { self.read_group(Some(0)) } else { Ok(()) }
    }

    fn previous_group(&mut self) -> Result<()> {
        if let Some(open) = &self.open {
            match (open.number, open.group) {
                (0, 0) => {}
                (number, 0) => {
                    self.open_block(number - 1)?;
                    return self.read_last_group();
                }
                (_, group) => return self.read_group(Some(group - 1)),
            }
        }
        self.table = self.table.wrapping_sub(1);
        let Some(table) = self.table() else { return self.open_block(0).map(drop) };
        let last = table.index(&self.files)?.blocks().len().saturating_sub(1);
        if self.open_block(last)? { self.read_last_group() } else { Ok(()) }
    }

    /// Returns the key of the current version; `None` at the end.
    pub(crate) fn key(&self) -> Option<&[u8]> {
        self.group.key(self.open.as_ref()?.block()?, self.at)
    }

    /// Returns the number of the current version; 0 at the end.
    pub(crate) fn number(&self) -> u64 {
        self.group.number(self.at).unwrap_or(0)
    }

    /// Returns the value of the current version.
    pub(crate) fn slot(&self) -> Result<SlotRef<'_>> {
        let slot = self.open.as_ref().and_then(|open| self.group.slot(open.block()?, self.at));
        slot.map_or_else(|| self.malformed(), Ok)
    }

    /// Returns the current version; its bytes may keep the block in memory.
    pub(crate) fn entry(&self) -> Result<Entry> {
        let entry = self.open.as_ref().and_then(|open| self.group.entry(open.block()?, self.at));
        entry.map_or_else(|| self.malformed(), Ok)
    }

    /// Moves to the next version in the direction of the cursor.
    pub(crate) fn advance(&mut self) -> Result<()> {
        self.at = if self.forward { self.at + 1 } else { self.at.wrapping_sub(1) };
        self.skip_ends()
    }

    /// Returns the current version and moves on; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Entry>> {
        if self.key().is_none() {
            return Ok(None);
        }
        let entry = self.entry()?;
        self.advance()?;
        Ok(Some(entry))
    }
}
