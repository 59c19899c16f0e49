//! Finds the items that can meet a condition, using indexes of its paths: sorted row keys, or
//! `None` if no index helps or there are too many.
//!
//! ```text
//!  a = 1 and (b = 2 or c > 3)
//!    And: the most selective part that an index serves; here a = 1    (every item is rechecked)
//!    Or:  the union of all parts, each of which an index must serve
//! ```
//!
//! An index only excludes items, so the result is the same with and without it.

use std::collections::{BTreeSet, VecDeque};

use bytes::Bytes;
use document::ValueRef;
use evaluation::Context;
use select::sarg::{PathStep, Sarg, ValueTest};
use store::KeyRange;

use super::{allowed::by_usual_matches, scan::Scanned};
use crate::{
    access::prefix_successor,
    catalog::{IndexSpec, PathState},
    error::Halt,
    index::path_component,
    limits::{KEPT_PATH_COMPONENT_BYTES, MAX_CANDIDATES},
    view::{LiveView, Pages, charge_keys},
};

/// Row keys of the items that can meet a part of a condition; `None` if that is unknown.
type CandidateKeys = Option<BTreeSet<Bytes>>;

/// Returns the keys, within a range of row keys, of all items that can meet a condition; `None` if
/// the indexes cannot tell.
pub(super) async fn find_candidates(
    view: &LiveView,
    sarg: &Sarg,
    range: &KeyRange,
    context: &Context,
    scanned: &mut Scanned,
) -> Result<Option<VecDeque<Bytes>>, Halt> {
    if matches!(sarg, Sarg::All) {
        return Ok(None);
    }
    let mut search = CandidateSearch { view, range, context, scanned };
    Ok(search.keys_matching(sarg).await?.map(|keys| keys.into_iter().collect()))
}

/// Searches the indexes of one view for the items that meet a condition.
struct CandidateSearch<'a> {
    view: &'a LiveView,
    range: &'a KeyRange,
    context: &'a Context,
    scanned: &'a mut Scanned,
}

impl CandidateSearch<'_> {
    /// Returns the row keys of all items that can meet a condition.
    async fn keys_matching(&mut self, sarg: &Sarg) -> Result<CandidateKeys, Halt> {
        match sarg {
            Sarg::All => Ok(None),
            Sarg::Never => Ok(Some(BTreeSet::new())),
            Sarg::Test(path, test) => self.keys_passing(path, test).await,
            Sarg::Or(parts) => {
                let mut all = BTreeSet::new();
                for part in parts {
                    let Some(found) = Box::pin(self.keys_matching(part)).await? else {
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
                // The most selective part that an index serves suffices, since every item is
                // rechecked.
                for part in by_usual_matches(parts) {
                    let found = Box::pin(self.keys_matching(part)).await?;
                    if found.is_some() {
                        return Ok(found);
                    }
                }
                Ok(None)
            }
        }
    }

    /// Returns the row keys of all items whose value at a path passes a test, using the path's
    /// index.
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
                self.scanned.unselective.push(path.to_vec());
                return Ok(None);
            }
        }
        self.scanned.read.push(index.id);
        Ok(Some(found))
    }

    /// Adds the row keys of a range of entries; returns false if there are too many.
    async fn collect_range(
        &mut self,
        index: &IndexSpec,
        range: KeyRange,
        found: &mut BTreeSet<Bytes>,
    ) -> Result<bool, Halt> {
        self.context.budget.record_access(|| format!("index {}", index.name));
        let mut pages = Pages::of(range).growing_slowly();
        let mut examined = 0;
        while let Some(page) = self.view.next_entries(index, &mut pages).await? {
            charge_keys(self.context, page.examined).await?;
            examined += page.examined;
            self.scanned.entries += page.items.len() as u64;
            let rows_of = page.items.into_iter().map(|entry| entry.row_key);
            found.extend(rows_of.filter(|key| {
                self.range.start.as_slice() <= key.as_ref()
                    && self.range.end.as_ref().is_none_or(|end| key.as_ref() < end.as_slice())
            }));
            // Scanning the rows is cheaper than that many point reads.
            if MAX_CANDIDATES < examined {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Returns the ranges of entries whose values pass a test, in order.
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
            // Comparisons stay within a type, which bounds the open side.
            let any = lower.as_ref().or(upper.as_ref());
            let Some((one, _)) = any else { return vec![KeyRange::with_prefix(prefix)] };
            let class = vec![type_byte(one.as_ref())];
            let edge = |value: ValueRef<'_>| {
                let mut edge = kept_component(value);
                // Only the prefix of a long value is indexed, so an exclusive bound becomes
                // inclusive.
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
            // Without its terminator, the encoding of a string is a prefix of the encodings of all
            // strings that start with it.
            start.pop();
            start.truncate(KEPT_PATH_COMPONENT_BYTES);
            vec![KeyRange::with_prefix(&after(&start))]
        }
        ValueTest::Text => vec![KeyRange::with_prefix(&after(&[type_byte(ValueRef::String(""))]))],
        ValueTest::Defined => vec![KeyRange::with_prefix(prefix)],
    }
}

/// Encodes a value as in index entries.
fn kept_component(value: ValueRef<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    path_component(value, &mut out);
    out
}

/// Returns the first byte shared by all values of a type; both booleans have the same type.
pub(super) fn type_byte(value: ValueRef<'_>) -> u8 {
    kept_component(value).first().copied().unwrap_or_default()
}
