//! Distances of documents from a point. Documents are returned in the order of their distances, for
//! which the planner needs an index: it binds the search to the path of one before the search is
//! evaluated.

use std::sync::OnceLock;

use document::{DocRef, ValueRef};
use evaluation::{Error, Kind};

use crate::{
    EARTH_RADIUS_M, EDGE_WORK, FlatPoint, Meter,
    cells::{Cell, Space, rectangle_of},
    stored::geometries_at,
    vector::Vector,
};

/// The unit and the surface of distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// On the Earth, in metres.
    Metres,
    /// On the sphere, in radians.
    Radians,
    /// In the plane, in the unit of its coordinates.
    Plane,
}

/// Returns the error of a search that no index can evaluate.
pub fn no_near_index() -> Error {
    Error::new(Kind::Invalid, 291, "unable to find index for $geoNear query")
}

/// Returns the error of a search that does not read its collection first.
pub fn near_not_first() -> Error {
    let message = "$geoNear is only valid as the first stage in a pipeline";
    Error::new(Kind::Invalid, 40_602, message)
}

/// Returns the error of a search without a path in a collection without an index of geometries.
pub fn no_index_to_choose() -> Error {
    let message = "$geoNear requires a 2d or 2dsphere index, but none were found";
    Error::new(Kind::Invalid, 27, message)
}

/// Returns the error of a search without a path in a collection with several indexes of a kind.
pub fn several_indexes(kind: &str) -> Error {
    let message = format!(
        "There is more than one {kind} index on the collection; unsure which to use for $geoNear"
    );
    Error::new(Kind::Invalid, 27, message)
}

/// A point and the range of the distances from it.
#[derive(Clone, Debug)]
pub struct Near {
    /// Path of the geometries, if the request has one.
    wanted: Option<String>,
    /// Path of the geometries in the index to which the search is bound.
    path: OnceLock<String>,
    centre: FlatPoint,
    vector: Vector,
    metric: Metric,
    /// The least wanted distance, inclusive.
    min: f64,
    /// The greatest wanted distance, inclusive.
    max: f64,
}

impl Near {
    /// Creates a search around a point, which is a longitude and latitude unless the metric is that
    /// of the plane.
    pub fn new(path: Option<&str>, centre: FlatPoint, metric: Metric, min: f64, max: f64) -> Self {
        let vector = Vector::of_degrees(centre.x, centre.y);
        let wanted = path.map(str::to_owned);
        Self { wanted, path: OnceLock::new(), centre, vector, metric, min, max }
    }

    /// Binds the search to the path of an index. Returns false if it is bound to another one.
    pub fn bind(&self, path: &str) -> bool {
        self.path.get_or_init(|| path.to_owned()) == path
    }

    /// Returns the path of the geometries that the request has; `None` for that of the only index.
    pub fn wanted_path(&self) -> Option<&str> {
        self.wanted.as_deref()
    }

    /// Returns the unit and the surface of distances.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// Returns whether an index of a space has all documents with a distance.
    pub fn is_served_by(&self, space: &Space) -> bool {
        match self.metric {
            Metric::Metres => *space == Space::Sphere,
            Metric::Radians => true,
            Metric::Plane => *space != Space::Sphere,
        }
    }

    /// Returns whether a distance is within the range.
    pub fn includes(&self, distance: f64) -> bool {
        (self.min..=self.max).contains(&distance)
    }

    /// Returns the distance of the nearest of a document's geometries, and its value; `None` if
    /// no geometry has a distance.
    ///
    /// # Errors
    ///
    /// Number 291 if the search is not bound to an index; those of `meter`.
    pub fn distance_of<'a>(
        &self,
        document: DocRef<'a>,
        meter: Meter<'_>,
    ) -> Result<Option<(f64, ValueRef<'a>)>, Error> {
        let path = self.path.get().ok_or_else(no_near_index)?;
        let mut nearest: Option<(f64, ValueRef<'a>)> = None;
        for (value, stored) in geometries_at(document, path) {
            let distance = match (self.metric, stored.point, &stored.shape) {
                (Metric::Plane, Some(point), _) => {
                    meter(EDGE_WORK)?;
                    self.centre.distance(point)
                }
                (Metric::Plane, None, _) | (_, _, None) => continue,
                (metric, _, Some(shape)) => of_angle(metric, shape.distance(self.vector, meter)?),
            };
            if nearest.is_none_or(|(held, _)| distance < held) {
                nearest = Some((distance, value));
            }
        }
        Ok(nearest)
    }

    /// Returns bounds of the distances of all points of a cell. A geometry is at least as far as the
    /// nearest of its cells.
    pub fn bounds(&self, space: &Space, cell: Cell) -> (f64, f64) {
        if let (Metric::Plane, Space::Plane(plane)) = (self.metric, space) {
            let (low, high) = rectangle_of(plane, cell);
            let nearest = FlatPoint {
                x: self.centre.x.clamp(low.x, high.x),
                y: self.centre.y.clamp(low.y, high.y),
            };
            let farthest = FlatPoint {
                x: farther(self.centre.x, low.x, high.x),
                y: farther(self.centre.y, low.y, high.y),
            };
            return (self.centre.distance(nearest), self.centre.distance(farthest));
        }
        let cap = space.cap_of(cell);
        let angle = self.vector.angle(cap.centre);
        let least = (angle - cap.radius).max(0.0);
        let most = (angle + cap.radius).min(std::f64::consts::PI);
        // Rounding must not exclude a point.
        (of_angle(self.metric, least) * (1.0 - 1e-12), of_angle(self.metric, most))
    }

    /// Returns whether all distances of a range are below, or above, the wanted range.
    pub fn excludes(&self, (least, most): (f64, f64)) -> bool {
        self.max < least || most < self.min
    }
}

fn farther(from: f64, low: f64, high: f64) -> f64 {
    if (from - low).abs() < (from - high).abs() { high } else { low }
}

fn of_angle(metric: Metric, angle: f64) -> f64 {
    if metric == Metric::Metres { angle * EARTH_RADIUS_M } else { angle }
}
