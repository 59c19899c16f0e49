//! Evaluates indexes of geometries: the cells of a region for a filter, and the index that yields
//! documents in the order of their distances from a point. Fields before the geometry need an
//! equality for a region; for a search by distance the first of them needs any bounds.

use std::sync::Arc;

use collation::Collation;
use geometry::{GeoIndex, Near, Space, no_index_to_choose, no_near_index, several_indexes};
use pipeline::{Filter, filter::PathTest, sort::Sort};
use store::Direction;

use super::{
    access_path::{AccessPath, CellPrefixes, ChosenAccess, NearAccess, ScoredAccess},
    bounds::{Bounds, Span, collect_conjuncts},
    conditions::{PathBounds, bounds_on_path},
    exact::Residual,
    implied::filter_implies,
    key_texts::KeyTexts,
    prefixes::Prefixes,
};
use crate::{
    catalog::{CollectionState, IndexShape, IndexSpec},
    error::Error,
    keys,
};

/// Score of the cells of a region, besides those of the fields before it. Regions are taken for more
/// selective than ranges of values.
const REGION: usize = 600;

/// The entries that a filter allows by the fields before the first geometry of an index's key.
struct Before<'a> {
    /// The path of that geometry.
    path: &'a str,
    /// Prefixes up to the first field that the filter does not fix.
    prefixes: Prefixes,
    /// Spans of that field that the filter allows.
    spans: Option<Vec<Span>>,
    /// Whether the filter fixes all fields before the geometry.
    is_fixed: bool,
}

impl Before<'_> {
    fn into_prefixes(self, index: &IndexSpec) -> CellPrefixes {
        if self.is_fixed {
            return CellPrefixes::Known(self.prefixes.keys);
        }
        let before = index.key.iter().take_while(|(path, _)| path != self.path);
        CellPrefixes::Within {
            ranges: self.prefixes.ranges(self.spans.as_deref()),
            descending: before.map(|(_, descending)| *descending).collect(),
        }
    }
}

/// Returns the entries that a filter allows by the fields before the geometry; `None` if it has no
/// condition on the first of them.
fn entries_before<'a>(
    index: &'a IndexSpec,
    geo: &GeoIndex,
    parts: &[&Filter],
    texts: KeyTexts<'_>,
) -> Option<Before<'a>> {
    let (mut prefixes, mut spans, mut is_fixed) = (Prefixes::of_index(index.id), None, true);
    for (at, (path, descending)) in index.key.iter().enumerate() {
        if geo.paths.contains(path) {
            return Some(Before { path, prefixes, spans, is_fixed });
        }
        if !is_fixed {
            continue;
        }
        let found = bounds_on_path(parts, path, *descending, !index.multikey, texts);
        if at == 0 && found.is_none() {
            return None;
        }
        is_fixed = match found {
            Some(PathBounds { bounds: Bounds::Points(points), score }) => {
                prefixes.extend(&points, score)
            }
            Some(PathBounds { bounds: Bounds::Spans(found), score })
                if prefixes.has_room_for(found.len()) =>
            {
                prefixes.score += score;
                spans = Some(found);
                false
            }
            _ => false,
        };
    }
    None
}

/// Evaluates one index of geometries for the tests of regions in a filter; a score of 0 means it is
/// not usable. It yields no order.
pub(super) fn region_access<'a>(
    index: &'a Arc<IndexSpec>,
    geo: &GeoIndex,
    partial: Option<&'a Filter>,
    parts: &[&Filter],
    sort: Option<&Sort>,
    collation: Option<&'a Collation>,
) -> ScoredAccess<'a> {
    let texts = KeyTexts::of(index.collation.as_deref(), collation);
    let found = entries_before(index, geo, parts, texts).filter(|found| found.is_fixed);
    let found = found.and_then(|found| {
        let regions = parts.iter().filter_map(|part| match part {
            Filter::Path(path, PathTest::Geo(test)) if path.as_str() == found.path => {
                test.ranges(&geo.space)
            }
            _ => None,
        });
        let cells = regions.min_by_key(Vec::len)?;
        found.prefixes.has_room_for(cells.len()).then_some((found.prefixes, cells))
    });
    let (mut score, mut ranges) = (0, Vec::new());
    if let Some((found, cells)) = found {
        score = found.score + REGION;
        for prefix in &found.keys {
            ranges.extend(cells.iter().map(|cells| keys::cells_between(prefix, *cells)));
        }
    }
    ScoredAccess::unordered(index, (score, ranges), sort, partial, texts)
}

/// Returns the access path of a search by distance, which yields documents in the order of their
/// distances. `hinted` is the index that the client requests.
///
/// Fails with 291 if no index serves the search, and with 27 for a search without a path if there is
/// not exactly one index.
pub(super) fn near_access(
    state: &CollectionState,
    filter: &Filter,
    near: &Arc<Near>,
    sort: Option<&Sort>,
    hinted: Option<&IndexSpec>,
    collation: Option<&Collation>,
) -> Result<ChosenAccess, Error> {
    let indexes = state.definitions.iter().zip(&state.partial);
    let held: Vec<(&Arc<IndexSpec>, &GeoIndex, Option<&Filter>)> = indexes
        .filter(|(index, _)| index.ready && !index.hidden)
        .filter(|(index, _)| hinted.is_none_or(|hinted| hinted.id == index.id))
        .filter_map(|(index, partial)| match &index.shape {
            IndexShape::Geo(geo) => Some((index, geo, partial.as_deref())),
            _ => None,
        })
        .collect();
    let path = match near.wanted_path() {
        Some(path) => path,
        None => only_path(&held)?,
    };
    let mut parts = Vec::new();
    collect_conjuncts(filter, &mut parts);
    let usable = held.iter().filter_map(|(index, geo, partial)| {
        let texts = KeyTexts::of(index.collation.as_deref(), collation);
        let covered = partial.is_none_or(|partial| filter_implies(filter, partial, texts));
        let found = entries_before(index, geo, &parts, texts)?;
        let fits = covered && found.path == path && near.is_served_by(&geo.space);
        fits.then_some((*index, geo.space, found))
    });
    // A range may have many prefixes, all of which are read, so an index without one is preferred. On a
    // tie it is an index of the sphere, which has any kind of geometry.
    let best = usable.max_by_key(|(_, space, found)| {
        (found.is_fixed, found.prefixes.score, *space == Space::Sphere)
    });
    let (index, space, found) = best.ok_or_else(no_near_index)?;
    if !near.bind(path) {
        return Err(no_near_index().into());
    }
    let left = parts.iter().filter(|part| !matches!(part, Filter::Near(_)));
    let left: Vec<Filter> = left.map(|part| (*part).clone()).collect();
    Ok(ChosenAccess {
        access: AccessPath::Near(Box::new(NearAccess {
            index: Arc::clone(index),
            space,
            prefixes: found.into_prefixes(index),
            near: Arc::clone(near),
        })),
        direction: Direction::Forward,
        sorted: sort.is_none_or(|sort| sort.parts.is_empty()),
        residual: match left.is_empty() {
            true => Residual::Nothing,
            false => Residual::Parts(Filter::all(left)),
        },
    })
}

/// Returns the path of the only index; one of the plane is preferred.
fn only_path<'a>(
    held: &[(&'a Arc<IndexSpec>, &'a GeoIndex, Option<&Filter>)],
) -> Result<&'a str, Error> {
    for is_plane in [true, false] {
        let mut of_kind = held
            .iter()
            .map(|(_, geo, _)| *geo)
            .filter(|geo| (geo.space != Space::Sphere) == is_plane);
        match (of_kind.next(), of_kind.next()) {
            (None, _) => {}
            (Some(geo), None) => {
                return geo.paths.first().map(String::as_str).ok_or_else(|| no_near_index().into());
            }
            (Some(geo), Some(_)) => return Err(several_indexes(geo.kind()).into()),
        }
    }
    Err(no_index_to_choose().into())
}
