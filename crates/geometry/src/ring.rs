//! Rings, closed lines on the sphere, and the side that is inside.
//!
//! A point is inside if the arc from it to a reference point, whose side is known, crosses the ring
//! an even number of times and the reference point is inside, or an odd number of times and it is
//! not. Vertices count as on one side or the other of the arc, the same for both of their edges, so
//! that no crossing is counted twice.

use std::f64::consts::TAU;

use crate::vector::{Cap, Vector, distance_to_arc};

/// Which side of a ring is inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inside {
    /// The side with the smaller area.
    Smaller,
    /// The side to the left of the line from each vertex to the next.
    Left,
}

/// A closed line through at least three vertices, and the side inside. The last vertex is followed
/// by the first.
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    pub(crate) vertices: Vec<Vector>,
    /// Points whose sides are known: whether each is inside.
    references: Vec<(Vector, bool)>,
    /// A cap with all points inside.
    pub(crate) cap: Cap,
}

impl Ring {
    /// Creates a ring of at least three vertices.
    pub(crate) fn new(mut vertices: Vec<Vector>, inside: Inside) -> Self {
        let cap = Cap::around(vertices.iter().copied());
        // A cap is convex, so it contains the smaller side of a ring in it.
        if cap.radius <= 1.5 {
            let is_smaller = inside == Inside::Smaller || is_left_smaller(&vertices);
            let outside = cap.centre.perpendicular();
            let references =
                [outside, cap.centre.cross(outside).unit()].map(|it| (it, !is_smaller));
            let cap = if is_smaller { cap } else { Cap::ALL };
            return Self { vertices, references: references.to_vec(), cap };
        }
        if inside == Inside::Smaller && !is_left_smaller(&vertices) {
            vertices.reverse();
        }
        let references = left_points(&vertices);
        Self { vertices, references, cap: Cap::ALL }
    }

    /// Iterates over the arcs between the vertices.
    pub(crate) fn edges(&self) -> impl Iterator<Item = (Vector, Vector)> + Clone + '_ {
        let following = self.vertices.iter().cycle().skip(1);
        self.vertices.iter().copied().zip(following.copied())
    }

    /// Returns whether a point is inside. On the line itself the answer is either.
    pub(crate) fn contains(&self, point: Vector) -> bool {
        if self.cap.centre.angle(point) > self.cap.radius + crate::TOLERANCE {
            return false;
        }
        // The arc to a point that is nearly the same or the opposite one has no certain direction.
        let best = self
            .references
            .iter()
            .min_by(|(a, _), (b, _)| point.dot(*a).abs().total_cmp(&point.dot(*b).abs()));
        let Some((reference, is_inside)) = best else { return false };
        self.crossings(point, *reference) % 2 == usize::from(!is_inside)
    }

    /// Returns how often the arc between two points crosses the ring.
    fn crossings(&self, from: Vector, to: Vector) -> usize {
        let normal = from.cross(to);
        let mut count = 0;
        let Some(mut before) = self.vertices.last().copied() else { return 0 };
        let mut side_before = normal.dot(before);
        for vertex in &self.vertices {
            let side = normal.dot(*vertex);
            if (0.0 <= side) != (0.0 <= side_before) {
                // The point of the edge in the plane of the arc.
                let crossing = before * side.abs() + *vertex * side_before.abs();
                let is_after = 0.0 < from.cross(crossing).dot(normal);
                let is_before = 0.0 < crossing.cross(to).dot(normal);
                count += usize::from(is_after && is_before);
            }
            (before, side_before) = (*vertex, side);
        }
        count
    }

    /// Returns the angle between a point and the nearest point of the line.
    pub(crate) fn distance_to_line(&self, point: Vector) -> f64 {
        let distances = self.edges().map(|(a, b)| distance_to_arc(point, a, b));
        distances.fold(f64::INFINITY, f64::min)
    }
}

/// Returns whether the side to the left of a ring is at most half of the sphere.
pub(crate) fn is_left_smaller(vertices: &[Vector]) -> bool {
    // The area to the left is the full turn less the sum of the turns at the vertices.
    let len = vertices.len();
    let at = |index: usize| vertices.get(index % len).copied().unwrap_or(Cap::ALL.centre);
    let turn = |index: usize| {
        let (a, b, c) = (at(index), at(index + 1), at(index + 2));
        let (ab, bc) = (a.cross(b), b.cross(c));
        ab.cross(bc).dot(b).atan2(ab.dot(bc))
    };
    let area = TAU - (0..len).map(turn).sum::<f64>();
    area <= TAU
}

/// Returns points close to the left of some edges.
fn left_points(vertices: &[Vector]) -> Vec<(Vector, bool)> {
    let len = vertices.len();
    let step = (len / 3).max(1);
    let places = (0..len).step_by(step);
    let point = |at: usize| {
        let (a, b) = (vertices.get(at)?, vertices.get((at + 1) % len)?);
        let left = a.cross(*b).unit();
        Some((((*a + *b).unit() + left * 1e-6).unit(), true))
    };
    places.filter_map(point).collect()
}
