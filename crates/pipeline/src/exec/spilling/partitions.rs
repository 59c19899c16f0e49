//! Groups that memory does not hold, in partitions by their keys: the state that a group had, then
//! the rows that came later. A partition is read when the groups in memory have been returned.
//!
//! A key's partition is four bits of its hash. A partition that does not fit into memory when it is
//! read is partitioned again by the next four bits (a level more), until the bits are used up: keys
//! that are still together have the same hash.

use std::hash::BuildHasher;

use document::{DocBuf, DocRef, Document, Value};
use evaluation::{Context, Error, Spill};
use foldhash::fast::FixedState;
use spill::{Reader, Run, TempFile, Writer};

use super::{
    bytes::{RecordBytes, put_bytes},
    damaged_record, file_failed, stage_exceeded,
};
use crate::exec::Meter;

/// Partitions of one level.
pub(in crate::exec) const PARTITIONS: usize = 16;
/// Bits of a key's hash that say its partition at one level.
const BITS: u32 = PARTITIONS.ilog2();
/// Levels at most: keys that are in one partition behind so many have the same hash.
const MAX_LEVEL: u32 = u64::BITS / BITS - 1;

/// A record that is the state of a group.
const STATE: u8 = 0;
/// A record that is a row.
const ROW: u8 = 1;

/// What is written at one level.
#[derive(Debug)]
pub(in crate::exec) struct Partitions {
    /// The file that all of them are in.
    file: TempFile,
    /// Which bits of a hash say the partition.
    level: u32,
    /// What writes each one; none for those that are in memory.
    writers: [Option<Writer>; PARTITIONS],
    /// The bytes of a record; kept to use their memory again.
    record: Vec<u8>,
}

/// A whole partition, to be read at its level.
#[derive(Debug)]
pub(in crate::exec) struct Partition {
    /// Its records.
    run: Run,
    /// The file that they are in, which lives as long as one of its partitions does.
    file: TempFile,
    /// The level at which it was written.
    level: u32,
}

/// A partition that is being read.
#[derive(Debug)]
pub(in crate::exec) struct Reading {
    /// Reads its records.
    reader: Reader,
    /// What the reader holds.
    /// A chunk of the file or its largest record, and the list of chunks.
    memory: usize,
    /// Where partitions of the next level go.
    file: TempFile,
    /// The level at which it was written.
    level: u32,
}

/// What a partition holds.
pub(in crate::exec) enum Record {
    /// The state of a group: its key and those of its fields.
    Group(Value, Vec<Value>),
    /// A row that came behind it.
    Row(DocBuf),
}

impl Partitions {
    /// No partition is written yet; of the first level, or of the level after that of a partition
    /// that is being read, whose file it shares.
    /// Fails where the bits of the hash are used up, and where there is no place for files.
    pub(in crate::exec) fn new(
        stage: &str,
        behind: Option<&Reading>,
        spill: &Spill,
    ) -> Result<Self, Error> {
        // A partition of a partition goes into the same file, by other bits of the hash.
        let (file, level) = match (behind, spill.temporary_area()) {
            (Some(reading), _) if MAX_LEVEL <= reading.level => {
                return Err(stage_exceeded(spill, stage));
            }
            (Some(reading), _) => (reading.file.clone(), reading.level + 1),
            (None, Some(area)) => (area.create_file().map_err(file_failed)?, 0),
            (None, None) => return Err(stage_exceeded(spill, stage)),
        };
        Ok(Self { file, level, writers: Default::default(), record: Vec::new() })
    }

    /// The partition of a key.
    pub(in crate::exec) fn partition_of(&self, key: &[u8]) -> usize {
        // A fixed seed: a partition is read by the same hash that it was written by, at each level
        // by other bits of it.
        let hash = FixedState::with_seed(0).hash_one(key);
        usize::try_from(hash >> (self.level * BITS)).unwrap_or(0) % PARTITIONS
    }

    /// Whether groups of this partition are no longer in memory.
    pub(in crate::exec) fn is_written(&self, partition: usize) -> bool {
        matches!(self.writers.get(partition), Some(Some(_)))
    }

    /// Says that groups of this partition are no longer in memory: its rows are written from now
    /// on.
    /// It holds a buffer from then on, which [`Self::memory_bytes`] counts.
    pub(in crate::exec) fn write_from_now(&mut self, partition: usize) {
        if let Some(writer) = self.writers.get_mut(partition) {
            writer.get_or_insert_with(|| self.file.start_run());
        }
    }

    /// Bytes that are held beside the groups in memory.
    pub(in crate::exec) fn memory_bytes(&self) -> usize {
        self.writers.iter().flatten().count() * Writer::MEMORY
    }

    /// Writes a group as it is.
    /// Called once for each group, before any of its rows. The key and the states become one
    /// document without names.
    pub(in crate::exec) fn write_group(
        &mut self,
        partition: usize,
        id: Value,
        states: Vec<Value>,
        context: &Context,
    ) -> Result<(), Error> {
        // As a document: any value can be in one.
        let mut fields = Document::new();
        fields.push("", id);
        states.into_iter().for_each(|state| fields.push("", state));
        self.append_record(partition, STATE, fields.to_buf().bytes(), context)
    }

    /// Writes a row of a group that was written.
    pub(in crate::exec) fn write_row(
        &mut self,
        partition: usize,
        row: DocRef<'_>,
        context: &Context,
    ) -> Result<(), Error> {
        match row {
            DocRef::Raw(bytes) => self.append_record(partition, ROW, bytes, context),
            DocRef::Tree(_) => self.append_record(partition, ROW, row.to_buf().bytes(), context),
        }
    }

    /// Writes a record of a kind to a partition.
    /// Nothing is written to a partition that is in memory; callers ask first.
    fn append_record(
        &mut self,
        partition: usize,
        kind: u8,
        document: &[u8],
        context: &Context,
    ) -> Result<(), Error> {
        let Some(Some(writer)) = self.writers.get_mut(partition) else { return Ok(()) };
        self.record.clear();
        self.record.push(kind);
        // With its length, as a reader takes all records by the same code.
        put_bytes(document, &mut self.record);
        context.budget.spend(self.record.len())?;
        // A write may wait for the disk.
        context.budget.before_waiting();
        writer.append_record(&self.record).map_err(file_failed)
    }

    /// The partitions that were written. All of them hold the file, which goes with the last one.
    /// Fails when the last buffers cannot be written.
    pub(in crate::exec) fn finish_partitions(self) -> Result<Vec<Partition>, Error> {
        let Self { file, level, writers, .. } = self;
        let partition = |writer: Writer| {
            let run = writer.finish_run().map_err(file_failed)?;
            Ok(Partition { run, file: file.clone(), level })
        };
        writers.into_iter().flatten().map(partition).collect()
    }
}

impl Partition {
    /// Begins to read it; the meter has room for that.
    /// The groups in memory have been returned by then, so that the meter starts from nothing.
    pub(in crate::exec) fn read_with(self, meter: &mut Meter) -> Result<Reading, Error> {
        let memory = self.run.reader_memory();
        meter.set_held(memory)?;
        Ok(Reading { reader: self.run.into_reader(), memory, file: self.file, level: self.level })
    }
}

impl Reading {
    /// Bytes that are held while it is read.
    pub(in crate::exec) fn memory_bytes(&self) -> usize {
        self.memory
    }

    /// The next record; none after the last.
    pub(in crate::exec) fn next_record(
        &mut self,
        context: &Context,
    ) -> Result<Option<Record>, Error> {
        context.budget.before_waiting();
        let Some(record) = self.reader.next_record().map_err(file_failed)? else { return Ok(None) };
        context.budget.spend(record.len())?;
        let mut bytes = RecordBytes(record);
        let read = |bytes: &mut RecordBytes<'_>| {
            let kind = bytes.read_byte()?;
            let document = DocBuf::from_trusted(bytes.read_bytes()?.to_vec());
            match kind {
                ROW => Some(Record::Row(document)),
                // The key and the states of the fields are values of one document without names.
                STATE => {
                    let mut values = document.as_ref().iter().map(|(_, value)| value.to_value());
                    let id = values.next()?;
                    Some(Record::Group(id, values.collect()))
                }
                _ => None,
            }
        };
        read(&mut bytes).ok_or_else(damaged_record).map(Some)
    }
}
