//! Merges sorted runs into one sorted sequence of records.
//!
//! The next record of every run is in memory. A list has the runs in descending order of their next
//! records, so that the run with the first record is popped off the end. The run is then inserted
//! again at the position of its next record. Equal records of earlier runs come first, which keeps
//! the sort stable.

use document::{DocBuf, Value};
use evaluation::Error;
use spill::{Reader, Run};

use super::{bytes::RecordBytes, damaged_record, file_failed};
use crate::sort::{Sort, SortKey};

/// Decodes the key at the start of a record; `None` if it is malformed.
fn key_of(record: &[u8]) -> Option<SortKey> {
    let key = DocBuf::from_trusted(RecordBytes(record).read_bytes()?.to_vec());
    let values: Vec<Value> = key.as_ref().iter().map(|(_, value)| value.to_value()).collect();
    Some(SortKey(values))
}
/// The next record of a run, and its key. The record is kept as bytes, since a merge into another
/// run copies it.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) key: SortKey,
    /// The encoded record: key, document and source.
    pub(super) record: Vec<u8>,
}

/// A merge of sorted runs. It uses a sorted list instead of a heap, because there are few runs, and
/// the next record of a run often belongs near the end again.
#[derive(Debug)]
pub(super) struct Merge {
    /// The readers of all runs, each with its next record, which is `None` at the run's end.
    runs: Vec<(Reader, Option<Head>)>,
    /// Indexes of the runs that have not ended, by their next records in descending order.
    order: Vec<usize>,
}

impl Merge {
    /// Starts to merge these runs, given in the order of their rows' arrival, which decides between
    /// equal rows.
    pub(super) fn new(runs: Vec<Run>, sort: &Sort) -> Result<Self, Error> {
        let count = runs.len();
        let runs = runs.into_iter().map(|run| (run.into_reader(), None)).collect();
        let mut merge = Self { runs, order: Vec::with_capacity(count) };
        for at in 0..count {
            merge.advance_run(at, sort)?;
        }
        Ok(merge)
    }

    /// Removes and returns the record that comes first among those of all runs.
    pub(super) fn next_head(&mut self, sort: &Sort) -> Result<Option<Head>, Error> {
        let Some(at) = self.order.pop() else { return Ok(None) };
        let head = self.runs.get_mut(at).and_then(|(_, head)| head.take());
        self.advance_run(at, sort)?;
        Ok(head)
    }

    /// Reads the next record of a run and inserts the run into the order, unless it has ended.
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
