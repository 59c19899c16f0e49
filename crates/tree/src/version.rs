//! A version: the files of one space at one moment. A version is immutable; an edit creates the
//! next one.
//!
//! ```text
//! runs      newest first; each is the result of a flush, and their keys overlap
//! level 1   tables with disjoint keys
//! level 2 ...
//! bodies    body files that tables refer to
//! ended     body files that were removed as a whole while tables still refer to them
//! ```
//!
//! The versions of a key are the newer the higher up their table is.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    body_file::BodyFile,
    codec::{Decoder, put_varint},
    metadata::{BodyMeta, TableMeta},
    options::LEVELS,
    table::Table,
    trash::{ListedFile, Trash},
};

/// A change of the files of a space, as the list of files stores it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Edit {
    /// A table was added: level 0 for the first runs, and the number of its run there.
    AddTable { space: u64, level: u8, run: u64, meta: TableMeta },
    /// A table was removed. If the same record adds it again, it was moved.
    RemoveTable { space: u64, table: u64 },
    /// A body file was created, extended or rewritten.
    SetBody { space: u64, meta: BodyMeta },
    /// All bodies of a file have ended.
    EndBody { space: u64, body: u64 },
    /// No table refers to a body file any more.
    RemoveBody { space: u64, body: u64 },
    /// The space was dropped with all its files.
    DropSpace { space: u64 },
}

/// Tables with disjoint keys, in order. Cursors share the list with the version.
pub(crate) type TableList = Arc<Vec<Arc<Table>>>;

/// The tables that a flush or move has added.
#[derive(Clone, Debug, Default)]
pub(crate) struct Run {
    pub(crate) number: u64,
    pub(crate) tables: TableList,
}

/// The files of a space.
#[derive(Clone, Debug)]
pub(crate) struct Version {
    pub(crate) runs: Vec<Run>,
    /// The sorted levels, from level 1.
    pub(crate) levels: [TableList; LEVELS],
    pub(crate) bodies: BTreeMap<u64, Arc<BodyFile>>,
    /// Number of bodies of ended files that tables refer to.
    pub(crate) ended: BTreeMap<u64, u64>,
    /// Bytes of the tables of each sorted level.
    pub(crate) level_bytes: [u64; LEVELS],
    /// Bytes of all bodies, and of the bodies to which tables refer.
    pub(crate) body_bytes: (u64, u64),
}

impl Default for Version {
    fn default() -> Self {
        Self {
            runs: Vec::new(),
            levels: Default::default(),
            bodies: BTreeMap::new(),
            ended: BTreeMap::new(),
            level_bytes: [0; LEVELS],
            body_bytes: (0, 0),
        }
    }
}

impl Edit {
    /// Returns the space that the edit changes.
    pub(crate) fn space(&self) -> u64 {
        match self {
            Self::AddTable { space, .. }
            | Self::RemoveTable { space, .. }
            | Self::SetBody { space, .. }
            | Self::EndBody { space, .. }
            | Self::RemoveBody { space, .. }
            | Self::DropSpace { space } => *space,
        }
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let tag = match self {
            Self::AddTable { .. } => 1,
            Self::RemoveTable { .. } => 2,
            Self::SetBody { .. } => 3,
            Self::EndBody { .. } => 4,
            Self::RemoveBody { .. } => 5,
            Self::DropSpace { .. } => 6,
        };
        out.push(tag);
        put_varint(out, self.space());
        match self {
            Self::AddTable { level, run, meta, .. } => {
                out.push(*level);
                put_varint(out, *run);
                meta.encode(out);
            }
            Self::SetBody { meta, .. } => meta.encode(out),
            Self::RemoveTable { table: id, .. }
            | Self::EndBody { body: id, .. }
            | Self::RemoveBody { body: id, .. } => put_varint(out, *id),
            Self::DropSpace { .. } => {}
        }
    }

    pub(crate) fn decode(decoder: &mut Decoder<'_>) -> Option<Self> {
        let (tag, space) = (decoder.u8()?, decoder.varint()?);
        Some(match tag {
            1 => {
                let (level, run) = (decoder.u8()?, decoder.varint()?);
                Self::AddTable { space, level, run, meta: TableMeta::decode(decoder)? }
            }
            2 => Self::RemoveTable { space, table: decoder.varint()? },
            3 => Self::SetBody { space, meta: BodyMeta::decode(decoder)? },
            4 => Self::EndBody { space, body: decoder.varint()? },
            5 => Self::RemoveBody { space, body: decoder.varint()? },
            6 => Self::DropSpace { space },
            _ => return None,
        })
    }
}

impl Version {
    /// Returns the version after some edits of the space, or why they do not fit. Files that both
    /// versions list are shared.
    pub(crate) fn after(&self, edits: &[Edit], trash: &Arc<Trash>) -> Result<Self, String> {
        let mut next = self.clone();
        let mut removed: BTreeMap<u64, Arc<Table>> = BTreeMap::new();
        for edit in edits {
            match edit {
                Edit::DropSpace { .. } => next = Self::default(),
                Edit::RemoveTable { table, .. } => {
                    let found = next.take_table(*table);
                    let found = found.ok_or_else(|| format!("table {table} is not listed"))?;
                    next.count_uses(&found.meta, false)?;
                    removed.insert(*table, found);
                }
                Edit::AddTable { level, run, meta, .. } => {
                    let table = removed.remove(&meta.id).unwrap_or_else(|| {
                        Table::new(meta.clone(), ListedFile::new(meta.id, trash))
                    });
                    next.count_uses(meta, true)?;
                    next.add_table(*level, *run, table)?;
                }
                Edit::SetBody { meta, .. } => next.set_body(meta, trash),
                Edit::EndBody { body, .. } => {
                    // The list on disk repeats ended files in its first record.
                    let used = next.bodies.remove(body).map_or(0, |body| body.used.0);
                    next.ended.insert(*body, used);
                }
                Edit::RemoveBody { body, .. } => {
                    let used = match next.bodies.remove(body) {
                        Some(body) => body.used.0,
                        None => next.ended.remove(body).unwrap_or(0),
                    };
                    if used != 0 {
                        return Err(format!("body file {body} was removed while it was used"));
                    }
                }
            }
        }
        next.check()?;
        next.sum_up();
        Ok(next)
    }

    /// Computes the sums, by which jobs are chosen without a walk over all tables.
    fn sum_up(&mut self) {
        for (bytes, list) in self.level_bytes.iter_mut().zip(&self.levels) {
            *bytes = list.iter().map(|table| table.meta.bytes).sum();
        }
        let bodies = self.bodies.values();
        self.body_bytes = bodies
            .fold((0, 0), |(all, used), body| (all + body.meta.raw_bytes, used + body.used.1));
    }

    fn take_table(&mut self, id: u64) -> Option<Arc<Table>> {
        let lists = self.runs.iter_mut().map(|run| &mut run.tables).chain(&mut self.levels);
        let mut found = None;
        for list in lists {
            if let Some(at) = list.iter().position(|table| table.meta.id == id) {
                found = Some(Arc::make_mut(list).remove(at));
                break;
            }
        }
        self.runs.retain(|run| !run.tables.is_empty());
        found
    }

    fn add_table(&mut self, level: u8, run: u64, table: Arc<Table>) -> Result<(), String> {
        let list = match usize::from(level) {
            0 => {
                let at = self.runs.partition_point(|other| run < other.number);
                if self.runs.get(at).is_none_or(|other| other.number != run) {
                    self.runs.insert(at, Run { number: run, tables: Arc::default() });
                }
                &mut self.runs[at].tables
            }
            level => self.levels.get_mut(level - 1).ok_or("a table is in an unknown level")?,
        };
        let at = list.partition_point(|other| other.meta.first_key < table.meta.first_key);
        Arc::make_mut(list).insert(at, table);
        Ok(())
    }

    fn set_body(&mut self, meta: &BodyMeta, trash: &Arc<Trash>) {
        let old = self.bodies.get(&meta.id);
        let same = old.filter(|old| old.meta.file == meta.file);
        let file =
            same.map_or_else(|| ListedFile::new(meta.file, trash), |old| Arc::clone(&old.file));
        let used = old.map_or((0, 0), |old| old.used);
        self.bodies.insert(meta.id, BodyFile::new(meta.clone(), file, used));
    }

    /// Adds or subtracts the bodies that a table refers to.
    fn count_uses(&mut self, meta: &TableMeta, add: bool) -> Result<(), String> {
        let change = |value: u64, by: u64| {
            let changed = if add { value.checked_add(by) } else { value.checked_sub(by) };
            changed.ok_or("the reference counts of body files are inconsistent")
        };
        for of in &meta.body_uses {
            if let Some(body) = self.bodies.get_mut(&of.body) {
                let used = (change(body.used.0, of.count)?, change(body.used.1, of.bytes)?);
                *body = BodyFile::new(body.meta.clone(), Arc::clone(&body.file), used);
            } else if let Some(used) = self.ended.get_mut(&of.body) {
                *used = change(*used, of.count)?;
            } else {
                return Err(format!("body file {} is not listed", of.body));
            }
        }
        Ok(())
    }

    /// Checks the order of the tables.
    fn check(&self) -> Result<(), String> {
        let lists = self.runs.iter().map(|run| &run.tables).chain(&self.levels);
        for list in lists {
            let ordered = |pair: &[Arc<Table>]| pair[0].meta.last_key < pair[1].meta.first_key;
            if !list.windows(2).all(ordered) {
                return Err("tables of a level overlap".to_owned());
            }
        }
        Ok(())
    }

    /// Returns the edits that create this version in an empty list.
    pub(crate) fn as_edits(&self, space: u64) -> Vec<Edit> {
        let bodies = self.bodies.values().map(|body| body.meta.clone());
        let mut edits: Vec<Edit> = bodies.map(|meta| Edit::SetBody { space, meta }).collect();
        edits.extend(self.ended.keys().map(|body| Edit::EndBody { space, body: *body }));
        for (level, run, table) in self.places() {
            edits.push(Edit::AddTable { space, level, run, meta: table.meta.clone() });
        }
        edits
    }

    /// Returns all tables with their level and run, the newest first.
    pub(crate) fn places(&self) -> impl Iterator<Item = (u8, u64, &Arc<Table>)> {
        let runs = self.runs.iter();
        let first = runs.flat_map(|run| run.tables.iter().map(|table| (0, run.number, table)));
        let levels = self.levels.iter().zip(1_u8..);
        first.chain(levels.flat_map(|(list, level)| list.iter().map(move |of| (level, 0, of))))
    }

    /// Returns all tables, the newest first.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.places().map(|(_, _, table)| table)
    }

    /// Returns whether the version lists no file.
    pub(crate) fn is_empty(&self) -> bool {
        self.tables().next().is_none() && self.bodies.is_empty()
    }

    /// Returns the lists of tables with disjoint keys, the newest first.
    pub(crate) fn sorted_lists(&self) -> impl Iterator<Item = &TableList> {
        let runs = self.runs.iter().map(|run| &run.tables);
        runs.chain(&self.levels).filter(|list| !list.is_empty())
    }

    /// Returns the bytes of all listed files.
    pub(crate) fn bytes(&self) -> u64 {
        let tables: u64 = self.tables().map(|table| table.meta.bytes).sum();
        tables + self.bodies.values().map(|body| body.meta.bytes).sum::<u64>()
    }

    /// Returns the numbers of the files on disk.
    pub(crate) fn file_ids(&self) -> impl Iterator<Item = u64> {
        let tables = self.tables().map(|table| table.meta.id);
        tables.chain(self.bodies.values().map(|body| body.meta.file))
    }

    /// Marks the files that `next` does not list any more, so that they are removed with their last
    /// reader. The edit between the versions must be durable.
    pub(crate) fn record_removed(&self, next: &Self) {
        let kept: std::collections::BTreeSet<u64> = next.file_ids().collect();
        let files = self.tables().map(|table| &table.file);
        for file in files.chain(self.bodies.values().map(|body| &body.file)) {
            if !kept.contains(&file.id) {
                file.record_removed();
            }
        }
    }
}

/// Returns the list of one table.
pub(crate) fn alone(table: &Arc<Table>) -> TableList {
    Arc::new(vec![Arc::clone(table)])
}

/// Returns the table of a sorted list that may contain a key.
pub(crate) fn table_of<'a>(list: &'a [Arc<Table>], key: &[u8]) -> Option<&'a Arc<Table>> {
    let at = list.partition_point(|table| table.meta.last_key.as_ref() < key);
    list.get(at).filter(|table| table.meta.first_key.as_ref() <= key)
}

/// Returns the tables of a sorted list that may contain keys between these, both included.
pub(crate) fn tables_between<'a>(
    list: &'a [Arc<Table>],
    first: &[u8],
    last: &[u8],
) -> &'a [Arc<Table>] {
    let start = list.partition_point(|table| table.meta.last_key.as_ref() < first);
    let end = list.partition_point(|table| table.meta.first_key.as_ref() <= last);
    &list[start..end.max(start)]
}
