//! Cells: the faces of a cube around the sphere, or a square of the plane, divided into four parts
//! again and again.
//!
//! ```text
//!  id   face (3 bits) | quarter of level 1 (2 bits) | .. | quarter of the cell's level | 1 | 0 ..
//! ```
//!
//! The ids of all cells within a cell are a range around its own id.

use crate::{
    FlatPoint,
    vector::{Cap, Vector},
};

/// Number of times that a face is divided.
const LEVELS: u32 = 30;
/// Number of parts of an edge of a face, at the last level.
const PARTS: f64 = (1_u64 << LEVELS) as f64;

/// A cell, by its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell(pub u64);

impl Cell {
    /// Returns the cell of the last level at a place of a face; the coordinates are below 2³⁰.
    fn of_place(face: u64, i: u64, j: u64) -> Self {
        Self(face << 61 | spread(i) << 2 | spread(j) << 1 | 1)
    }

    /// Returns the lowest bit of the id, which tells the level.
    fn lowest_bit(self) -> u64 {
        self.0 & self.0.wrapping_neg()
    }

    /// Returns the ids of the first and the last cell within this one, itself included.
    pub fn range(self) -> (u64, u64) {
        let bit = self.lowest_bit();
        (self.0 - (bit - 1), self.0 + (bit - 1))
    }

    /// Returns whether the cell is of the last level.
    pub fn is_leaf(self) -> bool {
        self.lowest_bit() == 1
    }

    /// Returns the four parts of the cell; itself at the last level.
    pub fn children(self) -> [Self; 4] {
        if self.is_leaf() {
            return [self; 4];
        }
        let bit = self.lowest_bit() >> 2;
        let first = self.range().0 + bit - 1;
        [0, 1, 2, 3].map(|at| Self(first + at * 2 * bit))
    }

    /// Returns the cell that this one is a part of; `None` for a whole face.
    pub(crate) fn parent(self) -> Option<Self> {
        let bit = self.lowest_bit() << 2;
        (bit <= 1 << (2 * LEVELS)).then(|| Self(self.0 & bit.wrapping_neg() | bit))
    }

    fn face(self) -> u64 {
        self.0 >> 61
    }

    /// Returns the lowest and highest coordinates on the face, as parts of its edge from 0 to 1.
    fn square(self) -> ([f64; 2], [f64; 2]) {
        let (first, last) = self.range();
        let place = |id: u64| [gather(id >> 2) as f64, gather(id >> 1) as f64];
        let ([i, j], [k, l]) = (place(first), place(last));
        ([i / PARTS, j / PARTS], [(k + 1.0) / PARTS, (l + 1.0) / PARTS])
    }
}

/// Puts a zero bit before each of the lowest 30 bits.
fn spread(value: u64) -> u64 {
    let mut bits = value & 0x3fff_ffff;
    bits = (bits | bits << 16) & 0x0000_ffff_0000_ffff;
    bits = (bits | bits << 8) & 0x00ff_00ff_00ff_00ff;
    bits = (bits | bits << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    bits = (bits | bits << 2) & 0x3333_3333_3333_3333;
    (bits | bits << 1) & 0x5555_5555_5555_5555
}

/// Collects every second of the lowest 60 bits.
fn gather(value: u64) -> u64 {
    let mut bits = value & 0x0555_5555_5555_5555;
    bits = (bits | bits >> 1) & 0x3333_3333_3333_3333;
    bits = (bits | bits >> 2) & 0x0f0f_0f0f_0f0f_0f0f;
    bits = (bits | bits >> 4) & 0x00ff_00ff_00ff_00ff;
    bits = (bits | bits >> 8) & 0x0000_ffff_0000_ffff;
    (bits | bits >> 16) & 0x3fff_ffff
}

/// A square of the plane that is divided into cells, with the precision that its index shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// Number of divisions, as the client has given it; the index always has the finest cells.
    pub bits: i32,
    /// The lowest value of both coordinates.
    pub min: f64,
    /// The highest value of both coordinates.
    pub max: f64,
}

// The coordinates are never NaN.
impl Eq for Plane {}

/// A space that is divided into cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// The surface of the unit sphere.
    Sphere,
    /// A square part of the plane.
    Plane(Plane),
}

impl Space {
    /// Returns the cells that are not parts of others.
    pub fn roots(&self) -> Vec<Cell> {
        let faces = if *self == Self::Sphere { 6 } else { 1 };
        (0..faces).map(|face| Cell(face << 61 | 1 << (2 * LEVELS))).collect()
    }

    /// Returns the smallest cell with a point of the sphere.
    pub(crate) fn cell_of_vector(point: Vector) -> Cell {
        let (x, y, z) = (point.x, point.y, point.z);
        let (ax, ay, az) = (x.abs(), y.abs(), z.abs());
        let (axis, along, u, v) = if ay <= ax && az <= ax {
            (0, x, y / ax, z / ax)
        } else if az <= ay {
            (2, y, x / ay, z / ay)
        } else {
            (4, z, x / az, y / az)
        };
        let face = axis + u64::from(along < 0.0);
        // Angles, so that the cells of a level have about the same size.
        let part = |slope: f64| slope.atan() * (2.0 / std::f64::consts::PI) + 0.5;
        Cell::of_place(face, place_of(part(u)), place_of(part(v)))
    }

    /// Returns the smallest cell with a point of the plane.
    pub(crate) fn cell_of_flat(plane: &Plane, point: FlatPoint) -> Cell {
        let part = |value: f64| (value - plane.min) / (plane.max - plane.min);
        Cell::of_place(0, place_of(part(point.x)), place_of(part(point.y)))
    }

    /// Returns a cap with all points of a cell. In the plane, coordinates are longitudes and
    /// latitudes.
    pub(crate) fn cap_of(&self, cell: Cell) -> Cap {
        let Self::Plane(plane) = self else { return cap_on_sphere(cell) };
        let (low, high) = rectangle_of(plane, cell);
        let middle = FlatPoint { x: (low.x + high.x) / 2.0, y: (low.y + high.y) / 2.0 };
        if !crate::is_lng_lat(middle.x, middle.y) {
            return Cap::ALL;
        }
        // A point is reached along the parallel through the middle, then along a meridian.
        let (width, height) = ((high.x - low.x) / 2.0, (high.y - low.y) / 2.0);
        let across = width.to_radians() * middle.y.to_radians().cos();
        let radius = padded(height.to_radians() + across);
        Cap { centre: Vector::of_degrees(middle.x, middle.y), radius: radius.min(4.0) }
    }
}

/// Returns the lowest and the highest corner of a cell of a square.
pub(crate) fn rectangle_of(plane: &Plane, cell: Cell) -> (FlatPoint, FlatPoint) {
    let ([i, j], [k, l]) = cell.square();
    let at = |part: f64| plane.min + part * (plane.max - plane.min);
    // Rounding must not exclude a point of the cell.
    let pad = (plane.max - plane.min) * 1e-12;
    (FlatPoint { x: at(i) - pad, y: at(j) - pad }, FlatPoint { x: at(k) + pad, y: at(l) + pad })
}

fn cap_on_sphere(cell: Cell) -> Cap {
    let ([i, j], [k, l]) = cell.square();
    let face = cell.face();
    let centre = point_of_face(face, (i + k) / 2.0, (j + l) / 2.0);
    // The edges of a cell are arcs, so its corners are its farthest points.
    let corners = [(i, j), (i, l), (k, j), (k, l)];
    let distances = corners.map(|(u, v)| centre.angle(point_of_face(face, u, v)));
    Cap { centre, radius: padded(distances.into_iter().fold(0.0, f64::max)) }
}

/// Returns a radius that rounding cannot make too small.
fn padded(radius: f64) -> f64 {
    radius * (1.0 + 1e-9) + 1e-10
}

fn point_of_face(face: u64, u: f64, v: f64) -> Vector {
    let slope = |part: f64| ((part - 0.5) * (std::f64::consts::PI / 2.0)).tan();
    let (u, v) = (slope(u), slope(v));
    let along = if face.is_multiple_of(2) { 1.0 } else { -1.0 };
    match face / 2 {
        0 => Vector::new(along, u, v).unit(),
        1 => Vector::new(u, along, v).unit(),
        _ => Vector::new(u, v, along).unit(),
    }
}

/// Converts a part of an edge from 0 to 1 to a place on it.
fn place_of(part: f64) -> u64 {
    (part * PARTS).floor().clamp(0.0, PARTS - 1.0) as u64
}
