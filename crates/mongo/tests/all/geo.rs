//! Indexes of geometries and the operators that use them: results, their order, which
//! requests are refused, and that documents expire in them at their instant.

mod joined;
mod random;
mod ranges;

use crate::client::{Client, first_batch, number};
use crate::replies::{good, refused};
use document::{Document, Value, array, doc};

fn point(lng: f64, lat: f64) -> Document {
    doc! { "type": "Point", "coordinates": array![lng, lat] }
}

fn index(key: Document, more: Document) -> Document {
    let mut index = doc! { "key": key, "name": "x" };
    more.into_iter().for_each(|(name, value)| index.push(name, value));
    doc! { "createIndexes": "c", "indexes": array![index] }
}

fn sphere() -> Document {
    index(doc! { "p": "2dsphere" }, doc! {})
}

async fn insert(client: &mut Client, documents: Vec<Document>) {
    for chunk in documents.chunks(500) {
        let documents = chunk.iter().cloned().map(Value::Document).collect();
        good(client, doc! { "insert": "c", "documents": Value::Array(documents) }).await;
    }
}

/// Returns the ids that a find returns, in its order.
async fn ids(client: &mut Client, filter: Document, more: Document) -> Vec<i64> {
    let mut find = doc! { "find": "c", "filter": filter, "batchSize": 10_000 };
    more.into_iter().for_each(|(name, value)| find.push(name, value));
    first_batch(&good(client, find).await).iter().map(|it| number(it, "_id")).collect()
}

/// Returns the ids that a find returns, sorted.
async fn set(client: &mut Client, filter: Document, more: Document) -> Vec<i64> {
    let mut found = ids(client, filter, more).await;
    found.sort_unstable();
    found
}

/// Returns the innermost stage of the plan of a find.
async fn stage(client: &mut Client, filter: Document) -> Document {
    let find = doc! { "find": "c", "filter": filter };
    let reply = good(client, doc! { "explain": find, "verbosity": "queryPlanner" }).await;
    let inner = |of: &Document, name: &str| {
        of.get(name).and_then(|value| value.as_ref().as_document().map(|it| it.to_tree()))
    };
    let mut plan = inner(&inner(&reply, "queryPlanner").unwrap(), "winningPlan").unwrap();
    while let Some(below) = inner(&plan, "inputStage") {
        plan = below;
    }
    plan
}

/// Returns the numbers of keys and documents that a find with a limit examines.
async fn examined(client: &mut Client, filter: Document, limit: i32) -> (i64, i64) {
    let find = doc! { "find": "c", "filter": filter, "limit": limit };
    let reply = good(client, doc! { "explain": find, "verbosity": "executionStats" }).await;
    let stats = reply.get("executionStats").unwrap().as_ref().as_document().unwrap().to_tree();
    (number(&stats, "totalKeysExamined"), number(&stats, "totalDocsExamined"))
}

fn name_of(stage: &Document) -> &str {
    stage.get("stage").unwrap().as_ref().as_str().unwrap()
}

fn near(lng: f64, lat: f64, more: Document) -> Document {
    let mut near = doc! { "$geometry": point(lng, lat) };
    more.into_iter().for_each(|(name, value)| near.push(name, value));
    doc! { "p": doc! { "$near": near } }
}

/// A grid of points around the antimeridian and another one at the north pole.
async fn fill_grid(client: &mut Client) -> Vec<(i64, f64, f64)> {
    let mut places = Vec::new();
    for x in 0..40 {
        for y in 0..20 {
            let lng = 179.0 + 0.05 * f64::from(x);
            let lng = if 180.0 < lng { lng - 360.0 } else { lng };
            places.push((i64::from(x * 100 + y), lng, 0.05 * f64::from(y)));
        }
    }
    for x in 0..36 {
        places.push((9_000 + i64::from(x), 10.0 * f64::from(x) - 175.0, 89.0));
    }
    let row = |(id, lng, lat): &(i64, f64, f64)| {
        doc! { "_id": *id, "p": point(*lng, *lat), "even": id % 2 == 0 }
    };
    insert(client, places.iter().map(row).collect()).await;
    places
}

#[tokio::test]
async fn near_returns_documents_by_their_distances() {
    let mut client = Client::new();
    let places = fill_grid(&mut client).await;
    good(&mut client, sphere()).await;
    let centre = geometry::Vector::of_degrees(179.97, 0.31);
    let mut by_distance: Vec<(f64, i64)> = places
        .iter()
        .map(|(id, lng, lat)| {
            (centre.angle(geometry::Vector::of_degrees(*lng, *lat)) * 6_378_100.0, *id)
        })
        .collect();
    by_distance.sort_by(|a, b| a.0.total_cmp(&b.0));
    let want: Vec<i64> = by_distance.iter().map(|(_, id)| *id).collect();
    let found = ids(&mut client, near(179.97, 0.31, doc! {}), doc! {}).await;
    assert_eq!(found.len(), want.len());
    let distance = |id: &i64| by_distance.iter().find(|(_, held)| held == id).unwrap().0;
    assert!(found.windows(2).all(|pair| distance(&pair[0]) <= distance(&pair[1]) + 1e-6));
    let limited = ids(&mut client, near(179.97, 0.31, doc! {}), doc! { "limit": 7 }).await;
    assert_eq!(limited, found[..7]);
    let (min, max) = (by_distance[100].0 + 1e-3, by_distance[300].0 + 1e-3);
    let ring = near(179.97, 0.31, doc! { "$minDistance": min, "$maxDistance": max });
    let in_ring = |(distance, _): &&(f64, i64)| (min..=max).contains(distance);
    let mut wanted: Vec<i64> = by_distance.iter().filter(in_ring).map(|(_, id)| *id).collect();
    wanted.sort_unstable();
    assert_eq!(set(&mut client, ring, doc! {}).await, wanted);
    // Few documents are read for few results.
    let counts = examined(&mut client, near(179.97, 0.31, doc! {}), 5).await;
    assert!(counts.1 < 30, "{counts:?}");
    // Batches of one document continue where the one before has ended.
    let find = doc! { "find": "c", "filter": near(179.97, 0.31, doc! {}), "batchSize": 3 };
    let mut reply = good(&mut client, find).await;
    let mut all = first_batch(&reply);
    let cursor = crate::client::cursor_id(&reply);
    while crate::client::cursor_id(&reply) != 0 {
        let more = doc! { "getMore": cursor, "collection": "c", "batchSize": 50 };
        reply = good(&mut client, more).await;
        match crate::client::cursor(&reply).get("nextBatch").cloned() {
            Some(Value::Array(rows)) => all.extend(rows.into_iter().filter_map(|row| match row {
                Value::Document(row) => Some(row),
                _ => None,
            })),
            other => panic!("{other:?}"),
        }
    }
    let all: Vec<i64> = all.iter().map(|it| number(it, "_id")).collect();
    assert_eq!(all, found);
}

#[tokio::test]
async fn an_index_finds_what_a_scan_finds() {
    let mut client = Client::new();
    fill_grid(&mut client).await;
    let ring = array![
        array![179.9, 0.1],
        array![-179.8, 0.1],
        array![-179.8, 0.6],
        array![179.9, 0.6],
        array![179.9, 0.1]
    ];
    let polygon = doc! { "type": "Polygon", "coordinates": Value::Array(vec![ring]) };
    let within = |region: Document| doc! { "p": doc! { "$geoWithin": region } };
    let filters = [
        within(doc! { "$geometry": polygon.clone() }),
        doc! { "p": doc! { "$geoIntersects": doc! { "$geometry": polygon } } },
        doc! { "p": doc! { "$geoIntersects": doc! { "$geometry": point(179.0, 0.0) } } },
        within(doc! { "$centerSphere": array![array![180.0, 0.5], 0.004] }),
        within(doc! { "$centerSphere": array![array![0.0, 90.0], 0.02] }),
    ];
    let mut scanned = Vec::new();
    for filter in &filters {
        assert_eq!(name_of(&stage(&mut client, filter.clone()).await), "COLLSCAN");
        scanned.push(set(&mut client, filter.clone(), doc! {}).await);
    }
    assert_eq!(scanned[2], [0]);
    assert_eq!(scanned[4], (9_000..9_036).collect::<Vec<i64>>());
    good(&mut client, sphere()).await;
    for (filter, want) in filters.iter().zip(&scanned) {
        assert!(!want.is_empty() && want.len() < 400, "{filter:?}");
        assert_eq!(name_of(&stage(&mut client, filter.clone()).await), "IXSCAN");
        assert_eq!(set(&mut client, filter.clone(), doc! {}).await, *want, "{filter:?}");
    }
    let either = doc! { "$or": array![filters[2].clone(), filters[4].clone()] };
    assert_eq!(set(&mut client, either, doc! {}).await.len(), 37);
    // A region of the plane is no region of the sphere.
    let flat = within(doc! { "$box": array![array![179.0, 0.0], array![179.1, 0.1]] });
    assert_eq!(name_of(&stage(&mut client, flat.clone()).await), "COLLSCAN");
    assert_eq!(set(&mut client, flat, doc! {}).await, [0, 1, 2, 100, 101, 102, 200, 201, 202]);
}

#[tokio::test]
async fn compound_indexes_serve_equalities_before_the_geometry() {
    let mut client = Client::new();
    fill_grid(&mut client).await;
    good(&mut client, index(doc! { "even": 1, "p": "2dsphere", "q": -1 }, doc! {})).await;
    let mut filter = near(179.0, 0.0, doc! {});
    refused(&mut client, doc! { "find": "c", "filter": filter.clone() }, 291).await;
    filter.push("even", true);
    let found = ids(&mut client, filter.clone(), doc! { "limit": 3 }).await;
    assert_eq!(found[0], 0);
    assert!(found.iter().all(|id| id % 2 == 0));
    let shown = stage(&mut client, filter).await;
    assert_eq!(name_of(&shown), "GEO_NEAR_2DSPHERE");
    let key = doc! { "even": 1, "p": "2dsphere", "q": -1 };
    assert_eq!(shown.get("keyPattern"), Some(&Value::from(key)));
    let both = near(179.0, 0.0, doc! { "$maxDistance": 8_000 });
    let mut both = both;
    both.push("even", doc! { "$in": array![true, false] });
    assert_eq!(set(&mut client, both, doc! {}).await, [0, 1, 100, 101]);
}

#[tokio::test]
async fn pairs_are_points_of_the_plane() {
    let mut client = Client::new();
    good(&mut client, index(doc! { "p": "2d", "k": 1 }, doc! { "min": -500, "max": 500 })).await;
    let rows = (0..400).map(|id| {
        let (x, y) = (f64::from(id % 20) * 10.0, f64::from(id / 20) * 10.0 - 300.0);
        doc! { "_id": id, "p": array![x, y] }
    });
    insert(&mut client, rows.collect()).await;
    let more = vec![
        doc! { "_id": 900, "p": array![array![-400, -400], array![-400, 400]] },
        doc! { "_id": 901, "p": doc! { "lng": 450, "lat": 450 } },
        doc! { "_id": 902 },
    ];
    insert(&mut client, more).await;
    let near = |x: f64, y: f64, more: Document| {
        let mut near = doc! { "$near": array![x, y] };
        more.into_iter().for_each(|(name, value)| near.push(name, value));
        doc! { "p": near }
    };
    let shown = stage(&mut client, near(1.0, 1.0, doc! {})).await;
    assert_eq!(name_of(&shown), "GEO_NEAR_2D");
    let found = ids(&mut client, near(1.0, -301.0, doc! {}), doc! {}).await;
    assert_eq!((found.len(), &found[..2]), (402, [0, 1].as_slice()));
    let close = near(0.0, -300.0, doc! { "$maxDistance": 10 });
    assert_eq!(set(&mut client, close, doc! {}).await, [0, 1, 20]);
    assert_eq!(ids(&mut client, near(-399.0, 399.0, doc! {}), doc! { "limit": 1 }).await, [900]);
    let within = |region: Document| doc! { "p": doc! { "$geoWithin": region } };
    for (filter, want) in [
        (within(doc! { "$box": array![array![0, -300], array![10, -290]] }), vec![0, 1, 20, 21]),
        (within(doc! { "$center": array![array![0, -300], 10] }), vec![0, 1, 20]),
        (
            within(doc! { "$polygon": array![array![0, -300], array![20, -300], array![0, -280]] }),
            vec![0, 1, 2, 20, 21, 40],
        ),
        (within(doc! { "$box": array![array![-401, -401], array![-399, -399]] }), vec![900]),
        (within(doc! { "$center": array![array![450, 449], 1] }), vec![901]),
    ] {
        assert_eq!(name_of(&stage(&mut client, filter.clone()).await), "IXSCAN");
        assert_eq!(set(&mut client, filter.clone(), doc! {}).await, want, "{filter:?}");
        let scan = doc! { "hint": doc! { "$natural": 1 } };
        assert_eq!(set(&mut client, filter, scan).await, want);
    }
    // On the sphere, the same index measures angles.
    let sphere = doc! { "p": doc! { "$nearSphere": array![0, -70], "$maxDistance": 0.2 } };
    assert_eq!(
        set(&mut client, sphere, doc! {}).await,
        [440, 441, 442, 460, 461, 462, 463]
            .into_iter()
            .filter(|id| *id < 400)
            .collect::<Vec<i64>>()
    );
    for (row, code) in [
        (doc! { "p": array![600, 0] }, 13027),
        (doc! { "p": point(1.0, 2.0) }, 13026),
        (doc! { "p": 5 }, 13026),
    ] {
        refused(&mut client, doc! { "insert": "c", "documents": array![row] }, code).await;
    }
}

#[tokio::test]
async fn shapes_are_found_by_their_nearest_point() {
    let mut client = Client::new();
    good(&mut client, sphere()).await;
    let line = |a: (f64, f64), b: (f64, f64)| {
        doc! { "type": "LineString", "coordinates": array![array![a.0, a.1], array![b.0, b.1]] }
    };
    let ring =
        array![array![10, 10], array![20, 10], array![20, 20], array![10, 20], array![10, 10]];
    let square = doc! { "type": "Polygon", "coordinates": Value::Array(vec![ring]) };
    let rows = vec![
        doc! { "_id": 1, "p": line((-60.0, 0.0), (60.0, 0.0)) },
        doc! { "_id": 2, "p": square.clone() },
        doc! { "_id": 3, "p": point(0.0, 3.0) },
        doc! {
            "_id": 4,
            "p": doc! {
                "type": "GeometryCollection",
                "geometries": array![point(0.0, -40.0), line((0.0, 5.0), (1.0, 50.0))],
            },
        },
        doc! { "_id": 5, "p": array![0, 8] },
        doc! { "_id": 6, "p": Value::Null },
        doc! { "_id": 7 },
        doc! { "_id": 8, "p": array![] },
    ];
    insert(&mut client, rows).await;
    assert_eq!(ids(&mut client, near(0.0, 1.0, doc! {}), doc! {}).await, [1, 3, 4, 5, 2]);
    assert_eq!(ids(&mut client, near(15.0, 15.0, doc! {}), doc! { "limit": 1 }).await, [2]);
    let stage = doc! { "$geoNear": doc! {
        "near": point(15.0, 15.0), "distanceField": "d.m", "includeLocs": "at",
        "query": doc! { "_id": doc! { "$in": array![2, 5] } }, "distanceMultiplier": 0.001,
    } };
    let run = doc! { "aggregate": "c", "pipeline": array![stage], "cursor": doc! {} };
    let found = first_batch(&good(&mut client, run).await);
    assert_eq!(found.len(), 2);
    let want = doc! { "_id": 2, "p": square.clone(), "d": doc! { "m": 0.0 }, "at": square };
    assert_eq!(found[0], want);
    let far = found[1].get("d").unwrap().as_ref().as_document().unwrap().get("m");
    let far = document::Number::of(far.unwrap()).unwrap().to_f64();
    // From the edge of the square: some 6 degrees west and 8 north of its corner.
    assert!((1_640.0..1_680.0).contains(&far) || (1_800.0..1_870.0).contains(&far), "{far}");
}

#[tokio::test]
async fn geo_near_chooses_the_only_index() {
    let mut client = Client::new();
    let run = |more: Document| {
        let mut near = doc! { "near": point(0.0, 0.0), "distanceField": "d" };
        more.into_iter().for_each(|(name, value)| near.insert(name.as_str(), value));
        let pipeline = array![doc! { "$geoNear": near }, doc! { "$limit": 1 }];
        doc! { "aggregate": "c", "pipeline": pipeline, "cursor": doc! {} }
    };
    insert(&mut client, vec![doc! { "_id": 1, "p": point(0.0, 1.0), "q": point(0.0, 2.0) }]).await;
    refused(&mut client, run(doc! {}), 27).await;
    good(&mut client, sphere()).await;
    let found = first_batch(&good(&mut client, run(doc! {})).await);
    let distance = document::Number::of(found[0].get("d").unwrap().as_ref()).unwrap().to_f64();
    assert!((distance - 111_318.8).abs() < 1.0, "{distance}");
    let mut second = index(doc! { "q": "2dsphere" }, doc! {});
    second.insert("indexes", array![doc! { "key": doc! { "q": "2dsphere" }, "name": "y" }]);
    good(&mut client, second).await;
    refused(&mut client, run(doc! {}), 27).await;
    let found = first_batch(&good(&mut client, run(doc! { "key": "q" })).await);
    let distance = document::Number::of(found[0].get("d").unwrap().as_ref()).unwrap().to_f64();
    assert!((distance - 2.0 * 111_318.8).abs() < 2.0, "{distance}");
    let spherical = doc! { "near": array![0, 0], "spherical": true, "key": "q" };
    let found = first_batch(&good(&mut client, run(spherical)).await);
    let distance = document::Number::of(found[0].get("d").unwrap().as_ref()).unwrap().to_f64();
    assert!((distance - 2.0_f64.to_radians()).abs() < 1e-9, "{distance}");
    for (more, code) in [
        (doc! { "near": 1 }, 16605),
        (doc! { "distanceField": 1 }, 16606),
        (doc! { "limit": 1 }, 50858),
        (doc! { "key": "z" }, 291),
        (doc! { "near": array![0, 0], "key": "q" }, 291),
        (doc! { "query": near(0.0, 0.0, doc! {}) }, 5_626_500),
        (doc! { "nothing": 1 }, 9),
    ] {
        refused(&mut client, run(more), code).await;
    }
    let late = doc! { "aggregate": "c", "cursor": doc! {}, "pipeline": array![
        doc! { "$match": doc! {} },
        doc! { "$geoNear": doc! { "near": point(0.0, 0.0), "distanceField": "d", "key": "q" } },
    ] };
    refused(&mut client, late, 40602).await;
}

#[tokio::test]
async fn searches_by_distance_are_refused_where_nothing_is_sorted() {
    let mut client = Client::new();
    insert(&mut client, vec![doc! { "_id": 1, "p": point(0.0, 0.0) }]).await;
    let by_distance = || near(0.0, 0.0, doc! {});
    refused(&mut client, doc! { "find": "c", "filter": by_distance() }, 291).await;
    good(&mut client, sphere()).await;
    for filter in [
        doc! { "$or": array![by_distance(), doc! { "a": 1 }] },
        doc! { "$nor": array![by_distance()] },
        doc! { "a": doc! { "$elemMatch": by_distance() } },
        doc! { "p": doc! { "$not": doc! { "$near": array![0, 0] } } },
        doc! { "$and": array![by_distance(), by_distance()] },
        doc! { "p": doc! { "$gt": 1, "$near": array![0, 0] } },
        doc! { "p": doc! { "$maxDistance": 1 } },
        doc! { "p": doc! { "$near": 1 } },
        doc! { "p": doc! { "$near": doc! { "$maxDistance": 1 } } },
        doc! { "p": doc! { "$near": doc! { "$geometry": point(0.0, 0.0), "x": 1 } } },
    ] {
        refused(&mut client, doc! { "find": "c", "filter": filter }, 2).await;
    }
    for (operators, code) in [
        (doc! { "$near": array![0, 0], "$maxDistance": "x" }, 16895),
        (doc! { "$near": array![0, 0], "$maxDistance": -1 }, 16896),
        (doc! { "$near": array![0, 0], "$gt": 1 }, 34413),
        (doc! { "$near": array![0, 0, -1] }, 18522),
        (doc! { "$near": doc! { "$geometry": doc! { "type": "Polygon" } } }, 16681),
    ] {
        refused(&mut client, doc! { "find": "c", "filter": doc! { "p": operators } }, code).await;
    }
    let pipeline = array![doc! { "$match": by_distance() }];
    let run = doc! { "aggregate": "c", "pipeline": pipeline, "cursor": doc! {} };
    refused(&mut client, run, 5_626_500).await;
    let view = doc! { "create": "v", "viewOn": "c", "pipeline": array![] };
    good(&mut client, view).await;
    refused(&mut client, doc! { "find": "v", "filter": by_distance() }, 5_626_500).await;
    let counted = good(&mut client, doc! { "count": "c", "query": by_distance() }).await;
    assert_eq!(number(&counted, "n"), 1);
    let natural = doc! { "find": "c", "filter": by_distance(), "hint": doc! { "$natural": 1 } };
    refused(&mut client, natural, 291).await;
}

#[tokio::test]
async fn invalid_geometries_and_indexes_are_refused() {
    let mut client = Client::new();
    good(&mut client, sphere()).await;
    let shape = |kind: &str, coordinates: Value| doc! { "type": kind, "coordinates": coordinates };
    for value in [
        Value::from(5),
        Value::from("x"),
        array![1, "x"],
        array![200, 10],
        array![array![1, 2], array![3, 4]],
        Value::from(shape("Point", array![0, 91])),
        Value::from(shape("Line", array![0, 1])),
        Value::from(shape("LineString", array![array![0, 1]])),
        Value::from(shape("Polygon", array![array![array![0, 0], array![1, 0], array![0, 1]]])),
        Value::from(doc! {}),
    ] {
        let row = doc! { "_id": 1, "p": value };
        let insert = doc! { "insert": "c", "documents": array![row] };
        let message = refused(&mut client, insert, 16755).await;
        assert!(message.starts_with("Can't extract geo keys"), "{message}");
    }
    assert_eq!(client.all("c").await, Vec::<Document>::new());
    for (key, more, code) in [
        (doc! { "a": "2d", "b": "2d" }, doc! {}, 13022),
        (doc! { "b": 1, "a": "2d" }, doc! {}, 13023),
        (doc! { "a": "2d", "b": "2dsphere" }, doc! {}, 67),
        (doc! { "a": "2d", "b": "hashed" }, doc! {}, 67),
        (doc! { "a": "2d" }, doc! { "bits": 33 }, 13028),
        (doc! { "a": "2d" }, doc! { "min": 1, "max": 1 }, 16241),
        (doc! { "a": "2d" }, doc! { "2dsphereIndexVersion": 3 }, 72),
        (doc! { "a": "2dsphere" }, doc! { "2dsphereIndexVersion": 4 }, 67),
        (doc! { "a": "2dsphere" }, doc! { "unique": true }, 67),
        (doc! { "a": "2dsphere" }, doc! { "expireAfterSeconds": 1 }, 67),
        (doc! { "a": "2d" }, doc! { "collation": doc! { "locale": "en" } }, 67),
        (doc! { "a": 1 }, doc! { "bits": 26 }, 72),
    ] {
        refused(&mut client, index(key, more), code).await;
    }
    good(&mut client, doc! { "dropIndexes": "c", "index": "x" }).await;
    good(&mut client, index(doc! { "p": "2d", "a": 1 }, doc! { "bits": 20, "max": 200 })).await;
    let listed = first_batch(&good(&mut client, doc! { "listIndexes": "c" }).await);
    let want = doc! {
        "v": 2, "key": doc! { "p": "2d", "a": 1 }, "name": "x", "bits": 20, "max": 200,
    };
    assert_eq!(listed[1], want);
    good(&mut client, doc! { "dropIndexes": "c", "index": doc! { "p": "2d", "a": 1 } }).await;
    insert(&mut client, vec![doc! { "_id": 1, "p": "x" }]).await;
    refused(&mut client, sphere(), 16755).await;
    good(&mut client, doc! { "delete": "c", "deletes": array![doc! { "q": doc! {}, "limit": 0 }] })
        .await;
    good(&mut client, sphere()).await;
    let listed = first_batch(&good(&mut client, doc! { "listIndexes": "c" }).await);
    let want = doc! {
        "v": 2, "key": doc! { "p": "2dsphere" }, "name": "x", "2dsphereIndexVersion": 3,
    };
    assert_eq!(listed[1], want);
    for region in [
        doc! {},
        doc! { "$box": array![array![0, 0]] },
        doc! { "$polygon": array![array![0, 0], array![1, 1]] },
        doc! { "$center": array![array![0, 0], -1] },
        doc! { "$centerSphere": array![array![0, 99], 1] },
        doc! { "$geometry": point(0.0, 0.0) },
        doc! { "$sphere": 1 },
    ] {
        let filter = doc! { "p": doc! { "$geoWithin": region } };
        refused(&mut client, doc! { "find": "c", "filter": filter }, 2).await;
    }
    let flat = doc! { "$geoIntersects": doc! { "$box": array![array![0, 0], array![1, 1]] } };
    refused(&mut client, doc! { "find": "c", "filter": doc! { "p": flat } }, 2).await;
}

#[tokio::test]
async fn entries_follow_updates_and_expire_at_their_instant() {
    let mut client = Client::new();
    good(&mut client, sphere()).await;
    let system = array![doc! { "key": doc! { "_ts": 1 }, "name": "t", "expireAfterSeconds": -1 }];
    good(&mut client, doc! { "createIndexes": "c", "indexes": system }).await;
    let rows = (1..=5).map(|id| {
        let mut row = doc! { "_id": id, "p": point(f64::from(id), 0.0) };
        if id == 2 {
            row.push("ttl", 10);
        }
        row
    });
    insert(&mut client, rows.collect()).await;
    let all = || near(0.0, 0.0, doc! {});
    assert_eq!(ids(&mut client, all(), doc! {}).await, [1, 2, 3, 4, 5]);
    let moved =
        doc! { "q": doc! { "_id": 5 }, "u": doc! { "$set": doc! { "p": point(0.0, 0.5) } } };
    good(&mut client, doc! { "update": "c", "updates": array![moved] }).await;
    assert_eq!(ids(&mut client, all(), doc! {}).await, [5, 1, 2, 3, 4]);
    let find = doc! { "find": "c", "filter": all(), "batchSize": 2 };
    let reply = good(&mut client, find).await;
    let cursor = crate::client::cursor_id(&reply);
    let advance = |seconds: f64| {
        doc! { "ebbClock": 1, "advanceSeconds": seconds, "$db": "admin" }
    };
    assert_eq!(number(&client.run(advance(9.999)).await, "ok"), 1);
    assert_eq!(ids(&mut client, all(), doc! { "limit": 3 }).await, [5, 1, 2]);
    assert_eq!(number(&client.run(advance(0.001)).await, "ok"), 1);
    assert_eq!(ids(&mut client, all(), doc! { "limit": 3 }).await, [5, 1, 3]);
    let within = doc! { "p": doc! { "$geoWithin": doc! {
        "$centerSphere": array![array![2, 0], 0.001]
    } } };
    assert_eq!(ids(&mut client, within, doc! {}).await, Vec::<i64>::new());
    let more = good(&mut client, doc! { "getMore": cursor, "collection": "c" }).await;
    let Some(Value::Array(rest)) = crate::client::cursor(&more).get("nextBatch").cloned() else {
        panic!("{more:?}")
    };
    let rest: Vec<i64> = rest
        .iter()
        .map(|row| number(&row.as_ref().as_document().unwrap().to_tree(), "_id"))
        .collect();
    assert_eq!(rest, [3, 4]);
    let removed = doc! { "q": near(4.0, 0.0, doc! { "$maxDistance": 10 }), "limit": 0 };
    good(&mut client, doc! { "delete": "c", "deletes": array![removed] }).await;
    assert_eq!(ids(&mut client, all(), doc! {}).await, [5, 1, 3]);
}

#[tokio::test]
async fn a_region_with_many_vertices_is_stopped_by_the_time_limit() {
    let mut client = Client::new();
    let rows = (0..2_000).map(|id| doc! { "_id": id, "p": point(f64::from(id) * 0.001, 0.0) });
    insert(&mut client, rows.collect()).await;
    let vertex = |at: u32| {
        let angle = f64::from(at) / 50_000.0 * std::f64::consts::TAU;
        array![20.0 * angle.cos(), 20.0 * angle.sin()]
    };
    let mut ring: Vec<Value> = (0..50_000).map(vertex).collect();
    ring.push(ring[0].clone());
    let circle = doc! { "type": "Polygon", "coordinates": array![Value::Array(ring)] };
    let within = doc! { "p": doc! { "$geoWithin": doc! { "$geometry": circle } } };
    let find = |limit: i32| -> Document {
        let filter = within.clone();
        let find = doc! { "find": "c", "filter": filter, "limit": limit };
        [find, doc! { "batchSize": 10_000, "maxTimeMS": 20 }].into_iter().flatten().collect()
    };
    refused(&mut client, find(0), 50).await;
    let mut few = find(2);
    few.insert("maxTimeMS", 60_000);
    assert_eq!(first_batch(&good(&mut client, few).await).len(), 2);
}
