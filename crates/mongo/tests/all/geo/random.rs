//! Random geometries, many of them at a pole or the antimeridian: an index finds what a scan finds.
//! The scan for a search by distance is made here, since the server makes such a search with an index
//! only.

use document::{DocRef, Document, Value, array, doc};
use fastrand::Rng;
use geometry::{Checks, FlatPoint, Metric, Near, parse_geojson};

use super::{ids, index, insert, name_of, set, sphere, stage};
use crate::client::Client;
use crate::replies::good;

/// Radius of the Earth in metres.
const EARTH: f64 = 6_378_100.0;

fn spread(random: &mut Rng, width: f64) -> f64 {
    (random.f64() - 0.5) * width
}

/// Returns a longitude and a latitude.
fn place(random: &mut Rng) -> (f64, f64) {
    match random.u8(0..8) {
        0 | 1 => (spread(random, 360.0), spread(random, 180.0)),
        2 => (179.99 + spread(random, 0.02), spread(random, 2.0)),
        3 => (-179.99 + spread(random, 0.02), spread(random, 2.0)),
        4 => (spread(random, 360.0), 89.9 + spread(random, 0.2)),
        5 => (spread(random, 360.0), -89.9 + spread(random, 0.2)),
        6 => (10.0 + spread(random, 4.0), 50.0 + spread(random, 4.0)),
        _ => *random.choice(&[(180.0, 0.0), (-180.0, 0.5), (0.0, 90.0), (77.0, -90.0)]).unwrap(),
    }
}

fn wrapped(lng: f64) -> f64 {
    (lng + 540.0).rem_euclid(360.0) - 180.0
}

/// Returns a GeoJSON object of any type, which may be invalid.
fn shape(random: &mut Rng) -> Document {
    let (lng, lat) = place(random);
    let mut size = 10_f64.powi(random.i32(-4..2));
    if 80.0 < lat.abs() {
        size = size.min(0.05);
    }
    let moved = |x: f64, y: f64| -> Value {
        array![wrapped(lng + x * size), (lat + y * size).clamp(-90.0, 90.0)]
    };
    let ring = |at: f64, by: f64| -> Value {
        let corners = [(0.0, 0.0), (1.0, 0.1), (1.2, 0.9), (0.2, 1.0), (0.0, 0.0)];
        corners.iter().map(|(x, y)| moved(at + by * x, at + by * y)).collect::<Vec<_>>().into()
    };
    let (kind, coordinates) = match random.u8(0..8) {
        0 | 1 => ("Point", array![lng, lat]),
        2 => ("LineString", array![moved(0.0, 0.0), moved(1.0, 0.3), moved(0.4, -0.8)]),
        3 => ("MultiPoint", array![moved(0.0, 0.0), moved(9.0, 5.0)]),
        4 => ("Polygon", array![ring(0.0, 1.0), ring(0.3, 0.3)]),
        5 => ("MultiPolygon", array![array![ring(0.0, 1.0)], array![ring(3.0, 0.5)]]),
        6 => ("MultiLineString", array![array![moved(0.0, 0.0), moved(-1.0, 2.0)]]),
        _ => ("Polygon", array![ring(0.0, 1.0)]),
    };
    doc! { "type": kind, "coordinates": coordinates }
}

/// Returns a GeoJSON object that may be stored.
fn valid_shape(random: &mut Rng) -> Document {
    loop {
        let shape = shape(random);
        if parse_geojson(DocRef::Tree(&shape), Checks::All).is_ok() {
            return shape;
        }
    }
}

fn kind_of(shape: &Document) -> &str {
    shape.get("type").unwrap().as_ref().as_str().unwrap()
}

/// Returns the ids of the documents within the distances, nearest first.
fn scan(rows: &[Document], near: &Near) -> Vec<i64> {
    assert!(near.bind("p"));
    let mut found = Vec::new();
    for row in rows {
        let distance = near.distance_of(DocRef::Tree(row), &|_| Ok(())).unwrap();
        if let Some((distance, _)) = distance.filter(|(distance, _)| near.includes(*distance)) {
            found.push((distance, crate::client::number(row, "_id")));
        }
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    found.into_iter().map(|(_, id)| id).collect()
}

/// Returns the range of distances of a search, up to a whole one.
fn distances(random: &mut Rng, whole: f64) -> (f64, f64) {
    let mut part = || match random.u8(0..4) {
        0 => whole * random.f64(),
        _ => whole * 10_f64.powi(random.i32(-6..0)),
    };
    let (a, b) = (part(), part());
    match random.u8(0..3) {
        0 => (0.0, f64::INFINITY),
        1 => (0.0, b),
        _ => (a.min(b), a.max(b)),
    }
}

fn with_distances(mut near: Document, (min, max): (f64, f64)) -> Document {
    if 0.0 < min {
        near.push("$minDistance", min);
    }
    if max.is_finite() {
        near.push("$maxDistance", max);
    }
    near
}

/// Checks that an index finds what a scan finds; returns the number of documents.
async fn compare(client: &mut Client, filter: &Document) -> usize {
    let by_index = set(client, filter.clone(), doc! {}).await;
    let by_scan = set(client, filter.clone(), doc! { "hint": doc! { "$natural": 1 } }).await;
    assert_eq!(by_index, by_scan, "{filter:?}");
    by_scan.len()
}

#[tokio::test]
async fn regions_of_the_sphere() {
    let mut random = Rng::with_seed(431);
    let mut client = Client::new();
    good(&mut client, sphere()).await;
    let rows = (0..400).map(|id| doc! { "_id": id, "p": valid_shape(&mut random) });
    insert(&mut client, rows.collect()).await;
    let mut met = 0;
    for round in 0..300 {
        let test = match round % 3 {
            0 => {
                let (lng, lat) = place(&mut random);
                let radius = match random.u8(0..8) {
                    0 => 4.0 * random.f64(),
                    _ => 10_f64.powi(random.i32(-6..1)),
                };
                doc! { "$geoWithin": doc! { "$centerSphere": array![array![lng, lat], radius] } }
            }
            1 => doc! { "$geoIntersects": doc! { "$geometry": valid_shape(&mut random) } },
            _ => {
                let mut region = valid_shape(&mut random);
                while !kind_of(&region).contains("Polygon") {
                    region = valid_shape(&mut random);
                }
                let is_ring = match region.get("coordinates") {
                    Some(Value::Array(rings)) => rings.len() == 1,
                    _ => false,
                };
                if is_ring && kind_of(&region) == "Polygon" && random.u8(0..3) == 0 {
                    // The side to the left of the ring, which may be the larger one.
                    let name = "urn:x-mongodb:crs:strictwinding:EPSG:4326";
                    let properties = doc! { "name": name };
                    region.push("crs", doc! { "type": "name", "properties": properties });
                }
                doc! { "$geoWithin": doc! { "$geometry": region } }
            }
        };
        let filter = doc! { "p": test };
        met += compare(&mut client, &filter).await;
        if round < 3 {
            assert_eq!(name_of(&stage(&mut client, filter).await), "IXSCAN");
        }
    }
    assert!(3_000 < met, "{met}");
}

#[tokio::test]
async fn distances_on_the_sphere() {
    let mut random = Rng::with_seed(432);
    let mut client = Client::new();
    good(&mut client, sphere()).await;
    let row = |id: i64, random: &mut Rng| {
        let (lng, lat) = place(random);
        match random.u8(0..8) {
            0 => doc! { "_id": id, "k": id % 7, "p": array![lng, lat] },
            // Several geometries have the distance of the nearest one.
            1 => {
                let parts = array![valid_shape(random), valid_shape(random)];
                let all = doc! { "type": "GeometryCollection", "geometries": parts };
                doc! { "_id": id, "k": array![id % 7, id % 7 + 1], "p": all }
            }
            2 => doc! { "_id": id, "k": id % 7 },
            _ => doc! { "_id": id, "k": id % 7, "p": valid_shape(random) },
        }
    };
    let rows: Vec<Document> = (0..400).map(|id| row(id, &mut random)).collect();
    insert(&mut client, rows.clone()).await;
    let compound = doc! { "key": doc! { "k": 1, "p": "2dsphere" }, "name": "compound" };
    good(&mut client, doc! { "createIndexes": "c", "indexes": array![compound] }).await;
    let mut met = 0;
    for round in 0..240 {
        let (lng, lat) = place(&mut random);
        let centre = FlatPoint { x: lng, y: lat };
        let (metric, whole) = match round % 2 {
            0 => (Metric::Metres, EARTH * 3.2),
            _ => (Metric::Radians, 3.2),
        };
        let range = distances(&mut random, whole);
        let near = match metric {
            Metric::Metres => {
                let point = doc! { "type": "Point", "coordinates": array![lng, lat] };
                doc! { "$near": with_distances(doc! { "$geometry": point }, range) }
            }
            _ => with_distances(doc! { "$nearSphere": array![lng, lat] }, range),
        };
        let mut filter = doc! { "p": near };
        let mut want = scan(&rows, &Near::new(Some("p"), centre, metric, range.0, range.1));
        if round % 3 == 0 {
            let least = random.i64(0..7);
            filter.push("k", doc! { "$gte": least });
            let scanned = set(&mut client, doc! { "k": doc! { "$gte": least } }, doc! {}).await;
            want.retain(|id| scanned.binary_search(id).is_ok());
        }
        let more = match round % 3 {
            0 => doc! { "hint": "compound" },
            _ => doc! { "hint": "x" },
        };
        let found = ids(&mut client, filter.clone(), more.clone()).await;
        assert_eq!(found, want, "{filter:?}");
        let mut few = more;
        few.push("limit", 5);
        let found = ids(&mut client, filter.clone(), few).await;
        assert_eq!(found, want[..want.len().min(5)], "{filter:?}");
        met += want.len();
    }
    assert!(10_000 < met, "{met}");
}

#[tokio::test]
async fn regions_and_distances_in_the_plane() {
    let mut random = Rng::with_seed(433);
    let mut client = Client::new();
    good(&mut client, index(doc! { "p": "2d" }, doc! { "min": -200, "max": 200 })).await;
    let pair = |random: &mut Rng| match random.u8(0..4) {
        0 => (spread(random, 400.0), spread(random, 400.0)),
        1 => (f64::from(random.i32(-3..4)), f64::from(random.i32(-3..4))),
        _ => place(random),
    };
    let row = |id: i64, random: &mut Rng| {
        let value = match random.u8(0..8) {
            0 => {
                let (a, b) = (pair(random), pair(random));
                array![array![a.0, a.1], array![b.0, b.1]]
            }
            1 => {
                let at = pair(random);
                Value::from(doc! { "x": at.0, "y": at.1 })
            }
            _ => {
                let at = pair(random);
                array![at.0, at.1]
            }
        };
        doc! { "_id": id, "p": value }
    };
    let rows: Vec<Document> = (0..400).map(|id| row(id, &mut random)).collect();
    insert(&mut client, rows.clone()).await;
    let mut met = 0;
    for round in 0..300 {
        let (a, b, c) = (pair(&mut random), pair(&mut random), pair(&mut random));
        let radius = 10_f64.powi(random.i32(-3..3));
        let region = match round % 5 {
            0 => doc! { "$box": array![array![a.0, a.1], array![b.0, b.1]] },
            1 => doc! { "$polygon": array![array![a.0, a.1], array![b.0, b.1], array![c.0, c.1]] },
            2 => doc! { "$center": array![array![a.0, a.1], radius] },
            3 => {
                let (lng, lat) = place(&mut random);
                doc! { "$centerSphere": array![array![lng, lat], radius / 100.0] }
            }
            _ => {
                let range = distances(&mut random, 300.0);
                let filter =
                    doc! { "p": with_distances(doc! { "$near": array![a.0, a.1] }, range) };
                let centre = FlatPoint { x: a.0, y: a.1 };
                let near = Near::new(Some("p"), centre, Metric::Plane, range.0, range.1);
                let want = scan(&rows, &near);
                assert_eq!(ids(&mut client, filter.clone(), doc! {}).await, want, "{filter:?}");
                met += want.len();
                continue;
            }
        };
        let filter = doc! { "p": doc! { "$geoWithin": region } };
        met += compare(&mut client, &filter).await;
        if round < 4 {
            assert_eq!(name_of(&stage(&mut client, filter).await), "IXSCAN");
        }
    }
    assert!(5_000 < met, "{met}");
}
