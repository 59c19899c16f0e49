//! Evaluates one index for a filter and a sort: the ranges of its entries and their order.

use std::sync::Arc;

use collation::Collation;
use document::key::hashed_component;
use pipeline::{Filter, sort::Sort};
use store::Direction;

use super::{
    access_path::{AccessPath, MAX_BRANCHES, ScoredAccess, keys_hold_order, may_be_truncated},
    bounds::{Bounds, Span},
    conditions::{MISSING_SCORE, PathBounds, bounds_on_path, demands_value},
    key_texts::KeyTexts,
    prefixes::Prefixes,
};
use crate::catalog::IndexSpec;

/// Bounds that the filter implies for the leading fields of an index.
struct BoundFields {
    /// Key prefixes that the conditions on the leading fields allow, and the score of those on all
    /// fields.
    prefixes: Prefixes,
    /// Ranges of the field that follows the fields in `prefixes`; `None` if it has no range bounds.
    spans: Option<Vec<Span>>,
    /// Number of fields with equality bounds.
    points: usize,
    /// Number of leading fields that a condition fixes to a single value.
    equal: usize,
    /// Whether a field may equal several truncated values, whose keys do not sort like the values.
    several_cut: bool,
}

fn bound_fields(index: &IndexSpec, parts: &[&Filter], texts: KeyTexts<'_>) -> BoundFields {
    let mut out = BoundFields {
        prefixes: Prefixes::of_index(index.id),
        spans: None,
        points: 0,
        equal: 0,
        several_cut: false,
    };
    for (at, (path, descending)) in index.key.iter().enumerate() {
        // In a multikey index, values of several fields may come from different array elements, so
        // only the first field can be bounded.
        if index.multikey && 0 < at {
            break;
        }
        let mut found = bounds_on_path(parts, path, *descending, !index.multikey, texts);
        if index.hashed_path() == Some(path) {
            found = found.and_then(hashed_bounds);
        }
        match found {
            Some(PathBounds { bounds: Bounds::Points(found), score })
                if out.prefixes.extend(&found, score) =>
            {
                out.points += 1;
                out.equal += usize::from(found.len() == 1 && out.equal == at);
                out.several_cut |= 1 < found.iter().filter(|point| may_be_truncated(point)).count();
            }
            Some(PathBounds { bounds: Bounds::Spans(found), score })
                if out.prefixes.has_room_for(found.len()) =>
            {
                out.spans = Some(found);
                out.prefixes.score += score;
                break;
            }
            _ => break,
        }
    }
    out
}

/// Converts bounds of a path to bounds of the hashes of its values; `None` for ranges, whose values
/// have no hashes next to each other.
fn hashed_bounds(found: PathBounds) -> Option<PathBounds> {
    let Bounds::Points(points) = found.bounds else { return None };
    let mut points: Vec<_> = points.iter().map(|point| hashed_component(point)).collect();
    points.sort();
    points.dedup();
    // An index with the values themselves is preferred.
    Some(PathBounds { bounds: Bounds::Points(points), score: found.score.saturating_sub(1) })
}

/// Evaluates one index; a score of 0 means it is not usable.
pub(super) fn index_access<'a>(
    index: &'a Arc<IndexSpec>,
    partial: Option<&'a Filter>,
    parts: &[&Filter],
    sort: Option<&Sort>,
    collation: Option<&'a Collation>,
) -> ScoredAccess<'a> {
    let texts = KeyTexts::of(index.collation.as_deref(), collation);
    let BoundFields { prefixes, spans, points, equal, several_cut } =
        bound_fields(index, parts, texts);
    let bound = prefixes.score;
    // The bounded fields are the first ones of the key without a gap, so this is the number used.
    let used = points + usize::from(spans.is_some());
    let spans_each = spans.as_ref().map_or(1, Vec::len);
    let ranges = prefixes.ranges(spans.as_deref());
    let whole = || !ranges.iter().any(|range| may_be_truncated(&range.start));
    let order = sort.and_then(|sort| direction_for_sort(index, equal, sort, texts));
    let order = order.filter(|_| !several_cut);
    // For each combination of equality values the entries are ordered by the remaining fields, so
    // merging the combinations yields the sort order.
    let merged = match sort {
        Some(sort) if order.is_none() && (2..=MAX_BRANCHES).contains(&prefixes.keys.len()) => {
            direction_for_sort(index, points, sort, texts)
                .filter(|_| whole() && keys_hold_order(index, sort))
        }
        _ => None,
    };
    let order = order.or(merged);
    // A sparse index lacks documents without the field, so the filter must exclude them.
    let usable = !index.sparse || first_excludes_missing(parts, &index.key);
    let full = points == index.key.len();
    let mut score = bound + usize::from(full && index.unique) * 5_000;
    // The sort order adds less to the score without bounds; bounds that exclude few rows count as
    // none.
    score += usize::from(order.is_some()) * if MISSING_SCORE <= score { 600 } else { 100 };
    if !usable || !(0 < used || order.is_some()) {
        score = 0;
    }
    let direction = order.unwrap_or(Direction::Forward);
    let merged = merged.map(|_| vec![spans_each; prefixes.keys.len()]);
    let mut ranges = ranges;
    if direction == Direction::Backward {
        ranges.reverse();
    }
    let sorted = order.is_some() || sort.is_none_or(|sort| sort.parts.is_empty());
    // Different values may have the same hash, so conditions on a hashed path remain.
    let exact = index.key.iter().take(used).map(|(path, _)| path.as_str());
    let exact = exact.filter(|path| index.hashed_path() != Some(*path));
    let ranged = if index.multikey { Vec::new() } else { exact.collect() };
    let access = AccessPath::Index { index: Arc::clone(index), ranges };
    ScoredAccess { score, bound, access, direction, sorted, merged, ranged, partial, texts }
}

/// Returns the scan direction in which the index yields the sort order among entries that agree in
/// its first `equal` fields; `None` if it does not yield that order.
pub(super) fn direction_for_sort(
    index: &IndexSpec,
    equal: usize,
    sort: &Sort,
    texts: KeyTexts<'_>,
) -> Option<Direction> {
    let is_hashed = |path: &str| index.hashed_path() == Some(path);
    let by_hash = sort.parts.iter().any(|part| is_hashed(part.path.as_str()));
    if index.multikey || by_hash || sort.parts.is_empty() || !texts.are_same() {
        return None;
    }
    let fixed: Vec<&str> = index.key.iter().take(equal).map(|(path, _)| path.as_str()).collect();
    // A field with a single value does not affect the order.
    let wanted = sort.parts.iter().filter(|part| !fixed.contains(&part.path.as_str()));
    // The document id follows the fields in the key, where texts sort by their bytes.
    let id = (index.ends_with_id() && texts.are_bytes()).then_some(("_id", false));
    let fields = index.key.iter().map(|(path, descending)| (path.as_str(), *descending));
    let mut fields = fields.chain(id).skip(equal);
    let mut direction = None;
    for part in wanted {
        let Some((path, descending)) = fields.next() else {
            // The keys of a unique index have no other components, so no two entries agree in all
            // fields, and the later parts of the order do not matter.
            if index.unique && index.has_fields() {
                break;
            }
            return None;
        };
        if path != part.path.as_str() {
            return None;
        }
        let needed =
            if descending == part.descending { Direction::Forward } else { Direction::Backward };
        if direction.is_some_and(|direction| direction != needed) {
            return None;
        }
        direction = Some(needed);
        // Ids are unique, so later fields do not affect the order. Ids that differ may be equal by
        // a collation.
        if path == "_id" && texts.are_bytes() {
            break;
        }
    }
    Some(direction.unwrap_or(Direction::Forward))
}

/// Returns whether the filter excludes documents that lack the first field of a sparse index.
fn first_excludes_missing(parts: &[&Filter], key: &[(String, bool)]) -> bool {
    key.first().is_some_and(|(first, _)| parts.iter().any(|part| demands_value(part, first)))
}
