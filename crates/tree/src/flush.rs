//! Flushes: the memtables of a space become a run of tables.
//!
//! ```text
//! seal -> sync the owner's log -> choose versions -> bodies, by group -> tables -> edit
//! ```

use std::sync::Arc;

use bytes::Bytes;

use crate::{
    body_writer::BodyWriter,
    entry::{Entry, Slot},
    error::{Error, Result},
    hooks::End,
    memtable::{Memtable, MemtableCursor},
    merge::{Merge, Source, retain},
    shared::{Claim, Shared},
    space::{FlushState, Space},
    table_writer::TableWriter,
    tree::Tree,
    version::{Edit, Version, tables_between},
};

/// A value whose larger part is stored apart.
struct Apart {
    /// Position of the entry in the flush.
    at: usize,
    inline: usize,
    end: Option<End>,
    group: u64,
}

/// The result of a flush; all zero if there was nothing to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlushReport {
    /// Memory of the written memtables in bytes. It is no longer part of the tree, but a running
    /// read may use it for a while.
    pub freed: u64,
    /// Bytes that were written to files.
    pub written: u64,
}

impl Tree {
    /// Writes the memtables of a space to tables. On failure they stay in memory for the next flush.
    /// Flushes of different spaces may run at the same time.
    pub fn flush(&self, space: u64) -> Result<FlushReport> {
        let space = self.shared.space(space)?;
        let mut flushing = space.flushing.lock();
        space.rotate(&self.shared.files().trash);
        let state = space.load_full();
        if state.sealed.is_empty() {
            return Ok(FlushReport::default());
        }
        let flush = Flush { shared: &self.shared, space: &space };
        flush.run(&mut flushing, &state.sealed, &state.version)
    }
}

struct Flush<'a> {
    shared: &'a Arc<Shared>,
    space: &'a Space,
}

impl Flush<'_> {
    fn run(
        &self,
        flushing: &mut FlushState,
        sealed: &[Arc<Memtable>],
        version: &Version,
    ) -> Result<FlushReport> {
        self.shared.check_working()?;
        let last = sealed.iter().map(|memtable| memtable.last_number()).max().unwrap_or(0);
        self.shared.maker.hooks.sync_log(last)?;
        let mut entries = self.entries_of(sealed, version)?;
        let mut edits = Vec::new();
        let mut claims = Vec::new();
        let written = self
            .write_bodies(flushing, &mut entries, &mut edits, &mut claims)
            .and_then(|()| self.write_tables(&entries, flushing.last_run + 1, &mut edits));
        let outcome =
            written.and_then(|()| self.shared.edit(self.space, edits.clone(), sealed, |_| true));
        match &outcome {
            Ok(Some(_)) => {
                flushing.last_run += 1;
                self.record_open_bodies(flushing, &edits);
            }
            Err(Error::Stopped(_)) => {}
            Ok(None) | Err(_) => {
                // Open files may end with a part of this flush, so none is continued.
                flushing.open_bodies.clear();
                self.shared.discard(self.space, &edits);
            }
        }
        drop(claims);
        let Some(replaced) = outcome? else { return Ok(FlushReport::default()) };
        // A drop of the space may have released the memtables before.
        let freed = replaced.sealed.iter().filter(|of| sealed.iter().any(|at| Arc::ptr_eq(at, of)));
        let freed = freed.map(|memtable| memtable.bytes()).sum();
        Ok(FlushReport { freed, written: written_by(&edits, version) })
    }

    /// Returns the versions to write, in order.
    fn entries_of(&self, sealed: &[Arc<Memtable>], version: &Version) -> Result<Vec<Entry>> {
        // The memtables may contain batches that are not published: all of these are kept.
        let retention = self.shared.pins.retention();
        let filter = self.shared.maker.hooks.filter(self.space.number);
        let sources = sealed
            .iter()
            .map(|memtable| Source::Memtable(MemtableCursor::forward(Arc::clone(memtable), b"")));
        let mut merge = Merge::new(sources.collect(), true);
        let (mut entries, mut versions) = (Vec::new(), Vec::new());
        loop {
            merge.next_key(&mut versions)?;
            let Some(first) = versions.first() else { return Ok(entries) };
            let key = first.key.clone();
            let in_tables =
                version.sorted_lists().any(|list| !tables_between(list, &key, &key).is_empty());
            retain(&mut versions, &retention, filter.as_ref(), !in_tables);
            entries.append(&mut versions);
        }
    }

    /// Writes large values to body files, and leaves their places in the entries. Files with the
    /// same ends are continued.
    fn write_bodies(
        &self,
        flushing: &FlushState,
        entries: &mut [Entry],
        edits: &mut Vec<Edit>,
        claims: &mut Vec<Claim>,
    ) -> Result<()> {
        let mut apart = self.apart_of(entries);
        apart.sort_by_key(|of| (of.end.map(|end| end.kind), of.group));
        let mut rest = apart.as_slice();
        while !rest.is_empty() {
            let (part, others) = rest.split_at(self.joined(rest, entries));
            rest = others;
            self.write_part(flushing, part, entries, edits, claims)?;
        }
        Ok(())
    }

    fn apart_of(&self, entries: &[Entry]) -> Vec<Apart> {
        let maker = &self.shared.maker;
        let mut apart = Vec::new();
        for (at, entry) in entries.iter().enumerate() {
            let Slot::Inline(value) = &entry.slot else { continue };
            if value.len() < maker.options.apart_bytes {
                continue;
            }
            let placement = maker.hooks.place(self.space.number, &entry.key, value);
            let inline = placement.inline.min(value.len());
            if maker.options.apart_bytes <= value.len() - inline {
                let (end, group) = (placement.end, placement.group);
                apart.push(Apart { at, inline, end, group });
            }
        }
        apart
    }

    /// Returns how many of these values go to the same file: a group, and further groups of the
    /// same kind as long as the file would be small.
    fn joined(&self, apart: &[Apart], entries: &[Entry]) -> usize {
        let kind = |of: &Apart| of.end.map(|end| end.kind);
        let (mut bytes, mut count) = (0, 0);
        while let Some(of) = apart.get(count) {
            if kind(of) != kind(&apart[0])
                || of.group != apart[count.saturating_sub(1)].group
                    && self.shared.maker.options.group_bytes <= bytes
            {
                break;
            }
            bytes += entries[of.at].slot.encoded_len() as u64;
            count += 1;
        }
        count
    }

    fn write_part(
        &self,
        flushing: &FlushState,
        part: &[Apart],
        entries: &mut [Entry],
        edits: &mut Vec<Edit>,
        claims: &mut Vec<Claim>,
    ) -> Result<()> {
        let maker = &self.shared.maker;
        let Some(last) = part.last() else { return Ok(()) };
        let label = (last.end.map(|end| end.kind), last.group);
        let mut writer = match self.continued(flushing, label, claims)? {
            Some(writer) => writer,
            None => BodyWriter::create(maker, last.group, part[0].end)?,
        };
        for (tag, of) in part.iter().enumerate() {
            if writer.is_full() {
                let next = BodyWriter::create(maker, last.group, of.end)?;
                self.finish_bodies(std::mem::replace(&mut writer, next), part, entries, edits)?;
            }
            let Slot::Inline(value) = &entries[of.at].slot else { continue };
            writer.add(tag, value.slice(of.inline..), of.end)?;
        }
        self.finish_bodies(writer, part, entries, edits)
    }

    /// Returns a writer that continues the open file of a group, if it may still be extended.
    fn continued(
        &self,
        flushing: &FlushState,
        label: (Option<u32>, u64),
        claims: &mut Vec<Claim>,
    ) -> Result<Option<BodyWriter>> {
        let Some(id) = flushing.open_bodies.get(&label) else { return Ok(None) };
        let Some(claim) = self.shared.claim(vec![*id]) else { return Ok(None) };
        // Listed still: nothing ends or rewrites the file while it is claimed.
        let version = Arc::clone(&self.space.load().version);
        let Some(body) = version.bodies.get(id) else { return Ok(None) };
        if body.meta.file != body.meta.id || body.meta.map.is_some() {
            return Ok(None);
        }
        claims.push(claim);
        BodyWriter::append(&self.shared.maker, &body.meta).map(Some)
    }

    fn finish_bodies(
        &self,
        writer: BodyWriter,
        part: &[Apart],
        entries: &mut [Entry],
        edits: &mut Vec<Edit>,
    ) -> Result<()> {
        let (meta, handles) = writer.finish()?;
        edits.push(Edit::SetBody { space: self.space.number, meta });
        // The tags are positions in `part`.
        for (at, handle) in handles {
            let Apart { at, inline, .. } = part[at];
            let Slot::Inline(value) = &entries[at].slot else { continue };
            // Copied, because the value would keep the whole body in memory.
            let inline = Bytes::copy_from_slice(&value[..inline]);
            entries[at].slot = Slot::Apart { handle, inline };
        }
        Ok(())
    }

    fn write_tables(&self, entries: &[Entry], run: u64, edits: &mut Vec<Edit>) -> Result<()> {
        let (space, layout) = (self.space.number, self.space.layout());
        let mut writer = TableWriter::new(&self.shared.maker, space, layout);
        for versions in entries.chunk_by(|one, other| one.key == other.key) {
            writer.add_key(versions)?;
        }
        let add = |meta| Edit::AddTable { space, level: 0, run, meta };
        edits.extend(writer.finish()?.into_iter().map(add));
        Ok(())
    }

    /// Remembers the body files that the next flush may continue.
    fn record_open_bodies(&self, flushing: &mut FlushState, edits: &[Edit]) {
        let options = &self.shared.maker.options;
        for edit in edits {
            let Edit::SetBody { meta, .. } = edit else { continue };
            let label = (meta.end.map(|end| end.kind), meta.group);
            if meta.bytes < options.body_file_bytes {
                flushing.open_bodies.insert(label, meta.id);
            } else {
                flushing.open_bodies.remove(&label);
            }
        }
        while options.open_groups < flushing.open_bodies.len() {
            // The oldest file has the smallest number.
            let oldest = flushing.open_bodies.iter().min_by_key(|(_, body)| **body);
            let Some(label) = oldest.map(|(label, _)| *label) else { break };
            flushing.open_bodies.remove(&label);
        }
    }
}

/// Returns the bytes by which these edits extend the files of a version.
fn written_by(edits: &[Edit], version: &Version) -> u64 {
    let written = |edit: &Edit| match edit {
        Edit::AddTable { meta, .. } => meta.bytes,
        Edit::SetBody { meta, .. } => {
            let before = version.bodies.get(&meta.id).map_or(0, |body| body.meta.bytes);
            meta.bytes.saturating_sub(before)
        }
        _ => 0,
    };
    edits.iter().map(written).sum()
}
