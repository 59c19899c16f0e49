//! The plane: distances, areas, and the projection to the unit sphere.

use super::{Edge, closed};
use crate::{FlatPoint, Vector};

/// The square of the plane that is seen from the centre of the sphere.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    centre: FlatPoint,
    /// Half of the length of a side.
    reach: f64,
}

impl Window {
    /// Returns the square around these points.
    pub(super) fn around(points: impl Iterator<Item = FlatPoint>) -> Self {
        let mut low = FlatPoint { x: f64::INFINITY, y: f64::INFINITY };
        let mut high = FlatPoint { x: f64::NEG_INFINITY, y: f64::NEG_INFINITY };
        for point in points {
            low = FlatPoint { x: low.x.min(point.x), y: low.y.min(point.y) };
            high = FlatPoint { x: high.x.max(point.x), y: high.y.max(point.y) };
        }
        // Halves do not overflow.
        let (half_x, half_y) = (high.x / 2.0 - low.x / 2.0, high.y / 2.0 - low.y / 2.0);
        let reach = half_x.max(half_y);
        Self {
            centre: FlatPoint { x: low.x / 2.0 + high.x / 2.0, y: low.y / 2.0 + high.y / 2.0 },
            reach: if 0.0 < reach { reach } else { 1.0 },
        }
    }

    /// Returns the point of the unit sphere in the direction of a point of the plane.
    pub(super) fn vector_of(self, point: FlatPoint) -> Vector {
        let x = (point.x - self.centre.x) / self.reach;
        let y = (point.y - self.centre.y) / self.reach;
        Vector::new(x, y, 1.0).unit()
    }
}

/// Returns the distance of geometries that do not touch, by their edges.
pub(super) fn distance_of_edges(edges: &[Edge<FlatPoint>], others: &[Edge<FlatPoint>]) -> f64 {
    let mut least = f64::INFINITY;
    for edge in edges {
        for other in others {
            least = least
                .min(distance_to_edge(edge.0, *other))
                .min(distance_to_edge(edge.1, *other))
                .min(distance_to_edge(other.0, *edge))
                .min(distance_to_edge(other.1, *edge));
        }
    }
    least
}

fn distance_to_edge(point: FlatPoint, (a, b): Edge<FlatPoint>) -> f64 {
    let length = a.distance(b);
    let (x, y) = ((b.x - a.x) / length, (b.y - a.y) / length);
    let along = ((point.x - a.x) * x + (point.y - a.y) * y) / length;
    // Also for an edge without length, whose quotient is no number.
    if !(0.0..=1.0).contains(&along) {
        return point.distance(a).min(point.distance(b));
    }
    let along = along * length;
    point.distance(FlatPoint { x: a.x + along * x, y: a.y + along * y })
}

/// Returns the area inside a ring.
pub(super) fn area_inside(ring: &[FlatPoint]) -> f64 {
    let Some(first) = ring.first() else { return 0.0 };
    let from_first = |point: FlatPoint| (point.x - first.x, point.y - first.y);
    let parts = closed(ring).map(|(a, b)| {
        let ((ax, ay), (bx, by)) = (from_first(a), from_first(b));
        ax * by - bx * ay
    });
    (parts.sum::<f64>() / 2.0).abs()
}
