//! Geometries as GeoJSON objects: Point, LineString, Polygon and MultiPolygon, with all checks of
//! their validity. Other members of the object, such as `crs` and `bbox`, have no effect.

use document::{ArrayRef, Number, ValueRef};
use evaluation::Error;

use super::{Form, Geometry, Projection, Surface};
use crate::{
    EDGE_WORK, FlatPoint, Meter, TOLERANCE, Vector,
    ring::Ring,
    shape::{Polygon, line_edges},
    validity::{fault_of_edges, fault_of_rings},
    vector::is_antipodal,
};

/// Maximum number of points of a polygon.
const MAX_POINTS: usize = 4_096;

/// Why a value is no valid geometry.
#[derive(Debug)]
pub enum Refusal {
    /// The value is not valid for this reason.
    Invalid(String),
    /// The meter ended the operation with this error.
    Ended(Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Ended(error)
    }
}

fn invalid<T>(reason: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::Invalid(reason.into()))
}

impl Geometry {
    /// Parses a GeoJSON object and checks its validity.
    ///
    /// # Errors
    ///
    /// Why the value is not valid, in the words of Azure Cosmos DB if known; those of
    /// `meter`.
    pub fn parse(value: ValueRef<'_>, surface: Surface, meter: Meter<'_>) -> Result<Self, Refusal> {
        let Some(object) = value.as_document() else {
            return invalid("The value is not a GeoJSON object.");
        };
        let name = object.get("type").and_then(ValueRef::as_str).unwrap_or_default();
        let coordinates = object.get("coordinates");
        let list = || match coordinates.and_then(ValueRef::as_array) {
            Some(array) if !array.is_empty() => Ok(array),
            _ => invalid(format!("The coordinates of the {name} are not an array with elements.")),
        };
        let parser = Parser { name, surface, meter };
        let form = match name {
            "Point" => Form::Point(parser.position(coordinates.unwrap_or(ValueRef::Undefined))?),
            "LineString" => Form::Line(parser.line(list()?)?),
            "Polygon" => Form::Polygons(vec![parser.rings(list()?)?]),
            "MultiPolygon" => Form::Polygons(parser.polygons(list()?)?),
            _ => {
                return invalid(
                    "The type of the GeoJSON object is not Point, LineString, Polygon or \
                     MultiPolygon.",
                );
            }
        };
        let geometry = Self { surface, form };
        parser.check(&geometry)?;
        Ok(geometry)
    }
}

struct Parser<'p> {
    /// Value of the object's `type`, for reasons.
    name: &'p str,
    surface: Surface,
    meter: Meter<'p>,
}

impl Parser<'_> {
    fn position(&self, value: ValueRef<'_>) -> Result<FlatPoint, Refusal> {
        let mut parts = value.as_array().into_iter().flat_map(|array| array.iter());
        let mut number = || {
            let number = parts.next().and_then(Number::of).map(Number::to_f64);
            number.filter(|number| number.is_finite())
        };
        // Further numbers, such as an altitude, have no effect.
        let (Some(x), Some(y)) = (number(), number()) else {
            return invalid(format!(
                "A position of the {} is not an array of at least two numbers.",
                self.name
            ));
        };
        if self.surface == Surface::Plane {
            return Ok(FlatPoint { x, y });
        }
        if !(-90.0..=90.0).contains(&y) {
            return invalid("Latitude values must be between -90 and 90 degrees.");
        }
        if !(-180.0..=180.0).contains(&x) {
            return invalid("Longitude values must be between -180 and 180 degrees.");
        }
        // One place has one position.
        let x = match (x, y.abs()) {
            (_, 90.0) => 0.0,
            (-180.0, _) => 180.0,
            _ => x,
        };
        Ok(FlatPoint { x, y })
    }

    /// Parses positions; one that is equal to its predecessor is dropped.
    fn positions(&self, array: ArrayRef<'_>) -> Result<Vec<FlatPoint>, Refusal> {
        let mut points = Vec::new();
        for element in array.iter() {
            let point = self.position(element)?;
            if points.last() != Some(&point) {
                points.push(point);
            }
        }
        (self.meter)(points.len() * EDGE_WORK)?;
        Ok(points)
    }

    fn line(&self, array: ArrayRef<'_>) -> Result<Vec<FlatPoint>, Refusal> {
        let points = self.positions(array)?;
        if points.len() < 2 {
            return invalid(
                "The LineString input is not valid because it does not have enough distinct \
                 points. A LineString must have at least two distinct points.",
            );
        }
        Ok(points)
    }

    fn polygons(&self, array: ArrayRef<'_>) -> Result<Vec<Vec<Vec<FlatPoint>>>, Refusal> {
        let polygon = |element: ValueRef<'_>| match element.as_array() {
            Some(rings) if !rings.is_empty() => self.rings(rings),
            _ => invalid("A polygon of the MultiPolygon is not an array of rings."),
        };
        array.iter().map(polygon).collect()
    }

    fn rings(&self, array: ArrayRef<'_>) -> Result<Vec<Vec<FlatPoint>>, Refusal> {
        let mut rings = Vec::new();
        let mut left = MAX_POINTS;
        for (at, element) in array.iter().enumerate() {
            let Some(positions) = element.as_array() else {
                return invalid(format!("A ring of the {} is not an array.", self.name));
            };
            // The limit is checked first, so that it bounds the work.
            let len = positions.iter().take(left + 1).count();
            if left < len {
                return invalid(format!(
                    "The {} input is not valid because a polygon has more than {MAX_POINTS} points.",
                    self.name
                ));
            }
            left -= len;
            rings.push(self.ring(at + 1, positions)?);
        }
        Ok(rings)
    }

    fn ring(&self, number: usize, array: ArrayRef<'_>) -> Result<Vec<FlatPoint>, Refusal> {
        let mut points = self.positions(array)?;
        if points.len() < 2 || points.first() != points.last() {
            return invalid(format!(
                "The {} input is not valid because the start and end points of the ring number \
                 {number} are not the same. Each ring of a polygon must have the same start and end \
                 points.",
                self.name
            ));
        }
        points.pop();
        if points.len() < 3 {
            return invalid(format!(
                "The {} input is not valid because the ring number {number} does not have enough \
                 distinct points. Each ring of a polygon must contain at least three distinct points.",
                self.name
            ));
        }
        Ok(points)
    }

    /// Checks edges: none is ambiguous, they meet only at their ends, and holes and polygons do not
    /// overlap.
    fn check(&self, geometry: &Geometry) -> Result<(), Refusal> {
        let projection = Projection::of(self.surface, &[geometry]);
        let shape = geometry.shape(projection);
        let rings = || shape.polygons.iter().flat_map(Polygon::rings);
        let mut edges = shape
            .lines
            .iter()
            .flat_map(|line| line_edges(line))
            .chain(rings().flat_map(Ring::edges));
        if edges.any(|(a, b)| is_antipodal(a, b)) {
            return invalid("Not valid because an edge has antipodal endpoints.");
        }
        for polygon in &shape.polygons {
            let rings: Vec<&Ring> = polygon.rings().collect();
            if fault_of_rings(&rings, self.meter)?.is_some() {
                return invalid(
                    "Not valid because some polygon ring intersects itself or some other ring.",
                );
            }
            self.check_holes(polygon)?;
        }
        if 1 < shape.polygons.len() {
            let rings: Vec<&Ring> = rings().collect();
            if fault_of_edges(&rings, self.meter)?.is_some() || self.overlap(&shape.polygons)? {
                return invalid(
                    "Not valid because some portion of a polygon is in the interior of another \
                     polygon.",
                );
            }
        }
        Ok(())
    }

    /// Checks that holes, whose edges cross no others, lie in the outer ring and not in each other.
    fn check_holes(&self, polygon: &Polygon) -> Result<(), Refusal> {
        for (at, hole) in polygon.holes.iter().enumerate() {
            let others = polygon.holes.iter().enumerate().filter(|(other, _)| *other != at);
            let rings = std::iter::once((true, &polygon.outer))
                .chain(others.map(|(_, other)| (false, other)));
            for (must_contain, ring) in rings {
                (self.meter)(hole.vertices.len() * ring.vertices.len() * EDGE_WORK)?;
                // Vertices on the line of the ring do not decide.
                let decisive =
                    hole.vertices.iter().find(|vertex| TOLERANCE < ring.distance_to_line(**vertex));
                if decisive.is_some_and(|vertex| ring.contains(*vertex) != must_contain) {
                    let (hole, holder) = (at + 2, if must_contain { "outside" } else { "inside" });
                    return invalid(format!(
                        "Not valid because ring ({hole}) lies {holder} {} of its polygon.",
                        if must_contain {
                            "the exterior ring (1)"
                        } else {
                            "another interior ring"
                        }
                    ));
                }
            }
        }
        Ok(())
    }

    /// Returns whether a polygon has a vertex inside another one; no edges cross.
    fn overlap(&self, polygons: &[Polygon]) -> Result<bool, Refusal> {
        for (at, polygon) in polygons.iter().enumerate() {
            for (other, region) in polygons.iter().enumerate() {
                if at == other {
                    continue;
                }
                (self.meter)(EDGE_WORK)?;
                if !polygon.outer.cap.may_touch(&region.outer.cap) {
                    continue;
                }
                let pairs = polygon.outer.vertices.len().saturating_mul(region.edges_len());
                (self.meter)(pairs.saturating_mul(EDGE_WORK))?;
                let is_inside = |vertex: &Vector| {
                    let reach = region.reach(*vertex);
                    reach.is_inside && TOLERANCE < reach.to_line
                };
                if polygon.outer.vertices.iter().any(is_inside) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}
