//! Looks at the filter, the sort and the indexes, and picks one way.
//!
//! Ways are scored by what they bound, without statistics: the same query on the same indexes
//! always goes the same way, and `explain` tells which.
//!
//! ```text
//!  10,000            ids that are named one by one
//!   5,000            all fields of a unique index are equal to something
//!   1,000 per field  equal to something (or one of several things)
//!     500            a range of the next field
//!     300            the next field is missing
//!      40            the next field is not equal to something, or not in a range
//!     600 or 100     the index gives the order of the sort, with bounds or without
//!     400            a range of ids
//! ```
//!
//! The alternatives of an `$or` may have an access path each. Together they have the score of the worst
//! of them, which is preferred to one path with the same bounds only where one of them has better bounds.

use std::sync::Arc;

use document::{DocRef, Document};
use pipeline::{Filter, sort::Sort};
use store::{Direction, KeyRange};

use super::{
    Hint,
    bounds::{Bounds, Span, collect_conjuncts},
    by_index::index_access,
    conditions::{MISSING, PathBounds, bounds_on_path},
    exact::Residual,
    implied::filter_implies,
    way::{Access, ChosenAccess, ChosenBranch, MAX_BRANCHES, ScoredAccess, is_cut},
};
use crate::{
    catalog::{CollectionState, IndexSpec},
    error::{Error, HintRefusal, Kind},
};

/// The score that alternatives lose against a single access path with the same bounds, or gain where
/// one of them has better bounds.
const BRANCHES_MARGIN: usize = 10;

/// Picks the way for a filter and a sort.
pub(crate) fn choose_access(
    state: &CollectionState,
    filter: &Filter,
    sort: Option<&Sort>,
    hint: &Hint,
) -> Result<ChosenAccess, Error> {
    if matches!(filter, Filter::Never) {
        let (access, direction) = (Access::Ids(Vec::new()), Direction::Forward);
        return Ok(ChosenAccess { access, direction, sorted: true, residual: Residual::Whole });
    }
    let mut parts = Vec::new();
    collect_conjuncts(filter, &mut parts);
    let by_id = id_access(&parts, sort);
    let hinted = match hint {
        Hint::None => None,
        Hint::Natural(direction) => {
            let access = Access::Rows(vec![KeyRange::all()]);
            let way = ScoredAccess { access, direction: *direction, sorted: false, ..by_id };
            return Ok(ScoredAccess { ranged: Vec::new(), ..way }.choose(&parts));
        }
        Hint::Index(name) if name == "_id_" => return Ok(by_id.choose(&parts)),
        Hint::Index(name) => Some(find_index(state, |index| index.name == *name)?),
        Hint::Key(pattern) if is_id_pattern(pattern) => return Ok(by_id.choose(&parts)),
        Hint::Key(pattern) => Some(find_index(state, |index| same_pattern(index, pattern))?),
    };
    if let Some(index) = hinted {
        // Who asks for an index gets what is in it, also where that is not all the filter means.
        return Ok(index_access(index, None, &parts, sort).choose(&parts));
    }
    let best = best_way(state, filter, &parts, sort, by_id);
    let branches = branches_access(state, &parts, sort, best.bound);
    Ok(match branches {
        Some(branches) if best.score < branches.score => branches.choose(&parts),
        _ => best.choose(&parts),
    })
}

/// Returns the best of the access paths that lead to all rows that a filter matches: that by id, and
/// those by one index.
fn best_way<'a>(
    state: &'a CollectionState,
    filter: &Filter,
    parts: &[&Filter],
    sort: Option<&Sort>,
    by_id: ScoredAccess<'a>,
) -> ScoredAccess<'a> {
    let usable = state.record.indexes.iter().zip(&state.partial).filter(|(index, partial)| {
        index.ready
            && index.has_entries()
            && !index.hidden
            && partial.as_deref().is_none_or(|partial| filter_implies(filter, partial))
    });
    let candidates =
        usable.map(|(index, partial)| index_access(index, partial.as_deref(), parts, sort));
    // Of equal ones the last index wins; walking all rows has score 0.
    let best = candidates.filter(|candidate| 0 < candidate.score).max_by_key(|c| c.score);
    best.filter(|best| by_id.score < best.score).unwrap_or(by_id)
}

/// Returns an access path for each alternative of one of the conjuncts. Returns `None` where there
/// are no alternatives, or where one of them has no bounds. `single` is the score of the bounds of the
/// best single access path.
fn branches_access(
    state: &CollectionState,
    parts: &[&Filter],
    sort: Option<&Sort>,
    single: usize,
) -> Option<ScoredAccess<'static>> {
    let sort = sort.filter(|sort| !sort.parts.is_empty());
    let alternatives = parts.iter().enumerate().filter_map(|(at, part)| match part {
        Filter::Or(any) => Some((at, alternatives_of(any)?)),
        _ => None,
    });
    let ways = alternatives.filter_map(|(at, any)| {
        let with_others = |one: &Filter| {
            let others = parts.iter().enumerate().filter(|(other, _)| *other != at);
            let all = std::iter::once(one).chain(others.map(|(_, part)| *part));
            Filter::And(all.cloned().collect())
        };
        let filters: Vec<Filter> = any.into_iter().map(with_others).collect();
        // In the order of the sort, if each alternative has an access path that gives it.
        let ordered = sort.and_then(|_| branches_by(state, &filters, sort, single));
        ordered.filter(|way| way.sorted).or_else(|| {
            let way = branches_by(state, &filters, None, single)?;
            Some(ScoredAccess { sorted: sort.is_none(), ..way })
        })
    });
    ways.max_by_key(|way| way.score)
}

/// Returns the alternatives of a disjunction, with those of disjunctions in it; `None` where there are
/// too many.
fn alternatives_of(any: &[Filter]) -> Option<Vec<&Filter>> {
    let mut out = Vec::new();
    for one in any {
        match one {
            Filter::Or(any) => out.extend(alternatives_of(any)?),
            one => out.push(one),
        }
    }
    (2..=MAX_BRANCHES).contains(&out.len()).then_some(out)
}

/// Returns the best access path of each of these filters; `None` where one has no bounds.
fn branches_by(
    state: &CollectionState,
    filters: &[Filter],
    sort: Option<&Sort>,
    single: usize,
) -> Option<ScoredAccess<'static>> {
    let mut branches = Vec::with_capacity(filters.len());
    let (mut worst, mut best, mut sorted) = (usize::MAX, 0, true);
    for filter in filters {
        let mut parts = Vec::new();
        collect_conjuncts(filter, &mut parts);
        let way = best_way(state, filter, &parts, sort, id_access(&parts, sort));
        if way.bound < MISSING {
            return None;
        }
        (worst, best) = (worst.min(way.bound), best.max(way.bound));
        sorted &= way.sorted && sort.is_none_or(|_| way.access.keys_are_whole());
        let chosen = way.choose(&parts);
        let filter = Arc::new(filter.clone());
        match chosen.access {
            // The ranges of an alternative are merged with the other alternatives.
            Access::Branches { branches: inner, .. } => branches.extend(
                inner
                    .into_iter()
                    .map(|it| ChosenBranch { filter: Some(Arc::clone(&filter)), ..it }),
            ),
            _ => branches.push(ChosenBranch { filter: Some(filter), chosen }),
        }
    }
    if MAX_BRANCHES < branches.len() {
        return None;
    }
    let bound = match single <= worst && single < best {
        true => worst + BRANCHES_MARGIN,
        false => worst.saturating_sub(BRANCHES_MARGIN),
    };
    let ordered = sort.is_some() && sorted;
    Some(ScoredAccess {
        score: bound + if ordered { 600 } else { 0 },
        bound,
        access: Access::Branches { branches, disjoint: false },
        direction: Direction::Forward,
        sorted,
        merged: None,
        ranged: Vec::new(),
        partial: None,
    })
}

/// Whether a key pattern is that of the index of the id, which rows are kept in.
fn is_id_pattern(pattern: &document::Document) -> bool {
    matches!(pattern.fields(), [(name, _)] if name == "_id")
}

/// The one index that a hint means. One that is not complete or is hidden cannot be meant.
fn find_index(
    state: &CollectionState,
    matches: impl Fn(&IndexSpec) -> bool,
) -> Result<&IndexSpec, Error> {
    let usable = |index: &&IndexSpec| index.ready && index.has_entries() && !index.hidden;
    let mut found = state.record.indexes.iter().filter(|index| matches(index)).filter(usable);
    match (found.next(), found.next()) {
        (Some(index), None) => Ok(index),
        (None, _) => {
            let message = "the hint means no index that can be read";
            Err(Error::new(Kind::HintRefused(HintRefusal::NoIndex), message))
        }
        (Some(one), Some(other)) => {
            let (first, second) = (one.name.clone(), other.name.clone());
            let message = format!("the hint means more than one index: {first} and {second}");
            let refusal = HintRefusal::SeveralIndexes { first, second };
            Err(Error::new(Kind::HintRefused(refusal), message))
        }
    }
}

/// Whether an index has this key pattern: numbers are compared as numbers.
fn same_pattern(index: &IndexSpec, pattern: &Document) -> bool {
    let order =
        document::compare_documents(DocRef::Tree(&index.key_pattern()), DocRef::Tree(pattern));
    order.is_eq()
}

/// The rows by id, or all of them.
fn id_access(parts: &[&Filter], sort: Option<&Sort>) -> ScoredAccess<'static> {
    let by_id = sort.and_then(|sort| sort.parts.first()).filter(|part| part.path.as_str() == "_id");
    let direction = match by_id {
        Some(part) if part.descending => Direction::Backward,
        _ => Direction::Forward,
    };
    let mut sorted = by_id.is_some() || sort.is_none_or(|sort| sort.parts.is_empty());
    let (score, access) = match bounds_on_path(parts, "_id", false, true) {
        Some(PathBounds { bounds: Bounds::Points(mut keys), .. }) => {
            // The keys of several long ids do not stand in the order of the ids.
            sorted &= by_id.is_none() || keys.iter().filter(|key| is_cut(key)).count() < 2;
            if direction == Direction::Backward {
                keys.reverse();
            }
            (10_000, Access::Ids(keys))
        }
        Some(PathBounds { bounds: Bounds::Spans(spans), score }) => {
            let range = |span: Span| KeyRange { start: span.start, end: Some(span.end) };
            let mut ranges: Vec<_> = spans.into_iter().map(range).collect();
            if direction == Direction::Backward {
                ranges.reverse();
            }
            (score.min(400), Access::Rows(ranges))
        }
        None => (0, Access::Rows(vec![KeyRange::all()])),
    };
    // A stored id is never an array.
    let ranged = if 0 < score { vec!["_id"] } else { Vec::new() };
    let bound = score;
    let score = score + usize::from(by_id.is_some()) * 50;
    let (merged, partial) = (None, None);
    ScoredAccess { score, bound, access, direction, sorted, merged, ranged, partial }
}
