//! Figures about a tree, for metrics and for decisions of its owner.

use std::sync::atomic::Ordering;

use crate::{error::Result, metadata::Ending, space::Space, tree::Tree};

/// Figures about one space, at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpaceFigures {
    /// Memory of the memtables in bytes, and their entries.
    pub memory_bytes: u64,
    /// Number of versions in memtables.
    pub memory_entries: u64,
    /// Number of first runs, which overlap each other.
    pub runs: u64,
    /// Number of tables and their size in bytes.
    pub tables: u64,
    /// Size of the tables in bytes.
    pub table_bytes: u64,
    /// Memory of the indexes and filters in bytes.
    pub index_bytes: u64,
    /// Number of versions in tables.
    pub entries: u64,
    /// Number of versions that are deletions.
    pub removals: u64,
    /// Number of versions with a newer version of the key in the same table.
    pub superseded: u64,
    /// Bytes of the keys and values of these versions.
    pub superseded_bytes: u64,
    /// Number of listed body files.
    pub body_files: u64,
    /// Size of the body files in bytes.
    pub body_file_bytes: u64,
    /// Bytes of bodies in these files, before compression.
    pub body_bytes: u64,
    /// Bytes of those bodies to which no table refers.
    pub dead_body_bytes: u64,
    /// Number of values in tables without an end.
    pub endless: u64,
    /// Values in tables by the kind of their end, with the first and the last end.
    pub endings: Vec<Ending>,
}

/// Figures about a tree, at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeFigures {
    /// Memory of all memtables in bytes.
    pub memory_bytes: u64,
    /// Memory of flushed memtables that running reads still use.
    pub held_bytes: u64,
    /// Memory of cached blocks in bytes.
    pub cached_bytes: u64,
    /// Memory of indexes and filters in bytes.
    pub index_bytes: u64,
    /// Size of all listed files in bytes.
    pub file_bytes: u64,
    /// Bytes of versions with a newer version of the key in the same table, which open snapshots
    /// see or saw when the table was written.
    pub superseded_bytes: u64,
}

impl Tree {
    /// Returns figures about a space.
    pub fn space_figures(&self, space: u64) -> Result<SpaceFigures> {
        Ok(figures_of(&*self.shared.space(space)?))
    }

    /// Returns figures about all spaces together.
    pub fn figures(&self) -> TreeFigures {
        let cached_bytes = self.shared.files().cached_bytes();
        let mut figures = TreeFigures { cached_bytes, ..TreeFigures::default() };
        for space in self.shared.all_spaces().values() {
            let state = space.load_full();
            figures.memory_bytes += space.memory().map_or(0, |memory| memory.bytes);
            figures.file_bytes += state.version.bytes();
            let indexes = state.version.tables().map(|table| table.index_bytes());
            figures.index_bytes += indexes.sum::<u64>();
            let superseded = state.version.tables().map(|table| table.meta.superseded_bytes);
            figures.superseded_bytes += superseded.sum::<u64>();
        }
        let used = self.shared.files().trash.memtable_bytes.load(Ordering::Relaxed);
        figures.held_bytes = used.saturating_sub(figures.memory_bytes);
        figures
    }
}

fn figures_of(space: &Space) -> SpaceFigures {
    let version = std::sync::Arc::clone(&space.load().version);
    let memory = space.memory();
    let mut figures = SpaceFigures {
        memory_bytes: memory.map_or(0, |memory| memory.bytes),
        memory_entries: memory.map_or(0, |memory| memory.entries),
        runs: version.runs.len() as u64,
        body_files: version.bodies.len() as u64,
        body_bytes: version.body_bytes.0,
        dead_body_bytes: version.body_bytes.0.saturating_sub(version.body_bytes.1),
        ..SpaceFigures::default()
    };
    figures.body_file_bytes = version.bodies.values().map(|body| body.meta.bytes).sum();
    for table in version.tables() {
        let meta = &table.meta;
        figures.tables += 1;
        figures.table_bytes += meta.bytes;
        figures.index_bytes += table.index_bytes();
        figures.entries += meta.entries;
        figures.removals += meta.removals;
        figures.superseded += meta.superseded;
        figures.superseded_bytes += meta.superseded_bytes;
        figures.endless += meta.endless;
        for ending in &meta.endings {
            add_ending(&mut figures.endings, ending);
        }
    }
    figures
}

fn add_ending(endings: &mut Vec<Ending>, ending: &Ending) {
    match endings.iter_mut().find(|of| of.kind == ending.kind) {
        Some(of) => {
            of.count += ending.count;
            of.first = of.first.min(ending.first);
            of.last = of.last.max(ending.last);
        }
        None => endings.push(*ending),
    }
}
