//! Spilled groups, partitioned by their keys: the state of each group, then its later rows. A
//! partition is read after the groups in memory have been returned.
//!
//! The partition is four bits of the key's hash. A partition that does not fit in memory when it is
//! read is partitioned again by the next four bits (one level deeper), until the bits are used up:
//! keys that are still together have the same hash.

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

/// Number of partitions of one level.
pub(in crate::exec) const PARTITIONS: usize = 16;
/// Bits of the hash that select a partition at one level.
const BITS: u32 = PARTITIONS.ilog2();
/// The deepest level: keys in the same partition there have the same hash.
const MAX_LEVEL: u32 = u64::BITS / BITS - 1;

/// Record type of the state of a group.
const STATE: u8 = 0;
/// Record type of a row.
const ROW: u8 = 1;

/// The partitions of one level that are being written.
#[derive(Debug)]
pub(in crate::exec) struct Partitions {
    /// The file of all partitions.
    file: TempFile,
    /// The level of partitioning, which selects the bits of the hash.
    level: u32,
    /// The writers of spilled partitions; `None` for partitions that are in memory.
    writers: [Option<Writer>; PARTITIONS],
    record: Vec<u8>,
}

/// A finished partition, to be read.
#[derive(Debug)]
pub(in crate::exec) struct Partition {
    run: Run,
    /// The file that this partition shares with others; it is deleted with the last of them.
    file: TempFile,
    /// The level of partitioning at which the partition was written.
    level: u32,
}

/// A partition that is being read.
#[derive(Debug)]
pub(in crate::exec) struct Reading {
    reader: Reader,
    /// Memory of the reader: a chunk of the file or its largest record, and the list of chunks.
    memory: usize,
    /// The file for partitions that are divided again.
    file: TempFile,
    /// The level of partitioning at which the partition was written.
    level: u32,
}

/// A record of a partition.
pub(in crate::exec) enum Record {
    /// The state of a group: its key and the states of its fields.
    Group(Value, Vec<Value>),
    /// A row of a group whose state was spilled before.
    Row(DocBuf),
}

impl Partitions {
    /// Creates partitions of the first level, or of the level after `behind`, whose file they
    /// share. Fails if the bits of the hash are used up, or if spilling is not possible.
    pub(in crate::exec) fn new(
        stage: &str,
        behind: Option<&Reading>,
        spill: &Spill,
    ) -> Result<Self, Error> {
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

    /// Returns the partition of a key.
    pub(in crate::exec) fn partition_of(&self, key: &[u8]) -> usize {
        // The seed is fixed, since a partition is split by other bits of the same hash.
        let hash = FixedState::with_seed(0).hash_one(key);
        usize::try_from(hash >> (self.level * BITS)).unwrap_or(0) % PARTITIONS
    }

    /// Returns whether the groups of this partition are spilled.
    pub(in crate::exec) fn is_written(&self, partition: usize) -> bool {
        matches!(self.writers.get(partition), Some(Some(_)))
    }

    /// Marks a partition as spilled, so that its rows are written from now on. Its writer holds a
    /// buffer, which [`Self::memory_bytes`] counts.
    pub(in crate::exec) fn write_from_now(&mut self, partition: usize) {
        if let Some(writer) = self.writers.get_mut(partition) {
            writer.get_or_insert_with(|| self.file.start_run());
        }
    }

    /// Returns the memory of the writers' buffers, in bytes.
    pub(in crate::exec) fn memory_bytes(&self) -> usize {
        self.writers.iter().flatten().count() * Writer::MEMORY
    }

    /// Writes a group: once, before any of its rows. The key and the states become one document
    /// without names.
    pub(in crate::exec) fn write_group(
        &mut self,
        partition: usize,
        id: Value,
        states: Vec<Value>,
        context: &Context,
    ) -> Result<(), Error> {
        // Encoded as a document, because a document can contain a value of any type.
        let mut fields = Document::new();
        fields.push("", id);
        states.into_iter().for_each(|state| fields.push("", state));
        self.append_record(partition, STATE, fields.to_buf().bytes(), context)
    }

    /// Writes a row of a spilled group.
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

    /// Writes a record to a partition; does nothing if the partition is in memory.
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
        // The document is preceded by its length, by which the reader finds its end.
        put_bytes(document, &mut self.record);
        context.budget.spend(self.record.len())?;
        // A write may block on the disk.
        context.budget.before_waiting();
        writer.append_record(&self.record).map_err(file_failed)
    }

    /// Finishes the partitions that were written. They share the file, which is deleted with the
    /// last one. Fails if the last buffers cannot be written.
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
    /// Starts to read the partition, and reserves the memory that reading it needs. The groups in
    /// memory must have been returned, because the reservation starts anew.
    pub(in crate::exec) fn read_with(self, meter: &mut Meter) -> Result<Reading, Error> {
        let memory = self.run.reader_memory();
        meter.set_held(memory)?;
        Ok(Reading { reader: self.run.into_reader(), memory, file: self.file, level: self.level })
    }
}

impl Reading {
    /// Returns the memory of the reader, in bytes.
    pub(in crate::exec) fn memory_bytes(&self) -> usize {
        self.memory
    }

    /// Reads the next record; `None` after the last one.
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
                // The key and the states are the values of one document without names.
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
