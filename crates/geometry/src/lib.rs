//! Geometry on the sphere and in the plane: shapes as GeoJSON, whether they contain or intersect each
//! other, distances, and the cells by which an index finds shapes near a place. Everything is a
//! function of values: the crate knows no documents' storage and no query language.
//!
//! ```text
//!  vector     points of the unit sphere, arcs       flat      points, boxes, polygons of the plane
//!  ring       a closed line and the side inside     shape     points, lines and polygons together
//!  validity   rings that cross themselves           geojson   shapes from values
//!  cells      the cells of a sphere or a square     covering  the cells that a shape touches
//!  geo_index  cells of the geometries of a document
//!  region     the operand of a containment or intersection test
//!  near       distances of documents from a point
//!  surface    geometries of NoSQL queries, on the ellipsoid or in a plane
//! ```
//!
//! Angles are in radians, except for the degrees of longitudes and latitudes. Lines between points
//! of the sphere are its shortest arcs. Points that are closer than [`TOLERANCE`] are the same.

mod cells;
mod covering;
mod flat;
mod geo_index;
mod geojson;
mod legacy;
mod near;
mod region;
mod ring;
mod shape;
mod stored;
mod surface;
mod validity;
mod vector;

#[cfg(test)]
mod tests;

pub use cells::{Cell, Plane, Space};
pub use flat::{FlatPoint, FlatRegion};
pub use geo_index::{Cells, GeoIndex};
pub use geojson::{Checks, GeoJson, parse_geojson};
pub use legacy::parse_pair;
pub use near::{Metric, Near, near_not_first, no_index_to_choose, no_near_index, several_indexes};
pub use region::{GeoPredicate, GeoTest, Region};
pub use shape::Shape;
pub use surface::{Geometry, Refusal, Surface};
pub use vector::{Cap, Vector, is_lng_lat};

use evaluation::Error;

/// Angle in radians below which two points count as one: 6 millimetres on the Earth.
pub const TOLERANCE: f64 = 1e-9;
/// Radius of the Earth in metres, by which angles are converted to distances.
pub const EARTH_RADIUS_M: f64 = 6_378_100.0;
/// Units of work charged per edge or point that a test examines.
const EDGE_WORK: usize = 16;

/// Counts units of work; fails if the operation must end.
pub type Meter<'m> = &'m dyn Fn(usize) -> Result<(), Error>;
