//! Predefined strings, each encoded as a single marker. Their order must match the list in Azure
//! Cosmos DB's SDKs.

const SYSTEM: [&str; 32] = [
    "$s",
    "$t",
    "$v",
    "_attachments",
    "_etag",
    "_rid",
    "_self",
    "_ts",
    "attachments/",
    "coordinates",
    "geometry",
    "GeometryCollection",
    "id",
    "url",
    "Value",
    "label",
    "LineString",
    "link",
    "MultiLineString",
    "MultiPoint",
    "MultiPolygon",
    "name",
    "Name",
    "Type",
    "Point",
    "Polygon",
    "properties",
    "type",
    "value",
    "Feature",
    "FeatureCollection",
    "_id",
];

/// Returns the string with this index, which is below 32.
pub(super) fn system_string(number: u8) -> &'static str {
    SYSTEM.get(usize::from(number)).copied().unwrap_or_default()
}
