//! Sorted runs that are read together: their records come out as one sorted sequence.
//!
//! The next record of every run is in memory. The run whose record comes first is last in a list, so
//! that it is taken off the end; when its next record was read, the run is put back where that
//! record belongs. Of equal records those of an earlier run come first, which keeps the sort stable.

use document::{DocBuf, Value};
use evaluation::Error;
use spill::{Reader, Run};

use super::{bytes::RecordBytes, damaged_record, file_failed};
use crate::sort::{Sort, SortKey};

/// The key of a record.
/// A record begins with its key; `None` where it does not.
fn key_of(record: &[u8]) -> Option<SortKey> {
    let key = DocBuf::from_trusted(RecordBytes(record).read_bytes()?.to_vec());
    let values: Vec<Value> = key.as_ref().iter().map(|(_, value)| value.to_value()).collect();
    Some(SortKey(values))
}
/// The next record of a run, and its key.
/// The record is kept as bytes, since a merge into another run writes it as it is.
#[derive(Debug)]
pub(super) struct Head {
    /// What the record is sorted by.
    pub(super) key: SortKey,
    /// Its bytes: key, source and document.
    pub(super) record: Vec<u8>,
}

/// Runs that are read together.
/// A sorted list instead of a heap: there are few runs, and the next record of a run often goes
/// near the end again.
#[derive(Debug)]
pub(super) struct Merge {
    /// Each run with its next record; none at its end.
    runs: Vec<(Reader, Option<Head>)>,
    /// The runs that are not at their end, by their next records: the first one last.
    order: Vec<usize>,
}

impl Merge {
    /// Begins to read these runs together.
    /// Runs are in the order in which their rows came, which decides among equal rows.
    pub(super) fn new(runs: Vec<Run>, sort: &Sort) -> Result<Self, Error> {
        let count = runs.len();
        let runs = runs.into_iter().map(|run| (run.into_reader(), None)).collect();
        let mut merge = Self { runs, order: Vec::with_capacity(count) };
        for at in 0..count {
            merge.advance_run(at, sort)?;
        }
        Ok(merge)
    }

    /// The first of the next records of all runs.
    pub(super) fn next_head(&mut self, sort: &Sort) -> Result<Option<Head>, Error> {
        let Some(at) = self.order.pop() else { return Ok(None) };
        let head = self.runs.get_mut(at).and_then(|(_, head)| head.take());
        self.advance_run(at, sort)?;
        Ok(head)
    }

    /// Reads the next record of a run and puts the run into its place.
    /// A run at its end stays out of the order.
    fn advance_run(&mut self, at: usize, sort: &Sort) -> Result<(), Error> {
        let Some((reader, head)) = self.runs.get_mut(at) else { return Ok(()) };
        let Some(record) = reader.next_record().map_err(file_failed)? else { return Ok(()) };
        let key = key_of(record).ok_or_else(damaged_record)?;
        *head = Some(Head { key, record: record.to_vec() });
        let key = |at: usize| self.runs.get(at).and_then(|(_, head)| Some(&head.as_ref()?.key));
        // The list is from the last record to the first one.
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
