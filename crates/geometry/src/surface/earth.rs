//! The WGS 84 ellipsoid. An edge between two points is the shorter part of the ellipse in the plane
//! through them and the centre. Scaling the ellipsoid to the unit sphere, which is done by replacing
//! latitudes by reduced ones, makes edges arcs.

use geographiclib_rs::{Geodesic, InverseGeodesic, PolygonArea, Winding};

use super::Edge;
use crate::{FlatPoint, Vector};

/// Flattening of the WGS 84 ellipsoid.
const FLATTENING: f64 = 1.0 / 298.257_223_563;
/// Number of parts of an edge between whose ends the search for its nearest point begins.
const SAMPLES: u32 = 64;
/// Number of steps of that search, each of which reduces the interval to 0.62 of it.
const STEPS: usize = 45;

/// Returns the point of the unit sphere for a longitude and latitude.
pub(super) fn vector_of(point: FlatPoint) -> Vector {
    let (sin_lng, cos_lng) = point.x.to_radians().sin_cos();
    let (sin, cos) = point.y.to_radians().sin_cos();
    let (sin, cos) = (sin * (1.0 - FLATTENING), cos);
    let length = sin.hypot(cos);
    Vector::new(cos / length * cos_lng, cos / length * sin_lng, sin / length)
}

/// Returns the longitude and latitude of a point of the unit sphere.
pub(super) fn position_of(vector: Vector) -> FlatPoint {
    let cos = vector.x.hypot(vector.y) * (1.0 - FLATTENING);
    FlatPoint { x: vector.y.atan2(vector.x).to_degrees(), y: vector.z.atan2(cos).to_degrees() }
}

/// Returns the length in metres of the shortest line between two points.
pub(super) fn distance(a: FlatPoint, b: FlatPoint) -> f64 {
    Geodesic::wgs84().inverse(a.y, a.x, b.y, b.x)
}

/// Returns the distance in metres of geometries that do not touch, by their edges.
pub(super) fn distance_of_edges(edges: &[Edge<FlatPoint>], others: &[Edge<FlatPoint>]) -> f64 {
    let vectors = |edges: &[Edge<FlatPoint>]| -> Vec<Edge<Vector>> {
        edges.iter().map(|(a, b)| (vector_of(*a), vector_of(*b))).collect()
    };
    let (edges, others) = (vectors(edges), vectors(others));
    // Of two arcs that do not cross, an end of one is as near to the other as any point.
    let mut best: Option<(f64, Vector, Edge<Vector>)> = None;
    let mut consider = |point: Vector, edge: Edge<Vector>| {
        let ends = [edge.0, edge.1].map(|end| chord(point, end));
        let chord = chord(point, nearest_of_arc(point, edge)).min(ends[0]).min(ends[1]);
        if best.is_none_or(|(least, ..)| chord < least) {
            best = Some((chord, point, edge));
        }
    };
    for edge in &edges {
        for other in &others {
            consider(edge.0, *other);
            consider(edge.1, *other);
            consider(other.0, *edge);
            consider(other.1, *edge);
        }
    }
    let Some((_, point, edge)) = best else { return 0.0 };
    distance(position_of(point), position_of(nearest_of_edge(point, edge)))
}

/// Returns the straight distance of two points of the ellipsoid, in equatorial radii, squared.
fn chord(a: Vector, b: Vector) -> f64 {
    let (x, y, z) = (a.x - b.x, a.y - b.y, (a.z - b.z) * (1.0 - FLATTENING));
    x * x + y * y + z * z
}

/// Returns the point of an arc that is nearest on the unit sphere.
fn nearest_of_arc(point: Vector, (a, b): Edge<Vector>) -> Vector {
    let normal = a.cross(b);
    let is_between = 0.0 < point.dot(normal.cross(a)) && 0.0 < point.dot(b.cross(normal));
    if !is_between {
        return if point.dot(b) < point.dot(a) { a } else { b };
    }
    let normal = normal.unit();
    (point - normal * point.dot(normal)).unit()
}

/// Returns the point of an edge that is nearest on the ellipsoid, of which there may be several
/// regions: the best of some points of the edge is refined.
fn nearest_of_edge(point: Vector, (a, b): Edge<Vector>) -> Vector {
    let length = a.angle(b);
    if length < 1e-15 {
        return a;
    }
    let across = (b - a * a.dot(b)).unit();
    let at = |angle: f64| a * angle.cos() + across * angle.sin();
    let chord_at = |angle: f64| chord(point, at(angle));
    let step = length / f64::from(SAMPLES);
    let samples = (0..=SAMPLES).map(|sample| f64::from(sample) * step);
    let foot = a.angle(nearest_of_arc(point, (a, b)));
    let nearest =
        |best: f64, angle: f64| if chord_at(angle) < chord_at(best) { angle } else { best };
    let best = samples.fold(foot, nearest);
    let (mut low, mut high) = ((best - step).max(0.0), (best + step).min(length));
    let ratio = (5.0_f64.sqrt() - 1.0) / 2.0;
    for _ in 0..STEPS {
        let (left, right) = (high - (high - low) * ratio, low + (high - low) * ratio);
        if chord_at(left) < chord_at(right) {
            high = right;
        } else {
            low = left;
        }
    }
    // The nearest point may be an end of the edge.
    at([low, f64::midpoint(low, high), high].into_iter().fold(best, nearest))
}

/// Returns the area in square metres to the left of a ring.
pub(super) fn area_to_left(ring: &[FlatPoint]) -> f64 {
    area(ring, false)
}

/// Returns the area in square metres of the smaller side of a ring.
pub(super) fn area_inside(ring: &[FlatPoint]) -> f64 {
    area(ring, true).abs()
}

/// Returns the area to the left of a ring; that of the smaller side, negative if it is to the right,
/// if `signed`.
fn area(ring: &[FlatPoint], signed: bool) -> f64 {
    let ellipsoid = Geodesic::wgs84();
    let mut area = PolygonArea::new(&ellipsoid, Winding::CounterClockwise);
    for point in ring {
        area.add_point(point.y, point.x);
    }
    area.compute(signed).1
}
