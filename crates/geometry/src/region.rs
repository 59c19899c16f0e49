//! Tests whether the geometries of documents lie in a region or intersect it.

use document::ValueRef;
use evaluation::Error;

use crate::{
    Checks, EDGE_WORK, FlatRegion, Meter, Shape,
    cells::{Cell, Space, rectangle_of},
    covering::{cover, ranges_of},
    flat::Position,
    stored::{Stored, parse_stored},
    vector::Cap,
};

/// Maximum number of cells that cover a region for a search.
const REGION_CELLS: usize = 32;

/// The relation between a geometry and a region that a test demands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GeoPredicate {
    /// The geometry lies wholly in the region.
    Within,
    /// The geometry and the region have a point in common.
    Intersects,
}

/// The operand of a test.
#[derive(Clone, Debug)]
pub enum Region {
    /// A shape on the sphere.
    Shape(Shape),
    /// The points of the sphere within an angle of a centre.
    Cap(Cap),
    /// A region of the plane, which contains points only.
    Flat(FlatRegion),
}

/// A test of a geometry.
#[derive(Clone, Debug)]
pub struct GeoTest {
    predicate: GeoPredicate,
    region: Region,
    /// A cap with all points of the region on the sphere.
    cap: Cap,
}

impl GeoTest {
    /// Creates a test with this operand.
    pub fn new(predicate: GeoPredicate, region: Region) -> Self {
        let cap = match &region {
            Region::Shape(shape) => shape.cap(),
            Region::Cap(cap) => *cap,
            Region::Flat(_) => Cap::ALL,
        };
        Self { predicate, region, cap }
    }

    /// Returns the relation that the test demands.
    pub fn predicate(&self) -> GeoPredicate {
        self.predicate
    }

    /// Returns whether a value is a geometry that meets the test.
    ///
    /// # Errors
    ///
    /// Those of `meter`.
    pub fn meets(&self, value: ValueRef<'_>, meter: Meter<'_>) -> Result<bool, Error> {
        // Most values that are no geometries have another type.
        if !matches!(value, ValueRef::Array(_) | ValueRef::Document(_)) {
            return Ok(false);
        }
        let Ok(Stored { point, shape }) = parse_stored(value, Checks::Structure) else {
            return Ok(false);
        };
        match (&self.region, shape) {
            (Region::Flat(flat), _) => match point {
                Some(point) => flat.contains(point, meter),
                None => Ok(false),
            },
            (_, None) => Ok(false),
            (Region::Shape(region), Some(shape)) => self.meets_shape(region, &shape, meter),
            (Region::Cap(cap), Some(shape)) => {
                meter(shape.size() * EDGE_WORK)?;
                Ok(match self.predicate {
                    GeoPredicate::Within => shape.is_in_cap(cap),
                    GeoPredicate::Intersects => shape.reach(cap.centre).distance() <= cap.radius,
                })
            }
        }
    }

    fn meets_shape(&self, region: &Shape, shape: &Shape, meter: Meter<'_>) -> Result<bool, Error> {
        meter((shape.size() + 1) * EDGE_WORK)?;
        if !shape.cap().may_touch(&self.cap) {
            return Ok(false);
        }
        match self.predicate {
            GeoPredicate::Within => region.contains(shape, meter),
            GeoPredicate::Intersects => region.intersects(shape, meter),
        }
    }

    /// Returns the ranges of the ids of cells in which an index of this space has all geometries
    /// that meet the test; `None` if such an index does not have all of them.
    pub fn ranges(&self, space: &Space) -> Option<Vec<(u64, u64)>> {
        let cells = match (space, &self.region) {
            (Space::Sphere, Region::Flat(_)) | (Space::Plane(_), Region::Shape(_)) => return None,
            (Space::Plane(_), _) if self.predicate != GeoPredicate::Within => return None,
            (Space::Plane(plane), Region::Flat(flat)) => cover(space, REGION_CELLS, &mut |cell| {
                let (low, high) = rectangle_of(plane, cell);
                flat.position_of(low, high)
            }),
            (_, Region::Cap(cap)) => {
                cover(space, REGION_CELLS, &mut |cell| position_to_cap(cap, &space.cap_of(cell)))
            }
            (Space::Sphere, Region::Shape(shape)) => cells_of_shape(shape, REGION_CELLS),
        };
        Some(ranges_of(&cells))
    }
}

fn position_to_cap(cap: &Cap, cell: &Cap) -> Position {
    let distance = cap.centre.angle(cell.centre);
    if cap.radius + cell.radius + crate::TOLERANCE < distance {
        Position::Outside
    } else if distance + cell.radius < cap.radius {
        Position::Inside
    } else {
        Position::Across
    }
}

/// Returns at most about `most` cells of the sphere that contain a shape.
pub(crate) fn cells_of_shape(shape: &Shape, most: usize) -> Vec<Cell> {
    if let Some(point) = shape.as_point() {
        return vec![Space::cell_of_vector(point)];
    }
    let cap = shape.cap();
    cover(&Space::Sphere, most, &mut |cell| {
        let own = Space::Sphere.cap_of(cell);
        if !cap.may_touch(&own) {
            return Position::Outside;
        }
        // A cell that is much larger than the shape is divided without looking at the shape.
        if 4.0 * cap.radius < own.radius && !cell.is_leaf() {
            return Position::Across;
        }
        let reach = shape.reach(own.centre);
        match (reach.is_inside, reach.to_line <= own.radius + crate::TOLERANCE) {
            (_, true) => Position::Across,
            (true, false) => Position::Inside,
            (false, false) => Position::Outside,
        }
    })
}

impl Shape {
    /// Returns whether the shape is within a cap.
    fn is_in_cap(&self, cap: &Cap) -> bool {
        // A cap up to a hemisphere is convex, so it contains what lies between its points.
        let near = |point: &crate::Vector| cap.centre.angle(*point) <= cap.radius;
        let outer = self.polygons.iter().flat_map(|polygon| &polygon.outer.vertices);
        let all = self.points.iter().chain(self.lines.iter().flatten()).chain(outer).all(near);
        // A larger one contains it if the opposite cap has no part of it.
        all && (cap.radius <= std::f64::consts::FRAC_PI_2
            || std::f64::consts::PI - cap.radius <= self.reach(-cap.centre).distance())
    }
}
