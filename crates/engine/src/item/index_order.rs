//! An index-order scan: items in the order of one path's values, without sorting all of them.
//!
//! ```text
//!  entries of /age:   .. 17 | 18 | 18 | 30 | "Ann.." "Ann.." "Ann.." | {..} {..} ..
//!                         ordered by the entry | equal in the index: read, sorted, emitted
//! ```
//!
//! Index entries are ordered by the stored prefix of a scalar, and those with equal values by the
//! creation of their items. Items with equal index components (long strings with a common prefix,
//! arrays, objects) are collected and sorted here. Items without a value have no entry; they sort
//! before all others, so a scan needs a condition that excludes them, or must reach them last.
//!
//! If too many items have equal components, memory would be unbounded: the scan ends with
//! [`WalkOutcome::Fallback`], and the caller restarts in key order and leaves sorting to the
//! evaluator, which can spill to disk.

use document::{
    ArrayRef, DocRef, Document, ValueRef,
    key::{TypeOrder, encode, skip},
};
use select::{sarg::ValueTest, statement::Flow};
use store::{Direction, KeyRange};

use super::{
    allowed::order_path,
    candidates::{test_ranges, type_byte},
    creation_order::CreationSource,
    emitter::Emitter,
    scan::Scan,
};
use crate::{
    catalog::{IndexSpec, PathState, Record},
    entry::unnamed_key,
    error::Halt,
    index::value_at,
    limits::{KEPT_PATH_COMPONENT_BYTES, MAX_EQUAL_BYTES, ROW_WORK},
    row::{Entry, Row},
    view::{LiveView, Pages, charge_keys},
    yielding::yield_if_due,
};

/// The plan of an index-order scan.
pub(super) struct IndexOrderScan<'a> {
    index: &'a IndexSpec,
    /// The path whose values determine the order, as property names.
    names: &'a [String],
    /// Key prefix of the path's entries.
    prefix: Vec<u8>,
    /// Ranges of entries in scan order.
    ranges: Vec<KeyRange>,
    /// Backward for a descending order.
    direction: Direction,
    /// Type bytes of arrays and objects, whose index entries do not contain their content.
    inner: [u8; 2],
    /// Whether the items without a value follow after those with one.
    without: bool,
    /// If set, only those items without a value are emitted that precede this position in creation
    /// order.
    without_before: Option<Vec<u8>>,
}

/// Plans a scan in the requested order; `None` if the path has no index or another condition is
/// more selective.
pub(super) fn plan_index_order<'a>(
    record: &'a Record,
    scan: &'a Scan,
) -> Option<IndexOrderScan<'a>> {
    let (path, test) = order_path(record, scan)?;
    let (names, descending) = scan.order.first()?;
    let PathState::Ready(index) = record.path_state(&path) else { return None };
    if !index.by_creation {
        return None;
    }
    let prefix = index.path_prefix(&path);
    let mut ranges = test_ranges(&prefix, test.unwrap_or(&ValueTest::Defined));
    let direction = if *descending { Direction::Backward } else { Direction::Forward };
    if *descending {
        ranges.reverse();
    }
    let (without, without_before) = (test.is_none(), None);
    let inner = [
        type_byte(ValueRef::Array(ArrayRef::Tree(&[]))),
        type_byte(ValueRef::Document(DocRef::Tree(&Document::new()))),
    ];
    let mut along =
        IndexOrderScan { index, names, prefix, ranges, direction, inner, without, without_before };
    // Continue from a page token.
    if let Some(seek) = &scan.seek {
        along.seek_to(seek);
    }
    Some(along)
}

impl IndexOrderScan<'_> {
    /// Skips all entries before a position; `place` is a whole position or a prefix of one.
    fn seek_to(&mut self, place: &[u8]) {
        // Positions of a descending order are bitwise inverted, so that tokens sort as bytes.
        let turned: Vec<u8>;
        let (place, from_end) = match self.direction {
            Direction::Forward => (place, false),
            Direction::Backward => {
                turned = place.iter().map(|byte| !byte).collect();
                (turned.as_slice(), true)
            }
        };
        // The token is among the items without a value: all entries were emitted.
        if place.first() == Some(&type_byte(ValueRef::Undefined)) && from_end {
            let creation_stamp = place.get(1..).unwrap_or_default();
            self.ranges.clear();
            // The token's item is emitted again, since a JOIN may have more rows for it.
            self.without_before = Some([creation_stamp, &[0]].concat());
            return;
        }
        // An entry identifies a position only up to equal components: items with equal components
        // are emitted again from the first, and the caller skips the ones that it already has.
        let edge = [self.prefix.as_slice(), self.known_prefix(place)].concat();
        for range in &mut self.ranges {
            if from_end {
                let end = KeyRange::with_prefix(&edge).end;
                range.end = match (range.end.take(), end) {
                    (Some(one), Some(other)) => Some(one.min(other)),
                    (one, other) => one.or(other),
                };
            } else if range.start < edge {
                range.start.clone_from(&edge);
            }
        }
    }

    /// Returns the prefix of a resume position from which on index entries have to be read. It is
    /// shorter than the position if the index entry does not contain the whole value.
    fn known_prefix<'b>(&self, place: &'b [u8]) -> &'b [u8] {
        let kept = KEPT_PATH_COMPONENT_BYTES;
        if place.first().is_some_and(|class| self.inner.contains(class)) {
            return place.get(..1).unwrap_or_default();
        }
        // The entry of a short value contains the whole value, followed by the creation stamp as in
        // the position, so the whole position can be used.
        let whole = skip(place, false).is_some_and(|rest| place.len() - rest.len() <= kept);
        if whole { place } else { place.get(..kept).unwrap_or(place) }
    }

    /// Returns the prefix of a component up to which the index orders it: entries with equal
    /// prefixes must be sorted here. Returns `None` for a component that the index orders as a
    /// whole.
    fn equal_prefix<'b>(&self, component: &'b [u8]) -> Option<&'b [u8]> {
        if self.inner.contains(component.first()?) {
            return component.get(..1);
        }
        // The checksum after the truncated part distinguishes values but does not order them.
        let cut = KEPT_PATH_COMPONENT_BYTES < component.len();
        if cut { component.get(..KEPT_PATH_COMPONENT_BYTES) } else { None }
    }
}

/// The result of a step of the scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WalkOutcome {
    On,
    /// Stop: the sink has enough.
    Enough,
    /// Stop, because too many items have equal values: the caller must sort instead.
    Fallback,
}

/// Emits the items of the scan in order.
pub(super) async fn walk_index_order(
    view: &LiveView,
    along: &IndexOrderScan<'_>,
    emitter: &mut Emitter<'_>,
) -> Result<WalkOutcome, Halt> {
    emitter.scanned.read.push(along.index.id);
    let mut walk = IndexOrderWalk { view, along, emitter, equal: EqualRows::default() };
    for range in &along.ranges {
        match walk.walk_entries(range).await? {
            WalkOutcome::On => {}
            end => return Ok(end),
        }
    }
    if walk.emit_equal_sorted().await? == WalkOutcome::Enough {
        return Ok(WalkOutcome::Enough);
    }
    if along.without {
        let (source, before) =
            (CreationSource::Without(along.names), along.without_before.as_deref());
        if view.scan_in_creation_order(source, along.direction, before, walk.emitter).await?
            == Flow::Enough
        {
            return Ok(WalkOutcome::Enough);
        }
    }
    emitter.scanned.ended = true;
    Ok(WalkOutcome::On)
}

/// Consecutive items whose index entries have equal components, to be sorted by their whole values,
/// then by creation.
#[derive(Default)]
struct EqualRows {
    /// The component, or its prefix, that the entries share.
    shared_prefix: Vec<u8>,
    /// Each row with its encoded value.
    rows: Vec<(Vec<u8>, Row)>,
    /// Total size of values and rows, at most [`MAX_EQUAL_BYTES`].
    bytes: usize,
}

/// A running scan in one view.
struct IndexOrderWalk<'a, 'b> {
    view: &'a LiveView,
    along: &'a IndexOrderScan<'a>,
    emitter: &'a mut Emitter<'b>,
    equal: EqualRows,
}

impl IndexOrderWalk<'_, '_> {
    /// Emits the items of a range of index entries.
    async fn walk_entries(&mut self, range: &KeyRange) -> Result<WalkOutcome, Halt> {
        let mut pages =
            Pages::of(range.clone()).in_direction(self.along.direction).growing_slowly();
        let along = self.along.index;
        self.emitter.context.budget.record_access(|| format!("index {}", along.name));
        while let Some(page) = self.view.next_entries(along, &mut pages).await? {
            charge_keys(self.emitter.context, page.examined).await?;
            for entry in page.items {
                self.emitter.scanned.entries += 1;
                match self.take_entry(&entry).await? {
                    WalkOutcome::On => {}
                    end => return Ok(end),
                }
            }
        }
        Ok(WalkOutcome::On)
    }

    /// Emits the item of an entry, or collects it with other items that have equal values.
    async fn take_entry(&mut self, entry: &Entry) -> Result<WalkOutcome, Halt> {
        let key = unnamed_key(self.along.index, &entry.key, &entry.row_key);
        let component = key.get(self.along.prefix.len()..).unwrap_or_default();
        let shared_prefix = self.along.equal_prefix(component).unwrap_or_default();
        // The group of equal components has ended; its items are emitted first.
        if !self.equal.rows.is_empty() && shared_prefix != self.equal.shared_prefix {
            let outcome = self.emit_equal_sorted().await?;
            if outcome != WalkOutcome::On {
                return Ok(outcome);
            }
        }
        let row = self.view.row_of(entry).await?;
        // The entry contains the whole value, so the order of entries is final.
        if shared_prefix.is_empty() {
            return self.emit_row(row).await;
        }
        yield_if_due(self.emitter.context, ROW_WORK + row.body().len()).await?;
        let mut value = Vec::new();
        let found = value_at(row.document(), self.along.names).unwrap_or(ValueRef::Undefined);
        encode(found, TypeOrder::Json, false, &mut value);
        self.equal.shared_prefix = shared_prefix.to_vec();
        self.equal.bytes += value.len() + row.value.len();
        self.equal.rows.push((value, row));
        Ok(if MAX_EQUAL_BYTES < self.equal.bytes { WalkOutcome::Fallback } else { WalkOutcome::On })
    }

    /// Emits the collected items in order of their whole values, and of creation where those are
    /// equal.
    async fn emit_equal_sorted(&mut self) -> Result<WalkOutcome, Halt> {
        let mut rows = std::mem::take(&mut self.equal).rows;
        rows.sort_unstable_by(|(one, row), (other, other_row)| {
            (one, row.creation_stamp).cmp(&(other, other_row.creation_stamp))
        });
        if self.along.direction == Direction::Backward {
            rows.reverse();
        }
        for (_, row) in rows {
            if self.emit_row(row).await? == WalkOutcome::Enough {
                return Ok(WalkOutcome::Enough);
            }
        }
        Ok(WalkOutcome::On)
    }

    async fn emit_row(&mut self, row: Row) -> Result<WalkOutcome, Halt> {
        let flow = self.emitter.emit_item(row).await?;
        Ok(if flow == Flow::Enough { WalkOutcome::Enough } else { WalkOutcome::On })
    }
}
