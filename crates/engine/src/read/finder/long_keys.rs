//! Sorts rows whose index keys contain truncated values.
//!
//! A key contains only a prefix of a long value and a checksum, so keys with equal prefixes are not
//! ordered by value. A scan that must yield a sort order collects all rows with such a prefix,
//! which are called a run in this file, and sorts them by their documents.
//!
//! ```text
//!  keys:   a   b   kkk…#9   kkk…#2   kkk…#5   z
//!          |   |   +----------+----------+    |
//!          in order   one run: sorted         in order
//! ```
//!
//! The scan's position stays before a run until the run's last row was returned. A scan that
//! continues in another view collects the run again and skips the rows that it has returned.

use bytes::Bytes;
use document::key::{Component, KEPT_KEY_COMPONENT_BYTES, decode};
use evaluation::Context;
use memory::Share;
use pipeline::sort::{Sort, SortKey};
use std::{cmp::Ordering, collections::VecDeque};

use super::{Candidate, Finder, Progress};
use crate::{
    access::{AccessPath, ChosenAccess},
    error::Halt,
    keys,
    limits::{PAGE_ROWS, ROW_WORK},
    row::Row,
    view::LiveView,
    yielding::yield_if_due,
};

/// Sorts rows whose index keys were truncated because of their length.
#[derive(Debug)]
pub(super) struct LongKeys {
    /// The order that the scan yields.
    sort: Sort,
    /// For each key component that is part of the order: whether it is descending.
    components: Vec<bool>,
    /// Number of key bytes before the first component.
    before: usize,
    /// The run (rows whose truncated keys have the same prefix) that is being returned.
    run: Option<Run>,
    /// The row that was returned last, of the current run of rows with truncated keys.
    returned: Option<Returned>,
}

/// Rows whose index keys are truncated and have the same prefix.
#[derive(Debug)]
struct Run {
    prefix: Vec<u8>,
    /// Rows not returned yet, sorted.
    rows: VecDeque<(SortKey, Row)>,
    /// Key of the last candidate, in scan order, whose truncated key has the shared prefix.
    end: Bytes,
    /// Memory reserved for the rows.
    _held: Share,
}

/// The last returned row of those with the same truncated key prefix, from which the scan can
/// resume.
#[derive(Debug)]
struct Returned {
    prefix: Vec<u8>,
    key: SortKey,
    row: Bytes,
}

impl LongKeys {
    /// Creates the sorter of a scan; `None` if it has no order or does not scan ranges.
    pub(super) fn of_walk(chosen: &ChosenAccess, sort: Option<&Sort>) -> Option<Self> {
        let sort = sort.filter(|sort| chosen.sorted && !sort.parts.is_empty())?;
        let (components, before) = match &chosen.access {
            AccessPath::Ids(_) | AccessPath::Near(_) | AccessPath::Branches { .. } => return None,
            AccessPath::Rows(_) => (vec![false], 0),
            AccessPath::Index { index, .. } => {
                let is_part = |path: &str| sort.parts.iter().any(|part| part.path.as_str() == path);
                let fields = index.key.iter();
                let fields = fields.map(|(path, descending)| (path.as_str(), *descending));
                let id = index.ends_with_id().then_some(("_id", false));
                let fields: Vec<_> = fields.chain(id).collect();
                let last = fields.iter().rposition(|(path, _)| is_part(path))?;
                let parts = fields.iter().take(last + 1);
                let components = parts.map(|(_, descending)| *descending).collect();
                (components, keys::index_prefix(index.id).len())
            }
        };
        Some(Self { sort: sort.clone(), components, before, run: None, returned: None })
    }

    /// Drops the rows with the same truncated key prefix that were collected for sorting; they are
    /// read again later.
    pub(super) fn forget_rows(&mut self) {
        self.run = None;
    }

    /// Returns the length of the prefix of a truncated key, by which rows that have to be sorted
    /// are collected; `None` if no relevant component of the key is truncated. A component fixed by
    /// the range is not relevant, since all keys of the range have it.
    fn run_prefix(&self, key: &[u8], range_start: &[u8]) -> Option<usize> {
        // Fast path for short keys.
        if key.len() <= self.before + KEPT_KEY_COMPONENT_BYTES {
            return None;
        }
        let mut rest = key.get(self.before..)?;
        for descending in &self.components {
            let start = key.len() - rest.len();
            let (component, behind) = decode(rest, *descending)?;
            let end = key.len() - behind.len();
            let fixed = range_start.get(..end).is_some_and(|fixed| key.get(..end) == Some(fixed));
            if component == Component::Cut && !fixed {
                return Some(start + KEPT_KEY_COMPONENT_BYTES);
            }
            rest = behind;
        }
        None
    }

    /// Compares two rows with the same truncated key prefix by the sort order; ties are broken by
    /// id, so that the order is the same in each view.
    fn compare(&self, a: (&SortKey, &Bytes), b: (&SortKey, &Bytes)) -> Ordering {
        self.sort.compare(a.0, b.0).then_with(|| a.1.cmp(b.1))
    }
}

impl Finder {
    /// Returns the next of the rows that were sorted because of their truncated keys.
    pub(super) fn next_long(&mut self) -> Option<Row> {
        let long = self.long_keys.as_mut()?;
        let run = long.run.as_mut()?;
        match run.rows.pop_front() {
            Some((key, row)) => {
                let prefix = std::mem::take(&mut run.prefix);
                run.prefix.clone_from(&prefix);
                long.returned = Some(Returned { prefix, key, row: row.key.clone() });
                Some(row)
            }
            None => {
                // The run has ended: the scan continues after it.
                self.last = Some(run.end.clone());
                (long.run, long.returned) = (None, None);
                None
            }
        }
    }

    /// Returns whether more rows remain that were sorted because of their truncated keys; otherwise
    /// ends the run that they form.
    pub(super) fn is_in_long(&mut self) -> bool {
        if self.next_long_key().is_none() {
            self.next_long();
            return false;
        }
        true
    }

    /// Returns the sort key of the next of the rows that were sorted because of their truncated
    /// keys.
    pub(super) fn next_long_key(&self) -> Option<&SortKey> {
        let run = self.long_keys.as_ref()?.run.as_ref()?;
        run.rows.front().map(|(key, _)| key)
    }

    /// Returns whether the next candidate that was read ahead starts a run of rows with truncated
    /// keys; false if none was read ahead.
    pub(super) fn is_before_long(&self) -> bool {
        self.next_prefix().is_some()
    }

    /// Returns the prefix that the truncated key of the next candidate shares with other keys;
    /// `None` if the key is not truncated, or if no candidate was read ahead.
    fn next_prefix(&self) -> Option<Vec<u8>> {
        let long = self.long_keys.as_ref()?;
        let key = self.next_key()?;
        let range = self.range_at(self.at)?;
        let len = long.run_prefix(key, &range.start)?;
        key.get(..len).map(<[u8]>::to_vec)
    }

    /// Returns the key of the next candidate read ahead.
    fn next_key(&self) -> Option<&Bytes> {
        match (self.rows_ahead.front(), self.ahead.front()) {
            (Some(row), _) => Some(&row.key),
            (None, Some(Candidate::Entry(entry))) => Some(&entry.key),
            (None, _) => None,
        }
    }

    /// Reads and sorts all rows with the truncated key prefix of the next candidate. If the view
    /// cannot decide whether a row has expired, the scan's position is restored.
    pub(super) async fn gather_long(
        &mut self,
        view: &LiveView,
        context: &Context,
    ) -> Result<(), Halt> {
        let Some(prefix) = self.next_prefix() else { return Ok(()) };
        let gathered = self.rows_of_run(view, context, &prefix).await;
        if gathered.is_err() {
            self.resume_after_last();
        }
        let (mut rows, end, held) = gathered?;
        let Some(long) = &mut self.long_keys else { return Ok(()) };
        rows.sort_by(|a, b| long.compare((&a.0, &a.1.key), (&b.0, &b.1.key)));
        if let Some(returned) = long.returned.take_if(|returned| returned.prefix == prefix) {
            let last = (&returned.key, &returned.row);
            rows.retain(|(key, row)| long.compare((key, &row.key), last).is_gt());
            long.returned = Some(returned);
        }
        long.run = Some(Run { prefix, rows: rows.into(), end, _held: held });
        Ok(())
    }

    /// Returns the matching rows that share a truncated key prefix, the key of the last candidate
    /// among them, and the reservation of their memory.
    async fn rows_of_run(
        &mut self,
        view: &LiveView,
        context: &Context,
        prefix: &[u8],
    ) -> Result<(Vec<(SortKey, Row)>, Bytes, Share), Halt> {
        let mut rows = Vec::new();
        let mut held = context.operation_memory.share();
        let mut end = Bytes::new();
        loop {
            let Some(key) = self.next_key() else {
                // The keys of a run are within one range, so the run ends with the range.
                let more = matches!(&self.progress, Progress::Walking(pages) if !pages.is_done());
                if more && self.read_more(view, context, PAGE_ROWS).await? {
                    continue;
                }
                return Ok((rows, end, held));
            };
            if !key.starts_with(prefix) {
                return Ok((rows, end, held));
            }
            end = key.clone();
            let row = match (self.rows_ahead.pop_front(), self.ahead.pop_front()) {
                (Some(row), _) => row,
                (None, Some(Candidate::Entry(entry))) => {
                    self.keys_examined += 1;
                    view.passing_row_of(&entry).await?
                }
                (None, _) => return Ok((rows, end, held)),
            };
            yield_if_due(context, ROW_WORK + row.body().len()).await?;
            if self.matches_residual(&row, context)? {
                let Some(long) = &self.long_keys else { continue };
                let key = long.sort.key_of(row.document(), context.collation());
                // Fails if the run exceeds the operation's memory.
                held.grow(row.value.len() + key.memory_bytes())?;
                rows.push((key, row));
            }
        }
    }
}
