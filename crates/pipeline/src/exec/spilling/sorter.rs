//! Rows in order, however many: what memory does not hold is written in sorted runs, which are
//! merged at the end. Rows that are equal in the order stay in the order in which they came.
//!
//! It is an external merge sort. Entries are gathered in memory; when they take too much they are
//! sorted and written as a run. Runs of the same level (how often their rows were merged) are
//! merged into one of the next level as soon as there are enough, so that there are never many
//! runs, and every row is written about as often as there are levels. Only neighbouring runs are
//! merged, and among equal rows those of an earlier run come first: that keeps the sort stable.
//!
//! ```text
//! level 0   r r r r ... (16)  -> merged ->  level 1   R
//! level 1   R R R R ... (16)  -> merged ->  level 2   ...
//! end       all that is left is merged while it is read
//! ```
//!
//! With a limit only about twice as many rows as wanted are held, and each run is no longer than
//! the limit.

use document::{DocBuf, DocRef, Document};
use evaluation::{Context, Error, Holding, Kind, memory_of};
use spill::{Run, TempFile, Writer};

use super::{
    bytes::{RecordBytes, put_bytes},
    can_write, damaged_record, file_failed,
    merge::Merge,
};
use crate::{
    exec::{Meter, Row, joins::Shared},
    limits::MAX_STAGE_BYTES,
    sort::{Sort, SortKey},
};

/// Most runs that are merged at once: each is read through a buffer of its own.
const FAN_IN: usize = 16;
/// The part of a stage's memory that a merge may take.
const MERGE_BYTES: usize = MAX_STAGE_BYTES / 2;
/// What a row of a run takes while it is merged, in sizes of its record: bytes, key and document.
/// An estimate, on the safe side.
const COPIES: usize = 4;
/// Rows that are held beyond the limit at least before they are put in order.
const LEAST_SPARE: usize = 16;
/// Ordering so many bytes takes long, and lets nobody else run by itself.
/// Other work of the thread is given away before it.
const LONG_ORDER: usize = 4 * 1024 * 1024;

/// A row and what it is ordered by.
#[derive(Debug)]
pub(in crate::exec) struct Entry {
    /// What the row is sorted by.
    pub(in crate::exec) key: SortKey,
    /// The row.
    pub(in crate::exec) row: Row,
}

impl Entry {
    /// About the bytes that the entry holds.
    fn weight_of_entry(&self) -> usize {
        let key = self.key.0.iter().map(|value| memory_of(value.as_ref())).sum::<usize>();
        key + self.row.memory_bytes()
    }
}

/// A sort: entries are added, then it is finished, then they come out.
#[derive(Debug)]
pub(in crate::exec) struct Sorter {
    /// The order.
    sort: Sort,
    /// How many rows are wanted.
    most: Option<usize>,
    /// What the last of so many rows sorts by, once there were so many: a later row has to come
    /// before that.
    bar: Option<SortKey>,
    /// Entries in memory, in the order in which they came.
    held: Vec<Entry>,
    /// Bytes of what is held in memory.
    /// Without what is kept beside runs, which the meter counts too.
    bytes: usize,
    /// What the sort holds in memory.
    meter: Meter,
    /// What was written, once something was.
    spilled: Option<Spilled>,
    /// Where entries come from.
    out: Out,
}

/// What was written.
/// The file has no name and is gone with the sorter.
#[derive(Debug)]
struct Spilled {
    /// What all runs are in.
    file: TempFile,
    /// Runs in the order in which their rows came, each with how often its rows were merged.
    runs: Vec<(u32, Run)>,
    /// What the rows of all runs share: stages and operations.
    shared: Shared,
    /// Bytes that are held for `shared`.
    /// See [`Shared`]: it grows with operations, not with rows.
    kept: usize,
}

/// Where entries come from, once it is finished.
#[derive(Debug)]
enum Out {
    /// More may come.
    Unfinished,
    /// All of them fit, and are sorted.
    Memory(std::vec::IntoIter<Entry>),
    /// Runs that are merged, and how many rows were not taken yet.
    Files(Merge, usize),
}

impl Sorter {
    /// A sort by this order, of at most `most` rows.
    pub(in crate::exec) fn new(
        stage: &'static str,
        sort: Sort,
        most: Option<usize>,
        holding: &Holding,
    ) -> Self {
        Self {
            sort,
            most,
            bar: None,
            held: Vec::new(),
            bytes: 0,
            meter: Meter::new(stage, holding),
            spilled: None,
            out: Out::Unfinished,
        }
    }

    /// The order.
    pub(in crate::exec) fn sort_order(&self) -> &Sort {
        &self.sort
    }

    /// Whether all entries have been added.
    pub(in crate::exec) fn is_finished(&self) -> bool {
        !matches!(self.out, Out::Unfinished)
    }

    /// Adds an entry. Where memory is short, what is held is written first.
    /// Fails when neither memory nor disk takes it.
    pub(in crate::exec) fn add_entry(
        &mut self,
        entry: Entry,
        context: &Context,
    ) -> Result<(), Error> {
        let bytes = entry.weight_of_entry();
        if self.meter.is_scarce() && can_write(self.bytes, context) {
            // The rest is for those who cannot write what they hold.
            self.write_out(context)?;
        }
        if let Err(error) = self.meter.add_bytes(bytes) {
            // What was held is written, so that the same bytes fit now, unless others hold all.
            self.make_room(error, context)?;
            self.meter.add_bytes(bytes)?;
        }
        self.bytes += bytes;
        self.held.push(entry);
        // With a limit, only about twice as many rows as wanted are ever held. The bar is set as soon
        // as there are as many as wanted.
        let spare = |most: usize| if self.bar.is_none() { 0 } else { most.max(LEAST_SPARE) };
        if self.most.is_some_and(|most| most.saturating_add(spare(most)) <= self.held.len()) {
            self.sort_held(context)?;
        }
        Ok(())
    }

    /// Whether a row that comes now is not among those that are wanted: as many as that come before
    /// it.
    pub(in crate::exec) fn is_beyond(&self, document: DocRef<'_>) -> bool {
        self.bar.as_ref().is_some_and(|bar| self.sort.compare_with_key(document, bar).is_ge())
    }

    /// Says that all entries have been added. When something was written, runs are merged until
    /// those that are left can be read at once.
    pub(in crate::exec) fn finish_input(&mut self, context: &Context) -> Result<(), Error> {
        self.sort_held(context)?;
        if self.spilled.is_none() {
            self.out = Out::Memory(std::mem::take(&mut self.held).into_iter());
            return Ok(());
        }
        // Merging reads and writes files: other work of the thread goes elsewhere.
        context.budget.before_waiting();
        self.write_run(context)?;
        let Some(spilled) = &mut self.spilled else { return Ok(()) };
        loop {
            // Again each time: merged runs may have larger records than those before.
            let fan_in = fan_in(&spilled.runs);
            let Some(surplus) = spilled.runs.len().checked_sub(fan_in).filter(|it| 0 < *it) else {
                break;
            };
            // Merging n runs into one leaves n - 1 fewer: no more are merged than there are too
            // many.
            spilled.merge_last((surplus + 1).min(fan_in), &self.sort, self.most, context)?;
        }
        let runs: Vec<Run> = spilled.runs.drain(..).map(|(_, run)| run).collect();
        self.meter.add_bytes(runs.iter().map(merge_bytes).sum())?;
        // No more rows than wanted are read.
        let left = self.most.unwrap_or(usize::MAX);
        self.out = Out::Files(Merge::new(runs, &self.sort)?, left);
        Ok(())
    }

    /// The next entry in order, once the input is finished.
    /// Before the end of the input there is none.
    pub(in crate::exec) fn next_entry(
        &mut self,
        context: &Context,
    ) -> Result<Option<Entry>, Error> {
        if matches!(self.out, Out::Files(..)) {
            context.budget.before_waiting();
        }
        let entry = match &mut self.out {
            Out::Unfinished | Out::Files(_, 0) => None,
            Out::Memory(entries) => entries.next().inspect(|entry| {
                self.meter.free_bytes(entry.weight_of_entry());
            }),
            Out::Files(merge, left) => match (merge.next_head(&self.sort)?, &self.spilled) {
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

    /// Puts the held entries in order and drops those beyond the limit.
    /// The sort is stable and compares keys only.
    fn sort_held(&mut self, context: &Context) -> Result<(), Error> {
        if LONG_ORDER <= self.bytes {
            context.budget.before_waiting();
        }
        // Comparing is cheaper than copying the same bytes.
        context.budget.spend(self.bytes / 8)?;
        let sort = &self.sort;
        self.held.sort_by(|a, b| sort.compare(&a.key, &b.key));
        if let Some(most) = self.most.filter(|most| *most < self.held.len()) {
            let dropped: usize = self.held.drain(most..).map(|entry| entry.weight_of_entry()).sum();
            self.bytes = self.bytes.saturating_sub(dropped);
            self.meter.free_bytes(dropped);
        }
        if self.most.is_some_and(|most| most == self.held.len()) {
            // Every row that was held beside others of before came before the old bar.
            self.bar = self.held.last().map(|entry| entry.key.clone());
        }
        Ok(())
    }

    /// Writes what is held, because of this failure to hold more.
    /// Without a way to write, the failure is given back as the stage's.
    fn make_room(&mut self, error: Error, context: &Context) -> Result<(), Error> {
        // At the limit of the stage even little is written: another part of a `$facet` may hold the rest.
        let little = error.kind == Kind::TooLarge
            && 0 < self.bytes
            && context.spill.temporary_area().is_some();
        if little || can_write(self.bytes, context) {
            return self.write_out(context);
        }
        Err(self.meter.refusal_of(error, &context.spill))
    }

    /// Writes what is held as a run.
    fn write_out(&mut self, context: &Context) -> Result<(), Error> {
        if let (None, Some(area)) = (&self.spilled, context.spill.temporary_area()) {
            let file = area.create_file().map_err(file_failed)?;
            let (runs, shared) = (Vec::new(), Shared::default());
            self.spilled = Some(Spilled { file, runs, shared, kept: 0 });
        }
        self.sort_held(context)?;
        self.write_run(context)
    }

    /// Writes what is held as a run, and merges the last runs while there are enough of one level.
    fn write_run(&mut self, context: &Context) -> Result<(), Error> {
        let Some(spilled) = self.spilled.as_mut().filter(|_| !self.held.is_empty()) else {
            return Ok(());
        };
        let run = spilled.write_entries(self.held.drain(..), context)?;
        // Its memory is given back, not only emptied.
        self.held = Vec::new();
        // The run keeps the order, the memory is free.
        self.bytes = 0;
        self.meter.clear_held();
        // Beside the rows, which are on the disk now.
        self.meter.add_bytes(spilled.kept)?;
        spilled.runs.push((0, run));
        // Enough runs of one level, counted from the last one.
        let full = |runs: &[(u32, Run)]| {
            let fan_in = fan_in(runs);
            let last = runs.len().checked_sub(fan_in).and_then(|from| runs.get(from..));
            let last = last.filter(|last| last.windows(2).all(|two| two[0].0 == two[1].0));
            last.map(<[_]>::len)
        };
        while let Some(count) = full(&spilled.runs) {
            spilled.merge_last(count, &self.sort, self.most, context)?;
        }
        Ok(())
    }
}

/// How many bytes are held for a run while it is merged: its buffer, and a few copies of its
/// largest record.
fn merge_bytes(run: &Run) -> usize {
    run.reader_memory() + run.largest_record() * COPIES
}

/// How many of these runs can be merged at once.
/// Two at least, so that merging always comes to an end.
fn fan_in(runs: &[(u32, Run)]) -> usize {
    let largest = runs.iter().map(|(_, run)| merge_bytes(run)).max().unwrap_or(1);
    (MERGE_BYTES / largest.max(1)).clamp(2, FAN_IN)
}

impl Spilled {
    /// Writes sorted entries as a run. A record is the key, the document and where it came from.
    /// The entries are in order. What their sources share is kept beside the file.
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

    /// Puts one run in place of the last `count` ones. Records are copied as they are; only their
    /// keys are read.
    /// With a limit the new run is no longer than that.
    fn merge_last(
        &mut self,
        count: usize,
        sort: &Sort,
        most: Option<usize>,
        context: &Context,
    ) -> Result<(), Error> {
        let last = self.runs.split_off(self.runs.len().saturating_sub(count));
        // Its rows were merged once more than those of the longest-merged run.
        let level = last.iter().map(|(level, _)| *level).max().unwrap_or(0);
        let mut merge = Merge::new(last.into_iter().map(|(_, run)| run).collect(), sort)?;
        let mut writer = self.file.start_run();
        let mut left = most.unwrap_or(usize::MAX);
        while 0 < left
            && let Some(head) = merge.next_head(sort)?
        {
            append_record(&mut writer, &head.record, context)?;
            left -= 1;
        }
        self.runs.push((level + 1, writer.finish_run().map_err(file_failed)?));
        Ok(())
    }

    /// The row of a record.
    /// The key was read by the merge and is passed over.
    fn row_of_record(&self, record: &[u8]) -> Option<Row> {
        let mut bytes = RecordBytes(record);
        bytes.read_bytes()?;
        let document = DocBuf::from_trusted(bytes.read_bytes()?.to_vec());
        Some(Row { document, source: self.shared.read_source(&mut bytes)? })
    }
}

/// Writes a record, and counts the work.
fn append_record(writer: &mut Writer, record: &[u8], context: &Context) -> Result<(), Error> {
    context.budget.spend(record.len())?;
    writer.append_record(record).map_err(file_failed)
}

/// A key as bytes: a document without names.
fn key_bytes(key: SortKey) -> DocBuf {
    let mut fields = Document::new();
    key.0.into_iter().for_each(|value| fields.push("", value));
    fields.to_buf()
}
