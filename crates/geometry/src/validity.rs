//! Checks of rings: no vertex occurs twice, and edges meet only at the vertices between them.

use std::collections::HashMap;

use crate::{
    EDGE_WORK,
    ring::Ring,
    vector::{Vector, arcs_cross},
};

/// Maximum number of pairs of edges that are compared. Only edges that overlap in one coordinate are
/// compared, so ordinary polygons have about as many pairs as edges.
const MAX_PAIRS: usize = 20_000_000;

/// An edge of one of several rings.
struct Edge {
    ring: usize,
    place: usize,
    a: Vector,
    b: Vector,
    /// The least and the greatest coordinate on the axis of the sweep.
    from: f64,
    to: f64,
}

/// Counts units of work; fails if the check must end.
type Meter<'m, E> = &'m dyn Fn(usize) -> Result<(), E>;

/// Returns why the rings of a polygon are not valid; `None` if they are. Fails if `meter` does.
pub(crate) fn fault_of_rings<E>(rings: &[&Ring], meter: Meter<'_, E>) -> Result<Option<String>, E> {
    for ring in rings {
        let mut places: HashMap<[u64; 3], usize> = HashMap::new();
        for (place, vertex) in ring.vertices.iter().enumerate() {
            // Adding 0 makes the two zeros one.
            let bits = [vertex.x, vertex.y, vertex.z].map(|part| (part + 0.0).to_bits());
            if let Some(first) = places.insert(bits, place) {
                return Ok(Some(format!("Duplicate vertices: {first} and {place}")));
            }
        }
    }
    fault_of_edges(rings, meter)
}

/// Returns which edges cross, if two do. Fails if `meter` does.
pub(crate) fn fault_of_edges<E>(rings: &[&Ring], meter: Meter<'_, E>) -> Result<Option<String>, E> {
    let len: usize = rings.iter().map(|ring| ring.vertices.len()).sum();
    meter(len.saturating_mul(EDGE_WORK))?;
    let axes: [fn(Vector) -> f64; 3] = [|it| it.x, |it| it.y, |it| it.z];
    let edges = axes.map(|axis| sorted_edges(rings, axis));
    let pairs = edges.each_ref().map(|edges| pairs_of(edges));
    let best = edges.iter().zip(pairs).min_by_key(|(_, pairs)| *pairs);
    let Some((edges, pairs)) = best else { return Ok(None) };
    if MAX_PAIRS < pairs {
        return Ok(Some("Too many edges lie beside each other to find crossings".to_owned()));
    }
    meter(pairs)?;
    for (at, edge) in edges.iter().enumerate() {
        let following = edges.iter().skip(at + 1).take_while(|other| other.from <= edge.to);
        for other in following {
            if let Some(fault) = fault_of_pair(rings, edge, other) {
                return Ok(Some(fault));
            }
        }
    }
    Ok(None)
}

/// Returns the edges of all rings by their least coordinate on an axis.
fn sorted_edges(rings: &[&Ring], axis: fn(Vector) -> f64) -> Vec<Edge> {
    let mut edges = Vec::new();
    for (ring, it) in rings.iter().enumerate() {
        for (place, (a, b)) in it.edges().enumerate() {
            // An arc leaves the straight line between its ends by at most this.
            let bulge = (a - b).dot(a - b) / 4.0 + 1e-15;
            let from = axis(a).min(axis(b)) - bulge;
            let to = axis(a).max(axis(b)) + bulge;
            edges.push(Edge { ring, place, a, b, from, to });
        }
    }
    edges.sort_by(|a, b| a.from.total_cmp(&b.from));
    edges
}

/// Returns the number of pairs of edges that overlap, which are sorted by their beginnings.
fn pairs_of(edges: &[Edge]) -> usize {
    let pairs = edges.iter().enumerate().map(|(at, edge)| {
        edges.partition_point(|other| other.from <= edge.to).saturating_sub(at + 1)
    });
    pairs.fold(0, usize::saturating_add)
}

/// Returns how two edges conflict, if they do.
fn fault_of_pair(rings: &[&Ring], edge: &Edge, other: &Edge) -> Option<String> {
    let len = rings.get(edge.ring)?.vertices.len();
    let is_same_ring = edge.ring == other.ring;
    let is_next = |a: usize, b: usize| (a + 1) % len == b;
    if is_same_ring && (is_next(edge.place, other.place) || is_next(other.place, edge.place)) {
        return None;
    }
    // Arcs with a common end do not cross, which rounding must not hide.
    let is_end = |point: Vector| point == other.a || point == other.b;
    let meet = is_end(edge.a) || is_end(edge.b);
    if !meet && arcs_cross(edge.a, edge.b, other.a, other.b) {
        return Some(if is_same_ring {
            let (first, second) = (edge.place.min(other.place), edge.place.max(other.place));
            format!("Edges {first} and {second} cross")
        } else {
            format!(
                "Loop {} edge {} crosses loop {} edge {}",
                edge.ring, edge.place, other.ring, other.place
            )
        });
    }
    let is_same_edge =
        (edge.a == other.a && edge.b == other.b) || (edge.a == other.b && edge.b == other.a);
    (!is_same_ring && is_same_edge)
        .then(|| format!("Loops {} and {} have the same edge", edge.ring, other.ring))
}
