//! Indexes of geometries: the cells of a document's geometries.

use document::{DocRef, ValueRef, shell};
use evaluation::{Error, Kind};

use crate::{
    Checks,
    cells::{Cell, Plane, Space},
    legacy::parse_pair,
    region::cells_of_shape,
    stored::{parse_stored, values_at},
};

/// Maximum number of cells of one geometry, about.
const MAX_CELLS: usize = 20;
/// Maximum length of a document in an error.
const MAX_SHOWN: usize = 1_000;

/// The rules of an index of geometries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeoIndex {
    /// Paths of the geometries, in the order of the key.
    pub paths: Vec<String>,
    /// The space that is divided into cells.
    pub space: Space,
}

/// The cells of the geometries at a path.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    /// The cells, without duplicates; empty without a geometry.
    pub cells: Vec<Cell>,
    /// Whether an array on the path was expanded.
    pub expanded: bool,
}

impl GeoIndex {
    /// Returns the kind of the index in key patterns.
    pub fn kind(&self) -> &'static str {
        match self.space {
            Space::Sphere => "2dsphere",
            Space::Plane(_) => "2d",
        }
    }

    /// Returns the cells of the geometries at a path of a document. Null, missing values and empty
    /// arrays are no geometries.
    ///
    /// # Errors
    ///
    /// Number 16755 for a value that is no geometry on the sphere; 13026 and 13027 for one that is
    /// no point of the square.
    pub fn cells_at(&self, document: DocRef<'_>, path: &str) -> Result<Cells, Error> {
        let mut cells = Vec::new();
        let expanded = values_at(document, path, &mut |value| match (&self.space, value) {
            (_, ValueRef::Null | ValueRef::Undefined) => Ok(()),
            (_, ValueRef::Array(array)) if array.is_empty() => Ok(()),
            (Space::Sphere, value) => add_shape(value, &mut cells)
                .map_err(|fault| refused(16755, "Can't extract geo keys", document, &fault)),
            (Space::Plane(plane), value) => add_points(plane, value, document, &mut cells),
        })?;
        cells.sort_unstable();
        cells.dedup();
        Ok(Cells { cells, expanded })
    }
}

fn add_shape(value: ValueRef<'_>, cells: &mut Vec<Cell>) -> Result<(), String> {
    let stored = parse_stored(value, Checks::All)?;
    match (stored.shape, stored.point) {
        (Some(shape), _) => {
            cells.extend(cells_of_shape(&shape, MAX_CELLS));
            Ok(())
        }
        (None, Some(_)) => {
            Err(format!("can't project geometry into spherical CRS: {}", shell(value)))
        }
        (None, None) => Err("can't index geometry with strict winding order".to_owned()),
    }
}

fn add_points(
    plane: &Plane,
    value: ValueRef<'_>,
    document: DocRef<'_>,
    cells: &mut Vec<Cell>,
) -> Result<(), Error> {
    // An array of pairs is a list of points.
    if let ValueRef::Array(array) = value
        && array.iter().all(|it| matches!(it, ValueRef::Array(_) | ValueRef::Document(_)))
    {
        return array.iter().try_for_each(|element| add_pair(plane, element, document, cells));
    }
    add_pair(plane, value, document, cells)
}

fn add_pair(
    plane: &Plane,
    value: ValueRef<'_>,
    document: DocRef<'_>,
    cells: &mut Vec<Cell>,
) -> Result<(), Error> {
    let point = parse_pair(value, true).map_err(|fault| {
        let text = "geo values must be 'legacy coordinate pairs' for 2d indexes";
        refused(13026, text, document, &fault)
    })?;
    let within = plane.min..=plane.max;
    if !within.contains(&point.x) || !within.contains(&point.y) {
        let text = format!("point not in interval of [ {}, {} ]", plane.min, plane.max);
        return Err(refused(13027, &text, document, &shell(value).to_string()));
    }
    cells.push(Space::cell_of_flat(plane, point));
    Ok(())
}

fn refused(number: i32, text: &str, document: DocRef<'_>, fault: &str) -> Error {
    let mut shown = shell(ValueRef::Document(document)).to_string();
    if let Some((end, _)) = shown.char_indices().nth(MAX_SHOWN) {
        shown.truncate(end);
        shown.push_str("...");
    }
    let short: String = fault.chars().take(2 * MAX_SHOWN).collect();
    Error::new(Kind::Invalid, number, format!("{text}: {shown}  {short}"))
}
