//! Geometries: a document is parsed as GeoJSON, as the value that an index of geometries has in its
//! cells, and as a region. The cells of a region must find every geometry that its test finds.

use document::{DocRef, Document, ValueRef, doc, validate};
use geometry::{
    Checks, FlatPoint, GeoIndex, GeoPredicate, GeoTest, Metric, Near, Plane, Region, Space,
    parse_geojson,
};

use crate::context;

/// Parses a document as a geometry and as a region.
pub(crate) fn geometries(bytes: &[u8]) {
    if validate(bytes).is_err() {
        return;
    }
    let context = context();
    let meter = |units: usize| context.budget.spend(units);
    let value = DocRef::Raw(bytes);
    let mut document = Document::new();
    document.push("p", value.to_tree());
    let plane = Space::Plane(Plane { bits: 26, min: -180.0, max: 180.0 });
    let mut cells = Vec::new();
    for space in [plane, Space::Sphere] {
        let index = GeoIndex { paths: vec!["p".to_owned()], space };
        cells = index.cells_at(DocRef::Tree(&document), "p").map_or(Vec::new(), |it| it.cells);
    }
    let centre = FlatPoint { x: 179.5, y: -89.0 };
    let near = Near::new(None, centre, Metric::Metres, 0.0, f64::INFINITY);
    near.bind("p");
    if let Ok(Some((distance, _))) = near.distance_of(DocRef::Tree(&document), &meter) {
        assert!(0.0 <= distance, "{distance}");
    }
    let Ok(parsed) = parse_geojson(value, Checks::All) else { return };
    for predicate in [GeoPredicate::Within, GeoPredicate::Intersects] {
        let test = GeoTest::new(predicate, Region::Shape(parsed.shape.clone()));
        let point = doc! { "x": 1, "y": 2 };
        let _ = test.meets(ValueRef::Document(DocRef::Tree(&point)), &meter);
        let found = test.meets(ValueRef::Document(value), &meter).unwrap_or(false);
        let ranges = test.ranges(&Space::Sphere).unwrap_or_default();
        let is_in = |id: u64| ranges.iter().any(|(first, last)| (*first..=*last).contains(&id));
        if found && !cells.is_empty() {
            assert!(cells.iter().any(|cell| is_in(cell.0)), "{parsed:?}");
        }
    }
}
