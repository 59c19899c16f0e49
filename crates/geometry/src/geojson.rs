//! Shapes as GeoJSON objects, with the checks of each type.
//!
//! ```text
//!  {type: "Point", coordinates: [lng, lat]}
//!  {type: "Polygon", coordinates: [[[lng, lat], ..], hole, ..]}
//!  {type: "GeometryCollection", geometries: [..]}
//! ```

use std::convert::Infallible;

use document::{ArrayRef, DocRef, ValueRef, shell};

use crate::{
    FlatPoint, Shape,
    legacy::parse_pair,
    ring::{Inside, Ring},
    shape::Polygon,
    validity::fault_of_rings,
    vector::{Vector, is_antipodal, is_lng_lat},
};

/// Name of the coordinate system in which the side to the left of a ring is inside, even if it is
/// the larger one.
const STRICT_WINDING: &str = "urn:x-mongodb:crs:strictwinding:EPSG:4326";
/// Names of the usual coordinate system.
const USUAL: [&str; 2] = ["urn:ogc:def:crs:OGC:1.3:CRS84", "EPSG:4326"];

/// The checks that a shape has to pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checks {
    /// The structure, and that rings do not cross themselves or each other.
    All,
    /// Only the structure is checked.
    Structure,
}

/// A shape that was given as GeoJSON.
#[derive(Clone, Debug)]
pub struct GeoJson {
    /// The shape on the sphere.
    pub shape: Shape,
    /// The coordinates, if the shape is a point.
    pub point: Option<FlatPoint>,
    /// Name of the type, such as `Polygon`.
    pub kind: &'static str,
    /// Whether the side to the left of a polygon's ring is inside.
    pub is_strict: bool,
}

/// The types of shapes, except collections.
const KINDS: &[(&str, Add)] = &[
    ("Point", add_point),
    ("LineString", add_line),
    ("Polygon", add_polygon),
    ("MultiPoint", |value, parse| each(value, "MultiPoint coordinates", parse, add_point)),
    ("MultiLineString", |value, parse| each(value, "MultiLineString coordinates", parse, add_line)),
    ("MultiPolygon", |value, parse| each(value, "MultiPolygon coordinates", parse, add_polygon)),
];
const COLLECTION: &str = "GeometryCollection";

/// Adds a shape with these coordinates to the result.
type Add = fn(ValueRef<'_>, &mut Parse) -> Result<(), String>;

/// A shape in the course of its parsing.
struct Parse {
    shape: Shape,
    point: Option<FlatPoint>,
    checks: Checks,
    inside: Inside,
}

/// Parses a GeoJSON object with these checks.
///
/// # Errors
///
/// The text of the fault.
pub fn parse_geojson(object: DocRef<'_>, checks: Checks) -> Result<GeoJson, String> {
    let unknown = || format!("unknown GeoJSON type: {}", shell(ValueRef::Document(object)));
    let name = object.get("type").and_then(ValueRef::as_str).ok_or_else(unknown)?;
    let is_strict = parse_crs(object)?;
    let inside = if is_strict { Inside::Left } else { Inside::Smaller };
    let mut parse = Parse { shape: Shape::default(), point: None, checks, inside };
    if is_strict && name != "Polygon" {
        return Err("Strict winding order is only supported by polygon".to_owned());
    }
    if name == COLLECTION {
        add_collection(object, &mut parse)?;
        return Ok(GeoJson { shape: parse.shape, point: None, kind: COLLECTION, is_strict });
    }
    let Some((kind, add)) = KINDS.iter().find(|(kind, _)| *kind == name) else {
        return Err(unknown());
    };
    add(object.get("coordinates").unwrap_or(ValueRef::Undefined), &mut parse)?;
    let point = parse.point.filter(|_| *kind == "Point");
    Ok(GeoJson { shape: parse.shape, point, kind, is_strict })
}

/// Parses the coordinate system; returns whether its rings have a strict winding order.
fn parse_crs(object: DocRef<'_>) -> Result<bool, String> {
    let Some(crs) = object.get("crs") else { return Ok(false) };
    let kind_of = |value: Option<ValueRef<'_>>| value.map_or("missing", |it| it.kind().name());
    let Some(crs) = crs.as_document() else {
        let kind = crs.kind().name();
        return Err(format!("GeoJSON CRS must be an object, instead got type {kind}"));
    };
    if crs.get("type").and_then(ValueRef::as_str) != Some("name") {
        return Err("GeoJSON CRS must have field \"type\": \"name\"".to_owned());
    }
    let properties = crs.get("properties");
    let Some(fields) = properties.and_then(ValueRef::as_document) else {
        let kind = kind_of(properties);
        return Err(format!(
            "CRS must have field \"properties\" which is an object, instead got type {kind}"
        ));
    };
    match fields.get("name").and_then(ValueRef::as_str) {
        Some(STRICT_WINDING) => Ok(true),
        Some(name) if USUAL.contains(&name) => Ok(false),
        Some(name) => Err(format!("Unknown CRS name: {name}")),
        None => {
            let kind = kind_of(fields.get("name"));
            Err(format!("In CRS, \"properties.name\" must be a string, instead got type {kind}"))
        }
    }
}

fn add_collection(object: DocRef<'_>, parse: &mut Parse) -> Result<(), String> {
    let geometries = object.get("geometries");
    let Some(array) = geometries.and_then(ValueRef::as_array) else {
        let kind = geometries.map_or("missing", |it| it.kind().name());
        return Err(format!(
            "GeometryCollection geometries must be an array, instead got type {kind}"
        ));
    };
    if array.is_empty() {
        return Err("GeometryCollection geometries must have at least 1 element".to_owned());
    }
    for (place, value) in array.iter().enumerate() {
        let Some(geometry) = value.as_document() else {
            let kind = value.kind().name();
            return Err(format!(
                "Element {place} of \"geometries\" is not an object, instead got type {kind}"
            ));
        };
        let name = geometry.get("type").and_then(ValueRef::as_str).unwrap_or_default();
        if name == COLLECTION {
            let shown = shell(value);
            return Err(format!("GeometryCollections cannot be nested: {shown}"));
        }
        let Some((_, add)) = KINDS.iter().find(|(kind, _)| *kind == name) else {
            return Err(format!("Unknown GeoJSON type: {}", shell(value)));
        };
        if parse_crs(geometry)? {
            return Err("Strict winding order is only supported by polygon".to_owned());
        }
        add(geometry.get("coordinates").unwrap_or(ValueRef::Undefined), parse)?;
    }
    Ok(())
}

fn array_of<'a>(value: ValueRef<'a>, label: &str, content: &str) -> Result<ArrayRef<'a>, String> {
    value.as_array().ok_or_else(|| {
        let kind = value.kind().name();
        format!("{label} must be an array{content}, instead got type {kind}")
    })
}

fn each(value: ValueRef<'_>, label: &str, parse: &mut Parse, add: Add) -> Result<(), String> {
    let array = array_of(value, label, "")?;
    if array.is_empty() {
        return Err(format!("{label} must have at least 1 element"));
    }
    array.iter().try_for_each(|element| add(element, parse))
}

fn parse_position(value: ValueRef<'_>) -> Result<(FlatPoint, Vector), String> {
    // Further elements, such as an altitude, have no effect.
    let point = parse_pair(value, true)?;
    if !is_lng_lat(point.x, point.y) {
        return Err(format!(
            "Longitude/latitude is out of bounds, lng: {} lat: {}",
            point.x, point.y
        ));
    }
    Ok((point, Vector::of_degrees(point.x, point.y)))
}

fn add_point(value: ValueRef<'_>, parse: &mut Parse) -> Result<(), String> {
    let (point, vector) = parse_position(value)?;
    parse.point = Some(point);
    parse.shape.points.push(vector);
    Ok(())
}

/// Parses a list of positions; a position equal to its predecessor is dropped.
fn parse_positions(value: ValueRef<'_>) -> Result<Vec<Vector>, String> {
    let array = array_of(value, "GeoJSON coordinates", " of coordinates")?;
    let mut positions = Vec::new();
    for element in array.iter() {
        let (_, position) = parse_position(element)?;
        if positions.last() != Some(&position) {
            positions.push(position);
        }
    }
    Ok(positions)
}

fn add_line(value: ValueRef<'_>, parse: &mut Parse) -> Result<(), String> {
    let line = parse_positions(value)?;
    if line.len() < 2 {
        let shown = shell(value);
        return Err(format!("GeoJSON LineString must have at least 2 vertices: {shown}"));
    }
    if has_antipodal(&line) {
        let shown = shell(value);
        return Err(format!(
            "GeoJSON LineString is not valid: adjacent vertices are antipodal: {shown}"
        ));
    }
    parse.shape.lines.push(line);
    Ok(())
}

fn has_antipodal(line: &[Vector]) -> bool {
    line.windows(2).any(|pair| matches!(pair, [a, b] if is_antipodal(*a, *b)))
}

fn add_polygon(value: ValueRef<'_>, parse: &mut Parse) -> Result<(), String> {
    let array = array_of(value, "Polygon coordinates", "")?;
    if parse.inside == Inside::Left && 1 < array.len() {
        return Err(format!(
            "Only one simple loop is allowed in a big polygon, instead provided {}",
            array.len()
        ));
    }
    let mut rings = Vec::with_capacity(array.len());
    for element in array.iter() {
        rings.push(parse_ring(element, parse.inside)?);
    }
    let Some(outer) = rings.first() else { return Err("Polygon has no loops.".to_owned()) };
    for (place, hole) in rings.iter().enumerate().skip(1) {
        let is_within = |vertex: &Vector| {
            outer.contains(*vertex) || outer.distance_to_line(*vertex) <= crate::TOLERANCE
        };
        // Edges that cross are found below, so one vertex decides where the hole is.
        let outside = match parse.checks {
            Checks::All => !hole.vertices.iter().take(3).all(is_within),
            Checks::Structure => false,
        };
        if outside {
            let shown = array.get(place).map(|it| shell(it).to_string()).unwrap_or_default();
            let first = array.get(0).map(|it| shell(it).to_string()).unwrap_or_default();
            return Err(format!(
                "Secondary loops not contained by first exterior loop - secondary loops must be \
                 holes: {shown} first loop: {first}"
            ));
        }
    }
    if parse.checks == Checks::All
        && let Ok(Some(fault)) =
            fault_of_rings(&rings.iter().collect::<Vec<_>>(), &|_| Ok::<_, Infallible>(()))
    {
        return Err(if rings.len() == 1 {
            let shown = array.get(0).map(|it| shell(it).to_string()).unwrap_or_default();
            format!("Loop is not valid: {shown} {fault}")
        } else {
            format!("Polygon isn't valid: {fault} {}", shell(value))
        });
    }
    let mut rings = rings.into_iter();
    if let Some(outer) = rings.next() {
        parse.shape.polygons.push(Polygon { outer, holes: rings.collect() });
    }
    Ok(())
}

fn parse_ring(value: ValueRef<'_>, inside: Inside) -> Result<Ring, String> {
    let mut vertices = parse_positions(value)?;
    if vertices.is_empty() {
        return Err(format!("Loop has no vertices: {}", shell(value)));
    }
    if vertices.first() != vertices.last() {
        return Err(format!(
            "Loop is not closed, first vertex does not equal last vertex: {}",
            shell(value)
        ));
    }
    vertices.pop();
    if vertices.len() < 3 {
        return Err(format!(
            "Loop must have at least 3 different vertices, {} unique vertices were provided: {}",
            vertices.len(),
            shell(value)
        ));
    }
    if has_antipodal(&vertices) {
        return Err(format!("Loop is not valid: {} adjacent vertices are antipodal", shell(value)));
    }
    Ok(Ring::new(vertices, inside))
}
