//! Evaluates indexes of geometries: the cells of a region for a filter, and the index that yields
//! documents in the order of their distances from a point. Fields before the geometry need an
//! equality.

use std::sync::Arc;

use collation::Collation;
use geometry::{GeoIndex, Near, Space, no_index_to_choose, no_near_index, several_indexes};
use pipeline::{Filter, filter::PathTest, sort::Sort};
use store::Direction;

use super::{
    access_path::{AccessPath, ChosenAccess, NearAccess, ScoredAccess},
    bounds::{Bounds, collect_conjuncts},
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

/// Returns the path of the first geometry of an index's key and the prefixes of the entries that the
/// filter allows; `None` if the filter does not fix a field before the geometry.
fn prefixes<'a>(
    index: &'a IndexSpec,
    geo: &GeoIndex,
    parts: &[&Filter],
    texts: KeyTexts<'_>,
) -> Option<(&'a str, Prefixes)> {
    let mut found = Prefixes::of_index(index.id);
    for (path, descending) in &index.key {
        if geo.paths.contains(path) {
            return Some((path, found));
        }
        match bounds_on_path(parts, path, *descending, !index.multikey, texts)? {
            PathBounds { bounds: Bounds::Points(points), score } => {
                found.extend(&points, score).then_some(())?;
            }
            PathBounds { bounds: Bounds::Spans(_), .. } => return None,
        }
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
    let found = prefixes(index, geo, parts, texts).and_then(|(found_path, found)| {
        let regions = parts.iter().filter_map(|part| match part {
            Filter::Path(path, PathTest::Geo(test)) if path.as_str() == found_path => {
                test.ranges(&geo.space)
            }
            _ => None,
        });
        let cells = regions.min_by_key(Vec::len)?;
        found.has_room_for(cells.len()).then_some((found, cells))
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
        let (found_path, found) = prefixes(index, geo, &parts, texts)?;
        let fits = covered && found_path == path && near.is_served_by(&geo.space);
        fits.then_some((*index, geo.space, found))
    });
    // On a tie an index of the sphere is preferred, which has any kind of geometry.
    let best = usable.max_by_key(|(_, space, found)| (found.score, *space == Space::Sphere));
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
            prefixes: found.keys,
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
