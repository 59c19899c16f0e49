//! Random shapes and points: an index must find what a scan finds, near the poles and the
//! antimeridian too.

use document::{DocRef, Document, Value, array, doc};

use crate::*;

fn free(_: usize) -> Result<(), evaluation::Error> {
    Ok(())
}

fn at(lng: f64, lat: f64) -> Value {
    array![lng, lat]
}

fn shape_of(value: &Document) -> Shape {
    parse_geojson(DocRef::Tree(value), Checks::All).unwrap().shape
}

fn polygon(rings: &[&[(f64, f64)]]) -> Document {
    let ring =
        |ring: &&[(f64, f64)]| Value::Array(ring.iter().map(|(lng, lat)| at(*lng, *lat)).collect());
    doc! { "type": "Polygon", "coordinates": Value::Array(rings.iter().map(ring).collect()) }
}

fn within(region: &Document, value: &Value) -> bool {
    let test = GeoTest::new(GeoPredicate::Within, Region::Shape(shape_of(region)));
    test.meets(value.as_ref(), &free).unwrap()
}

fn intersects(region: &Document, value: &Value) -> bool {
    let test = GeoTest::new(GeoPredicate::Intersects, Region::Shape(shape_of(region)));
    test.meets(value.as_ref(), &free).unwrap()
}

const SQUARE: &[(f64, f64)] = &[(0., 0.), (10., 0.), (10., 10.), (0., 10.), (0., 0.)];
const HOLE: &[(f64, f64)] = &[(4., 4.), (6., 4.), (6., 6.), (4., 6.), (4., 4.)];

#[test]
fn points_are_inside_on_the_edge_or_outside() {
    let solid = polygon(&[SQUARE]);
    let holed = polygon(&[SQUARE, HOLE]);
    for (lng, lat, in_solid, in_holed) in [
        (5., 5., true, false),
        (1., 1., true, true),
        (0., 0., true, true),
        (5., 0., true, true),
        (4., 5., true, true),
        (-1., 5., false, false),
        (5., -0.001, false, false),
        (-175., -5., false, false),
        // The northern edge is an arc, which lies north of its parallel.
        (5., 10.02, true, true),
        (5., 10.1, false, false),
    ] {
        assert_eq!(within(&solid, &at(lng, lat)), in_solid, "{lng} {lat}");
        assert_eq!(within(&holed, &at(lng, lat)), in_holed, "{lng} {lat}");
        assert_eq!(intersects(&holed, &at(lng, lat)), in_holed, "{lng} {lat}");
    }
}

#[test]
fn antimeridian_and_poles_are_ordinary_places() {
    let across: &[(f64, f64)] =
        &[(170., -10.), (-170., -10.), (-170., 10.), (170., 10.), (170., -10.)];
    let across = polygon(&[across]);
    for (lng, inside) in [(180., true), (-180., true), (-175., true), (160., false), (0., false)] {
        assert_eq!(within(&across, &at(lng, 0.)), inside, "{lng}");
    }
    let pole: &[(f64, f64)] = &[(0., 80.), (90., 80.), (180., 80.), (-90., 80.), (0., 80.)];
    let pole = polygon(&[pole]);
    for (lat, inside) in [(90., true), (89., true), (70., false), (-90., false)] {
        assert_eq!(within(&pole, &at(33., lat)), inside, "{lat}");
    }
    let centre = FlatPoint { x: 179.9, y: 0. };
    let near = Near::new(None, centre, Metric::Metres, 0., f64::INFINITY);
    assert!(near.bind("p"));
    let document = doc! { "p": at(-179.9, 0.) };
    let (distance, _) = near.distance_of(DocRef::Tree(&document), &free).unwrap().unwrap();
    assert!((distance - 0.2_f64.to_radians() * EARTH_RADIUS_M).abs() < 1e-3, "{distance}");
}

#[test]
fn large_and_strict_rings_have_the_right_inside() {
    // A band around the Earth except for a gap: no hemisphere contains it.
    let band: Vec<(f64, f64)> = (0..=35)
        .map(|step| (f64::from(step) * 10. - 175., -5.))
        .chain((0..=35).rev().map(|step| (f64::from(step) * 10. - 175., 5.)))
        .chain([(-175., -5.)])
        .collect();
    let band = polygon(&[&band]);
    assert!(within(&band, &at(0., 0.)));
    assert!(!within(&band, &at(0., 20.)));
    assert!(!within(&band, &at(180., 0.)));
    assert!(!within(&band, &at(0., 90.)));
    let clockwise: &[(f64, f64)] = &[(0., 0.), (0., 10.), (10., 10.), (10., 0.), (0., 0.)];
    let mut strict = polygon(&[clockwise]);
    let name = "urn:x-mongodb:crs:strictwinding:EPSG:4326";
    strict.push("crs", doc! { "type": "name", "properties": doc! { "name": name } });
    assert!(!within(&strict, &at(5., 5.)));
    assert!(within(&strict, &at(-100., 20.)));
}

#[test]
fn lines_and_polygons_are_within_and_intersect() {
    let concave: &[(f64, f64)] = &[(0., 0.), (10., 0.), (10., 10.), (5., 2.), (0., 10.), (0., 0.)];
    let concave = polygon(&[concave]);
    let line = |points: &[(f64, f64)]| {
        let points = points.iter().map(|(lng, lat)| at(*lng, *lat)).collect();
        Value::from(doc! { "type": "LineString", "coordinates": Value::Array(points) })
    };
    for (points, is_within, touches) in [
        ([(1., 1.), (9., 1.)], true, true),
        ([(1., 1.), (20., 1.)], false, true),
        ([(0., 9.), (10., 9.)], false, true),
        ([(20., 1.), (30., 1.)], false, false),
        ([(-5., 1.), (15., 1.)], false, true),
        // Both ends are vertices, and the line between them is outside.
        ([(0., 10.), (10., 10.)], false, true),
    ] {
        assert_eq!(within(&concave, &line(&points)), is_within, "{points:?}");
        assert_eq!(intersects(&concave, &line(&points)), touches, "{points:?}");
    }
    let (solid, holed) = (polygon(&[SQUARE]), polygon(&[SQUARE, HOLE]));
    let small: &[(f64, f64)] = &[(3., 3.), (7., 3.), (7., 7.), (3., 7.), (3., 3.)];
    let small = Value::from(polygon(&[small]));
    assert!(within(&solid, &small));
    assert!(!within(&holed, &small));
    assert!(within(&solid, &Value::from(holed.clone())));
    assert!(within(&holed, &Value::from(holed.clone())));
    assert!(!within(&holed, &Value::from(solid)));
    let inner: &[(f64, f64)] = &[(4.5, 4.5), (5.5, 4.5), (5.5, 5.5), (4.5, 5.5), (4.5, 4.5)];
    assert!(!intersects(&holed, &Value::from(polygon(&[inner]))));
    assert!(intersects(&holed, &small));
}

#[test]
fn faults_are_reported() {
    let parse = |value: &Document| parse_geojson(DocRef::Tree(value), Checks::All);
    let bow: &[(f64, f64)] = &[(0., 0.), (10., 10.), (10., 0.), (0., 10.), (0., 0.)];
    let open: &[(f64, f64)] = &[(0., 0.), (10., 10.), (10., 0.)];
    let line: &[(f64, f64)] = &[(0., 0.), (10., 10.), (0., 0.)];
    let twice: &[(f64, f64)] = &[(0., 0.), (1., 0.), (2., 2.), (1., 0.), (0., 1.), (0., 0.)];
    let far: &[(f64, f64)] = &[(40., 4.), (46., 4.), (46., 6.), (40., 4.)];
    for (rings, fault) in [
        (vec![bow], "Edges 0 and 2 cross"),
        (vec![open], "Loop is not closed"),
        (vec![line], "Loop must have at least 3 different vertices, 2 unique"),
        (vec![twice], "Duplicate vertices: 1 and 3"),
        (vec![SQUARE, far], "Secondary loops not contained"),
        (vec![&[(0., 0.), (200., 0.), (0., 1.), (0., 0.)]], "Longitude/latitude is out of bounds"),
        (vec![], "Polygon has no loops."),
    ] {
        let found = parse(&polygon(&rings)).unwrap_err();
        assert!(found.contains(fault), "{found}");
    }
    for (value, fault) in [
        (doc! { "type": "Round" }, "unknown GeoJSON type"),
        (doc! { "type": "Point" }, "Point must be an array or object, instead got type undefined"),
        (doc! { "type": "Point", "coordinates": array![1, "a"] }, "numeric elements"),
        (doc! { "type": "GeometryCollection", "geometries": array![] }, "at least 1 element"),
        (
            doc! { "type": "MultiPoint", "coordinates": 1 },
            "MultiPoint coordinates must be an array",
        ),
    ] {
        let found = parse(&value).unwrap_err();
        assert!(found.contains(fault), "{found}");
    }
}

#[test]
fn a_ring_with_too_many_overlaps_is_refused() {
    // Spokes through the centre overlap in every coordinate.
    let spokes: Vec<(f64, f64)> = (0..20_001_u32)
        .map(|at| (f64::from(at) * 0.005 - 50., if at.is_multiple_of(2) { -60. } else { 60. }))
        .collect();
    let mut ring = spokes.clone();
    ring.push(spokes[0]);
    let found = parse_geojson(DocRef::Tree(&polygon(&[&ring])), Checks::All).unwrap_err();
    assert!(found.contains("Too many edges") || found.contains("cross"), "{found:.200}");
}

/// Returns a random place, often near a pole or the antimeridian.
fn place(random: &mut fastrand::Rng) -> (f64, f64) {
    let part = |random: &mut fastrand::Rng, width: f64| (random.f64() - 0.5) * width;
    match random.u8(0..4) {
        0 => (part(random, 360.), part(random, 180.)),
        1 => (179.99 + part(random, 0.02), part(random, 2.)),
        2 => (part(random, 360.), 89.9 + part(random, 0.2)),
        _ => (10. + part(random, 4.), 50. + part(random, 4.)),
    }
}

fn random_shape(random: &mut fastrand::Rng) -> Value {
    let (lng, lat) = place(random);
    let mut size = 10_f64.powi(random.i32(-4..2));
    if lat.abs() > 80. {
        size = size.min(0.05);
    }
    let step = |lng: f64| {
        if 180. < lng {
            lng - 360.
        } else if lng < -180. {
            lng + 360.
        } else {
            lng
        }
    };
    let moved = |dx: f64, dy: f64| at(step(lng + dx * size), (lat + dy * size).clamp(-90., 90.));
    match random.u8(0..3) {
        0 => at(lng, lat),
        1 => Value::from(doc! {
            "type": "LineString",
            "coordinates": array![at(lng, lat), moved(1., 0.3)],
        }),
        _ => {
            let ring = array![
                moved(0., 0.),
                moved(1., 0.1),
                moved(1.2, 0.9),
                moved(0.2, 1.),
                moved(0., 0.)
            ];
            Value::from(doc! { "type": "Polygon", "coordinates": Value::Array(vec![ring]) })
        }
    }
}

#[test]
fn an_index_finds_what_a_scan_finds() {
    let mut random = fastrand::Rng::with_seed(43);
    let index = GeoIndex { paths: vec!["p".into()], space: Space::Sphere };
    let mut stored = Vec::new();
    while stored.len() < 400 {
        let document = doc! { "p": random_shape(&mut random) };
        if let Ok(found) = index.cells_at(DocRef::Tree(&document), "p") {
            assert!(!found.cells.is_empty() && found.cells.len() <= 24, "{found:?}");
            stored.push((document, found.cells));
        }
    }
    let mut met = 0;
    for _ in 0..300 {
        let region = match random.bool() {
            true => {
                let (lng, lat) = place(&mut random);
                let radius = 10_f64.powi(random.i32(-6..1));
                Region::Cap(Cap { centre: Vector::of_degrees(lng, lat), radius })
            }
            false => match random_shape(&mut random) {
                Value::Document(shape) => match parse_geojson(DocRef::Tree(&shape), Checks::All) {
                    Ok(parsed) => Region::Shape(parsed.shape),
                    Err(_) => continue,
                },
                _ => continue,
            },
        };
        let predicate = if random.bool() { GeoPredicate::Within } else { GeoPredicate::Intersects };
        let test = GeoTest::new(predicate, region);
        let ranges = test.ranges(&Space::Sphere).unwrap();
        for (document, cells) in &stored {
            let value = document.get("p").unwrap();
            if test.meets(value.as_ref(), &free).unwrap() {
                let found = cells.iter().any(|cell| {
                    ranges.iter().any(|(first, last)| (*first..=*last).contains(&cell.0))
                });
                assert!(found, "{test:?} {document:?}");
                met += 1;
            }
        }
    }
    assert!(500 < met, "{met}");
}

#[test]
fn cells_bound_distances_in_both_spaces() {
    let mut random = fastrand::Rng::with_seed(7);
    let plane = Plane { bits: 26, min: -180., max: 180. };
    for round in 0..20_000_u32 {
        let ((lng, lat), (x, y)) = (place(&mut random), place(&mut random));
        let metric = if round.is_multiple_of(2) { Metric::Metres } else { Metric::Plane };
        let space = if round.is_multiple_of(2) { Space::Sphere } else { Space::Plane(plane) };
        let near = Near::new(None, FlatPoint { x, y }, metric, 0., f64::INFINITY);
        assert!(near.bind("p"));
        let document = doc! { "p": at(lng, lat) };
        let index = GeoIndex { paths: vec!["p".into()], space };
        let Ok(found) = index.cells_at(DocRef::Tree(&document), "p") else { continue };
        let (distance, _) = near.distance_of(DocRef::Tree(&document), &free).unwrap().unwrap();
        let mut cell = Some(found.cells[0]);
        while let Some(held) = cell {
            let (least, most) = near.bounds(&space, held);
            assert!(least <= distance && distance <= most + 1e-6, "{least} {distance} {most}");
            let (first, last) = held.range();
            assert!((first..=last).contains(&found.cells[0].0));
            cell = held.parent();
            if let Some(parent) = cell {
                assert!(parent.children().contains(&held));
            }
        }
    }
}

#[test]
fn work_is_counted_before_it_is_done() {
    // Lines up and down beside each other, which do not touch.
    let zigzag = |south: f64| {
        let step = |place: u32| at(f64::from(place) * 0.001, south + 10. * f64::from(place % 2));
        let points = (0..3_000).map(step).collect();
        doc! { "type": "LineString", "coordinates": Value::Array(points) }
    };
    let line = Region::Shape(shape_of(&zigzag(0.)));
    let test = GeoTest::new(GeoPredicate::Intersects, line);
    let spent = std::cell::Cell::new(0);
    let meter = |units: usize| {
        spent.set(spent.get() + units);
        let stopped = || evaluation::Error::new(evaluation::Kind::Stopped, 50, "stopped");
        if spent.get() < 1_000_000 { Ok(()) } else { Err(stopped()) }
    };
    let other = Value::from(zigzag(10.01));
    assert_eq!(test.meets(other.as_ref(), &meter).unwrap_err().number, 50);
    assert!(spent.get() < 1_100_000, "{}", spent.get());
}
