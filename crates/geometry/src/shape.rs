//! Shapes on the sphere: points, lines and polygons, alone or together. A shape is closed: the edges
//! of a polygon and of its holes belong to it.

use evaluation::Error;

use crate::{
    EDGE_WORK, Meter, TOLERANCE,
    ring::Ring,
    vector::{Cap, Vector, arcs_cross, arcs_touch, distance_to_arc},
};

/// A polygon: the points inside the outer ring and not inside the inner ones, its holes.
#[derive(Clone, Debug)]
pub(crate) struct Polygon {
    pub(crate) outer: Ring,
    pub(crate) holes: Vec<Ring>,
}

/// How far a point is from a shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach {
    /// Whether the point is inside a polygon of the shape.
    pub(crate) is_inside: bool,
    /// The angle to the nearest point, line or edge.
    pub(crate) to_line: f64,
}

impl Reach {
    /// Returns the angle to the nearest point of the shape.
    pub(crate) fn distance(self) -> f64 {
        if self.is_inside { 0.0 } else { self.to_line }
    }
}

impl Polygon {
    pub(crate) fn rings(&self) -> impl Iterator<Item = &Ring> + Clone {
        std::iter::once(&self.outer).chain(&self.holes)
    }

    fn edges(&self) -> impl Iterator<Item = (Vector, Vector)> + Clone + '_ {
        self.rings().flat_map(Ring::edges)
    }

    pub(crate) fn reach(&self, point: Vector) -> Reach {
        Reach { is_inside: self.has_inside(point), to_line: self.distance_to_line(point) }
    }

    fn has_inside(&self, point: Vector) -> bool {
        self.outer.contains(point) && !self.holes.iter().any(|hole| hole.contains(point))
    }

    fn distance_to_line(&self, point: Vector) -> f64 {
        self.rings().map(|ring| ring.distance_to_line(point)).fold(f64::INFINITY, f64::min)
    }

    /// Returns whether a point is inside or on an edge.
    fn contains(&self, point: Vector) -> bool {
        self.outer.cap.centre.angle(point) <= self.outer.cap.radius + 2.0 * TOLERANCE
            && (self.has_inside(point) || self.distance_to_line(point) <= TOLERANCE)
    }
}

/// A set of points, lines and polygons.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    pub(crate) points: Vec<Vector>,
    pub(crate) lines: Vec<Vec<Vector>>,
    pub(crate) polygons: Vec<Polygon>,
}

impl Shape {
    /// Creates the shape of one point.
    pub fn of_point(point: Vector) -> Self {
        Self { points: vec![point], ..Self::default() }
    }

    /// Returns the only point, if the shape is one.
    pub(crate) fn as_point(&self) -> Option<Vector> {
        match self.points.as_slice() {
            [only] if self.lines.is_empty() && self.polygons.is_empty() => Some(*only),
            _ => None,
        }
    }

    /// Returns whether the shape has a polygon.
    pub fn has_polygon(&self) -> bool {
        !self.polygons.is_empty()
    }

    /// Returns a cap with all points of the shape.
    pub(crate) fn cap(&self) -> Cap {
        if self.polygons.iter().any(|polygon| polygon.outer.cap == Cap::ALL) {
            return Cap::ALL;
        }
        Cap::around(self.vertices())
    }

    fn vertices(&self) -> impl Iterator<Item = Vector> + Clone + '_ {
        let lines = self.lines.iter().flatten();
        let outer = self.polygons.iter().flat_map(|polygon| &polygon.outer.vertices);
        self.points.iter().chain(lines).chain(outer).copied()
    }

    /// Returns the number of points and edges, which an examination of the whole shape visits.
    pub(crate) fn size(&self) -> usize {
        let rings = self.polygons.iter().flat_map(Polygon::rings);
        self.points.len()
            + self.lines.iter().map(Vec::len).sum::<usize>()
            + rings.map(|ring| ring.vertices.len()).sum::<usize>()
    }

    /// Returns the points and edges; a point is an edge without length.
    fn edges(&self) -> impl Iterator<Item = (Vector, Vector)> + Clone + '_ {
        let points = self.points.iter().map(|point| (*point, *point));
        let lines = self.lines.iter().flat_map(|line| line_edges(line));
        points.chain(lines).chain(self.polygons.iter().flat_map(Polygon::edges))
    }

    /// Returns how far a point is from the shape.
    pub(crate) fn reach(&self, point: Vector) -> Reach {
        let mut nearest = f64::INFINITY;
        for other in &self.points {
            nearest = nearest.min(point.angle(*other));
        }
        for (a, b) in self.lines.iter().flat_map(|line| line_edges(line)) {
            nearest = nearest.min(distance_to_arc(point, a, b));
        }
        let mut reach = Reach { is_inside: false, to_line: nearest };
        for polygon in &self.polygons {
            let found = polygon.reach(point);
            reach.is_inside |= found.is_inside;
            reach.to_line = reach.to_line.min(found.to_line);
        }
        reach
    }

    /// Returns the angle between a point and the nearest point of the shape.
    pub(crate) fn distance(&self, point: Vector, meter: Meter<'_>) -> Result<f64, Error> {
        meter(self.size() * EDGE_WORK)?;
        Ok(self.reach(point).distance())
    }

    /// Returns whether two shapes have a point in common.
    pub(crate) fn intersects(&self, other: &Self, meter: Meter<'_>) -> Result<bool, Error> {
        meter((self.size() + other.size()) * EDGE_WORK)?;
        if !self.cap().may_touch(&other.cap()) {
            return Ok(false);
        }
        if self.has_vertex_in(other, meter)? || other.has_vertex_in(self, meter)? {
            return Ok(true);
        }
        any_pair(self.edges(), other, meter, &|a, b| arcs_touch(a.0, a.1, b.0, b.1))
    }

    /// Returns whether one vertex of each part of the shape is in a polygon of the other shape. If
    /// no edges touch, a part is either inside or outside as a whole.
    fn has_vertex_in(&self, other: &Self, meter: Meter<'_>) -> Result<bool, Error> {
        let lines = self.lines.iter().filter_map(|line| line.first());
        let rings = self.polygons.iter().filter_map(|polygon| polygon.outer.vertices.first());
        for vertex in self.points.iter().chain(lines).chain(rings) {
            meter(other.polygons.len() * EDGE_WORK)?;
            for polygon in &other.polygons {
                let cap = polygon.outer.cap;
                if cap.centre.angle(*vertex) <= cap.radius + 2.0 * TOLERANCE {
                    meter(polygon.edges_len() * EDGE_WORK)?;
                    if polygon.contains(*vertex) {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }

    /// Returns whether each part of a shape lies within one of the polygons of this shape.
    pub(crate) fn contains(&self, other: &Self, meter: Meter<'_>) -> Result<bool, Error> {
        let inside = |vertices: &[Vector], edges: &[(Vector, Vector)], ring: Option<&Polygon>| {
            for polygon in &self.polygons {
                if polygon.contains_part(vertices, edges, ring, meter)? {
                    return Ok(true);
                }
            }
            Ok::<_, Error>(false)
        };
        for point in &other.points {
            if !inside(&[*point], &[], None)? {
                return Ok(false);
            }
        }
        for line in &other.lines {
            let edges: Vec<_> = line_edges(line).collect();
            if !inside(line, &edges, None)? {
                return Ok(false);
            }
        }
        for polygon in &other.polygons {
            let edges: Vec<_> = polygon.edges().collect();
            if !inside(&polygon.outer.vertices, &edges, Some(polygon))? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Polygon {
    pub(crate) fn edges_len(&self) -> usize {
        self.rings().map(|ring| ring.vertices.len()).sum()
    }

    /// Returns whether a point, a line or another polygon lies within this polygon: no vertex is
    /// outside, no edge leaves and enters it again, and no hole is cut out of the other polygon.
    fn contains_part(
        &self,
        vertices: &[Vector],
        edges: &[(Vector, Vector)],
        other: Option<&Polygon>,
        meter: Meter<'_>,
    ) -> Result<bool, Error> {
        let len = self.edges_len();
        for vertex in vertices {
            let cap = self.outer.cap;
            let is_near = cap.centre.angle(*vertex) <= cap.radius + 2.0 * TOLERANCE;
            meter(if is_near { len * EDGE_WORK } else { EDGE_WORK })?;
            if !self.contains(*vertex) {
                return Ok(false);
            }
        }
        if other.is_some_and(|other| self.outer.cap != Cap::ALL && other.outer.cap == Cap::ALL) {
            return Ok(false);
        }
        for (a, b) in edges {
            meter(2 * len * EDGE_WORK)?;
            if self.edges().any(|(c, d)| self.is_left_at(*a, *b, c, d)) {
                return Ok(false);
            }
        }
        let Some(other) = other else { return Ok(true) };
        // No edges cross, so a hole lies within the other polygon if a point of it does.
        for hole in &self.holes {
            meter(other.edges_len() * EDGE_WORK)?;
            let is_cut = hole.vertices.iter().any(|vertex| {
                other.has_inside(*vertex) && TOLERANCE < other.distance_to_line(*vertex)
            });
            let is_same = hole.vertices.iter().all(|vertex| {
                other.holes.iter().any(|hole| hole.distance_to_line(*vertex) <= TOLERANCE)
            });
            if is_cut && !is_same {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns whether the arc from `a` to `b`, both in the polygon, leaves it at the edge from `c`
    /// to `d`.
    fn is_left_at(&self, a: Vector, b: Vector, c: Vector, d: Vector) -> bool {
        let is_at_end = |point: Vector| point.angle(c) <= TOLERANCE || point.angle(d) <= TOLERANCE;
        if arcs_cross(a, b, c, d) {
            // A crossing at an end of one of the arcs is a touch.
            let near = [
                distance_to_arc(a, c, d),
                distance_to_arc(b, c, d),
                distance_to_arc(c, a, b),
                distance_to_arc(d, a, b),
            ];
            if near.iter().all(|distance| TOLERANCE < *distance) {
                return true;
            }
        }
        // Where the arc touches the end of an edge, the parts of the arc before and after it are
        // examined at their middles.
        if distance_to_arc(c, a, b) <= TOLERANCE {
            let parts = [(a + c).unit(), (c + b).unit()];
            return parts.into_iter().any(|middle| !self.contains(middle));
        }
        // An arc between two points of the line may lie outside without touching another edge.
        (is_at_end(a) || distance_to_arc(a, c, d) <= TOLERANCE) && !self.contains((a + b).unit())
    }
}

/// Returns whether any two edges of two shapes meet a test.
fn any_pair(
    edges: impl Iterator<Item = (Vector, Vector)>,
    other: &Shape,
    meter: Meter<'_>,
    test: &dyn Fn((Vector, Vector), (Vector, Vector)) -> bool,
) -> Result<bool, Error> {
    let cap = other.cap();
    let others: Vec<_> = other.edges().collect();
    for edge in edges {
        let own = Cap::around([edge.0, edge.1].into_iter());
        meter(EDGE_WORK)?;
        if !own.may_touch(&cap) {
            continue;
        }
        meter(others.len() * EDGE_WORK)?;
        if others.iter().any(|other| test(edge, *other)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the edges of a line; a line of one point is an edge without length.
pub(crate) fn line_edges(line: &[Vector]) -> impl Iterator<Item = (Vector, Vector)> + Clone + '_ {
    let only = match line {
        [point] => Some((*point, *point)),
        _ => None,
    };
    only.into_iter().chain(line.windows(2).filter_map(|pair| match pair {
        [a, b] => Some((*a, *b)),
        _ => None,
    }))
}
