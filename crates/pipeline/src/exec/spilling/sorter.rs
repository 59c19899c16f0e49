//! Sorts any number of rows: rows beyond the memory limit are spilled as sorted runs, which are
//! merged at the end. The sort is stable.
//!
//! It is an external merge sort. Rows are collected in memory; when they exceed the limit, they are
//! sorted and written as a run. As soon as there are enough runs of the same level (the number of
//! merges of their rows), they are merged into one of the next level. So there are never many runs,
//! and every row is written about as often as there are levels. Only adjacent runs are merged, and
//! of equal rows those of an earlier run come first, which keeps the sort stable.
//!
//! ```text
//! level 0   r r r r ... (16)  -> merged ->  level 1   R
//! level 1   R R R R ... (16)  -> merged ->  level 2   ...
//! end       the remaining runs are merged while they are read
//! ```
//!
//! With a limit, at most about twice that number of rows is held, and no run is longer than the
//! limit.

use document::{DocBuf, DocRef, Document};
use evaluation::{Context, Error, Kind, OperationMemory, memory_of};
use spill::{Run, TempFile, Writer};

use super::{
    bytes::{RecordBytes, put_bytes},
    can_write, damaged_record, file_failed,
    merge::Merge,
};
use crate::{
    exec::{Meter, Row, joins::Shared, meter::MAX_STAGE_BYTES},
    sort::{Sort, SortKey},
};

/// Maximum number of runs merged at once; each is read through its own buffer.
const FAN_IN: usize = 16;
/// The memory that a merge may take.
const MERGE_BYTES: usize = MAX_STAGE_BYTES / 2;
/// Estimated memory of a record during a merge, as a multiple of its size: bytes, key and document.
const COPIES: usize = 4;
/// Minimum number of rows held beyond the limit before they are sorted.
const MIN_SPARE: usize = 16;
/// Bytes of rows from which a sort keeps its thread long without yielding. The thread's other tasks
/// are handed to another thread before such a sort.
const LONG_ORDER: usize = 4 * 1024 * 1024;

/// A row and its sort key.
#[derive(Debug)]
pub(in crate::exec) struct Entry {
    pub(in crate::exec) key: SortKey,
    pub(in crate::exec) row: Row,
}

impl Entry {
    /// Returns the approximate memory of the row and its sort key, in bytes.
    fn weight_of_entry(&self) -> usize {
        let key = self.key.0.iter().map(|value| memory_of(value.as_ref())).sum::<usize>();
        key + self.row.memory_bytes()
    }
}

/// Sorts rows: rows are added, then the input is finished, then the rows are read in order.
#[derive(Debug)]
pub(in crate::exec) struct Sorter {
    sort: Sort,
    limit: Option<usize>,
    /// With a limit: the sort key of the last of the first `limit` rows so far. A later row has to
    /// sort before it.
    cutoff: Option<SortKey>,
    /// Rows in memory with their sort keys, in the order of their arrival.
    held: Vec<Entry>,
    /// Memory of `held` in bytes. The meter also counts the stages and contexts of spilled rows.
    bytes: usize,
    meter: Meter,
    spilled: Option<Spilled>,
    out: SorterOutput,
}

/// Spilled rows. The file has no name and is deleted with the sorter.
#[derive(Debug)]
struct Spilled {
    /// The file of all runs.
    file: TempFile,
    /// Runs in the order in which their rows arrived, each with its merge level.
    runs: Vec<(u32, Run)>,
    /// Stages and contexts that the rows of all runs share.
    shared: Shared,
    /// Memory of `shared`, which depends on the number of contexts rather than rows.
    kept: usize,
}

#[derive(Debug)]
enum SorterOutput {
    /// The input has not ended, so that no row can be returned.
    Unfinished,
    /// All rows fit in memory, and are sorted.
    Memory(std::vec::IntoIter<Entry>),
    /// The merge of all runs, and the number of rows that may still be read.
    Files(Merge, usize),
}

impl Sorter {
    /// Creates a sort of at most `limit` rows.
    pub(in crate::exec) fn new(
        stage: &'static str,
        sort: Sort,
        limit: Option<usize>,
        operation_memory: &OperationMemory,
    ) -> Self {
        Self {
            sort,
            limit,
            cutoff: None,
            held: Vec::new(),
            bytes: 0,
            meter: Meter::new(stage, operation_memory),
            spilled: None,
            out: SorterOutput::Unfinished,
        }
    }

    pub(in crate::exec) fn sort_order(&self) -> &Sort {
        &self.sort
    }

    /// Returns whether the input has ended.
    pub(in crate::exec) fn is_finished(&self) -> bool {
        !matches!(self.out, SorterOutput::Unfinished)
    }

    /// Adds a row with its sort key. If memory is short, spills first. Fails if that is not
    /// possible either.
    pub(in crate::exec) fn add_entry(
        &mut self,
        entry: Entry,
        context: &Context,
    ) -> Result<(), Error> {
        let bytes = entry.weight_of_entry();
        if self.meter.is_scarce() && can_write(self.bytes, context) {
            // The remaining memory is left to operations that cannot spill.
            self.write_out(context)?;
        }
        if let Err(error) = self.meter.add_bytes(bytes) {
            // After spilling the entry fits, unless other operations hold all memory.
            self.make_room(error, context)?;
            self.meter.add_bytes(bytes)?;
        }
        self.bytes += bytes;
        self.held.push(entry);
        // With a limit, at most about twice that number of rows is held. The first time, rows are
        // sorted as soon as the limit is reached, which sets `cutoff`.
        let spare = |limit: usize| if self.cutoff.is_none() { 0 } else { limit.max(MIN_SPARE) };
        if self.limit.is_some_and(|limit| limit.saturating_add(spare(limit)) <= self.held.len()) {
            self.sort_held(context)?;
        }
        Ok(())
    }

    /// Returns whether a row, if added now, would be beyond the limit.
    pub(in crate::exec) fn is_beyond(&self, document: DocRef<'_>, context: &Context) -> bool {
        let collation = context.collation();
        self.cutoff
            .as_ref()
            .is_some_and(|cutoff| self.sort.compare_with_key(document, cutoff, collation).is_ge())
    }

    /// Ends the input. If rows were spilled, merges runs until the remaining ones can be read at
    /// once.
    pub(in crate::exec) fn finish_input(&mut self, context: &Context) -> Result<(), Error> {
        self.sort_held(context)?;
        if self.spilled.is_none() {
            self.out = SorterOutput::Memory(std::mem::take(&mut self.held).into_iter());
            return Ok(());
        }
        // Merging blocks on the disk.
        context.budget.before_waiting();
        self.write_run(context)?;
        let Some(spilled) = &mut self.spilled else { return Ok(()) };
        loop {
            // Recomputed, since merged runs may contain larger records.
            let fan_in = fan_in(&spilled.runs);
            let Some(surplus) = spilled.runs.len().checked_sub(fan_in).filter(|it| 0 < *it) else {
                break;
            };
            // Merging n runs leaves n - 1 fewer, so no more are merged than necessary.
            spilled.merge_last((surplus + 1).min(fan_in), &self.sort, self.limit, context)?;
        }
        let runs: Vec<Run> = spilled.runs.drain(..).map(|(_, run)| run).collect();
        self.meter.add_bytes(runs.iter().map(merge_bytes).sum())?;
        let left = self.limit.unwrap_or(usize::MAX);
        self.out = SorterOutput::Files(Merge::new(runs, &self.sort)?, left);
        Ok(())
    }

    /// Returns the next row in order; `None` after the last row, and before the end of the input.
    pub(in crate::exec) fn next_entry(
        &mut self,
        context: &Context,
    ) -> Result<Option<Entry>, Error> {
        if matches!(self.out, SorterOutput::Files(..)) {
            context.budget.before_waiting();
        }
        let entry = match &mut self.out {
            SorterOutput::Unfinished | SorterOutput::Files(_, 0) => None,
            SorterOutput::Memory(entries) => entries.next().inspect(|entry| {
                self.meter.free_bytes(entry.weight_of_entry());
            }),
            SorterOutput::Files(merge, left) => match (merge.next_head(&self.sort)?, &self.spilled)
            {
                (Some(head), Some(spilled)) => {
                    *left -= 1;
                    context.budget.spend(head.record.len())?;
                    let row = spilled.row_of_record(&head.record).ok_or_else(damaged_record)?;
                    Some(Entry { key: head.key, row })
                }
                _ => None,
            },
        };
        if entry.is_none() {
            self.meter.clear_held();
        }
        Ok(entry)
    }

    /// Sorts the rows in memory and drops those beyond the limit.
    fn sort_held(&mut self, context: &Context) -> Result<(), Error> {
        if LONG_ORDER <= self.bytes {
            context.budget.before_waiting();
        }
        // Comparing costs less than copying the same bytes, so fewer units of work are charged.
        context.budget.spend(self.bytes / 8)?;
        let sort = &self.sort;
        self.held.sort_by(|a, b| sort.compare(&a.key, &b.key));
        if let Some(limit) = self.limit.filter(|limit| *limit < self.held.len()) {
            let dropped: usize =
                self.held.drain(limit..).map(|entry| entry.weight_of_entry()).sum();
            self.bytes = self.bytes.saturating_sub(dropped);
            self.meter.free_bytes(dropped);
        }
        if self.limit.is_some_and(|limit| limit == self.held.len()) {
            // Entries added since the last time sorted before the old cutoff, so the new one is not
            // greater.
            self.cutoff = self.held.last().map(|entry| entry.key.clone());
        }
        Ok(())
    }

    /// Spills the rows in memory after a failed reservation. If that is not possible, returns
    /// `error` as a failure of the stage.
    fn make_room(&mut self, error: Error, context: &Context) -> Result<(), Error> {
        // At the limit of the stage even little is spilled: another part of a `$facet` may hold the
        // rest.
        let little = error.kind == Kind::TooLarge
            && 0 < self.bytes
            && context.spill.temporary_area().is_some();
        if little || can_write(self.bytes, context) {
            return self.write_out(context);
        }
        Err(self.meter.refusal_of(error, &context.spill))
    }

    /// Writes the rows in memory to the temporary file as a sorted run.
    fn write_out(&mut self, context: &Context) -> Result<(), Error> {
        if let (None, Some(area)) = (&self.spilled, context.spill.temporary_area()) {
            let file = area.create_file().map_err(file_failed)?;
            let (runs, shared) = (Vec::new(), Shared::default());
            self.spilled = Some(Spilled { file, runs, shared, kept: 0 });
        }
        self.sort_held(context)?;
        self.write_run(context)
    }

    /// Writes the rows in memory as a run, and merges the last runs while there are enough of one
    /// level.
    fn write_run(&mut self, context: &Context) -> Result<(), Error> {
        let Some(spilled) = self.spilled.as_mut().filter(|_| !self.held.is_empty()) else {
            return Ok(());
        };
        let run = spilled.write_entries(self.held.drain(..), context)?;
        // Replaced rather than cleared, to free its memory.
        self.held = Vec::new();
        self.bytes = 0;
        self.meter.clear_held();
        // Items that the spilled rows share stay in memory.
        self.meter.add_bytes(spilled.kept)?;
        spilled.runs.push((0, run));
        // Returns how many of the last runs have one level, if that is enough to merge them.
        let full = |runs: &[(u32, Run)]| {
            let fan_in = fan_in(runs);
            let last = runs.len().checked_sub(fan_in).and_then(|from| runs.get(from..));
            let last = last.filter(|last| last.windows(2).all(|two| two[0].0 == two[1].0));
            last.map(<[_]>::len)
        };
        while let Some(count) = full(&spilled.runs) {
            spilled.merge_last(count, &self.sort, self.limit, context)?;
        }
        Ok(())
    }
}

/// Returns the memory of a run during a merge: its buffer, and a few copies of its largest record.
fn merge_bytes(run: &Run) -> usize {
    run.reader_memory() + run.largest_record() * COPIES
}

/// Returns how many of these runs can be merged at once; at least two, so that merging makes
/// progress.
fn fan_in(runs: &[(u32, Run)]) -> usize {
    let largest = runs.iter().map(|(_, run)| merge_bytes(run)).max().unwrap_or(1);
    (MERGE_BYTES / largest.max(1)).clamp(2, FAN_IN)
}

impl Spilled {
    /// Writes sorted rows as a run. A record has the sort key, the document, and its source: the
    /// stored documents from which a joined row can be built again. Stages and contexts of sources
    /// stay in memory, and records refer to them by number.
    fn write_entries(
        &mut self,
        entries: impl Iterator<Item = Entry>,
        context: &Context,
    ) -> Result<Run, Error> {
        let mut writer = self.file.start_run();
        let mut record = Vec::new();
        for Entry { key, row } in entries {
            record.clear();
            put_bytes(key_bytes(key).bytes(), &mut record);
            put_bytes(row.document.bytes(), &mut record);
            self.kept += self.shared.write_source(&row.source, &mut record);
            append_record(&mut writer, &record, context)?;
        }
        writer.finish_run().map_err(file_failed)
    }

    /// Merges the last `count` runs into one, no longer than the limit. Records are copied as
    /// bytes; only their keys are decoded.
    fn merge_last(
        &mut self,
        count: usize,
        sort: &Sort,
        limit: Option<usize>,
        context: &Context,
    ) -> Result<(), Error> {
        let last = self.runs.split_off(self.runs.len().saturating_sub(count));
        // One more than the highest level of the merged runs.
        let level = last.iter().map(|(level, _)| *level).max().unwrap_or(0);
        let mut merge = Merge::new(last.into_iter().map(|(_, run)| run).collect(), sort)?;
        let mut writer = self.file.start_run();
        let mut left = limit.unwrap_or(usize::MAX);
        while 0 < left
            && let Some(head) = merge.next_head(sort)?
        {
            append_record(&mut writer, &head.record, context)?;
            left -= 1;
        }
        self.runs.push((level + 1, writer.finish_run().map_err(file_failed)?));
        Ok(())
    }

    /// Decodes the row of a record, skipping the key.
    fn row_of_record(&self, record: &[u8]) -> Option<Row> {
        let mut bytes = RecordBytes(record);
        bytes.read_bytes()?;
        let document = DocBuf::from_trusted(bytes.read_bytes()?.to_vec());
        Some(Row { document, source: self.shared.read_source(&mut bytes)? })
    }
}

/// Writes a record and charges the work to the operation's budget.
fn append_record(writer: &mut Writer, record: &[u8], context: &Context) -> Result<(), Error> {
    context.budget.spend(record.len())?;
    writer.append_record(record).map_err(file_failed)
}

/// Encodes a sort key as a document whose fields have empty names.
fn key_bytes(key: SortKey) -> DocBuf {
    let mut fields = Document::new();
    key.0.into_iter().for_each(|value| fields.push("", value));
    fields.to_buf()
}
