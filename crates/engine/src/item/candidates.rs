//! Which items can meet a condition, as the indexes that hold its paths say: keys of rows in their
//! order. `None` where no index helps, or too many items would be named.
//!
//! ```text
//!  a = 1 and (b = 2 or c > 3)
//!    And: the narrowest part that an index knows; here a = 1      (every item is checked again)
//!    Or:  the union of all parts, each of which an index must know
//! ```
//!
//! An index only ever leaves items out, so the answer is the same with and without it.

use std::collections::{BTreeSet, VecDeque};

use bytes::Bytes;
use document::ValueRef;
use evaluation::Context;
use select::sarg::{PathStep, Sarg, ValueTest};
use store::{KeyRange, Store};

use super::{allowed::by_width, scan::Scanned};
use crate::{
    access::prefix_successor,
    catalog::{IndexSpec, PathState},
    error::Halt,
    index::path_component,
    limits::{KEPT_PATH_COMPONENT_BYTES, MAX_CANDIDATES},
    view::{LiveView, Pages, charge_keys},
};

/// Keys that a part of a condition leaves, or that nothing is known.
type CandidateKeys = Option<BTreeSet<Bytes>>;

/// The keys within a range of all items that can meet a condition.
pub(super) async fn find_candidates<S: Store>(
    view: &LiveView<S>,
    sarg: &Sarg,
    range: &KeyRange,
    context: &Context,
    scanned: &mut Scanned,
) -> Result<Option<VecDeque<Bytes>>, Halt> {
    if matches!(sarg, Sarg::All) {
        return Ok(None);
    }
    let mut search = CandidateSearch { view, range, context, scanned };
    Ok(search.keys_meeting(sarg).await?.map(|keys| keys.into_iter().collect()))
}

/// One condition being looked up in one view.
struct CandidateSearch<'a, S: Store> {
    view: &'a LiveView<S>,
    range: &'a KeyRange,
    context: &'a Context,
    scanned: &'a mut Scanned,
}

impl<S: Store> CandidateSearch<'_, S> {
    /// Keys of all items that can meet a condition.
    async fn keys_meeting(&mut self, sarg: &Sarg) -> Result<CandidateKeys, Halt> {
        match sarg {
            Sarg::All => Ok(None),
            Sarg::Never => Ok(Some(BTreeSet::new())),
            Sarg::Test(path, test) => self.keys_passing(path, test).await,
            Sarg::Or(parts) => {
                let mut all = BTreeSet::new();
                for part in parts {
                    let Some(found) = Box::pin(self.keys_meeting(part)).await? else {
                        return Ok(None);
                    };
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
                for part in by_width(parts) {
                    let found = Box::pin(self.keys_meeting(part)).await?;
                    if found.is_some() {
                        return Ok(found);
                    }
                }
                Ok(None)
            }
        }
    }

    /// Keys of all items whose value at a path passes a test, by an index that holds the path.
    async fn keys_passing(
        &mut self,
        path: &[PathStep],
        test: &ValueTest,
    ) -> Result<CandidateKeys, Halt> {
        let PathState::Ready(index) = self.view.state.record.path_state(path) else {
            return Ok(None);
        };
        let mut found = BTreeSet::new();
        for range in test_ranges(&index.path_prefix(path), test) {
            if !self.collect_range(index, range, &mut found).await? {
                self.scanned.wide.push(path.to_vec());
                return Ok(None);
            }
        }
        self.scanned.read.push(index.id);
        Ok(Some(found))
    }

    /// Adds the keys of a range of entries; returns whether they were not too many.
    async fn collect_range(
        &mut self,
        index: &IndexSpec,
        range: KeyRange,
        found: &mut BTreeSet<Bytes>,
    ) -> Result<bool, Halt> {
        self.context.budget.note_access(|| format!("index {}", index.name));
        let mut pages = Pages::of(range).growing_slowly();
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
            // A walk over the rows is cheaper than so many point reads.
            if MAX_CANDIDATES < looked {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Where the entries of values that pass a test are, in their order.
pub(super) fn test_ranges(prefix: &[u8], test: &ValueTest) -> Vec<KeyRange> {
    let after = |part: &[u8]| [prefix, part].concat();
    let within = |start: Vec<u8>, end: Vec<u8>| KeyRange { start, end: Some(end) };
    match test {
        ValueTest::Equal(value) => {
            vec![KeyRange::with_prefix(&after(&kept_component(value.as_ref())))]
        }
        ValueTest::In(values) => {
            let points: BTreeSet<Vec<u8>> =
                values.iter().map(|value| kept_component(value.as_ref())).collect();
            points.iter().map(|point| KeyRange::with_prefix(&after(point))).collect()
        }
        ValueTest::Range { lower, upper } => {
            // Comparisons never cross types: the other end is that of the type.
            let any = lower.as_ref().or(upper.as_ref());
            let Some((one, _)) = any else { return vec![KeyRange::with_prefix(prefix)] };
            let class = vec![type_byte(one.as_ref())];
            let edge = |value: ValueRef<'_>| {
                let mut edge = kept_component(value);
                // Of a long value only its beginning is in the index: an excluded bound is included
                // then.
                let cut = KEPT_PATH_COMPONENT_BYTES < edge.len();
                edge.truncate(KEPT_PATH_COMPONENT_BYTES);
                (edge, cut)
            };
            let start = match lower {
                None => class.clone(),
                Some((value, included)) => match edge(value.as_ref()) {
                    (edge, cut) if *included || cut => edge,
                    (edge, _) => prefix_successor(&edge),
                },
            };
            let end = match upper {
                None => prefix_successor(&class),
                Some((value, included)) => match edge(value.as_ref()) {
                    (edge, cut) if *included || cut => prefix_successor(&edge),
                    (edge, _) => edge,
                },
            };
            vec![within(after(&start), after(&end))]
        }
        ValueTest::Prefix(text) => {
            let mut start = kept_component(ValueRef::String(text));
            // Without its terminator a text is a prefix of those it begins.
            start.pop();
            start.truncate(KEPT_PATH_COMPONENT_BYTES);
            vec![KeyRange::with_prefix(&after(&start))]
        }
        ValueTest::Text => vec![KeyRange::with_prefix(&after(&[type_byte(ValueRef::String(""))]))],
        ValueTest::Defined => vec![KeyRange::with_prefix(prefix)],
    }
}

/// A value as index entries have it.
fn kept_component(value: ValueRef<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    path_component(value, &mut out);
    out
}

/// The first byte of all values of a type. Both truth values are of one type.
pub(super) fn type_byte(value: ValueRef<'_>) -> u8 {
    kept_component(value).first().copied().unwrap_or_default()
}
