//! A walk along the entries of one path: items in the order of its values, without sorting all of
//! them. Entries tell scalars apart as far as they are kept; the items of long texts that begin
//! alike, of arrays and of objects are sorted here. Items without a value there have no entry: they
//! come before all others, so a walk needs a condition that leaves them out, or comes to them last.

use document::{
    ArrayRef, DocRef, Document, ValueRef,
    key::{TypeOrder, encode, skip},
};
use evaluation::Context;
use select::{
    sarg::{PathStep, Sarg, ValueTest},
    statement::Flow,
};
use store::{Direction, Range, Store};

use super::{
    candidates::{class, ranges, width},
    scan::{Scan, Scanned, Sink, Used, take},
};
use crate::{
    catalog::{IndexSpec, Record},
    error::Halt,
    index::value_at,
    keys,
    limits::{KEPT_PATH_COMPONENT_BYTES, MAX_ALIKE_BYTES, ROW_WORK},
    row::{Entry, Row},
    view::{LiveView, Pages, charge_keys},
    yielding::yield_if_due,
};

/// Where a walk goes.
pub(super) struct Along<'a> {
    index: &'a IndexSpec,
    names: &'a [String],
    /// The beginning of the path's entries.
    prefix: Vec<u8>,
    /// Which of them, in the order of the walk.
    ranges: Vec<Range>,
    direction: Direction,
    /// The classes of arrays and objects, of which entries hold no more.
    inner: [u8; 2],
    /// The items without a value, by their keys; in the end they are walked too.
    without: Option<Range>,
}

/// The path by which a walk over a whole container goes best; none where another index leaves fewer
/// items, or none has the path.
pub(super) fn find<'a>(record: &'a Record, scan: &'a Scan) -> Option<Along<'a>> {
    let [(names, descending)] = scan.order.as_slice() else { return None };
    if !scan.range.is_all() {
        return None;
    }
    let path: Vec<PathStep> = names.iter().cloned().map(PathStep::Property).collect();
    let test = match test(&scan.sarg, &path) {
        None if scan.sarg == Sarg::All && *descending => None,
        None => return None,
        some => some,
    };
    let index = record.indexes.iter().find(|index| index.ready && index.holds(&path))?;
    let prefix = keys::item_path(index.id, &path);
    let mut ranges = ranges(&prefix, test.unwrap_or(&ValueTest::Defined));
    let direction = if *descending { Direction::Backward } else { Direction::Forward };
    if *descending {
        ranges.reverse();
    }
    let without = test.is_none().then(Range::all);
    let inner = [
        class(ValueRef::Array(ArrayRef::Tree(&[]))),
        class(ValueRef::Document(DocRef::Tree(&Document::new()))),
    ];
    let mut along = Along { index, names, prefix, ranges, direction, inner, without };
    if let Some(seek) = &scan.seek {
        along.seek(seek);
    }
    Some(along)
}

/// What a condition demands of the path, where no part of it leaves fewer items.
fn test<'a>(sarg: &'a Sarg, path: &[PathStep]) -> Option<&'a ValueTest> {
    let of_path = |part: &'a Sarg| match part {
        Sarg::Test(steps, test) if steps.as_slice() == path => match test {
            ValueTest::Range { .. }
            | ValueTest::Prefix(_)
            | ValueTest::Text
            | ValueTest::Defined => Some((part, test)),
            ValueTest::Equal(_) | ValueTest::In(_) => None,
        },
        _ => None,
    };
    let parts = match sarg {
        Sarg::And(parts) => parts.as_slice(),
        one => std::slice::from_ref(one),
    };
    let best = parts.iter().filter_map(of_path).min_by_key(|(part, _)| width(part));
    let (part, test) = best?;
    let widest = parts.iter().all(|other| width(part) <= width(other));
    widest.then_some(test)
}

impl Along<'_> {
    /// Leaves out what lies before a place, which may be the beginning of one.
    fn seek(&mut self, place: &[u8]) {
        let turned: Vec<u8>;
        let (place, from_end) = match self.direction {
            Direction::Forward => (place, false),
            Direction::Backward => {
                turned = place.iter().map(|byte| !byte).collect();
                (turned.as_slice(), true)
            }
        };
        if place.first() == Some(&class(ValueRef::Undefined)) && from_end {
            let keys = place.get(1..).unwrap_or_default();
            self.ranges.clear();
            self.without =
                self.without.take().map(|all| Range { end: Range::prefix(keys).end, ..all });
            return;
        }
        let edge = [self.prefix.as_slice(), self.known(place)].concat();
        for range in &mut self.ranges {
            if from_end {
                let end = Range::prefix(&edge).end;
                range.end = match (range.end.take(), end) {
                    (Some(one), Some(other)) => Some(one.min(other)),
                    (one, other) => one.or(other),
                };
            } else if range.start < edge {
                range.start.clone_from(&edge);
            }
        }
    }

    /// The beginning of a place that the key of its entry begins with too.
    fn known<'b>(&self, place: &'b [u8]) -> &'b [u8] {
        let kept = KEPT_PATH_COMPONENT_BYTES;
        if place.first().is_some_and(|class| self.inner.contains(class)) {
            return place.get(..1).unwrap_or_default();
        }
        let whole = skip(place, false).is_some_and(|rest| place.len() - rest.len() <= kept);
        if whole { place } else { place.get(..kept).unwrap_or(place) }
    }

    /// What the entries of values have in common that they do not tell apart; nothing for one that
    /// is told apart.
    fn alike<'b>(&self, component: &'b [u8]) -> Option<&'b [u8]> {
        if self.inner.contains(component.first()?) {
            return component.get(..1);
        }
        let cut = KEPT_PATH_COMPONENT_BYTES < component.len();
        if cut { component.get(..KEPT_PATH_COMPONENT_BYTES) } else { None }
    }
}

/// How a walk goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// On, to what comes next.
    On,
    /// No further: there is enough.
    Enough,
    /// No further: too many items are alike, so that sorting has to be left to others.
    Astray,
}

/// The items of a walk in order.
pub(super) async fn walk<S: Store>(
    view: &LiveView<S>,
    along: &Along<'_>,
    context: &Context,
    sink: &mut dyn Sink,
    scanned: &mut Scanned,
) -> Result<Way, Halt> {
    let path = along.names.iter().cloned().map(PathStep::Property);
    scanned.indexes.push(Used::Path(path.collect()));
    let mut walk = Walk { view, along, context, sink, scanned, alike: Alike::default() };
    for range in &along.ranges {
        match walk.entries(range).await? {
            Way::On => {}
            end => return Ok(end),
        }
    }
    if walk.sorted().await? == Way::Enough {
        return Ok(Way::Enough);
    }
    if let Some(range) = &along.without
        && walk.without(range).await? == Way::Enough
    {
        return Ok(Way::Enough);
    }
    scanned.ended = true;
    Ok(Way::On)
}

/// Items whose entries do not tell their values apart.
#[derive(Default)]
struct Alike {
    what: Vec<u8>,
    /// Each with its value as it is ordered.
    rows: Vec<(Vec<u8>, Row)>,
    bytes: usize,
}

struct Walk<'a, S: Store> {
    view: &'a LiveView<S>,
    along: &'a Along<'a>,
    context: &'a Context,
    sink: &'a mut dyn Sink,
    scanned: &'a mut Scanned,
    alike: Alike,
}

impl<S: Store> Walk<'_, S> {
    async fn entries(&mut self, range: &Range) -> Result<Way, Halt> {
        let mut pages = Pages::of(range.clone()).in_direction(self.along.direction).growing();
        while let Some(page) = self.view.next_entries(self.along.index, &mut pages).await? {
            charge_keys(self.context, page.examined).await?;
            for entry in page.items {
                self.scanned.entries += 1;
                match self.entry(&entry).await? {
                    Way::On => {}
                    end => return Ok(end),
                }
            }
        }
        Ok(Way::On)
    }

    async fn entry(&mut self, entry: &Entry) -> Result<Way, Halt> {
        let end = entry.key.len().saturating_sub(entry.row_key.len());
        let component = entry.key.get(self.along.prefix.len()..end).unwrap_or_default();
        let what = self.along.alike(component).unwrap_or_default();
        if !self.alike.rows.is_empty() && what != self.alike.what {
            let way = self.sorted().await?;
            if way != Way::On {
                return Ok(way);
            }
        }
        let row = self.view.row_of(entry).await?;
        if what.is_empty() {
            return self.take(row).await;
        }
        yield_if_due(self.context, ROW_WORK + row.body().len()).await?;
        let mut value = Vec::new();
        let found = value_at(row.document(), self.along.names).unwrap_or(ValueRef::Undefined);
        encode(found, TypeOrder::Json, false, &mut value);
        self.alike.what = what.to_vec();
        self.alike.bytes += value.len() + row.value.len();
        self.alike.rows.push((value, row));
        Ok(if MAX_ALIKE_BYTES < self.alike.bytes { Way::Astray } else { Way::On })
    }

    /// The items that are alike, sorted.
    async fn sorted(&mut self) -> Result<Way, Halt> {
        let mut rows = std::mem::take(&mut self.alike).rows;
        rows.sort_unstable_by(|(one, row), (other, other_row)| {
            (one, &row.key).cmp(&(other, &other_row.key))
        });
        if self.along.direction == Direction::Backward {
            rows.reverse();
        }
        for (_, row) in rows {
            if self.take(row).await? == Way::Enough {
                return Ok(Way::Enough);
            }
        }
        Ok(Way::On)
    }

    /// The items without a value.
    async fn without(&mut self, range: &Range) -> Result<Way, Halt> {
        let mut pages = Pages::of(range.clone()).in_direction(self.along.direction);
        while let Some(page) = self.view.next_rows(&mut pages).await? {
            charge_keys(self.context, page.examined).await?;
            for row in page.items {
                if value_at(row.document(), self.along.names).is_none()
                    && self.take(row).await? == Way::Enough
                {
                    return Ok(Way::Enough);
                }
            }
        }
        Ok(Way::On)
    }

    async fn take(&mut self, row: Row) -> Result<Way, Halt> {
        let flow = take(row, self.context, self.sink, self.scanned).await?;
        Ok(if flow == Flow::Enough { Way::Enough } else { Way::On })
    }
}
