//! Which items can meet a condition, as the indexes that hold its paths say: keys of rows in their
//! order. `None` where no index helps, or too many items would be named.

use std::collections::{BTreeSet, VecDeque};

use bytes::Bytes;
use document::ValueRef;
use evaluation::Context;
use select::sarg::{PathStep, Sarg, ValueTest};
use store::{Range, Store};

use super::scan::{Scanned, Used};
use crate::{
    access::successor,
    catalog::IndexSpec,
    error::Halt,
    index::component,
    keys,
    limits::{KEPT_PATH_COMPONENT_BYTES, MAX_CANDIDATES},
    view::{LiveView, Pages, charge_keys},
};

/// Keys that a part of a condition leaves, or that nothing is known.
type Found = Option<BTreeSet<Bytes>>;

/// The keys within a range of all items that can meet a condition.
pub(super) async fn find<S: Store>(
    view: &LiveView<S>,
    sarg: &Sarg,
    range: &Range,
    context: &Context,
    scanned: &mut Scanned,
) -> Result<Option<VecDeque<Bytes>>, Halt> {
    if matches!(sarg, Sarg::All) {
        return Ok(None);
    }
    let mut search = Search { view, range, context, scanned };
    Ok(search.of(sarg).await?.map(|keys| keys.into_iter().collect()))
}

struct Search<'a, S: Store> {
    view: &'a LiveView<S>,
    range: &'a Range,
    context: &'a Context,
    scanned: &'a mut Scanned,
}

impl<S: Store> Search<'_, S> {
    async fn of(&mut self, sarg: &Sarg) -> Result<Found, Halt> {
        match sarg {
            Sarg::All => Ok(None),
            Sarg::Never => Ok(Some(BTreeSet::new())),
            Sarg::Test(path, test) => self.test(path, test).await,
            Sarg::Or(parts) => {
                let mut all = BTreeSet::new();
                for part in parts {
                    let Some(found) = Box::pin(self.of(part)).await? else { return Ok(None) };
                    all.extend(found);
                    if MAX_CANDIDATES < all.len() {
                        return Ok(None);
                    }
                }
                Ok(Some(all))
            }
            Sarg::And(parts) => {
                // The narrowest kinds of tests first; the first one that helps is enough, since
                // every item is looked at again.
                let mut parts: Vec<&Sarg> = parts.iter().collect();
                parts.sort_by_key(|part| width(part));
                for part in parts {
                    let found = Box::pin(self.of(part)).await?;
                    if found.is_some() {
                        return Ok(found);
                    }
                }
                Ok(None)
            }
        }
    }

    async fn test(&mut self, path: &[PathStep], test: &ValueTest) -> Result<Found, Halt> {
        let indexes = &self.view.state.record.indexes;
        let holding = |index: &&IndexSpec| index.ready && index.holds(path);
        let Some(index) = indexes.iter().find(holding) else { return Ok(None) };
        let mut found = BTreeSet::new();
        for range in ranges(&keys::item_path(index.id, path), test) {
            if !self.walk(index, range, &mut found).await? {
                return Ok(None);
            }
        }
        let used = Used::Path(path.to_vec());
        if !self.scanned.indexes.contains(&used) {
            self.scanned.indexes.push(used);
        }
        Ok(Some(found))
    }

    /// Adds the keys of a range of entries; answers whether they were not too many.
    async fn walk(
        &mut self,
        index: &IndexSpec,
        range: Range,
        found: &mut BTreeSet<Bytes>,
    ) -> Result<bool, Halt> {
        let mut pages = Pages::of(range).growing();
        let mut looked = 0;
        while let Some(page) = self.view.next_entries(index, &mut pages).await? {
            charge_keys(self.context, page.examined).await?;
            looked += page.examined;
            self.scanned.entries += page.items.len() as u64;
            let rows_of = page.items.into_iter().map(|entry| entry.row_key);
            found.extend(rows_of.filter(|key| {
                self.range.start.as_slice() <= key.as_ref()
                    && self.range.end.as_ref().is_none_or(|end| key.as_ref() < end.as_slice())
            }));
            if MAX_CANDIDATES < looked {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// How many items a test of a kind usually leaves.
pub(super) fn width(sarg: &Sarg) -> u8 {
    match sarg {
        Sarg::Never => 0,
        Sarg::Test(_, ValueTest::Equal(_)) => 1,
        Sarg::Test(_, ValueTest::In(_)) => 2,
        Sarg::Test(_, ValueTest::Prefix(_)) => 3,
        Sarg::Test(_, ValueTest::Range { .. }) => 4,
        Sarg::And(_) | Sarg::Or(_) => 5,
        Sarg::Test(_, ValueTest::Text) => 6,
        Sarg::Test(_, ValueTest::Defined) => 7,
        Sarg::All => 8,
    }
}

/// Where the entries of values that pass a test are, in their order.
pub(super) fn ranges(prefix: &[u8], test: &ValueTest) -> Vec<Range> {
    let after = |part: &[u8]| [prefix, part].concat();
    let within = |start: Vec<u8>, end: Vec<u8>| Range { start, end: Some(end) };
    match test {
        ValueTest::Equal(value) => vec![Range::prefix(&after(&point(value.as_ref())))],
        ValueTest::In(values) => {
            let points: BTreeSet<Vec<u8>> =
                values.iter().map(|value| point(value.as_ref())).collect();
            points.iter().map(|point| Range::prefix(&after(point))).collect()
        }
        ValueTest::Range { lower, upper } => {
            let any = lower.as_ref().or(upper.as_ref());
            let Some((one, _)) = any else { return vec![Range::prefix(prefix)] };
            let class = vec![class(one.as_ref())];
            let edge = |value: ValueRef<'_>| {
                let mut edge = point(value);
                let cut = KEPT_PATH_COMPONENT_BYTES < edge.len();
                edge.truncate(KEPT_PATH_COMPONENT_BYTES);
                (edge, cut)
            };
            let start = match lower {
                None => class.clone(),
                Some((value, included)) => match edge(value.as_ref()) {
                    (edge, cut) if *included || cut => edge,
                    (edge, _) => successor(&edge),
                },
            };
            let end = match upper {
                None => successor(&class),
                Some((value, included)) => match edge(value.as_ref()) {
                    (edge, cut) if *included || cut => successor(&edge),
                    (edge, _) => edge,
                },
            };
            vec![within(after(&start), after(&end))]
        }
        ValueTest::Prefix(text) => {
            let mut start = point(ValueRef::String(text));
            // Without its terminator a text is a prefix of those it begins.
            start.pop();
            start.truncate(KEPT_PATH_COMPONENT_BYTES);
            vec![Range::prefix(&after(&start))]
        }
        ValueTest::Text => vec![Range::prefix(&after(&[class(ValueRef::String(""))]))],
        ValueTest::Defined => vec![Range::prefix(prefix)],
    }
}

fn point(value: ValueRef<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    component(value, &mut out);
    out
}

/// The first byte of all values of a type. Both truth values are of one type.
pub(super) fn class(value: ValueRef<'_>) -> u8 {
    point(value).first().copied().unwrap_or_default()
}
