//! Points of the unit sphere and the shortest arcs between them.

use std::ops::{Add, Mul, Neg, Sub};

/// A vector; a point of the sphere if its length is 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vector {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) z: f64,
}

/// Returns whether longitude and latitude are within -180 to 180 and -90 to 90 degrees.
pub fn is_lng_lat(lng: f64, lat: f64) -> bool {
    (-180.0..=180.0).contains(&lng) && (-90.0..=90.0).contains(&lat)
}

impl Vector {
    pub(crate) const fn new(x: f64, y: f64, z: f64) -> Self {
        Self { x, y, z }
    }

    /// Returns the point at a longitude and latitude in degrees.
    pub fn of_degrees(lng: f64, lat: f64) -> Self {
        let (sin_lng, cos_lng) = lng.to_radians().sin_cos();
        let (sin_lat, cos_lat) = lat.to_radians().sin_cos();
        Self::new(cos_lat * cos_lng, cos_lat * sin_lng, sin_lat)
    }

    pub(crate) fn dot(self, other: Self) -> f64 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    pub(crate) fn cross(self, other: Self) -> Self {
        Self::new(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )
    }

    pub(crate) fn length(self) -> f64 {
        self.dot(self).sqrt()
    }

    /// Returns the vector with length 1; a zero vector becomes a fixed point.
    pub(crate) fn unit(self) -> Self {
        let length = self.length();
        if length < f64::MIN_POSITIVE { Self::new(1.0, 0.0, 0.0) } else { self * (1.0 / length) }
    }

    /// Returns a point of the sphere at a right angle to this one.
    pub(crate) fn perpendicular(self) -> Self {
        let axis = if self.x.abs() < 0.6 {
            Self::new(1.0, 0.013, 0.0047)
        } else {
            Self::new(0.012, 1.0, 0.0053)
        };
        self.cross(axis).unit()
    }

    /// Returns the angle between two vectors, in radians.
    pub fn angle(self, other: Self) -> f64 {
        self.cross(other).length().atan2(self.dot(other))
    }
}

impl Add for Vector {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::new(self.x + other.x, self.y + other.y, self.z + other.z)
    }
}

impl Sub for Vector {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self::new(self.x - other.x, self.y - other.y, self.z - other.z)
    }
}

impl Mul<f64> for Vector {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        Self::new(self.x * factor, self.y * factor, self.z * factor)
    }
}

impl Neg for Vector {
    type Output = Self;
    fn neg(self) -> Self {
        self * -1.0
    }
}

/// The points of the sphere within an angle of a centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cap {
    /// The centre, a point of the sphere.
    pub centre: Vector,
    /// The angle in radians; the whole sphere from pi on.
    pub radius: f64,
}

impl Cap {
    /// The cap that contains the whole sphere.
    pub(crate) const ALL: Self = Self { centre: Vector::new(0.0, 0.0, 1.0), radius: 4.0 };

    /// Returns a cap with all of these points, and so with the arcs between them if its radius is at
    /// most a quarter of a circle; else the whole sphere.
    pub(crate) fn around(points: impl Iterator<Item = Vector> + Clone) -> Self {
        let sum = points.clone().fold(Vector::new(0.0, 0.0, 0.0), Vector::add);
        let centre = sum.unit();
        let radius = points.map(|point| centre.angle(point)).fold(0.0, f64::max);
        if radius <= 1.5 { Self { centre, radius } } else { Self::ALL }
    }

    /// Returns whether the caps may have a point in common, or be closer than the tolerance.
    pub(crate) fn may_touch(&self, other: &Self) -> bool {
        let reach = self.radius + other.radius + crate::TOLERANCE;
        std::f64::consts::PI <= reach || self.centre.angle(other.centre) <= reach
    }
}

/// Returns the angle between a point and the nearest point of an arc.
pub(crate) fn distance_to_arc(point: Vector, a: Vector, b: Vector) -> f64 {
    let normal = a.cross(b);
    let length = normal.length();
    // The nearest point is an end unless the point lies between the planes at right angles to the
    // arc at its ends.
    if length < 1e-15 || point.dot(normal.cross(a)) <= 0.0 || point.dot(b.cross(normal)) <= 0.0 {
        return point.angle(a).min(point.angle(b));
    }
    (point.dot(normal).abs() / length).min(1.0).asin()
}

/// Returns whether two points are opposite, so that no arc between them is the shortest.
pub(crate) fn is_antipodal(a: Vector, b: Vector) -> bool {
    (a + b).length() < 1e-12
}

/// Returns whether two arcs cross at a point inside both.
pub(crate) fn arcs_cross(a: Vector, b: Vector, c: Vector, d: Vector) -> bool {
    let (ab, cd) = (a.cross(b), c.cross(d));
    let (abc, abd) = (ab.dot(c), ab.dot(d));
    let (cda, cdb) = (cd.dot(a), cd.dot(b));
    // The last comparison excludes that one arc crosses the continuation of the other on the far
    // side of the sphere.
    abc * abd < 0.0 && cda * cdb < 0.0 && abc * cda < 0.0
}

/// Returns whether two arcs have a point in common, or are closer than the tolerance.
pub(crate) fn arcs_touch(a: Vector, b: Vector, c: Vector, d: Vector) -> bool {
    let (middle, other) = (a + b, c + d);
    let reach = (a - b).length() + (c - d).length();
    // Each arc is within half its length of its middle.
    if (middle * 0.5 - other * 0.5).length() > 2.0 * reach + 1e-6 {
        return false;
    }
    arcs_cross(a, b, c, d)
        || distance_to_arc(a, c, d) <= crate::TOLERANCE
        || distance_to_arc(b, c, d) <= crate::TOLERANCE
        || distance_to_arc(c, a, b) <= crate::TOLERANCE
        || distance_to_arc(d, a, b) <= crate::TOLERANCE
}
