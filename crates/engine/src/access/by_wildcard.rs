//! Evaluates a wildcard index for a filter: the entries of one path that the filter tests. A
//! compound index needs equalities of all fields before the wildcard, or serves only those.
//!
//! The index has no entries of missing values and of objects with fields. So a path is usable only
//! if its bounds contain no value that a document without an entry could have there.

use std::sync::Arc;

use collation::Collation;
use document::{DocRef, Document, ValueRef};
use pipeline::{Filter, filter::PathTest, sort::Sort};
use store::KeyRange;

use super::{
    access_path::ScoredAccess,
    bounds::{Bounds, prefix_successor},
    conditions::{MISSING_SCORE, PathBounds, bounds_on_path},
    key_texts::KeyTexts,
    prefixes::{MAX_RANGES, Prefixes},
};
use crate::{
    catalog::{IndexSpec, WildcardKey, WildcardPaths},
    keys,
};

/// Maximum number of paths of a filter for which bounds are derived.
const MAX_PATHS: usize = 64;

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
    let fields = Fields { index, key: WildcardKey::of(&index.key), parts, texts };
    let mut tested = Vec::new();
    for part in parts {
        collect_paths(part, "", &mut tested);
    }
    tested.retain(|path| paths.covers(path));
    let best = fields.points_before().and_then(|before| {
        let best = tested.iter().filter_map(|path| fields.path_ranges(&before, path));
        let best = best.max_by_key(|(score, _)| *score);
        best.or_else(|| fields.existing_ranges(&before, paths))
    });
    let found = best.or_else(|| fields.ranges_before()).unwrap_or_default();
    ScoredAccess::unordered(index, found, sort, partial, texts)
}

/// The fields of a wildcard index and a filter over them.
struct Fields<'f, 'a> {
    index: &'a IndexSpec,
    key: WildcardKey<'a>,
    parts: &'f [&'f Filter],
    texts: KeyTexts<'a>,
}

impl Fields<'_, '_> {
    /// Returns the bounds of a field beside the wildcard, at which no document has an array.
    fn bounds_beside(&self, (path, descending): &(String, bool)) -> Option<PathBounds> {
        bounds_on_path(self.parts, path, *descending, true, self.texts)
    }

    /// Returns the key prefixes up to the wildcard; `None` if the filter does not fix each field
    /// before it.
    fn points_before(&self) -> Option<Prefixes> {
        let mut out = Prefixes::of_index(self.index.id);
        for field in self.key.before {
            match self.bounds_beside(field)? {
                PathBounds { bounds: Bounds::Points(points), score } => {
                    out.extend(&points, score).then_some(())?;
                }
                PathBounds { bounds: Bounds::Spans(_), .. } => return None,
            }
        }
        Some(out)
    }

    /// Returns the score and the ranges that conditions on the fields before the wildcard allow, with
    /// any values at its paths: each document has at least one entry there.
    fn ranges_before(&self) -> Option<(usize, Vec<KeyRange>)> {
        let mut out = Prefixes::of_index(self.index.id);
        let mut spans = None;
        for field in self.key.before {
            match self.bounds_beside(field) {
                Some(PathBounds { bounds: Bounds::Points(points), score }) => {
                    if !out.extend(&points, score) {
                        break;
                    }
                }
                Some(PathBounds { bounds: Bounds::Spans(found), score }) => {
                    spans = Some((found, score));
                    break;
                }
                None => break,
            }
        }
        let (spans, score) = spans.map_or((None, 0), |(spans, score)| (Some(spans), score));
        let ranges = out.ranges(spans.as_deref());
        // A document may have many entries, so an index with one for each is preferred.
        let score = (out.score + score).saturating_sub(4);
        (0 < score && ranges.len() <= MAX_RANGES).then_some((score, ranges))
    }

    /// Returns the score and the ranges of the entries that the filter selects at a path; `None` if
    /// documents without such an entry may match.
    fn path_ranges(&self, before: &Prefixes, path: &str) -> Option<(usize, Vec<KeyRange>)> {
        let (single, descending) = (!self.index.multikey, self.key.descending);
        let found = bounds_on_path(self.parts, path, descending, single, self.texts)?;
        if !has_entries_within(&found.bounds, descending) {
            return None;
        }
        let with_path = |prefix: &Vec<u8>| {
            let mut prefix = prefix.clone();
            keys::push_wildcard_path(path, &mut prefix);
            prefix
        };
        let keys = before.keys.iter().map(with_path).collect();
        let mut out = Prefixes { keys, score: before.score };
        let (mut spans, mut last) = (None, 0);
        match found.bounds {
            Bounds::Points(points) => {
                out.extend(&points, found.score).then_some(())?;
                for field in self.key.behind {
                    match self.bounds_beside(field) {
                        Some(PathBounds { bounds: Bounds::Points(points), score })
                            if out.extend(&points, score) => {}
                        Some(PathBounds { bounds: Bounds::Spans(found), score }) => {
                            (spans, last) = (Some(found), score);
                            break;
                        }
                        _ => break,
                    }
                }
            }
            Bounds::Spans(found_spans) => (spans, last) = (Some(found_spans), found.score),
        }
        let ranges = out.ranges(spans.as_deref());
        // An index on the path itself is preferred.
        let score = (out.score + last).saturating_sub(2);
        (ranges.len() <= MAX_RANGES).then_some((score, ranges))
    }

    /// Returns the score and the ranges of all entries at or below a path that has to exist.
    fn existing_ranges(
        &self,
        before: &Prefixes,
        paths: &WildcardPaths,
    ) -> Option<(usize, Vec<KeyRange>)> {
        let exists = self.parts.iter().find_map(|part| match part {
            Filter::Path(path, PathTest::Exists) => Some(path.as_str()),
            _ => None,
        })?;
        // A part of the path that is a number may be a position in an array.
        let is_position = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if !paths.covers(exists) || exists.split('.').any(is_position) {
            return None;
        }
        let mut ranges = Vec::with_capacity(2 * before.keys.len());
        for prefix in &before.keys {
            let (mut at, mut below) = (prefix.clone(), prefix.clone());
            keys::push_wildcard_path(exists, &mut at);
            keys::push_wildcard_path(&format!("{exists}."), &mut below);
            // Without its terminator, the encoding of a text is a prefix of those of longer texts.
            below.pop();
            ranges.extend([at, below].map(|start| {
                let end = Some(prefix_successor(&start));
                KeyRange { start, end }
            }));
        }
        (ranges.len() <= MAX_RANGES).then_some((before.score + MISSING_SCORE, ranges))
    }
}

/// Returns whether every value within the bounds has an entry of its own: no missing or empty
/// value, object or array is among them.
fn has_entries_within(bounds: &Bounds, descending: bool) -> bool {
    let object = Document::new();
    let without = [
        ValueRef::Undefined,
        ValueRef::Null,
        ValueRef::Document(DocRef::Tree(&object)),
        ValueRef::Array(document::ArrayRef::Tree(&[])),
    ];
    without.into_iter().all(|value| {
        let class = KeyTexts::BYTES
            .encode_component(value, descending)
            .first()
            .copied()
            .unwrap_or_default();
        match bounds {
            Bounds::Points(points) => points.iter().all(|point| point.first() != Some(&class)),
            Bounds::Spans(spans) => spans.iter().all(|span| {
                span.end.as_slice() <= [class].as_slice()
                    || prefix_successor(&[class]) <= span.start
            }),
        }
    })
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
        | Filter::Near(_)
        | Filter::Never => {}
    }
}
