//! Finds rows in the order of their distances from a point.
//!
//! ```text
//!  queue:   cells, entries and rows, by their least possible distance
//!  a cell   ──▶  its entries, if they are few, else the four cells in it
//!  an entry ──▶  its row, with the exact distance
//!  a row    ──▶  the result: everything left is at least as far
//! ```
//!
//! The search of each key prefix before the geometry begins with the cells of the whole space. If the
//! filter allows ranges of prefixes, they are found by skipping from one to the next in the index, and
//! the few entries of a prefix are taken at once instead.
//!
//! So cells far away are never read, and rows are read when their turn comes. A row that several
//! entries name is found by the nearest one. The queue lives for one view: a search that continues in
//! another view starts again, without the cells and rows before the last row that it has returned.

use std::{cmp::Ordering, collections::BinaryHeap};

use bytes::Bytes;
use evaluation::Context;
use geometry::Cell;
use memory::Share;
use store::KeyRange;

use super::{Finder, seen::SeenRows};
use crate::{
    access::{CellPrefixes, NearAccess, prefix_successor},
    error::{Error, Halt},
    keys,
    limits::{PAGE_ROWS, ROW_WORK, SEEN_BYTES, TAKE_BYTES},
    row::{Entry, Row},
    view::{LiveView, Pages, charge_keys},
    yielding::yield_if_due,
};

/// Maximum number of entries of a cell that are read instead of dividing it.
const FEW_ENTRIES: usize = 64;

/// A search for rows by their distances, and its progress.
#[derive(Debug)]
pub(super) struct Nearest {
    access: NearAccess,
    /// Key prefixes of the entries that are searched by their cells in this view.
    prefixes: Vec<Vec<u8>>,
    /// Steps that may yield further rows, nearest first; `None` before the search begins in a view.
    queue: Option<BinaryHeap<Step>>,
    /// Rows that were read or returned in this view.
    seen: SeenRows,
    /// Memory reserved for the queue.
    held: Option<Share>,
    /// Distance and key of the last returned row.
    last: Option<(f64, Bytes)>,
}

/// A part of the search that is still to be examined, with its least possible distance.
#[derive(Debug)]
struct Step {
    distance: f64,
    kind: StepKind,
}

#[derive(Debug)]
enum StepKind {
    /// The entries of a cell that have the key prefix with this number.
    Cell(usize, Cell),
    /// An entry whose row was not read yet.
    Entry(Entry),
    /// A row that matches, with its exact distance.
    Row(Row),
}

impl Step {
    /// Returns the order at the same distance: a row comes after everything that may be a row.
    fn rank(&self) -> u8 {
        match self.kind {
            StepKind::Cell(..) => 0,
            StepKind::Entry(_) => 1,
            StepKind::Row(_) => 2,
        }
    }

    fn row_key(&self) -> &[u8] {
        match &self.kind {
            StepKind::Cell(..) => &[],
            StepKind::Entry(entry) => &entry.row_key,
            StepKind::Row(row) => &row.key,
        }
    }

    /// Returns the memory of the step in bytes.
    fn bytes(&self) -> usize {
        let own = match &self.kind {
            StepKind::Cell(..) => 0,
            StepKind::Entry(entry) => entry.key.len() + entry.row_key.len(),
            StepKind::Row(row) => row.key.len() + row.value.len(),
        };
        SEEN_BYTES + own
    }
}

impl Ord for Step {
    /// The nearest step is the greatest, since the queue returns the greatest.
    fn cmp(&self, other: &Self) -> Ordering {
        let by_distance = other.distance.total_cmp(&self.distance);
        let by_rank = || other.rank().cmp(&self.rank());
        by_distance.then_with(by_rank).then_with(|| other.row_key().cmp(self.row_key()))
    }
}

impl PartialOrd for Step {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Step {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Step {}

impl Nearest {
    pub(super) fn new(access: NearAccess) -> Self {
        let seen = SeenRows::default();
        Self { access, prefixes: Vec::new(), queue: None, seen, held: None, last: None }
    }

    /// Drops the queue, so that the search starts again in another view.
    pub(super) fn forget_read_ahead(&mut self) {
        (self.queue, self.held) = (None, None);
        self.prefixes.clear();
        self.seen = SeenRows::default();
    }

    /// Begins the search in a view.
    async fn begin(&mut self, view: &LiveView, context: &Context) -> Result<(), Halt> {
        self.held = Some(context.operation_memory.share());
        self.queue = Some(BinaryHeap::new());
        match self.access.prefixes.clone() {
            CellPrefixes::Known(prefixes) => {
                for prefix in prefixes {
                    self.push_prefix(prefix)?;
                }
            }
            CellPrefixes::Within { ranges, descending } => {
                for range in ranges {
                    self.push_range(view, context, range, &descending).await?;
                }
            }
        }
        Ok(())
    }

    /// Adds the entries in a range, and the cells of the prefixes that have many entries.
    async fn push_range(
        &mut self,
        view: &LiveView,
        context: &Context,
        mut range: KeyRange,
        descending: &[bool],
    ) -> Result<(), Halt> {
        let mut pages = Pages::of(range.clone()).with_max_rows(FEW_ENTRIES);
        while let Some(page) = view.next_entries(&self.access.index, &mut pages).await? {
            charge_keys(context, page.examined).await?;
            let (Some(first), Some(last)) = (page.items.first(), page.items.last()) else {
                continue;
            };
            let (first, last) = (prefix_of(first, descending)?, prefix_of(last, descending)?);
            let is_whole = pages.is_done();
            if !is_whole && first == last {
                range.start = prefix_successor(&last);
                self.push_prefix(last)?;
            } else {
                // The last prefix may have entries behind the page, so it begins the next one.
                let entries = page.items.into_iter();
                for entry in entries.filter(|it| is_whole || !it.key.starts_with(&last)) {
                    let len = prefix_of(&entry, descending)?.len();
                    // An entry without a cell is that of a document without this geometry.
                    if let Some(cell) = keys::cell_of_entry(&entry.key, len) {
                        self.push_entry(Cell(cell), entry)?;
                    }
                }
                range.start = last;
            }
            if is_whole || range.is_empty() {
                break;
            }
            pages = Pages::of(range.clone()).with_max_rows(FEW_ENTRIES);
        }
        Ok(())
    }

    /// Adds the cells of the whole space for a key prefix.
    fn push_prefix(&mut self, prefix: Vec<u8>) -> Result<(), Error> {
        if let Some(held) = &mut self.held {
            held.grow(SEEN_BYTES + prefix.len())?;
        }
        self.prefixes.push(prefix);
        for root in self.access.space.roots() {
            self.push_cell(self.prefixes.len() - 1, root)?;
        }
        Ok(())
    }

    fn pop(&mut self) -> Option<Step> {
        let step = self.queue.as_mut()?.pop()?;
        self.held.iter_mut().for_each(|held| held.shrink(step.bytes()));
        Some(step)
    }

    fn push(&mut self, step: Step) -> Result<(), Error> {
        if let Some(held) = &mut self.held {
            held.grow(step.bytes())?;
        }
        if let Some(queue) = &mut self.queue {
            queue.push(step);
        }
        Ok(())
    }

    /// Adds a cell, unless all its rows are too near or too far, or were returned before.
    fn push_cell(&mut self, prefix: usize, cell: Cell) -> Result<(), Error> {
        let NearAccess { near, space, .. } = &self.access;
        let (distance, most) = near.bounds(space, cell);
        let is_before = self.last.as_ref().is_some_and(|(last, _)| most < *last);
        if is_before || near.excludes((distance, most)) {
            return Ok(());
        }
        self.push(Step { distance, kind: StepKind::Cell(prefix, cell) })
    }

    /// Adds an entry with the least distance of its cell.
    fn push_entry(&mut self, cell: Cell, entry: Entry) -> Result<(), Error> {
        let NearAccess { near, space, .. } = &self.access;
        let bounds = near.bounds(space, cell);
        if near.excludes(bounds) {
            return Ok(());
        }
        self.push(Step { distance: bounds.0, kind: StepKind::Entry(entry) })
    }

    /// Adds a matching row with its distance, unless it was returned before.
    fn push_row(&mut self, row: Row, context: &Context) -> Result<(), Error> {
        let meter = |units| context.budget.spend(units);
        let Some((distance, _)) = self.access.near.distance_of(row.document(), &meter)? else {
            return Ok(());
        };
        let is_returned = self.last.as_ref().is_some_and(|(last, key)| {
            distance.total_cmp(last).then_with(|| row.key.cmp(key)).is_le()
        });
        if is_returned || !self.access.near.includes(distance) {
            return Ok(());
        }
        self.push(Step { distance, kind: StepKind::Row(row) })
    }

    /// Replaces a cell by its entries, or by the cells in it and the entries of the cell itself.
    async fn expand(
        &mut self,
        view: &LiveView,
        context: &Context,
        (prefix, cell): (usize, Cell),
    ) -> Result<(), Halt> {
        let Some(key) = self.prefixes.get(prefix).cloned() else { return Ok(()) };
        let range = keys::cells_between(&key, cell.range());
        let mut pages = Pages::of(range).with_max_rows(FEW_ENTRIES);
        let page = view.next_entries(&self.access.index, &mut pages).await?.unwrap_or_default();
        charge_keys(context, page.examined).await?;
        if pages.is_done() || cell.is_leaf() {
            for entry in page.items {
                self.push_entry(cell_of(&entry, key.len())?, entry)?;
            }
            return self.push_rest(view, context, key.len(), pages).await;
        }
        for child in cell.children() {
            self.push_cell(prefix, child)?;
        }
        let own = Pages::of(keys::cells_between(&key, (cell.0, cell.0)));
        self.push_rest(view, context, key.len(), own).await
    }

    /// Adds all entries of the remaining pages, whose keys have a prefix of this length.
    async fn push_rest(
        &mut self,
        view: &LiveView,
        context: &Context,
        prefix: usize,
        mut pages: Pages,
    ) -> Result<(), Halt> {
        while !pages.is_done() {
            pages = pages.with_max_rows(PAGE_ROWS);
            let page = view.next_entries(&self.access.index, &mut pages).await?.unwrap_or_default();
            charge_keys(context, page.examined).await?;
            for entry in page.items {
                self.push_entry(cell_of(&entry, prefix)?, entry)?;
            }
        }
        Ok(())
    }
}

/// Returns the part of an entry's key before its first cell.
fn prefix_of(entry: &Entry, descending: &[bool]) -> Result<Vec<u8>, Error> {
    let prefix = keys::before_cell(&entry.key, descending);
    let corrupt = || Error::corrupt("an index key lacks a field before its cell");
    prefix.map(<[u8]>::to_vec).ok_or_else(corrupt)
}

/// Returns the cell of an entry whose key has a prefix of this length.
fn cell_of(entry: &Entry, prefix: usize) -> Result<Cell, Error> {
    let cell = keys::cell_of_entry(&entry.key, prefix);
    cell.map(Cell).ok_or_else(|| Error::corrupt("an index key lacks its cell"))
}

impl Finder {
    /// Returns up to `wanted` matching rows in the order of their distances, fewer if they are
    /// large; an empty list at the end.
    pub(super) async fn take_nearest(
        &mut self,
        view: &LiveView,
        context: &Context,
        wanted: usize,
    ) -> Result<Vec<Row>, Halt> {
        self.record_access(view, context);
        let (mut found, mut bytes) = (Vec::new(), 0);
        while found.len() < wanted && bytes < TAKE_BYTES {
            match self.next_nearest(view, context).await {
                Ok(Some(row)) => {
                    bytes += row.value.len();
                    found.push(row);
                }
                Ok(None) => break,
                Err(halt) => {
                    // The step in progress is lost, so the search starts again after the last row.
                    self.nearest.iter_mut().for_each(|nearest| nearest.forget_read_ahead());
                    match halt {
                        Halt::LookAgain if !found.is_empty() => break,
                        halt => return Err(halt),
                    }
                }
            }
        }
        Ok(found)
    }

    /// Returns the next row; `None` at the end.
    async fn next_nearest(
        &mut self,
        view: &LiveView,
        context: &Context,
    ) -> Result<Option<Row>, Halt> {
        let Some(nearest) = &mut self.nearest else { return Ok(None) };
        if nearest.queue.is_none() {
            nearest.begin(view, context).await?;
        }
        loop {
            let Some(nearest) = &mut self.nearest else { return Ok(None) };
            let Some(Step { distance, kind }) = nearest.pop() else { return Ok(None) };
            match kind {
                StepKind::Cell(prefix, cell) => {
                    nearest.expand(view, context, (prefix, cell)).await?;
                }
                StepKind::Entry(entry) => {
                    self.keys_examined += 1;
                    if !nearest.seen.note(&entry.row_key, context)? {
                        continue;
                    }
                    let row = view.row_of(&entry).await?;
                    yield_if_due(context, ROW_WORK + row.body().len()).await?;
                    if self.matches_residual(&row, context)?
                        && let Some(nearest) = &mut self.nearest
                    {
                        nearest.push_row(row, context)?;
                    }
                }
                StepKind::Row(row) => {
                    nearest.last = Some((distance, row.key.clone()));
                    return Ok(Some(row));
                }
            }
        }
    }
}
