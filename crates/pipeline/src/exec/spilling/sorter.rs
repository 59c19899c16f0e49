//! Rows in order, however many: what memory does not hold is written in sorted runs, which are merged
//! at the end. Rows that are equal in the order stay in the order in which they came.

use document::{DocBuf, Document, Value};
use evaluation::{Context, Error, Holding, Kind, memory_of};
use spill::{Reader, Run, TempFile, Writer};

use super::{
    bytes::{RecordBytes, put_bytes},
    can_write, damaged_record, file_failed,
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
const COPIES: usize = 4;
/// Ordering so many bytes takes long, and lets nobody else run by itself.
const LONG_ORDER: usize = 4 * 1024 * 1024;

/// A row and what it is ordered by.
#[derive(Debug)]
pub(in crate::exec) struct Entry {
    pub(in crate::exec) key: SortKey,
    pub(in crate::exec) row: Row,
}

impl Entry {
    fn weight_of_entry(&self) -> usize {
        let key = self.key.0.iter().map(|value| memory_of(value.as_ref())).sum::<usize>();
        key + self.row.memory_bytes()
    }
}

/// A sort: entries are added, then it is finished, then they come out.
#[derive(Debug)]
pub(in crate::exec) struct Sorter {
    sort: Sort,
    /// How many rows are wanted.
    most: Option<usize>,
    held: Vec<Entry>,
    /// Bytes of what is held in memory.
    bytes: usize,
    meter: Meter,
    spilled: Option<Spilled>,
    out: Out,
}

/// What was written.
#[derive(Debug)]
struct Spilled {
    file: TempFile,
    /// In the order in which their rows came, each with how often its rows were merged.
    runs: Vec<(u32, Run)>,
    shared: Shared,
    /// Bytes that are held for `shared`.
    kept: usize,
}

/// Where entries come from, once it is finished.
#[derive(Debug)]
enum Out {
    Unfinished,
    Memory(std::vec::IntoIter<Entry>),
    Files(Merge, usize),
}

impl Sorter {
    pub(in crate::exec) fn new(
        stage: &'static str,
        sort: Sort,
        most: Option<usize>,
        holding: &Holding,
    ) -> Self {
        Self {
            sort,
            most,
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

    /// Adds an entry.
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
            self.make_room(error, context)?;
            self.meter.add_bytes(bytes)?;
        }
        self.bytes += bytes;
        self.held.push(entry);
        // With a limit, only about twice as many rows as wanted are ever held.
        if self.most.is_some_and(|most| most.saturating_mul(2).max(64) <= self.held.len()) {
            self.sort_held(context)?;
        }
        Ok(())
    }

    /// All entries have been added.
    pub(in crate::exec) fn finish_input(&mut self, context: &Context) -> Result<(), Error> {
        self.sort_held(context)?;
        if self.spilled.is_none() {
            self.out = Out::Memory(std::mem::take(&mut self.held).into_iter());
            return Ok(());
        }
        context.budget.before_waiting();
        self.write_run(context)?;
        let Some(spilled) = &mut self.spilled else { return Ok(()) };
        loop {
            let fan_in = fan_in(&spilled.runs);
            let Some(surplus) = spilled.runs.len().checked_sub(fan_in).filter(|it| 0 < *it) else {
                break;
            };
            spilled.merge_last((surplus + 1).min(fan_in), &self.sort, self.most, context)?;
        }
        let runs: Vec<Run> = spilled.runs.drain(..).map(|(_, run)| run).collect();
        self.meter.add_bytes(runs.iter().map(merge_bytes).sum())?;
        let left = self.most.unwrap_or(usize::MAX);
        self.out = Out::Files(Merge::new(runs, &self.sort)?, left);
        Ok(())
    }

    /// The next entry in order, once it is finished.
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
    fn sort_held(&mut self, context: &Context) -> Result<(), Error> {
        if LONG_ORDER <= self.bytes {
            context.budget.before_waiting();
        }
        context.budget.spend(self.bytes / 8)?;
        let sort = &self.sort;
        self.held.sort_by(|a, b| sort.compare(&a.key, &b.key));
        if let Some(most) = self.most.filter(|most| *most < self.held.len()) {
            let dropped: usize = self.held.drain(most..).map(|entry| entry.weight_of_entry()).sum();
            self.bytes = self.bytes.saturating_sub(dropped);
            self.meter.free_bytes(dropped);
        }
        Ok(())
    }

    /// Writes what is held, because of this failure to hold more.
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

    fn write_run(&mut self, context: &Context) -> Result<(), Error> {
        let Some(spilled) = self.spilled.as_mut().filter(|_| !self.held.is_empty()) else {
            return Ok(());
        };
        let run = spilled.write_entries(self.held.drain(..), context)?;
        self.held = Vec::new();
        self.bytes = 0;
        self.meter.clear_held();
        self.meter.add_bytes(spilled.kept)?;
        spilled.runs.push((0, run));
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

/// What is held for a run while it is merged.
fn merge_bytes(run: &Run) -> usize {
    run.reader_memory() + run.largest_record() * COPIES
}

/// How many of these runs can be merged at once.
fn fan_in(runs: &[(u32, Run)]) -> usize {
    let largest = runs.iter().map(|(_, run)| merge_bytes(run)).max().unwrap_or(1);
    (MERGE_BYTES / largest.max(1)).clamp(2, FAN_IN)
}

impl Spilled {
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

    /// One run in place of the last ones.
    fn merge_last(
        &mut self,
        count: usize,
        sort: &Sort,
        most: Option<usize>,
        context: &Context,
    ) -> Result<(), Error> {
        let last = self.runs.split_off(self.runs.len().saturating_sub(count));
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
    fn row_of_record(&self, record: &[u8]) -> Option<Row> {
        let mut bytes = RecordBytes(record);
        bytes.read_bytes()?;
        let document = DocBuf::from_trusted(bytes.read_bytes()?.to_vec());
        Some(Row { document, source: self.shared.read_source(&mut bytes)? })
    }
}

fn append_record(writer: &mut Writer, record: &[u8], context: &Context) -> Result<(), Error> {
    context.budget.spend(record.len())?;
    writer.append_record(record).map_err(file_failed)
}

fn key_bytes(key: SortKey) -> DocBuf {
    let mut fields = Document::new();
    key.0.into_iter().for_each(|value| fields.push("", value));
    fields.to_buf()
}

fn key_of(record: &[u8]) -> Option<SortKey> {
    let key = DocBuf::from_trusted(RecordBytes(record).read_bytes()?.to_vec());
    let values: Vec<Value> = key.as_ref().iter().map(|(_, value)| value.to_value()).collect();
    Some(SortKey(values))
}

/// The next record of a run.
#[derive(Debug)]
struct Head {
    key: SortKey,
    record: Vec<u8>,
}

/// Runs that are read together.
#[derive(Debug)]
struct Merge {
    runs: Vec<(Reader, Option<Head>)>,
    /// The runs that are not at their end, by their next records: the first one last.
    order: Vec<usize>,
}

impl Merge {
    fn new(runs: Vec<Run>, sort: &Sort) -> Result<Self, Error> {
        let count = runs.len();
        let runs = runs.into_iter().map(|run| (run.into_reader(), None)).collect();
        let mut merge = Self { runs, order: Vec::with_capacity(count) };
        for at in 0..count {
            merge.advance_run(at, sort)?;
        }
        Ok(merge)
    }

    fn next_head(&mut self, sort: &Sort) -> Result<Option<Head>, Error> {
        let Some(at) = self.order.pop() else { return Ok(None) };
        let head = self.runs.get_mut(at).and_then(|(_, head)| head.take());
        self.advance_run(at, sort)?;
        Ok(head)
    }

    /// Reads the next record of a run and puts the run into its place.
    fn advance_run(&mut self, at: usize, sort: &Sort) -> Result<(), Error> {
        let Some((reader, head)) = self.runs.get_mut(at) else { return Ok(()) };
        let Some(record) = reader.next_record().map_err(file_failed)? else { return Ok(()) };
        let key = key_of(record).ok_or_else(damaged_record)?;
        *head = Some(Head { key, record: record.to_vec() });
        let key = |at: usize| self.runs.get(at).and_then(|(_, head)| Some(&head.as_ref()?.key));
        let behind = |other: &usize| match (key(*other), key(at)) {
            // Of equal rows those of an earlier run come first.
            (Some(other_key), Some(key)) => {
                sort.compare(other_key, key).then(other.cmp(&at)).is_gt()
            }
            _ => false,
        };
        let place = self.order.partition_point(behind);
        self.order.insert(place, at);
        Ok(())
    }
}
