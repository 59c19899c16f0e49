//! Geometries in documents: GeoJSON objects, and points as pairs of numbers.

use document::{ArrayRef, DocRef, ValueRef};

use crate::{
    Checks, FlatPoint, Shape,
    geojson::parse_geojson,
    legacy::parse_pair,
    vector::{Vector, is_lng_lat},
};

/// A geometry in a document.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    /// The coordinates, if the geometry is a point.
    pub(crate) point: Option<FlatPoint>,
    /// The shape on the sphere; `None` for a pair that is no longitude and latitude, and for a
    /// polygon with a strict winding order.
    pub(crate) shape: Option<Shape>,
}

/// Parses a geometry of a document.
pub(crate) fn parse_stored(value: ValueRef<'_>, checks: Checks) -> Result<Stored, String> {
    let object = match value {
        ValueRef::Array(_) => None,
        ValueRef::Document(object) => Some(object),
        other => {
            let kind = other.kind().name();
            return Err(format!("geo element must be an array or object: {kind}"));
        }
    };
    let is_pair = |object: DocRef<'_>| object.iter().next().is_some_and(|(_, it)| it.is_number());
    match object.filter(|object| !is_pair(*object)) {
        None => {
            let point = parse_pair(value, true)?;
            let on_sphere = is_lng_lat(point.x, point.y);
            let shape = on_sphere.then(|| Shape::of_point(Vector::of_degrees(point.x, point.y)));
            Ok(Stored { point: Some(point), shape })
        }
        Some(object) => {
            let parsed = parse_geojson(object, checks)?;
            let shape = (!parsed.is_strict).then_some(parsed.shape);
            Ok(Stored { point: parsed.point, shape })
        }
    }
}

/// Calls `visit` with the values at a path. Arrays on the path are expanded, an array at its end is
/// not. Returns whether an array was expanded. Stops at the first failure.
pub(crate) fn values_at<'a, E>(
    document: DocRef<'a>,
    path: &str,
    visit: &mut dyn FnMut(ValueRef<'a>) -> Result<(), E>,
) -> Result<bool, E> {
    let (name, rest) = path.split_once('.').unwrap_or((path, ""));
    match document.get(name) {
        None => Ok(false),
        Some(value) if rest.is_empty() => visit(value).map(|()| false),
        Some(ValueRef::Document(inner)) => values_at(inner, rest, visit),
        Some(ValueRef::Array(array)) => values_within(array, rest, visit).map(|()| true),
        Some(_) => Ok(false),
    }
}

fn values_within<'a, E>(
    array: ArrayRef<'a>,
    path: &str,
    visit: &mut dyn FnMut(ValueRef<'a>) -> Result<(), E>,
) -> Result<(), E> {
    let (name, rest) = path.split_once('.').unwrap_or((path, ""));
    let position = name.parse().ok().and_then(|position: usize| array.get(position));
    match position {
        Some(value) if rest.is_empty() => return visit(value),
        Some(ValueRef::Document(inner)) => return values_at(inner, rest, visit).map(|_| ()),
        Some(_) => return Ok(()),
        None => {}
    }
    for element in array.iter() {
        if let ValueRef::Document(inner) = element {
            values_at(inner, path, visit)?;
        }
    }
    Ok(())
}

/// Returns the geometries at a path with their values: an array is a pair, or a list of geometries.
/// Values that are no geometries are left out.
pub(crate) fn geometries_at<'a>(document: DocRef<'a>, path: &str) -> Vec<(ValueRef<'a>, Stored)> {
    let mut found = Vec::new();
    let visited = values_at(document, path, &mut |value| {
        match (parse_stored(value, Checks::Structure), value) {
            (Ok(stored), _) => found.push((value, stored)),
            (Err(_), ValueRef::Array(array)) => found.extend(array.iter().filter_map(|element| {
                parse_stored(element, Checks::Structure).ok().map(|stored| (element, stored))
            })),
            (Err(_), _) => {}
        }
        Ok::<_, std::convert::Infallible>(())
    });
    match visited {
        Ok(_) => found,
    }
}
