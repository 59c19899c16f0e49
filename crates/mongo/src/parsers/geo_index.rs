//! The geometries of an index in an index specification, and the options of such an index.
//!
//! ```text
//! {key: {kind: 1, place: "2dsphere"}, 2dsphereIndexVersion: 3}
//! {key: {place: "2d", kind: 1}, bits: 26, min: -180, max: 180}
//! ```

use document::{Document, Number, ValueRef};
use geometry::{GeoIndex, Plane, Space};

use crate::{
    arguments::Args,
    errors::{CannotCreateIndex, Error, InvalidOptions, Result, TypeMismatch},
};

/// The only version of indexes of the sphere; entries of the earlier ones would be the same.
const VERSION: i32 = 3;
/// Options of an index of the sphere.
pub(super) const OF_SPHERE: &[&str] = &["2dsphereIndexVersion"];
/// Options of an index of the plane.
pub(super) const OF_PLANE: &[&str] = &["bits", "min", "max"];

/// Parses the geometries of a key, given as paths with their kinds, and the options of the index.
/// `first` is the first path of the key; `None` is returned without a geometry.
///
/// Fails with 13022 if several paths have a geometry of the plane, 13023 if such a path is not the
/// first one, 67 if both kinds are combined or the version is unknown, and 13028 or 16241 if a
/// number is out of range.
pub(super) fn parse_geometries(
    geometries: &[(String, &str)],
    first: Option<&str>,
    options: &Args<'_>,
) -> Result<Option<GeoIndex>> {
    let Some((path, kind)) = geometries.first() else { return Ok(None) };
    if geometries.iter().any(|(_, other)| other != kind) {
        return Err(two_kinds());
    }
    let paths = geometries.iter().map(|(path, _)| path.clone()).collect();
    if *kind == "2dsphere" {
        check_version(options)?;
        return Ok(Some(GeoIndex { paths, space: Space::Sphere }));
    }
    if 1 < geometries.len() {
        return Err(Error::new(13022, "can't have 2 geo fields"));
    }
    if first != Some(path.as_str()) {
        return Err(Error::new(13023, "2d has to be first in index"));
    }
    Ok(Some(GeoIndex { paths, space: Space::Plane(parse_plane(options)?) }))
}

/// Returns the error of a key with two special kinds.
pub(super) fn two_kinds() -> Error {
    Error::new(CannotCreateIndex, "Can't use more than one index plugin for a single index.")
}

fn check_version(options: &Args<'_>) -> Result<()> {
    let Some(version) = options.get("2dsphereIndexVersion") else { return Ok(()) };
    match number_of("2dsphereIndexVersion", version)? {
        1.0 | 2.0 | 3.0 => Ok(()),
        version => {
            let message = format!(
                "unsupported geo index version {{ 2dsphereIndexVersion : {version} }}, only support versions: [1,2,3]"
            );
            Err(Error::new(CannotCreateIndex, message))
        }
    }
}

fn number_of(name: &str, value: ValueRef<'_>) -> Result<f64> {
    Number::of(value).map(Number::to_f64).ok_or_else(|| {
        let kind = value.kind().name();
        Error::new(TypeMismatch, format!("The field '{name}' must be a number, but got {kind}"))
    })
}

fn parse_plane(options: &Args<'_>) -> Result<Plane> {
    let option = |name: &str, default: f64| match options.get(name) {
        None => Ok(default),
        Some(value) => number_of(name, value),
    };
    let (bits, min, max) = (option("bits", 26.0)?, option("min", -180.0)?, option("max", 180.0)?);
    if !(1.0..=32.0).contains(&bits) {
        return Err(Error::new(13028, "bits in geo index must be between 1 and 32"));
    }
    if !min.is_finite() || !max.is_finite() || max <= min || !(max - min).is_finite() {
        let message = format!(
            "region for hash must be valid and have positive area, but [{min}, {max}] was specified"
        );
        return Err(Error::new(16241, message));
    }
    Ok(Plane { bits: bits as i32, min, max })
}

/// Fails with 67 if an index of geometries cannot have one of the options.
pub(super) fn check_options(geo: &GeoIndex, unique: bool, expire_after: Option<i64>) -> Result<()> {
    let kind = geo.kind();
    if unique {
        let message = format!("Index type '{kind}' does not support the unique option");
        return Err(Error::new(CannotCreateIndex, message));
    }
    if expire_after.is_some() {
        let message = format!("Index type '{kind}' cannot be a TTL index");
        return Err(Error::new(CannotCreateIndex, message));
    }
    Ok(())
}

/// Adds the version of an index of the sphere, which `listIndexes` always shows, and the given
/// options of one of the plane.
pub(super) fn show_options(geo: &GeoIndex, options: &Args<'_>, shown: &mut Document) {
    if geo.space == Space::Sphere {
        let given = options.get("2dsphereIndexVersion").and_then(Number::of);
        let version = given.and_then(Number::to_i64_exact).and_then(|it| i32::try_from(it).ok());
        shown.push("2dsphereIndexVersion", version.unwrap_or(VERSION));
        return;
    }
    for name in OF_PLANE {
        if let Some(value) = options.get(name) {
            shown.push(*name, value.to_value());
        }
    }
}

/// Returns the error of an option that only another kind of index has.
pub(super) fn foreign_option(name: &str, kind: &str) -> Error {
    let message = format!("the index option '{name}' is for an index of kind '{kind}'");
    Error::new(InvalidOptions, message)
}
