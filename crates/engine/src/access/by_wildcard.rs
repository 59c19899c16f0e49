//! Evaluates a wildcard index for a filter: the entries of one path that the filter tests.
//!
//! The index has no entries of missing values and of objects with fields. So a path is usable only
//! if its bounds contain no value that a document without an entry could have there.

use std::sync::Arc;

use collation::Collation;
use document::{DocRef, Document, ValueRef};
use pipeline::{Filter, filter::PathTest, sort::Sort};
use store::{Direction, KeyRange};

use super::{
    access_path::{AccessPath, ScoredAccess},
    bounds::{Bounds, prefix_successor},
    by_index::{extend_prefixes, index_ranges},
    conditions::{MISSING_SCORE, PathBounds, bounds_on_path},
    key_texts::KeyTexts,
};
use crate::{
    catalog::{IndexSpec, WildcardPaths},
    keys,
};

/// Maximum number of paths of a filter for which bounds are derived.
const MAX_PATHS: usize = 64;
/// Maximum number of key ranges.
const MAX_RANGES: usize = 4_000;

/// Evaluates one wildcard index; a score of 0 means it is not usable. It yields no order.
pub(super) fn wildcard_access<'a>(
    index: &'a Arc<IndexSpec>,
    paths: &WildcardPaths,
    partial: Option<&'a Filter>,
    parts: &[&Filter],
    sort: Option<&Sort>,
    collation: Option<&'a Collation>,
) -> ScoredAccess<'a> {
    let texts = KeyTexts::of(index.collation.as_deref(), collation);
    let mut tested = Vec::new();
    for part in parts {
        collect_paths(part, "", &mut tested);
    }
    tested.retain(|path| paths.covers(path));
    let best = tested.iter().filter_map(|path| path_ranges(index, path, parts, texts));
    let best = best.max_by_key(|(score, _)| *score);
    let (score, ranges) = match best {
        Some(best) => best,
        None => existing_ranges(index, paths, parts).unwrap_or_default(),
    };
    ScoredAccess {
        score,
        bound: score,
        access: AccessPath::Index { index: Arc::clone(index), ranges },
        direction: Direction::Forward,
        sorted: sort.is_none_or(|sort| sort.parts.is_empty()),
        merged: None,
        ranged: Vec::new(),
        partial,
        texts,
    }
}

/// Returns the score and the ranges of the entries that the filter selects at a path; `None` if
/// documents without such an entry may match.
fn path_ranges(
    index: &IndexSpec,
    path: &str,
    parts: &[&Filter],
    texts: KeyTexts<'_>,
) -> Option<(usize, Vec<KeyRange>)> {
    let PathBounds { bounds, score } = bounds_on_path(parts, path, false, !index.multikey, texts)?;
    if !has_entries_within(&bounds) {
        return None;
    }
    let prefix = vec![keys::wildcard_path(index.id, path)];
    let ranges = match bounds {
        Bounds::Points(points) => index_ranges(&extend_prefixes(&prefix, &points), None),
        Bounds::Spans(spans) => index_ranges(&prefix, Some(spans)),
    };
    // An index on the path itself is preferred.
    (ranges.len() <= MAX_RANGES).then_some((score.saturating_sub(2), ranges))
}

/// Returns whether every value within the bounds has an entry of its own: no missing or empty
/// value, object or array is among them.
fn has_entries_within(bounds: &Bounds) -> bool {
    let object = Document::new();
    let without = [
        ValueRef::Undefined,
        ValueRef::Null,
        ValueRef::Document(DocRef::Tree(&object)),
        ValueRef::Array(document::ArrayRef::Tree(&[])),
    ];
    without.into_iter().all(|value| {
        let class =
            KeyTexts::BYTES.encode_component(value, false).first().copied().unwrap_or_default();
        match bounds {
            Bounds::Points(points) => points.iter().all(|point| point.first() != Some(&class)),
            Bounds::Spans(spans) => spans.iter().all(|span| {
                span.end.as_slice() <= [class].as_slice()
                    || prefix_successor(&[class]) <= span.start
            }),
        }
    })
}

/// Returns the score and the ranges of all entries at or below a path that has to exist.
fn existing_ranges(
    index: &IndexSpec,
    paths: &WildcardPaths,
    parts: &[&Filter],
) -> Option<(usize, Vec<KeyRange>)> {
    let exists = parts.iter().find_map(|part| match part {
        Filter::Path(path, PathTest::Exists) => Some(path.as_str()),
        _ => None,
    })?;
    // A part of the path that is a number may be a position in an array.
    let is_position = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if !paths.covers(exists) || exists.split('.').any(is_position) {
        return None;
    }
    let at = keys::wildcard_path(index.id, exists);
    let mut below = keys::wildcard_path(index.id, &format!("{exists}."));
    // Without its terminator, the encoding of a text is a prefix of those of longer texts.
    below.pop();
    let ranges = [at, below].map(|start| {
        let end = Some(prefix_successor(&start));
        KeyRange { start, end }
    });
    Some((MISSING_SCORE, ranges.to_vec()))
}

/// Collects the paths that a filter tests, also within `$elemMatch`.
fn collect_paths(filter: &Filter, above: &str, out: &mut Vec<String>) {
    match filter {
        Filter::And(parts) | Filter::Or(parts) => {
            parts.iter().for_each(|part| collect_paths(part, above, out));
        }
        Filter::Path(path, test) => {
            let path = match above {
                "" => path.as_str().to_owned(),
                above => format!("{above}.{}", path.as_str()),
            };
            if let PathTest::ElemMatch(inner) = test {
                return collect_paths(inner, &path, out);
            }
            if out.len() < MAX_PATHS && !out.contains(&path) {
                out.push(path);
            }
        }
        Filter::Nor(_)
        | Filter::Not(_)
        | Filter::Expr(_)
        | Filter::Schema(_)
        | Filter::Text(_)
        | Filter::Never => {}
    }
}
