//! Geometries of NoSQL queries: a point, a line or polygons, on the ellipsoid of the Earth or in a
//! plane.
//!
//! Predicates are evaluated on the unit sphere for both surfaces, because both map to it without
//! moving a point to the other side of a line. The ellipsoid is scaled to the sphere: its edges,
//! which lie in planes through the centre, become arcs. The plane is seen from the centre of a
//! sphere that touches it: its straight lines become arcs as well.

mod earth;
mod parse;
mod plane;

#[cfg(test)]
mod tests;

pub use parse::Refusal;

use evaluation::Error;

use self::plane::Window;
use crate::{
    EDGE_WORK, FlatPoint, Meter, Shape, TOLERANCE, Vector,
    ring::{Inside, Ring},
    shape::Polygon,
};

/// Units of work charged for the length of a geodesic.
const GEODESIC_WORK: usize = 128;

/// The surface on which coordinates lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Surface {
    /// The WGS 84 ellipsoid: coordinates are degrees of longitude and latitude, distances are
    /// metres, and the inside of a polygon is to the left of its outer ring.
    #[default]
    Earth,
    /// A plane: distances have the unit of the coordinates, and the orientation of rings has no
    /// effect.
    Plane,
}

/// The points of a geometry. A ring does not repeat its first point.
#[derive(Clone, Debug)]
enum Form {
    Point(FlatPoint),
    Line(Vec<FlatPoint>),
    /// Polygons, each with its outer ring first.
    Polygons(Vec<Vec<Vec<FlatPoint>>>),
}

/// A valid geometry on its surface.
#[derive(Clone, Debug)]
pub struct Geometry {
    surface: Surface,
    form: Form,
}

/// Two points and the edge between them, which is the point itself if they are equal.
type Edge<P> = (P, P);

impl Geometry {
    /// Returns the area in square units of the surface: 0 for points and lines.
    ///
    /// # Errors
    ///
    /// Those of `meter`.
    pub fn area(&self, meter: Meter<'_>) -> Result<f64, Error> {
        let Form::Polygons(polygons) = &self.form else { return Ok(0.0) };
        let mut area = 0.0;
        for rings in polygons {
            for (at, ring) in rings.iter().enumerate() {
                meter(ring.len() * GEODESIC_WORK)?;
                let of_ring = match self.surface {
                    Surface::Earth if at == 0 => earth::area_to_left(ring),
                    Surface::Earth => earth::area_inside(ring),
                    Surface::Plane => plane::area_inside(ring),
                };
                area += if at == 0 { of_ring } else { -of_ring };
            }
        }
        Ok(area)
    }

    /// Returns the least distance between points of two geometries of one surface.
    ///
    /// # Errors
    ///
    /// Those of `meter`.
    pub fn distance(&self, other: &Self, meter: Meter<'_>) -> Result<f64, Error> {
        meter(GEODESIC_WORK)?;
        if let (Form::Point(a), Form::Point(b)) = (&self.form, &other.form) {
            return Ok(match self.surface {
                Surface::Earth => earth::distance(*a, *b),
                Surface::Plane => a.distance(*b),
            });
        }
        if self.intersects(other, meter)? {
            return Ok(0.0);
        }
        let (edges, others) = (self.edges(), other.edges());
        meter(edges.len().saturating_mul(others.len()).saturating_mul(4 * EDGE_WORK))?;
        Ok(match self.surface {
            Surface::Earth => earth::distance_of_edges(&edges, &others),
            Surface::Plane => plane::distance_of_edges(&edges, &others),
        })
    }

    /// Returns whether two geometries of one surface have a point in common.
    ///
    /// # Errors
    ///
    /// Those of `meter`.
    pub fn intersects(&self, other: &Self, meter: Meter<'_>) -> Result<bool, Error> {
        let (own, others) = self.shapes(other, meter)?;
        own.intersects(&others, meter)
    }

    /// Returns whether this geometry has no point outside of another one of its surface, and its
    /// interior has a point in the interior of the other one: a point or a line on the edge of a
    /// polygon is not within it.
    ///
    /// # Errors
    ///
    /// Those of `meter`.
    pub fn is_within(&self, other: &Self, meter: Meter<'_>) -> Result<bool, Error> {
        let (own, region) = self.shapes(other, meter)?;
        match (&self.form, &other.form) {
            (Form::Polygons(_), Form::Polygons(_)) => region.contains(&own, meter),
            (Form::Polygons(_), _) => Ok(false),
            (_, Form::Polygons(_)) => {
                Ok(region.contains(&own, meter)? && enters(&own, &region, meter)?)
            }
            _ => is_on_line(&own, &region, meter),
        }
    }

    /// Returns the shapes of two geometries on the sphere.
    fn shapes(&self, other: &Self, meter: Meter<'_>) -> Result<(Shape, Shape), Error> {
        meter((self.len() + other.len()).saturating_mul(EDGE_WORK))?;
        let projection = Projection::of(self.surface, &[self, other]);
        Ok((self.shape(projection), other.shape(projection)))
    }

    fn shape(&self, projection: Projection) -> Shape {
        let mut shape = Shape::default();
        match &self.form {
            Form::Point(point) => shape.points.push(projection.vector(*point)),
            Form::Line(points) => shape.lines.push(projection.vectors(points)),
            Form::Polygons(polygons) => {
                shape.polygons.extend(polygons.iter().filter_map(|it| projection.polygon(it)));
            }
        }
        shape
    }

    /// Returns the points, each ring's once.
    fn points(&self) -> impl Iterator<Item = FlatPoint> + '_ {
        let (point, line, polygons) = match &self.form {
            Form::Point(point) => (Some(*point), &[][..], &[][..]),
            Form::Line(points) => (None, points.as_slice(), &[][..]),
            Form::Polygons(polygons) => (None, &[][..], polygons.as_slice()),
        };
        point.into_iter().chain(line.iter().chain(polygons.iter().flatten().flatten()).copied())
    }

    fn len(&self) -> usize {
        self.points().count()
    }

    fn edges(&self) -> Vec<Edge<FlatPoint>> {
        match &self.form {
            Form::Point(point) => vec![(*point, *point)],
            Form::Line(points) => {
                points.iter().copied().zip(points.iter().skip(1).copied()).collect()
            }
            Form::Polygons(polygons) => {
                polygons.iter().flatten().flat_map(|it| closed(it)).collect()
            }
        }
    }
}

/// Returns the edges of a closed line.
fn closed(ring: &[FlatPoint]) -> impl Iterator<Item = Edge<FlatPoint>> + '_ {
    ring.iter().copied().zip(ring.iter().cycle().skip(1).copied())
}

/// Maps the points of a surface to the unit sphere.
#[derive(Clone, Copy, Debug)]
enum Projection {
    Earth,
    Plane(Window),
}

impl Projection {
    /// Returns the projection for these geometries.
    fn of(surface: Surface, geometries: &[&Geometry]) -> Self {
        match surface {
            Surface::Earth => Self::Earth,
            Surface::Plane => {
                Self::Plane(Window::around(geometries.iter().flat_map(|it| it.points())))
            }
        }
    }

    fn vector(self, point: FlatPoint) -> Vector {
        match self {
            Self::Earth => earth::vector_of(point),
            Self::Plane(window) => window.vector_of(point),
        }
    }

    fn vectors(self, points: &[FlatPoint]) -> Vec<Vector> {
        points.iter().map(|point| self.vector(*point)).collect()
    }

    /// Returns the polygon of these rings; `None` without an outer ring.
    fn polygon(self, rings: &[Vec<FlatPoint>]) -> Option<Polygon> {
        let inside = if matches!(self, Self::Earth) { Inside::Left } else { Inside::Smaller };
        let (outer, holes) = rings.split_first()?;
        let hole = |ring: &Vec<FlatPoint>| Ring::new(self.vectors(ring), Inside::Smaller);
        Some(Polygon {
            outer: Ring::new(self.vectors(outer), inside),
            holes: holes.iter().map(hole).collect(),
        })
    }
}

/// Returns whether points and lines in the polygons of a region have a point that is not on an edge
/// of the region. Of an edge its ends, its middle and its quarters are examined.
fn enters(shape: &Shape, region: &Shape, meter: Meter<'_>) -> Result<bool, Error> {
    for point in samples(shape) {
        meter(region.size() * EDGE_WORK)?;
        let reach = region.reach(point);
        if reach.is_inside && TOLERANCE < reach.to_line {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether a point or a line lies on another one. The ends of a line do not belong to its
/// interior, so that a point there is not within it.
fn is_on_line(shape: &Shape, region: &Shape, meter: Meter<'_>) -> Result<bool, Error> {
    for point in samples(shape) {
        meter(region.size() * EDGE_WORK)?;
        if TOLERANCE < region.reach(point).to_line {
            return Ok(false);
        }
    }
    let is_end = |point: Vector, line: &Vec<Vector>| {
        let ends = [line.first(), line.last()];
        line.first() != line.last()
            && ends.iter().flatten().any(|end| point.angle(**end) <= TOLERANCE)
    };
    let at_end = |point: &Vector| region.lines.iter().any(|line| is_end(*point, line));
    // A line is not within a point, since it has two distinct points.
    Ok(!shape.points.iter().any(at_end))
}

/// Returns the points of a shape without polygons, and points of the edges of its lines.
fn samples(shape: &Shape) -> impl Iterator<Item = Vector> + '_ {
    let of_edge = |pair: &[Vector]| match pair {
        [a, b] => [(4.0, 0.0), (3.0, 1.0), (2.0, 2.0), (1.0, 3.0), (0.0, 4.0)]
            .map(|(of_a, of_b)| Some((*a * of_a + *b * of_b).unit())),
        _ => [None; 5],
    };
    let lines = shape.lines.iter().flat_map(|line| line.windows(2));
    shape.points.iter().copied().chain(lines.flat_map(of_edge).flatten())
}
