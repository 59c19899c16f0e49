//! Rows in the order of a sort where the keys of their values were cut.
//!
//! A key holds the beginning of a long value and a checksum, so that keys of equal beginnings stand
//! in no order of their values. A walk that gives the order of a sort takes all rows of such a
//! beginning together, and puts them in order by their documents.
//!
//! ```text
//!  keys:   a   b   kkk…#9   kkk…#2   kkk…#5   z
//!          │   │   └──────────┬──────────┘    │
//!          as they come   one run: sorted     as they come
//! ```
//!
//! The position of the walk stays in front of a run until the last of its rows was returned. In
//! another view the run is gathered again, and what was returned is passed over.

use bytes::Bytes;
use document::{
    key::{Component, decode},
    limits::KEPT_KEY_COMPONENT_BYTES,
};
use evaluation::Context;
use memory::Share;
use pipeline::sort::{Sort, SortKey};
use std::{cmp::Ordering, collections::VecDeque};
use store::Store;

use super::{Candidate, Finder, Progress};
use crate::{
    access::{Access, ChosenAccess},
    error::Halt,
    keys,
    limits::{PAGE_ROWS, ROW_WORK},
    row::Row,
    view::LiveView,
    yielding::yield_if_due,
};

/// What puts rows with long keys in order.
#[derive(Debug)]
pub(super) struct LongKeys {
    /// The order that the walk gives.
    sort: Sort,
    /// Of each component of a key that has a part in the order, whether it descends.
    components: Vec<bool>,
    /// Bytes in front of the first component.
    before: usize,
    /// The run that is being returned.
    run: Option<Run>,
    /// The last row of a run that was returned, until the run is over.
    returned: Option<Returned>,
}

/// Rows whose keys have an equal beginning.
#[derive(Debug)]
struct Run {
    /// The beginning.
    prefix: Vec<u8>,
    /// The rows that were not returned yet, in order.
    rows: VecDeque<(SortKey, Row)>,
    /// The key of the last candidate of the run in the order of the walk.
    end: Bytes,
    /// The memory that they take.
    _held: Share,
}

/// A row of a run that was returned.
#[derive(Debug)]
struct Returned {
    /// The beginning of the run's keys.
    prefix: Vec<u8>,
    key: SortKey,
    row: Bytes,
}

impl LongKeys {
    /// Of a walk that gives this order; `None` where there is no order, or no walk.
    pub(super) fn of_walk(chosen: &ChosenAccess, sort: Option<&Sort>) -> Option<Self> {
        let sort = sort.filter(|sort| chosen.sorted && !sort.parts.is_empty())?;
        let (components, before) = match &chosen.access {
            Access::Ids(_) | Access::Branches { .. } => return None,
            Access::Rows(_) => (vec![false], 0),
            Access::Index { index, .. } => {
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

    /// Drops the rows of a run: they are read again.
    pub(super) fn forget_rows(&mut self) {
        self.run = None;
    }

    /// How much of a key is the beginning of a run; `None` where all of it that has a part in the
    /// order is whole. A component that the range gives whole is equal in all keys of the range.
    fn run_prefix(&self, key: &[u8], range_start: &[u8]) -> Option<usize> {
        // Most keys are short.
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

    /// The order of two rows of a run; equal ones by their ids, so that it is the same in each view.
    fn compare(&self, a: (&SortKey, &Bytes), b: (&SortKey, &Bytes)) -> Ordering {
        self.sort.compare(a.0, b.0).then_with(|| a.1.cmp(b.1))
    }
}

impl Finder {
    /// The next row of the run that is being returned.
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
                // The run is over: the walk goes on behind it.
                self.last = Some(run.end.clone());
                (long.run, long.returned) = (None, None);
                None
            }
        }
    }

    /// Whether a run is being returned and has more rows. One without is over.
    pub(super) fn is_in_long(&mut self) -> bool {
        if self.next_long_key().is_none() {
            self.next_long();
            return false;
        }
        true
    }

    /// Returns what the next row of the run that is being returned sorts by.
    pub(super) fn next_long_key(&self) -> Option<&SortKey> {
        let run = self.long_keys.as_ref()?.run.as_ref()?;
        run.rows.front().map(|(key, _)| key)
    }

    /// Whether the next candidate begins a run. What was not read ahead yet is not looked at.
    pub(super) fn is_before_long(&self) -> bool {
        self.next_prefix().is_some()
    }

    /// The beginning of the run that the next candidate belongs to.
    fn next_prefix(&self) -> Option<Vec<u8>> {
        let long = self.long_keys.as_ref()?;
        let key = self.next_key()?;
        let range = self.range_at(self.at)?;
        let len = long.run_prefix(key, &range.start)?;
        key.get(..len).map(<[u8]>::to_vec)
    }

    /// The key of the next candidate that was read ahead.
    fn next_key(&self) -> Option<&Bytes> {
        match (self.rows_ahead.front(), self.ahead.front()) {
            (Some(row), _) => Some(&row.key),
            (None, Some(Candidate::Entry(entry))) => Some(&entry.key),
            (None, _) => None,
        }
    }

    /// Reads all rows of the run that the next candidate begins and puts them in order. Where the
    /// view cannot tell of one, the walk is again where it was before.
    pub(super) async fn gather_long<S: Store>(
        &mut self,
        view: &LiveView<S>,
        context: &Context,
    ) -> Result<(), Halt> {
        // Rows that were read ahead and used are behind the position only now.
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

    /// The rows of a run that the filter means, the key of its last candidate, and the memory that
    /// they take.
    async fn rows_of_run<S: Store>(
        &mut self,
        view: &LiveView<S>,
        context: &Context,
        prefix: &[u8],
    ) -> Result<(Vec<(SortKey, Row)>, Bytes, Share), Halt> {
        let mut rows = Vec::new();
        let mut held = context.holding.share();
        let mut end = Bytes::new();
        loop {
            let Some(key) = self.next_key() else {
                // A run lies within one range: the next one begins with another key.
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
                    self.explain.keys_examined += 1;
                    view.passing_row_of(&entry).await?
                }
                (None, _) => return Ok((rows, end, held)),
            };
            yield_if_due(context, ROW_WORK + row.body().len()).await?;
            if self.is_meant(&row, context)? {
                let Some(long) = &self.long_keys else { continue };
                let key = long.sort.key_of(row.document());
                // It is refused where it is more than is left for the operation.
                held.grow(row.value.len() + key.memory_bytes())?;
                rows.push((key, row));
            }
        }
    }
}
