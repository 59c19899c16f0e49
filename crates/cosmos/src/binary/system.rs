//! Strings that both sides know, one marker each. The order is the list in the service's SDKs: a
//! string moved here would be read as another one.

/// The strings by their numbers.
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

/// The string with this number, which is below 32.
pub(super) fn system_string(number: u8) -> &'static str {
    SYSTEM.get(usize::from(number)).copied().unwrap_or_default()
}
