//! Operators of geometries: `$geoWithin`, `$geoIntersects`, `$near` and `$nearSphere`.
//!
//! ```text
//! {a: {$geoWithin: {$geometry: {type: "Polygon", ..}}}}    on the sphere
//! {a: {$geoWithin: {$centerSphere: [[lng, lat], radians]}}}
//! {a: {$geoWithin: {$box: [[x, y], [x, y]]}}}              in the plane
//! {a: {$near: {$geometry: {type: "Point", ..}, $maxDistance: metres}}}
//! {a: {$near: [x, y], $maxDistance: distance}}
//! ```

use std::sync::Arc;

use document::{DocRef, Number, ValueRef, shell};
use geometry::{
    Cap, Checks, FlatPoint, FlatRegion, GeoPredicate, GeoTest, Metric, Near, Region, Vector,
    is_lng_lat, parse_geojson, parse_pair,
};
use pipeline::{
    Filter,
    filter::{Condition, PathTest},
};

use super::{
    FilterTarget, Scope,
    operators::{Operator, test_condition},
};
use crate::Error;

/// Operators that sort by distance. They take the place of all operators of a field.
const NEAR: &[&str] = &["$near", "$nearSphere", "$geoNear"];

/// Parses the operand of `$geoWithin` or `$geoIntersects`.
///
/// Fails with 2 if the region is invalid or the predicate does not support it.
pub(super) fn parse_test(
    op: Operator<'_>,
    predicate: GeoPredicate,
) -> Result<Option<Condition>, Error> {
    let shown = || shell(op.value).to_string();
    let operand = op.value.as_document();
    let Some(operand) = operand else {
        return Err(Error::bad_value(format!("{} must be an object: {}", op.name, shown())));
    };
    let mut region = None;
    for (name, value) in operand.iter() {
        // An option without effect since MongoDB 2.6.
        if name != "$uniqueDocs" {
            region = Some(parse_region(name, value, predicate)?);
        }
    }
    let Some(region) = region else {
        return Err(Error::bad_value(format!(
            "{} not supported with provided geometry: {}",
            op.name,
            shown()
        )));
    };
    Ok(Some(test_condition(PathTest::Geo(Arc::new(GeoTest::new(predicate, region))))))
}

fn parse_region(name: &str, value: ValueRef<'_>, predicate: GeoPredicate) -> Result<Region, Error> {
    let is_within = predicate == GeoPredicate::Within;
    let region = match name {
        "$geometry" => {
            let Some(object) = value.as_document() else {
                return Err(Error::bad_value("$geometry must be an object"));
            };
            let parsed = parse_geojson(object, Checks::All).map_err(Error::bad_value)?;
            let has_inside =
                ["Polygon", "MultiPolygon", "GeometryCollection"].contains(&parsed.kind);
            if is_within && !(has_inside && parsed.shape.has_polygon()) {
                let shown = shell(value);
                return Err(Error::bad_value(format!(
                    "$geoWithin not supported with provided geometry: {shown}"
                )));
            }
            return Ok(Region::Shape(parsed.shape));
        }
        "$box" => Region::Flat(parse_box(value)?),
        "$polygon" => Region::Flat(parse_polygon(value)?),
        "$center" => {
            let (centre, radius) = parse_circle(value)?;
            Region::Flat(FlatRegion::Circle { centre, radius })
        }
        "$centerSphere" => {
            let (centre, radius) = parse_circle(value)?;
            if !is_lng_lat(centre.x, centre.y) {
                let shown = shell(value);
                return Err(Error::bad_value(format!(
                    "Spherical center point is out of bounds: {shown}"
                )));
            }
            Region::Cap(Cap { centre: Vector::of_degrees(centre.x, centre.y), radius })
        }
        _ => {
            let shown = shell(value);
            return Err(Error::bad_value(format!("unknown geo specifier: {name}: {shown}")));
        }
    };
    if !is_within {
        let shown = shell(value);
        return Err(Error::bad_value(format!(
            "$geoIntersect not supported with provided geometry: {{{name}: {shown}}}"
        )));
    }
    Ok(region)
}

/// Returns the elements of an array, or the values of an object in place of one.
fn parts_of(value: ValueRef<'_>) -> Option<Vec<ValueRef<'_>>> {
    match value {
        ValueRef::Array(array) => Some(array.iter().collect()),
        ValueRef::Document(fields) => Some(fields.iter().map(|(_, value)| value).collect()),
        _ => None,
    }
}

fn parse_point(value: ValueRef<'_>) -> Result<FlatPoint, Error> {
    parse_pair(value, false).map_err(Error::bad_value)
}

fn parse_box(value: ValueRef<'_>) -> Result<FlatRegion, Error> {
    let parts = parts_of(value).unwrap_or_default();
    let [first, second] = parts.as_slice() else {
        return Err(Error::bad_value("$box must be an array of two points"));
    };
    let (a, b) = (parse_point(*first)?, parse_point(*second)?);
    Ok(FlatRegion::Box {
        low: FlatPoint { x: a.x.min(b.x), y: a.y.min(b.y) },
        high: FlatPoint { x: a.x.max(b.x), y: a.y.max(b.y) },
    })
}

fn parse_polygon(value: ValueRef<'_>) -> Result<FlatRegion, Error> {
    let parts = parts_of(value).unwrap_or_default();
    let points = parts.into_iter().map(parse_point).collect::<Result<Vec<_>, _>>()?;
    if points.len() < 3 {
        return Err(Error::bad_value("Polygon must have at least 3 points"));
    }
    Ok(FlatRegion::Polygon(points))
}

/// Parses a centre and a radius.
fn parse_circle(value: ValueRef<'_>) -> Result<(FlatPoint, f64), Error> {
    let parts = parts_of(value).unwrap_or_default();
    let (centre, radius) = match parts.as_slice() {
        [centre, radius] => (parse_point(*centre)?, *radius),
        [_, _, ..] => {
            let text = "Only 2 fields allowed for circular region, but more were provided";
            return Err(Error::bad_value(format!("{text}: {}", shell(value))));
        }
        _ => return Err(Error::bad_value("a circular region must be an array [center, radius]")),
    };
    match Number::of(radius).map(Number::to_f64) {
        Some(radius) if 0.0 <= radius && radius.is_finite() => Ok((centre, radius)),
        Some(_) => {
            let shown = shell(radius);
            Err(Error::bad_value(format!("Radius must be a non-negative number: {shown}")))
        }
        None => Err(Error::bad_value(format!("Radius must be a number: {}", shell(radius)))),
    }
}

/// Returns whether the first of a field's operators sorts by distance.
pub(super) fn is_near(operators: DocRef<'_>) -> bool {
    operators.iter().next().is_some_and(|(name, value)| {
        NEAR.contains(&name) && matches!(value, ValueRef::Document(_) | ValueRef::Array(_))
    })
}

/// Returns the error of an operator by distance that is not the first of its field, or that is not a
/// condition of the whole filter.
pub(super) fn misplaced_near(operators: DocRef<'_>) -> Error {
    if is_near(operators) {
        return Error::bad_value("geoNear must be top-level expr");
    }
    let shown = shell(ValueRef::Document(operators));
    Error::bad_value(format!("near must be first in: {shown}"))
}

/// Returns the error of an operator that sorts by distance, where nothing is sorted.
pub fn refused_by_distance() -> Error {
    Error::new(
        5_626_500,
        "$geoNear, $near, and $nearSphere are not allowed in this context, as these operators \
         require sorting geospatial data. If you do not need sort, consider using $geoWithin \
         instead.",
    )
}

/// Checks that a filter has at most one search by distance, and that it is a condition of the whole
/// filter (2).
pub(super) fn check_place(filter: &Filter) -> Result<(), Error> {
    let conjuncts = match filter {
        Filter::And(all) => all.as_slice(),
        other => std::slice::from_ref(other),
    };
    let is_near = |part: &&Filter| matches!(part, Filter::Near(_));
    if 1 < conjuncts.iter().filter(is_near).count() {
        return Err(Error::bad_value("Too many geoNear expressions"));
    }
    if conjuncts.iter().any(|part| !is_near(&part) && has_near(part)) {
        return Err(Error::bad_value("geoNear must be top-level expr"));
    }
    if filter.near().is_some() && filter.text_query().is_some() {
        return Err(Error::bad_value("text and geoNear not allowed in same query"));
    }
    Ok(())
}

fn has_near(filter: &Filter) -> bool {
    match filter {
        Filter::And(parts) | Filter::Or(parts) | Filter::Nor(parts) => parts.iter().any(has_near),
        Filter::Not(part) => has_near(part),
        Filter::Near(_) => true,
        Filter::Path(..)
        | Filter::Expr(_)
        | Filter::Schema(_)
        | Filter::Text(_)
        | Filter::Never => false,
    }
}

/// Parses the operators of a field, the first of which sorts by distance.
///
/// Fails with 2 if a point is invalid, an argument is unknown or the filter applies to a part of a
/// document, 16681 if the geometry is not a point, 18522 or 16893 to 16900 if a distance is
/// invalid, and 34413 if another operator follows.
pub(super) fn parse_near(
    field: &str,
    operators: DocRef<'_>,
    scope: Scope,
) -> Result<Filter, Error> {
    if scope.target != FilterTarget::Top {
        return Err(Error::bad_value("geoNear must be top-level expr"));
    }
    let Some((name, value)) = operators.iter().next() else {
        return Err(misplaced_near(operators));
    };
    let is_sphere = name == "$nearSphere";
    let near = match legacy_centre(value, is_sphere)? {
        Some(centre) => parse_siblings(field, centre, operators)?,
        None => parse_geometry(field, value)?,
    };
    Ok(Filter::Near(Arc::new(near)))
}

/// The point of a search, its metric and, if it was given with the point, the greatest distance.
pub(crate) struct Centre {
    point: FlatPoint,
    metric: Metric,
    max: Option<f64>,
}

/// Parses the point of `$geoNear`: a pair or a GeoJSON point.
pub(crate) fn parse_center(
    value: ValueRef<'_>,
    is_sphere: bool,
) -> Result<(FlatPoint, Metric), Error> {
    match legacy_centre(value, is_sphere)? {
        Some(Centre { point, metric, max: None }) => Ok((point, metric)),
        _ => {
            let shown = shell(value);
            Err(Error::bad_value(format!("invalid point in $geoNear: {shown}")))
        }
    }
}

/// Parses `[x, y]`, `[x, y, distance]`, or a GeoJSON point itself; `None` for an object of arguments.
fn legacy_centre(value: ValueRef<'_>, is_sphere: bool) -> Result<Option<Centre>, Error> {
    if let ValueRef::Document(object) = value
        && let Some(kind) = object.get("type").and_then(ValueRef::as_str)
    {
        let point = geojson_point(object, kind)?;
        return Ok(Some(Centre { point, metric: Metric::Metres, max: None }));
    }
    let parts = parts_of(value).unwrap_or_default();
    let numbers: Vec<f64> =
        parts.iter().filter_map(|part| Number::of(*part).map(Number::to_f64)).collect();
    let (point, max) = match (parts.len(), numbers.as_slice()) {
        (2, [x, y]) => (FlatPoint { x: *x, y: *y }, None),
        (3, [x, y, max]) => (FlatPoint { x: *x, y: *y }, Some(*max)),
        _ if matches!(value, ValueRef::Document(_)) => return Ok(None),
        _ => {
            let shown = shell(value);
            return Err(Error::bad_value(format!("invalid point in geo near query: {shown}")));
        }
    };
    if !point.x.is_finite() || !point.y.is_finite() {
        return Err(Error::bad_value("Point coordinates must be finite numbers"));
    }
    if max.is_some_and(|max| max.is_nan() || max < 0.0) {
        return Err(Error::new(18522, "max distance must be non-negative"));
    }
    if is_sphere && !is_lng_lat(point.x, point.y) {
        return Err(Error::bad_value("Legacy point is out of bounds for spherical query"));
    }
    let metric = if is_sphere { Metric::Radians } else { Metric::Plane };
    Ok(Some(Centre { point, metric, max }))
}

fn geojson_point(object: DocRef<'_>, kind: &str) -> Result<FlatPoint, Error> {
    let shown = || shell(ValueRef::Document(object)).to_string();
    if kind != "Point" {
        return Err(Error::new(16681, format!("$near requires a point, given {}", shown())));
    }
    let parsed = parse_geojson(object, Checks::All).map_err(|fault| {
        Error::bad_value(format!(
            "invalid point in geo near query $geometry argument: {}  {fault}",
            shown()
        ))
    })?;
    let point = parsed.point;
    point.ok_or_else(|| Error::new(16681, format!("$near requires a point, given {}", shown())))
}

/// Parses the distances beside a point.
fn parse_siblings(field: &str, centre: Centre, operators: DocRef<'_>) -> Result<Near, Error> {
    let (mut min, mut max) = (0.0, centre.max.unwrap_or(f64::INFINITY));
    for (name, value) in operators.iter().skip(1) {
        match name {
            "$minDistance" => min = parse_distance(name, value, 16893)?,
            "$maxDistance" => max = parse_distance(name, value, 16895)?,
            "$uniqueDocs" => {}
            _ => {
                let text = format!("invalid argument in geo near query: {name}");
                return Err(Error::new(34413, text));
            }
        }
    }
    Ok(Near::new(Some(field), centre.point, centre.metric, min, max))
}

/// Parses `{$geometry: point, $minDistance: metres, $maxDistance: metres}`.
fn parse_geometry(field: &str, value: ValueRef<'_>) -> Result<Near, Error> {
    let Some(arguments) = value.as_document() else {
        return Err(Error::bad_value("$geometry is required for geo near query"));
    };
    let (mut point, mut min, mut max) = (None, 0.0, f64::INFINITY);
    for (name, value) in arguments.iter() {
        match name {
            "$geometry" => {
                let Some(object) = value.as_document() else {
                    return Err(Error::bad_value("$geometry must be an object"));
                };
                let kind = object.get("type").and_then(ValueRef::as_str).unwrap_or_default();
                point = Some(geojson_point(object, kind)?);
            }
            "$minDistance" => min = parse_distance(name, value, 16897)?,
            "$maxDistance" => max = parse_distance(name, value, 16899)?,
            _ => {
                let text = format!("invalid argument in geo near query: {name}");
                return Err(Error::bad_value(text));
            }
        }
    }
    let Some(point) = point else {
        return Err(Error::bad_value("$geometry is required for geo near query"));
    };
    Ok(Near::new(Some(field), point, Metric::Metres, min, max))
}

/// Parses a distance. `code` is the error of a value that is no number; the next one is that of a
/// negative number.
fn parse_distance(name: &str, value: ValueRef<'_>, code: i32) -> Result<f64, Error> {
    let Some(distance) = Number::of(value).map(Number::to_f64) else {
        return Err(Error::new(code, format!("{name} must be a number")));
    };
    if distance.is_nan() || distance < 0.0 {
        return Err(Error::new(code + 1, format!("{name} must be non-negative")));
    }
    Ok(distance)
}
