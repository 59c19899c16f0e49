//! The surface on which a container's geometries lie (`geospatialConfig`), and the spatial indexes
//! of its indexing policy. Spatial functions are evaluated on every item that other conditions leave;
//! spatial indexes are validated and returned, and have no effect.

use document::{Document, Number, Value, doc};
use select::functions::Surface;

use super::{
    indexing::{invalid_path, path_of, read_list},
    paths,
    policies::find_object,
};
use crate::failure::{Failure, Result};

/// Name of the property that selects the surface.
const CONFIG: &str = "geospatialConfig";
/// Types of geometries in spatial indexes.
const TYPES: [&str; 4] = ["Point", "LineString", "Polygon", "MultiPolygon"];
/// Sides of a bounding box, each low side before its high side.
const SIDES: [(&str, &str); 2] = [("xmin", "xmax"), ("ymin", "ymax")];

/// Returns the surface on which the geometries of a container with these options lie.
pub(crate) fn surface_of(options: &Document) -> Surface {
    match options.get(CONFIG) {
        Some(Value::Document(config)) if config.get("type") == Some(&"Geometry".into()) => {
            Surface::Plane
        }
        _ => Surface::Earth,
    }
}

/// Adds the default geospatial type, geography, and refuses other types than geography and
/// geometry.
pub(super) fn complete_config(body: &mut Document) -> Result<()> {
    match find_object(body, CONFIG)? {
        None => {
            body.insert(CONFIG, doc! { "type": "Geography" });
            Ok(())
        }
        Some(config) => match config.get("type").and_then(|kind| kind.as_ref().as_str()) {
            Some("Geography" | "Geometry") => Ok(()),
            _ => Err(Failure::bad_request("The geospatial type is not Geography or Geometry.")),
        },
    }
}

/// Validates the spatial indexes of a policy, and adds missing types: all of them. As in Azure
/// Cosmos DB, an index in a plane needs a bounding box, and an index on the Earth must not have one.
pub(super) fn complete_indexes(policy: &mut Document, surface: Surface) -> Result<()> {
    for entry in read_list(policy, "spatialIndexes")?.unwrap_or_default() {
        let text = path_of(entry)?;
        paths::parse_path(text).ok_or_else(|| invalid_path(text))?;
        let Value::Document(fields) = entry else { continue };
        let types = read_list(fields, "types")?.unwrap_or_default();
        let is_known =
            |kind: &Value| kind.as_ref().as_str().is_some_and(|kind| TYPES.contains(&kind));
        if !types.iter().all(is_known) {
            let text = format!("The type of a spatial index is one of {}.", TYPES.join(", "));
            return Err(Failure::bad_request(text));
        }
        let has_box = !matches!(fields.get("boundingBox"), None | Some(Value::Null));
        match surface {
            Surface::Earth if has_box => {
                return Err(Failure::bad_request(
                    "A spatial index must not have a boundingBox in a container whose \
                     geospatialConfig has the type Geography.",
                ));
            }
            Surface::Plane => check_box(fields)?,
            Surface::Earth => {}
        }
    }
    if let Some(Value::Array(entries)) = policy.get_mut("spatialIndexes") {
        for entry in entries {
            let Value::Document(fields) = entry else { continue };
            if fields.get("types").is_none_or(|types| matches!(types, Value::Null)) {
                let all = TYPES.iter().map(|kind| Value::from(*kind)).collect();
                fields.insert("types", Value::Array(all));
            }
        }
    }
    Ok(())
}

/// Checks the bounding box of a spatial index: four numbers, each minimum below its maximum.
fn check_box(fields: &Document) -> Result<()> {
    let Some(Value::Document(sides)) = fields.get("boundingBox") else {
        return Err(Failure::bad_request(
            "A spatial index needs a boundingBox in a container whose geospatialConfig has the type \
             Geometry.",
        ));
    };
    let side = |name: &str| {
        let number = sides.get(name).map(Value::as_ref).and_then(Number::of);
        number.map(Number::to_f64).ok_or_else(|| {
            Failure::bad_request(format!(
                "The boundingBox of a spatial index has no number '{name}'."
            ))
        })
    };
    for (low, high) in SIDES {
        if side(high)? <= side(low)? {
            return Err(Failure::bad_request(format!(
                "The boundingBox of a spatial index has a '{low}' that is not below its '{high}'."
            )));
        }
    }
    Ok(())
}
