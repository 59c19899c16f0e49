//! Writing of tables: versions in order to files of a limited size.

use bytes::Bytes;

use crate::{
    block::BlockBuilder,
    entry::{Entry, Slot},
    error::Result,
    file_writer::{FileMaker, FileWriter},
    frame::{self, FrameKind},
    hooks::Hooks,
    key_filter,
    metadata::{BodyUse, Ending, TableMeta},
    options::{Layout, RESTART_INTERVAL},
    table::{Footer, TableIndex, separator_between},
};

/// Writes versions to tables. Tables that were not taken by [`finish`](Self::finish) are removed.
#[derive(Debug)]
pub(crate) struct TableWriter {
    maker: FileMaker,
    space: u64,
    layout: Layout,
    current: Option<Current>,
    finished: Vec<TableMeta>,
}

/// The table that is being written.
#[derive(Debug)]
struct Current {
    out: FileWriter,
    block: BlockBuilder,
    /// Encoded index of the completed blocks.
    index: Vec<u8>,
    /// The last completed block, whose separator depends on the next key.
    pending: Option<(u64, u32)>,
    hashes: Vec<u64>,
    last_key: Bytes,
    meta: TableMeta,
}

impl TableWriter {
    pub(crate) fn new(maker: &FileMaker, space: u64, layout: Layout) -> Self {
        Self { maker: maker.clone(), space, layout, current: None, finished: Vec::new() }
    }

    /// Appends all kept versions of a key, the newest first.
    pub(crate) fn add_key(&mut self, versions: &[Entry]) -> Result<()> {
        for (at, entry) in versions.iter().enumerate() {
            self.add(entry, 0 < at)?;
        }
        let full = |current: &Current| self.maker.options.table_bytes <= current.out.offset();
        if self.current.as_ref().is_some_and(full) {
            self.finish_table()?;
        }
        Ok(())
    }

    fn add(&mut self, entry: &Entry, superseded: bool) -> Result<()> {
        let current = match &mut self.current {
            Some(current) => current,
            current => {
                let out = self.maker.create()?;
                let interval = match self.layout {
                    Layout::Points => 1,
                    Layout::Ranges => RESTART_INTERVAL,
                };
                current.insert(Current::new(out, interval, &entry.key))
            }
        };
        if !superseded {
            if self.maker.options.block_bytes <= current.block.len() {
                current.finish_block()?;
            }
            if let Some(block) = current.pending.take() {
                let separator = separator_between(&current.last_key, &entry.key);
                TableIndex::encode_entry(&mut current.index, &separator, block);
            }
            current.hashes.push(key_filter::hash_of(&entry.key));
        }
        let hash = current.hashes.last().copied().unwrap_or_default();
        current.block.add(&entry.key, hash, entry.number, &entry.slot);
        current.last_key = entry.key.clone();
        current.count(&*self.maker.hooks, self.space, entry, superseded);
        Ok(())
    }

    fn finish_table(&mut self) -> Result<()> {
        let Some(current) = &mut self.current else { return Ok(()) };
        let meta = current.finish()?;
        self.finished.push(meta);
        self.current = None;
        Ok(())
    }

    /// Completes the last table and returns all. The files are durable, their names are not.
    pub(crate) fn finish(mut self) -> Result<Vec<TableMeta>> {
        self.finish_table()?;
        Ok(std::mem::take(&mut self.finished))
    }
}

impl Drop for TableWriter {
    fn drop(&mut self) {
        let trash = &self.maker.files.trash;
        for meta in &self.finished {
            trash.push_file(meta.id);
        }
        if let Some(current) = &self.current {
            trash.push_file(current.out.id());
        }
    }
}

impl Current {
    fn new(out: FileWriter, interval: usize, first_key: &Bytes) -> Self {
        let meta = TableMeta {
            id: out.id(),
            bytes: 0,
            footer: 0,
            // Copied, because the key may be a small part of a large buffer.
            first_key: Bytes::copy_from_slice(first_key),
            last_key: Bytes::new(),
            numbers: (u64::MAX, 0),
            entries: 0,
            removals: 0,
            superseded: 0,
            superseded_bytes: 0,
            endless: 0,
            endings: Vec::new(),
            body_uses: Vec::new(),
        };
        Self {
            out,
            block: BlockBuilder::new(interval),
            index: Vec::new(),
            pending: None,
            hashes: Vec::new(),
            last_key: Bytes::new(),
            meta,
        }
    }

    /// Adds a version to the statistics of the table.
    fn count(&mut self, hooks: &dyn Hooks, space: u64, entry: &Entry, superseded: bool) {
        let meta = &mut self.meta;
        meta.entries += 1;
        if superseded {
            meta.superseded += 1;
            meta.superseded_bytes += (entry.key.len() + entry.slot.value_len()) as u64;
        }
        meta.numbers = (meta.numbers.0.min(entry.number), meta.numbers.1.max(entry.number));
        let Some(inline) = entry.slot.inline() else {
            meta.removals += 1;
            return;
        };
        if let Slot::Apart { handle, .. } = &entry.slot {
            let of = match meta.body_uses.iter_mut().find(|of| of.body == handle.body) {
                Some(of) => of,
                None => {
                    meta.body_uses.push(BodyUse { body: handle.body, count: 0, bytes: 0 });
                    let last = meta.body_uses.len() - 1;
                    &mut meta.body_uses[last]
                }
            };
            of.count += 1;
            of.bytes += u64::from(handle.len);
        }
        let Some(end) = hooks.place(space, &entry.key, inline).end else {
            meta.endless += 1;
            return;
        };
        match meta.endings.iter_mut().find(|ending| ending.kind == end.kind) {
            Some(ending) => {
                ending.count += 1;
                ending.first = ending.first.min(end.at);
                ending.last = ending.last.max(end.at);
            }
            None => {
                meta.endings.push(Ending { kind: end.kind, count: 1, first: end.at, last: end.at })
            }
        }
    }

    fn finish_block(&mut self) -> Result<()> {
        if self.block.len() == 0 {
            return Ok(());
        }
        let (offset, raw) = (self.out.offset(), self.block.finish());
        let place = (self.out.id(), offset);
        let len = frame::encode(self.out.buffer(), place, FrameKind::Data, &raw, true);
        self.pending = Some((offset, len));
        self.out.write()
    }

    fn add_frame(&mut self, kind: FrameKind, raw: &[u8], try_lz4: bool) -> Result<(u64, u32)> {
        let offset = self.out.offset();
        let place = (self.out.id(), offset);
        let len = frame::encode(self.out.buffer(), place, kind, raw, try_lz4);
        self.out.write()?;
        Ok((offset, len))
    }

    fn finish(&mut self) -> Result<TableMeta> {
        self.finish_block()?;
        self.meta.last_key = Bytes::copy_from_slice(&self.last_key);
        if let Some(block) = self.pending.take() {
            let mut above = self.last_key.to_vec();
            above.push(0);
            TableIndex::encode_entry(&mut self.index, &above, block);
        }
        let index = std::mem::take(&mut self.index);
        let index = self.add_frame(FrameKind::Index, &index, false)?;
        let filter = key_filter::build(&self.hashes);
        let filter = self.add_frame(FrameKind::Filter, &filter, false)?;
        let mut metadata = Vec::new();
        self.meta.encode(&mut metadata);
        let metadata = self.add_frame(FrameKind::Metadata, &metadata, false)?;
        let (footer, checksum) = Footer { index, filter, metadata }.encode();
        self.out.buffer().extend_from_slice(&footer);
        self.meta.footer = checksum;
        self.meta.bytes = self.out.offset();
        self.out.finish()?;
        Ok(self.meta.clone())
    }
}
