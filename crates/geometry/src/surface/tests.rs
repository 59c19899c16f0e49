//! Distances, areas and predicates against known values, other computations and simple cases.

use document::{Value, doc, json};

use super::*;
use crate::FlatRegion;

fn free(_: usize) -> Result<(), Error> {
    Ok(())
}

/// Parses a geometry whose quotes are single.
fn parse(text: &str, surface: Surface) -> Result<Geometry, String> {
    let value = json::parse(text.replace('\'', "\"").as_bytes(), 9).unwrap();
    parse_value(&value, surface)
}

fn parse_value(value: &Value, surface: Surface) -> Result<Geometry, String> {
    Geometry::parse(value.as_ref(), surface, &free).map_err(|refusal| match refusal {
        Refusal::Invalid(reason) => reason,
        Refusal::Ended(error) => error.to_string(),
    })
}

fn on_earth(kind: &str, coordinates: &str) -> Geometry {
    let text = format!("{{'type':'{kind}','coordinates':{coordinates}}}");
    parse(&text, Surface::Earth).unwrap_or_else(|reason| panic!("{text}: {reason}"))
}

fn point(lng: f64, lat: f64) -> Geometry {
    on_earth("Point", &format!("[{lng},{lat}]"))
}

fn is_near(got: f64, want: f64, by: f64) {
    assert!((got - want).abs() <= by, "{got} instead of {want}");
}

const SQUARE: &str = "[[[0,0],[10,0],[10,10],[0,10],[0,0]]]";
const CLOCKWISE: &str = "[[[0,0],[0,10],[10,10],[10,0],[0,0]]]";
const EARTH_M2: f64 = 510_065_621_724_088.44;

#[test]
fn distances_are_those_of_the_ellipsoid() {
    for (a, b, want) in [
        ((0., 0.), (0., 1.), 110_574.388_557_8),
        ((0., 0.), (1., 0.), 111_319.490_793_3),
        ((0., 90.), (50., -90.), 20_003_931.458_6),
        ((0., 0.), (180., 0.), 20_003_931.458_6),
        ((180., 10.), (-180., 10.), 0.),
        ((7., 90.), (-80., 90.), 0.),
    ] {
        let got = point(a.0, a.1).distance(&point(b.0, b.1), &free).unwrap();
        is_near(got, want, 1e-3);
    }
    let line = on_earth("LineString", "[[0,0],[1,0]]");
    is_near(point(0.5, 1.).distance(&line, &free).unwrap(), 110_574.388_557_8, 1e-3);
    is_near(line.distance(&point(2., 0.), &free).unwrap(), 111_319.490_793_3, 1e-3);
    let square = on_earth("Polygon", SQUARE);
    assert_eq!(point(5., 5.).distance(&square, &free).unwrap(), 0.);
    is_near(point(5., -1.).distance(&square, &free).unwrap(), 110_574.388_557_8, 1e-3);
}

#[test]
fn nearest_points_of_edges_are_found() {
    let mut random = fastrand::Rng::with_seed(43);
    for _ in 0..100 {
        let mut place =
            || FlatPoint { x: random.f64() * 360. - 180., y: random.f64() * 178. - 89. };
        let (from, a) = (place(), place());
        let b = if random.bool() {
            FlatPoint { x: random.f64() * 360. - 180., y: random.f64() * 178. - 89. }
        } else {
            FlatPoint { x: (a.x + 3.).min(180.), y: (a.y + 2.).min(90.) }
        };
        let got = earth::distance_of_edges(&[(from, from)], &[(a, b)]);
        // The ellipse between the ends, in steps.
        let (start, end) = (earth::vector_of(a), earth::vector_of(b));
        let steps = 2_000;
        let least = (0..=steps)
            .map(|step| {
                let part = f64::from(step) / f64::from(steps);
                let middle = (start * (1. - part) + end * part).unit();
                earth::distance(from, earth::position_of(middle))
            })
            .fold(f64::INFINITY, f64::min);
        // Steps of long edges are long.
        let step = if start.angle(end) < 0.1 { 200. } else { 20_000. };
        let is_near = got <= least * (1. + 2e-5) + 1. && least <= got * (1. + 2e-5) + step;
        assert!(is_near, "{from:?} {a:?} {b:?}: {got} {least}");
    }
}

#[test]
fn areas_have_holes_and_orientation() {
    let documented = "[[[31.8,-5],[32,-5],[32,-4.7],[31.8,-4.7],[31.8,-5]]]";
    is_near(on_earth("Polygon", documented).area(&free).unwrap(), 735_970_283.05, 10.);
    let square = on_earth("Polygon", SQUARE).area(&free).unwrap();
    let other = on_earth("Polygon", CLOCKWISE).area(&free).unwrap();
    is_near(square + other, EARTH_M2, 1e3);
    let holed = "[[[0,0],[10,0],[10,10],[0,10],[0,0]],[[4,4],[6,4],[6,6],[4,6],[4,4]]]";
    let hole = on_earth("Polygon", "[[[4,4],[6,4],[6,6],[4,6],[4,4]]]").area(&free).unwrap();
    is_near(on_earth("Polygon", holed).area(&free).unwrap(), square - hole, 1.);
    assert_eq!(point(1., 1.).area(&free).unwrap(), 0.);
    let flat = format!("{{'type':'Polygon','coordinates':{CLOCKWISE}}}");
    assert_eq!(parse(&flat, Surface::Plane).unwrap().area(&free).unwrap(), 100.);
}

#[test]
fn edges_intersect_and_are_not_within() {
    let square = on_earth("Polygon", SQUARE);
    for (kind, coordinates, is_within, intersects) in [
        ("Point", "[5,5]", true, true),
        ("Point", "[0,5]", false, true),
        ("Point", "[0,0]", false, true),
        ("Point", "[-1,5]", false, false),
        ("LineString", "[[1,1],[9,9]]", true, true),
        ("LineString", "[[0,1],[0,9]]", false, true),
        ("LineString", "[[0,1],[10,9]]", true, true),
        ("LineString", "[[5,5],[15,5]]", false, true),
        ("Polygon", SQUARE, true, true),
        ("Polygon", "[[[2,2],[3,2],[3,3],[2,2]]]", true, true),
        ("Polygon", "[[[2,2],[30,2],[30,3],[2,2]]]", false, true),
        ("Polygon", "[[[20,2],[30,2],[30,3],[20,2]]]", false, false),
        ("MultiPolygon", "[[[[2,2],[3,2],[3,3],[2,2]]],[[[5,5],[6,5],[6,6],[5,5]]]]", true, true),
    ] {
        let shape = on_earth(kind, coordinates);
        assert_eq!(shape.is_within(&square, &free).unwrap(), is_within, "{kind} {coordinates}");
        assert_eq!(shape.intersects(&square, &free).unwrap(), intersects, "{kind} {coordinates}");
        assert_eq!(square.intersects(&shape, &free).unwrap(), intersects, "{kind} {coordinates}");
    }
    let line = on_earth("LineString", "[[0,0],[10,0]]");
    for (lng, want) in [(5., true), (0., false), (11., false)] {
        assert_eq!(point(lng, 0.).is_within(&line, &free).unwrap(), want, "{lng}");
    }
    assert!(point(1., 1.).is_within(&point(1., 1.), &free).unwrap());
    assert!(!line.is_within(&point(0., 0.), &free).unwrap());
    assert!(!square.is_within(&line, &free).unwrap());
}

#[test]
fn clockwise_rings_enclose_everything_else() {
    let outside = on_earth("Polygon", CLOCKWISE);
    for (lng, lat, want) in
        [(5., 5., false), (-5., 5., true), (-175., -5., true), (0., 90., true), (95., 5., true)]
    {
        assert_eq!(point(lng, lat).is_within(&outside, &free).unwrap(), want, "{lng} {lat}");
    }
    let several = "[[[[20,20],[20,21],[21,21],[21,20],[20,20]]]]";
    let several = on_earth("MultiPolygon", several);
    assert!(several.is_within(&several, &free).unwrap());
}

#[test]
fn points_in_polygons_of_the_plane_are_found() {
    let mut random = fastrand::Rng::with_seed(7);
    let mut inside = 0;
    for _ in 0..300 {
        let scale = 10_f64.powi(random.i32(-6..150));
        let corners = random.usize(3..9);
        // A star around its centre does not cross itself.
        let ring: Vec<FlatPoint> = (0..corners)
            .map(|at| {
                let angle = std::f64::consts::TAU * at as f64 / corners as f64;
                let radius = scale * (0.2 + random.f64());
                FlatPoint { x: radius * angle.cos(), y: radius * angle.sin() }
            })
            .collect();
        let pair = |point: FlatPoint| Value::Array(vec![point.x.into(), point.y.into()]);
        let closed = ring.iter().chain(ring.first()).map(|point| pair(*point)).collect();
        let polygon: Value =
            doc! { "type": "Polygon", "coordinates": Value::Array(vec![Value::Array(closed)]) }
                .into();
        let polygon = parse_value(&polygon, Surface::Plane).unwrap();
        let at =
            FlatPoint { x: scale * (random.f64() * 2. - 1.), y: scale * (random.f64() * 2. - 1.) };
        let value: Value = doc! { "type": "Point", "coordinates": pair(at) }.into();
        let value = parse_value(&value, Surface::Plane).unwrap();
        let want = FlatRegion::Polygon(ring).contains(at, &free).unwrap();
        assert_eq!(value.is_within(&polygon, &free).unwrap(), want, "{at:?} {polygon:?}");
        assert_eq!(value.distance(&polygon, &free).unwrap() == 0., want);
        inside += usize::from(want);
    }
    assert!((50..250).contains(&inside), "{inside}");
}

#[test]
fn distances_in_the_plane() {
    let parse = |text: &str| parse(text, Surface::Plane).unwrap();
    let line = parse("{'type':'LineString','coordinates':[[0,0],[100,0]]}");
    let at = parse("{'type':'Point','coordinates':[50,300]}");
    assert_eq!(at.distance(&line, &free).unwrap(), 300.);
    let beside = parse("{'type':'Point','coordinates':[103,4]}");
    assert_eq!(line.distance(&beside, &free).unwrap(), 5.);
    let other = parse("{'type':'LineString','coordinates':[[0,2],[100,1]]}");
    assert_eq!(line.distance(&other, &free).unwrap(), 1.);
}

#[test]
fn invalid_geometries_have_a_reason() {
    for (kind, coordinates, reason) in [
        ("Point", "[0,90.1]", "Latitude values must be between -90 and 90 degrees."),
        ("Point", "[180.1,0]", "Longitude values must be between -180 and 180 degrees."),
        ("Point", "[1]", "A position of the Point"),
        ("Point", "['a',1]", "A position of the Point"),
        ("Point", "{'x':1,'y':1}", "A position of the Point"),
        ("Circle", "[1,1]", "The type of the GeoJSON object"),
        ("LineString", "[]", "The coordinates of the LineString"),
        ("LineString", "[[1,1],[1,1]]", "does not have enough distinct points. A LineString"),
        ("LineString", "[[0,0],[180,0]]", "antipodal"),
        ("Polygon", "[]", "The coordinates of the Polygon"),
        ("Polygon", "[1]", "A ring of the Polygon"),
        (
            "Polygon",
            "[[[31.8,-5],[31.8,-4.7],[32,-4.7],[32,-5]]]",
            "The Polygon input is not valid because the start and end points of the ring number 1 \
             are not the same. Each ring of a polygon must have the same start and end points.",
        ),
        ("Polygon", "[[[0,0],[1,1],[0,0]]]", "ring number 1 does not have enough distinct points"),
        ("Polygon", "[[[0,0],[2,2],[2,0],[0,2],[0,0]]]", "intersects itself"),
        (
            "Polygon",
            "[[[0,0],[9,0],[9,9],[0,0]],[[20,0],[21,0],[21,1],[20,0]]]",
            "ring (2) lies outside",
        ),
        (
            "Polygon",
            "[[[0,0],[9,0],[9,9],[0,9],[0,0]],[[1,1],[8,1],[8,8],[1,1]],[[4,2],[5,2],[5,3],[4,2]]]",
            "ring (3) lies inside another interior ring",
        ),
        (
            "MultiPolygon",
            "[[[[0,0],[9,0],[9,9],[0,0]]],[[[4,1],[5,1],[5,2],[4,1]]]]",
            "is in the interior of another polygon",
        ),
        (
            "MultiPolygon",
            "[[[[0,0],[9,0],[9,9],[0,0]]],[[[8,1],[12,1],[12,2],[8,1]]]]",
            "is in the interior of another polygon",
        ),
    ] {
        let text = format!("{{'type':'{kind}','coordinates':{coordinates}}}");
        let got = parse(&text, Surface::Earth).unwrap_err();
        assert!(got.contains(reason), "{text}: {got}");
    }
    assert!(parse("1", Surface::Earth).is_err());
    assert!(parse("{'type':'Point','coordinates':[1e300,-500]}", Surface::Plane).is_ok());
    let touching = "[[[[0,0],[1,0],[1,1],[0,0]]],[[[1,1],[2,1],[2,2],[1,1]]]]";
    on_earth("MultiPolygon", touching);
}

#[test]
fn too_many_points_are_invalid_and_checks_are_charged() {
    let ring = |len: usize| {
        let at = |step: usize| {
            let angle = std::f64::consts::TAU * step as f64 / len as f64;
            Value::Array(vec![(angle.cos() * 10.).into(), (angle.sin() * 10.).into()])
        };
        let points = (0..len).chain([0]).map(at).collect();
        doc! { "type": "Polygon", "coordinates": Value::Array(vec![Value::Array(points)]) }.into()
    };
    let reason = parse_value(&ring(4_096), Surface::Earth).unwrap_err();
    assert!(reason.contains("more than 4096 points"), "{reason}");
    let value: Value = ring(4_095);
    let spent = std::cell::Cell::new(0_usize);
    let meter = |units: usize| {
        spent.set(spent.get() + units);
        Ok(())
    };
    Geometry::parse(value.as_ref(), Surface::Earth, &meter).unwrap();
    assert!(100_000 < spent.get(), "{}", spent.get());
    let end = |_: usize| Err(Error::new(evaluation::Kind::TooLarge, 1, "too much"));
    let ended = Geometry::parse(value.as_ref(), Surface::Earth, &end).unwrap_err();
    assert!(matches!(ended, Refusal::Ended(_)));
}
