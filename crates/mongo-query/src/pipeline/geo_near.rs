//! `$geoNear`: a search by distance, whose result has the distance in a field. It is a filter, for
//! which the planner finds an index in the order of the distances, and computed fields.
//!
//! ```text
//! {$geoNear: {near: {type: "Point", coordinates: [2, 48]}, distanceField: "d", query: {kind: 1}}}
//!     ──▶  filter by distance and {kind: 1}    set d
//! ```

use std::sync::Arc;

use document::{DocRef, Number, ValueRef};
use geometry::Near;
use pipeline::{
    Expr, Filter,
    exec::{Fields, Stage},
    expr::{GeoCall, GeoPart},
};

use super::Scope;
use crate::{
    Error, field_path,
    filter::{self as filters, parse_center, refused_by_distance},
};

/// Options that existed once; a following stage has replaced them.
const REMOVED: &[(&str, i32, &str)] =
    &[("limit", 50858, "$limit"), ("num", 50857, "$limit"), ("start", 50856, "$skip")];

/// The options of the stage.
struct Options<'a> {
    near: Option<ValueRef<'a>>,
    distance_field: Option<&'a str>,
    locations: Option<&'a str>,
    key: Option<&'a str>,
    query: Option<DocRef<'a>>,
    is_sphere: bool,
    min: f64,
    max: f64,
    multiplier: f64,
}

/// Parses the stage into a filter and computed fields.
///
/// Fails with 10065 if the value is not an object, 16605 or 16606 if `near` or `distanceField` is
/// missing, 2 if the point is invalid, 5626500 if the query sorts by distance, and with the errors
/// of the options.
pub(super) fn parse_geo_near(
    name: &str,
    value: ValueRef<'_>,
    _: Scope<'_>,
) -> Result<Vec<Stage>, Error> {
    let ValueRef::Document(fields) = value else {
        return Err(Error::new(10065, format!("invalid parameter: expected an object ({name})")));
    };
    let options = parse_options(fields)?;
    let Some(near) = options.near else {
        return Err(Error::new(16605, "$geoNear requires a 'near' option as an Array"));
    };
    let Some(distance_field) = options.distance_field else {
        return Err(Error::new(16606, "$geoNear requires a 'distanceField' option as a String"));
    };
    let (point, metric) = parse_center(near, options.is_sphere)?;
    let near = Near::new(options.key, point, metric, options.min, options.max);
    let near = Arc::new(near);
    let mut filter = Filter::Near(Arc::clone(&near));
    if let Some(query) = options.query {
        let query = filters::parse(query)?;
        if query.near().is_some() {
            return Err(refused_by_distance());
        }
        if query.text_query().is_some() {
            return Err(Error::bad_value("text and geoNear not allowed in same query"));
        }
        filter = Filter::And(vec![filter, query]);
    }
    let mut fields = Fields::new();
    let part = GeoPart::Distance(options.multiplier);
    set_field(&mut fields, distance_field, GeoCall { near: Arc::clone(&near), part })?;
    if let Some(path) = options.locations {
        set_field(&mut fields, path, GeoCall { near, part: GeoPart::Location })?;
    }
    Ok(vec![Stage::Match(filter), Stage::AddFields(fields)])
}

fn set_field(fields: &mut Fields, path: &str, call: GeoCall) -> Result<(), Error> {
    field_path::check_path(path)?;
    let parts: Vec<&str> = path.split('.').collect();
    fields.set_at(&parts, Expr::Geo(Box::new(call))).map_err(|_| {
        let text = "$geoNear: 'distanceField' and 'includeLocs' must not contain each other";
        Error::new(40176, text)
    })
}

fn parse_options(fields: DocRef<'_>) -> Result<Options<'_>, Error> {
    let mut options = Options {
        near: None,
        distance_field: None,
        locations: None,
        key: None,
        query: None,
        is_sphere: false,
        min: 0.0,
        max: f64::INFINITY,
        multiplier: 1.0,
    };
    for (name, value) in fields.iter() {
        match name {
            "near" => match value {
                ValueRef::Array(_) | ValueRef::Document(_) => options.near = Some(value),
                _ => {
                    let text = "$geoNear requires a 'near' option as an Array";
                    return Err(Error::new(16605, text));
                }
            },
            "distanceField" => {
                let text = "$geoNear requires a 'distanceField' option as a String";
                let path = value.as_str().ok_or_else(|| Error::new(16606, text))?;
                options.distance_field = Some(path);
            }
            "includeLocs" => {
                let text = "$geoNear requires that 'includeLocs' option is a String";
                options.locations = Some(value.as_str().ok_or_else(|| Error::new(16607, text))?);
            }
            "key" => {
                let wrong = |text: String| Error::type_mismatch(text);
                let path = value.as_str().ok_or_else(|| {
                    let kind = value.kind().name();
                    wrong(format!(
                        "$geoNear parameter 'key' must be of type string but found type: {kind}"
                    ))
                })?;
                if path.is_empty() {
                    let text = "$geoNear parameter 'key' cannot be the empty string";
                    return Err(Error::bad_value(text));
                }
                options.key = Some(path);
            }
            "query" => {
                let text = "$geoNear requires that 'query' option is an object";
                options.query =
                    Some(value.as_document().ok_or_else(|| Error::type_mismatch(text))?);
            }
            "spherical" => options.is_sphere = value.is_truthy(),
            "minDistance" => options.min = parse_number(name, value)?,
            "maxDistance" => options.max = parse_number(name, value)?,
            "distanceMultiplier" => options.multiplier = parse_number(name, value)?,
            "uniqueDocs" => {}
            _ => return Err(unknown_option(name)),
        }
    }
    Ok(options)
}

fn unknown_option(name: &str) -> Error {
    match REMOVED.iter().find(|(removed, _, _)| *removed == name) {
        Some((_, code, stage)) => Error::new(
            *code,
            format!(
                "$geoNear no longer supports the '{name}' parameter. Use a {stage} stage instead."
            ),
        ),
        None => Error::failed_to_parse(format!("Unknown argument to $geoNear: {name}")),
    }
}

fn parse_number(name: &str, value: ValueRef<'_>) -> Result<f64, Error> {
    let Some(number) = Number::of(value).map(Number::to_f64) else {
        let text = format!("$geoNear requires that '{name}' is a number");
        return Err(Error::type_mismatch(text));
    };
    if number.is_nan() || number < 0.0 {
        return Err(Error::bad_value(format!("$geoNear requires that '{name}' is nonnegative")));
    }
    Ok(number)
}
