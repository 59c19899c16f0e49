//! Points of the plane, and regions that contain some of them.

use crate::{EDGE_WORK, Meter};
use evaluation::Error;

/// A point of the plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlatPoint {
    /// The first coordinate, a longitude if the point is on the Earth.
    pub x: f64,
    /// The second coordinate, a latitude if the point is on the Earth.
    pub y: f64,
}

impl FlatPoint {
    /// Returns the distance of two points.
    pub fn distance(self, other: Self) -> f64 {
        (self.x - other.x).hypot(self.y - other.y)
    }
}

/// A region of the plane. Its edge belongs to it.
#[derive(Clone, Debug)]
pub enum FlatRegion {
    /// The points between the lowest and the highest coordinates.
    Box {
        /// The corner with the lowest coordinates.
        low: FlatPoint,
        /// The corner with the highest coordinates.
        high: FlatPoint,
    },
    /// The points within a closed line through these points.
    Polygon(Vec<FlatPoint>),
    /// The points at most at this distance from the centre.
    Circle {
        /// The centre of the circle.
        centre: FlatPoint,
        /// The greatest distance from the centre.
        radius: f64,
    },
}

/// How a rectangle lies to a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Position {
    Outside,
    Across,
    Inside,
}

impl FlatRegion {
    /// Returns whether the region contains a point.
    pub(crate) fn contains(&self, point: FlatPoint, meter: Meter<'_>) -> Result<bool, Error> {
        Ok(match self {
            Self::Box { low, high } => {
                (low.x..=high.x).contains(&point.x) && (low.y..=high.y).contains(&point.y)
            }
            Self::Circle { centre, radius } => centre.distance(point) <= *radius,
            Self::Polygon(vertices) => {
                meter(vertices.len() * EDGE_WORK)?;
                polygon_contains(vertices, point)
            }
        })
    }

    /// Returns a rectangle that contains the region.
    pub(crate) fn bounds(&self) -> (FlatPoint, FlatPoint) {
        match self {
            Self::Box { low, high } => (*low, *high),
            Self::Circle { centre, radius } => (
                FlatPoint { x: centre.x - radius, y: centre.y - radius },
                FlatPoint { x: centre.x + radius, y: centre.y + radius },
            ),
            Self::Polygon(vertices) => {
                let fold = |pick: fn(&FlatPoint) -> f64, least: bool| {
                    let values = vertices.iter().map(pick);
                    if least {
                        values.fold(f64::INFINITY, f64::min)
                    } else {
                        values.fold(f64::NEG_INFINITY, f64::max)
                    }
                };
                (
                    FlatPoint { x: fold(|it| it.x, true), y: fold(|it| it.y, true) },
                    FlatPoint { x: fold(|it| it.x, false), y: fold(|it| it.y, false) },
                )
            }
        }
    }

    /// Returns how a rectangle lies to the region; `Across` in doubt.
    pub(crate) fn position_of(&self, low: FlatPoint, high: FlatPoint) -> Position {
        let (least, most) = self.bounds();
        if high.x < least.x || most.x < low.x || high.y < least.y || most.y < low.y {
            return Position::Outside;
        }
        match self {
            Self::Box { low: least, high: most } => {
                let inside =
                    least.x <= low.x && high.x <= most.x && least.y <= low.y && high.y <= most.y;
                if inside { Position::Inside } else { Position::Across }
            }
            Self::Circle { centre, radius } => {
                let nearest = FlatPoint {
                    x: centre.x.clamp(low.x, high.x),
                    y: centre.y.clamp(low.y, high.y),
                };
                // Rounding must not exclude a point of the edge.
                if centre.distance(nearest) > radius * (1.0 + 1e-12) {
                    Position::Outside
                } else {
                    Position::Across
                }
            }
            Self::Polygon(_) => Position::Across,
        }
    }
}

/// Returns whether a point lies within a closed line or on it.
fn polygon_contains(vertices: &[FlatPoint], point: FlatPoint) -> bool {
    let Some(mut before) = vertices.last().copied() else { return false };
    let mut is_inside = false;
    for vertex in vertices {
        let side = (vertex.x - before.x) * (point.y - before.y)
            - (vertex.y - before.y) * (point.x - before.x);
        let in_box = (before.x.min(vertex.x)..=before.x.max(vertex.x)).contains(&point.x)
            && (before.y.min(vertex.y)..=before.y.max(vertex.y)).contains(&point.y);
        if side == 0.0 && in_box {
            return true;
        }
        // The edge crosses the line from the point to the right.
        if (before.y <= point.y) != (vertex.y <= point.y) {
            let upward = before.y < vertex.y;
            is_inside ^= (0.0 < side) == upward;
        }
        before = *vertex;
    }
    is_inside
}
