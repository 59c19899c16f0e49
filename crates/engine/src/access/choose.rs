//! Chooses one access path from the filter, the sort and the available indexes.
//!
//! Access paths are scored by the paths that their ranges bound, without statistics: the same query
//! with the same indexes always uses the same path, and `explain` shows it.
//!
//! ```text
//!  10,000            ids that are listed individually
//!   5,000            all fields of a unique index have equality bounds
//!   1,000 per field  equality with a value (or with one of several values)
//!     500            a range of the next field
//!     300            the next field is missing
//!      40            the next field is not equal to a value, or not in a range
//!     600 or 100     the index gives the order of the sort, with bounds or without
//!     400            a range of ids
//!      50            the rows are read in the order of a sort by `_id`
//! ```
//!
//! The alternatives of an `$or` may use one access path each. Together they get the lowest of their
//! scores; they are preferred to a single path with the same bounds only if one of them has better
//! bounds.

use std::sync::Arc;

use collation::Collation;
use full_text::{unindexed_beside_text, unusable_text_index};
use geometry::no_near_index;
use pipeline::{Filter, sort::Sort};
use store::{Direction, KeyRange};

use super::{
    Hint,
    access_path::{
        AccessPath, ChosenAccess, ChosenBranch, MAX_BRANCHES, ScoredAccess, may_be_truncated,
    },
    between::between_access,
    bounds::{Bounds, Span, collect_conjuncts},
    by_geo::{near_access, region_access},
    by_index::index_access,
    by_text::text_access,
    by_wildcard::wildcard_access,
    conditions::{MISSING_SCORE, PathBounds, bounds_on_path},
    exact::Residual,
    hinted::{definition_of, hinted_index},
    implied::filter_implies,
    key_texts::KeyTexts,
};
use crate::{
    catalog::{CollectionState, IndexShape, IndexSpec},
    error::{Error, HintRefusal, Kind},
    keys,
};

/// The alternatives of an `$or` may each use an access path, its branch. The score of such a set of
/// branches is that of the worst branch plus this margin, if one branch has better bounds than the
/// best single path and none has worse ones. Otherwise the margin is deducted, so that a single
/// path with the same bounds is preferred.
const BRANCHES_MARGIN: usize = 10;

/// Chooses the access path for a filter and a sort, which compare texts by `collation`. Fails if
/// the hint cannot be followed.
pub(crate) fn choose_access(
    state: &CollectionState,
    filter: &Filter,
    sort: Option<&Sort>,
    hint: &Hint,
    collation: Option<&Collation>,
) -> Result<ChosenAccess, Error> {
    if matches!(filter, Filter::Never) {
        let (access, direction) = (AccessPath::Ids(Vec::new()), Direction::Forward);
        return Ok(ChosenAccess { access, direction, sorted: true, residual: Residual::Whole });
    }
    if filter.text_query().is_some() {
        return searching_access(state, filter, sort, hint, collation);
    }
    if let Some(near) = filter.near() {
        let hinted = match hint {
            Hint::None => None,
            Hint::Index(_) | Hint::Key(_) => {
                Some(hinted_index(state, hint)?.ok_or_else(no_near_index)?)
            }
            Hint::Natural(_) | Hint::Between { .. } => return Err(no_near_index().into()),
        };
        return near_access(state, filter, near, sort, hinted, collation);
    }
    let mut parts = Vec::new();
    collect_conjuncts(filter, &mut parts);
    let by_id = id_access(&parts, sort, collation);
    let hinted = match hint {
        Hint::None => None,
        Hint::Natural(direction) => {
            let access = natural_access(state);
            let access_path =
                ScoredAccess { access, direction: *direction, sorted: false, ..by_id };
            return Ok(ScoredAccess { ranged: Vec::new(), ..access_path }.choose(&parts));
        }
        Hint::Index(_) | Hint::Key(_) => match hinted_index(state, hint)? {
            None => return Ok(by_id.choose(&parts)),
            index => index,
        },
        Hint::Between { index, min, max } => {
            let index = hinted_index(state, index)?.or_else(|| state.record.id_index());
            let index = index.map(|index| definition_of(state, index));
            return between_access(index.as_ref(), min, max, &parts, sort, collation);
        }
    };
    if let Some(index) = hinted {
        // A hinted index is used even if it does not contain all matching documents.
        let index = definition_of(state, index);
        let access_path = scored_access(&index, None, &parts, sort, collation);
        let refusal = match index.shape {
            IndexShape::Wildcard(_) => Some(HintRefusal::Wildcard),
            IndexShape::Geo(_) => Some(HintRefusal::Geometries),
            _ => None,
        };
        if access_path.score == 0
            && let Some(refusal) = refusal
        {
            let message = "the filter has no condition that the hinted index serves";
            return Err(Error::new(Kind::HintRefused(refusal), message));
        }
        return Ok(access_path.choose(&parts));
    }
    let best = best_path(state, filter, &parts, sort, by_id, collation);
    let branches = branches_access(state, &parts, sort, best.bound, collation);
    let best = in_insertion_order(state, best, sort);
    Ok(match branches {
        Some(branches) if best.score < branches.score => branches.choose(&parts),
        _ => best.choose(&parts),
    })
}

/// Returns the access path of all rows in the order in which an unordered query returns them: that
/// of the inserts in a capped collection, that of the ids otherwise.
fn natural_access(state: &CollectionState) -> AccessPath {
    match state.record.insertion_order() {
        Some(index) => {
            let ranges = vec![KeyRange::with_prefix(&keys::index_prefix(index.id))];
            AccessPath::Index { index: definition_of(state, index), ranges }
        }
        None => AccessPath::Rows(vec![KeyRange::all()]),
    }
}

/// Makes a full scan for an unordered query return the rows in their natural order.
fn in_insertion_order<'a>(
    state: &CollectionState,
    best: ScoredAccess<'a>,
    sort: Option<&Sort>,
) -> ScoredAccess<'a> {
    let is_unordered = sort.is_none_or(|sort| sort.parts.is_empty());
    if is_unordered && best.score == 0 {
        ScoredAccess { access: natural_access(state), ..best }
    } else {
        best
    }
}

/// Evaluates one index of any kind; a score of 0 means it is not usable.
fn scored_access<'a>(
    index: &'a Arc<IndexSpec>,
    partial: Option<&'a Filter>,
    parts: &[&Filter],
    sort: Option<&Sort>,
    collation: Option<&'a Collation>,
) -> ScoredAccess<'a> {
    match &index.shape {
        IndexShape::Wildcard(paths) => {
            wildcard_access(index, paths, partial, parts, sort, collation)
        }
        IndexShape::Geo(geo) => region_access(index, geo, partial, parts, sort, collation),
        _ => index_access(index, partial, parts, sort, collation),
    }
}

/// Returns the best single access path, by id or by one index, that finds every row that matches
/// the filter.
fn best_path<'a>(
    state: &'a CollectionState,
    filter: &Filter,
    parts: &[&Filter],
    sort: Option<&Sort>,
    by_id: ScoredAccess<'a>,
    collation: Option<&'a Collation>,
) -> ScoredAccess<'a> {
    let implies = |index: &IndexSpec, partial: &Filter| {
        let texts = KeyTexts::of(index.collation.as_deref(), collation);
        filter_implies(filter, partial, texts)
    };
    let usable = state.definitions.iter().zip(&state.partial).filter(|(index, partial)| {
        index.ready
            && index.has_entries()
            && !index.hidden
            && !index.is_insertion_order()
            && !matches!(index.shape, IndexShape::Text(_))
            && partial.as_deref().is_none_or(|partial| implies(index, partial))
    });
    let candidates = usable
        .map(|(index, partial)| scored_access(index, partial.as_deref(), parts, sort, collation));
    // On a tie the last index wins; a full scan has score 0.
    let best = candidates.filter(|candidate| 0 < candidate.score).max_by_key(|c| c.score);
    best.filter(|best| by_id.score < best.score).unwrap_or(by_id)
}

/// Returns one access path per alternative of a disjunctive conjunct, or `None` if there is no
/// disjunction or an alternative has no bounds. `single` is the score that the best single access
/// path has for its bounds alone.
fn branches_access(
    state: &CollectionState,
    parts: &[&Filter],
    sort: Option<&Sort>,
    single: usize,
    collation: Option<&Collation>,
) -> Option<ScoredAccess<'static>> {
    let sort = sort.filter(|sort| !sort.parts.is_empty());
    let alternatives = parts.iter().enumerate().filter_map(|(at, part)| match part {
        Filter::Or(any) => Some((at, alternatives_of(any)?)),
        _ => None,
    });
    let paths = alternatives.filter_map(|(at, any)| {
        let filters: Vec<Filter> =
            any.into_iter().map(|one| alternative_filter(parts, at, one)).collect();
        // Prefer branches that yield the sort order, if every alternative has such a path.
        let ordered = sort.and_then(|_| branches_by(state, &filters, sort, single, collation));
        ordered.filter(|access_path| access_path.sorted).or_else(|| {
            let access_path = branches_by(state, &filters, None, single, collation)?;
            Some(ScoredAccess { sorted: sort.is_none(), ..access_path })
        })
    });
    paths.max_by_key(|access_path| access_path.score)
}

/// Returns the access path of a filter with a search for texts: the entries of its words. If the
/// search is in an alternative of an `$or`, each other alternative needs bounds, since the text
/// index finds only what the search matches.
fn searching_access(
    state: &CollectionState,
    filter: &Filter,
    sort: Option<&Sort>,
    hint: &Hint,
    collation: Option<&Collation>,
) -> Result<ChosenAccess, Error> {
    if let Some(query) = filter.text_conjunct() {
        return text_access(state, filter, query, sort, hint, collation);
    }
    let mut parts = Vec::new();
    collect_conjuncts(filter, &mut parts);
    let disjunction = parts.iter().enumerate().find_map(|(at, part)| match part {
        Filter::Or(any) if part.text_query().is_some() => Some((at, any)),
        _ => None,
    });
    let alternatives = disjunction.and_then(|(at, any)| Some((at, alternatives_of(any)?)));
    let Some((at, any)) = alternatives else { return Err(unusable_text_index().into()) };
    let filters = any.into_iter().map(|one| alternative_filter(&parts, at, one));
    let (searches, others): (Vec<_>, Vec<_>) =
        filters.partition(|filter| filter.text_query().is_some());
    let others = branches_by(state, &others, None, 0, collation);
    let Some(AccessPath::Branches { mut branches, .. }) = others.map(|others| others.access) else {
        return Err(unindexed_beside_text().into());
    };
    for search in searches {
        let chosen = searching_access(state, &search, None, hint, collation)?;
        match chosen.access {
            AccessPath::Branches { branches: inner, .. } => branches.extend(inner),
            _ => branches.push(ChosenBranch { filter: Some(Arc::new(search)), chosen }),
        }
    }
    Ok(ChosenAccess {
        access: AccessPath::Branches { branches, disjoint: false },
        direction: Direction::Forward,
        sorted: sort.is_none_or(|sort| sort.parts.is_empty()),
        residual: Residual::Whole,
    })
}

/// Returns the filter of an alternative of the disjunction `parts[at]`, with the other conjuncts.
fn alternative_filter(parts: &[&Filter], at: usize, one: &Filter) -> Filter {
    let others = parts.iter().enumerate().filter(|(other, _)| *other != at);
    let all = std::iter::once(one).chain(others.map(|(_, part)| *part));
    Filter::And(all.cloned().collect())
}

/// Flattens nested disjunctions into one list of alternatives; `None` if there are too many.
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

/// Returns the best access path for each filter, or `None` if one has no bounds.
fn branches_by(
    state: &CollectionState,
    filters: &[Filter],
    sort: Option<&Sort>,
    single: usize,
    collation: Option<&Collation>,
) -> Option<ScoredAccess<'static>> {
    let mut branches = Vec::with_capacity(filters.len());
    let (mut worst, mut best, mut sorted) = (usize::MAX, 0, true);
    for filter in filters {
        let mut parts = Vec::new();
        collect_conjuncts(filter, &mut parts);
        let by_id = id_access(&parts, sort, collation);
        let access_path = best_path(state, filter, &parts, sort, by_id, collation);
        if access_path.bound < MISSING_SCORE {
            return None;
        }
        (worst, best) = (worst.min(access_path.bound), best.max(access_path.bound));
        sorted &=
            access_path.sorted && sort.is_none_or(|sort| access_path.access.can_be_merged(sort));
        let chosen = access_path.choose(&parts);
        let filter = Arc::new(filter.clone());
        match chosen.access {
            // An alternative that is itself split into branches is merged with the others.
            AccessPath::Branches { branches: inner, .. } => branches.extend(
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
        access: AccessPath::Branches { branches, disjoint: false },
        direction: Direction::Forward,
        sorted,
        merged: None,
        ranged: Vec::new(),
        partial: None,
        texts: KeyTexts::Differ,
    })
}

/// Returns the access path by id: the listed ids, the ranges of ids, or all rows if the filter does
/// not bound the id.
fn id_access(
    parts: &[&Filter],
    sort: Option<&Sort>,
    collation: Option<&Collation>,
) -> ScoredAccess<'static> {
    // Rows are in the order of the bytes of their ids.
    let texts = if collation.is_none() { KeyTexts::BYTES } else { KeyTexts::Differ };
    let by_id = sort.and_then(|sort| sort.parts.first());
    let by_id = by_id.filter(|part| part.path.as_str() == "_id" && texts.are_same());
    let direction = match by_id {
        Some(part) if part.descending => Direction::Backward,
        _ => Direction::Forward,
    };
    let mut sorted = by_id.is_some() || sort.is_none_or(|sort| sort.parts.is_empty());
    let (score, access) = match bounds_on_path(parts, "_id", false, true, texts) {
        Some(PathBounds { bounds: Bounds::Points(mut keys), .. }) => {
            // The keys of several long ids do not sort like the ids.
            sorted &=
                by_id.is_none() || keys.iter().filter(|key| may_be_truncated(key)).count() < 2;
            if direction == Direction::Backward {
                keys.reverse();
            }
            (10_000, AccessPath::Ids(keys))
        }
        Some(PathBounds { bounds: Bounds::Spans(spans), score }) => {
            let range = |span: Span| KeyRange { start: span.start, end: Some(span.end) };
            let mut ranges: Vec<_> = spans.into_iter().map(range).collect();
            if direction == Direction::Backward {
                ranges.reverse();
            }
            (score.min(400), AccessPath::Rows(ranges))
        }
        None => (0, AccessPath::Rows(vec![KeyRange::all()])),
    };
    // A stored id is never an array, so its path has a single value.
    let ranged = if 0 < score { vec!["_id"] } else { Vec::new() };
    let bound = score;
    let score = score + usize::from(by_id.is_some()) * 50;
    let (merged, partial) = (None, None);
    ScoredAccess { score, bound, access, direction, sorted, merged, ranged, partial, texts }
}
