//! Searches by distance in compound indexes whose fields before the geometry have ranges.

use document::{Document, Value, array, doc};

use super::{examined, fill_grid, ids, index, insert, name_of, near, point, set, sphere, stage};
use crate::client::{Client, number};
use crate::replies::{good, refused};

fn with(mut filter: Document, more: Document) -> Document {
    more.into_iter().for_each(|(name, value)| filter.push(name, value));
    filter
}

#[tokio::test]
async fn ranges_before_the_geometry_are_served() {
    let mut client = Client::new();
    let places = fill_grid(&mut client).await;
    good(&mut client, sphere()).await;
    let filter =
        with(near(179.3, 0.2, doc! {}), doc! { "_id": doc! { "$gte": 150, "$lt": 9_020 } });
    let want = ids(&mut client, filter.clone(), doc! {}).await;
    assert!(500 < want.len() && want.len() < places.len());
    good(&mut client, doc! { "dropIndexes": "c", "index": "x" }).await;
    for key in [
        doc! { "_id": 1, "p": "2dsphere" },
        doc! { "_id": -1, "even": 1, "p": "2dsphere" },
        doc! { "_id": 1, "missing": -1, "p": "2dsphere", "even": 1 },
    ] {
        good(&mut client, index(key.clone(), doc! {})).await;
        let shown = stage(&mut client, filter.clone()).await;
        assert_eq!(name_of(&shown), "GEO_NEAR_2DSPHERE");
        assert_eq!(shown.get("keyPattern"), Some(&Value::from(key.clone())));
        assert_eq!(ids(&mut client, filter.clone(), doc! {}).await, want, "{key:?}");
        let few = ids(&mut client, filter.clone(), doc! { "limit": 7 }).await;
        assert_eq!(few, want[..7], "{key:?}");
        let all = with(near(179.3, 0.2, doc! {}), doc! { "_id": doc! { "$gte": 0 } });
        assert_eq!(ids(&mut client, all, doc! {}).await.len(), places.len());
        // A condition on a later field only does not choose the index.
        let later = with(near(0.0, 0.0, doc! {}), doc! { "even": true });
        refused(&mut client, doc! { "find": "c", "filter": later }, 291).await;
        good(&mut client, doc! { "dropIndexes": "c", "index": "x" }).await;
    }
}

#[tokio::test]
async fn prefixes_with_many_entries_are_searched_by_their_cells() {
    let mut client = Client::new();
    let places = fill_grid(&mut client).await;
    let even = |ranged: Document| with(near(179.3, 0.2, doc! {}), doc! { "even": ranged });
    good(&mut client, sphere()).await;
    let all = ids(&mut client, near(179.3, 0.2, doc! {}), doc! {}).await;
    good(&mut client, doc! { "dropIndexes": "c", "index": "x" }).await;
    for descending in [1, -1] {
        good(&mut client, index(doc! { "even": descending, "p": "2dsphere" }, doc! {})).await;
        for (range, want) in [
            (doc! { "$gte": false }, all.clone()),
            (doc! { "$in": array![true, false, 7] }, all.clone()),
            (doc! { "$gt": false }, all.iter().copied().filter(|id| id % 2 == 0).collect()),
        ] {
            assert_eq!(ids(&mut client, even(range.clone()), doc! {}).await, want, "{range:?}");
            let (keys, documents) = examined(&mut client, even(range.clone()), 5).await;
            assert!(documents < 30 && keys < 200, "{range:?}: {keys} {documents}");
            assert!(200 < places.len() / 2);
        }
        // The regions of such an index need an equality.
        let circle = doc! { "$centerSphere": array![array![179.3, 0.2], 0.001] };
        let within = doc! { "p": doc! { "$geoWithin": circle } };
        let ranged = with(within.clone(), doc! { "even": doc! { "$gte": false } });
        assert_eq!(name_of(&stage(&mut client, ranged.clone()).await), "COLLSCAN");
        let natural = doc! { "hint": doc! { "$natural": 1 } };
        assert_eq!(
            set(&mut client, ranged, doc! {}).await,
            set(&mut client, within, natural).await
        );
        good(&mut client, doc! { "dropIndexes": "c", "index": "x" }).await;
    }
}

#[tokio::test]
async fn few_prefixes_in_a_range_are_read_instead_of_the_whole_collection() {
    let mut client = Client::new();
    fill_grid(&mut client).await;
    good(&mut client, index(doc! { "_id": 1, "p": "2dsphere" }, doc! {})).await;
    let filter = with(near(179.3, 0.2, doc! {}), doc! { "_id": doc! { "$gt": 300, "$lte": 310 } });
    let (keys, documents) = examined(&mut client, filter.clone(), 100).await;
    assert_eq!((keys, documents), (10, 10));
    // An entry that is too far away does not lead to its document.
    let nowhere =
        with(near(-20.0, 50.0, doc! { "$maxDistance": 9 }), doc! { "_id": doc! { "$gt": 300 } });
    assert_eq!(examined(&mut client, nowhere, 100).await.1, 0);
    // An index that needs no range is preferred.
    let plain = doc! { "key": doc! { "p": "2dsphere" }, "name": "plain" };
    good(&mut client, doc! { "createIndexes": "c", "indexes": array![plain] }).await;
    let wide = with(near(179.3, 0.2, doc! {}), doc! { "_id": doc! { "$gte": 0 } });
    let key = Value::from(doc! { "p": "2dsphere" });
    assert_eq!(stage(&mut client, wide).await.get("keyPattern"), Some(&key));
}

#[tokio::test]
async fn entries_of_all_forms_lie_in_ranges() {
    let mut client = Client::new();
    let long = "k".repeat(5_000);
    let kinds = [
        Value::from(1),
        array![1, 4],
        Value::from("a"),
        Value::from("B"),
        Value::from(long.as_str()),
        Value::Null,
    ];
    let mut rows = Vec::new();
    for id in 0..300_i64 {
        let mut row = doc! { "_id": id, "q": point(1.0, 1.0) };
        if id % 5 != 0 {
            row.push("p", point(id as f64 / 10.0, 0.0));
        }
        if let Some(kind) = kinds.get(id as usize % 7) {
            row.push("k", kind.clone());
        }
        rows.push(row);
    }
    good(&mut client, sphere()).await;
    insert(&mut client, rows).await;
    let filters = [
        doc! { "k": doc! { "$gte": 1 } },
        doc! { "k": doc! { "$gt": 1, "$lt": 5 } },
        doc! { "k": doc! { "$gte": "a" } },
        doc! { "k": doc! { "$lt": "c" } },
        doc! { "k": doc! { "$in": array![1, "a", 4, Value::Null] } },
        doc! { "k": doc! { "$ne": 1 } },
        doc! { "k": doc! { "$gt": long.as_str() } },
    ];
    let mut wanted = Vec::new();
    for filter in &filters {
        let filter = with(near(7.0, 0.0, doc! { "$minDistance": 1_000 }), filter.clone());
        wanted.push(ids(&mut client, filter, doc! {}).await);
    }
    good(&mut client, doc! { "dropIndexes": "c", "index": "x" }).await;
    let loose = doc! { "collation": doc! { "locale": "en", "strength": 2 } };
    for (key, more) in [
        (doc! { "k": 1, "p": "2dsphere", "q": "2dsphere" }, doc! {}),
        (doc! { "k": -1, "p": "2dsphere" }, doc! {}),
        (doc! { "k": 1, "_id": -1, "p": "2dsphere" }, loose.clone()),
    ] {
        let collated = more.get("collation").is_some();
        good(&mut client, index(key.clone(), more)).await;
        for (filter, want) in filters.iter().zip(&wanted) {
            let filter = with(near(7.0, 0.0, doc! { "$minDistance": 1_000 }), filter.clone());
            if !collated {
                assert_eq!(ids(&mut client, filter, doc! {}).await, *want, "{key:?}");
            }
        }
        if collated {
            let texts = with(near(7.0, 0.0, doc! {}), doc! { "k": doc! { "$gt": "A" } });
            let found = ids(&mut client, texts, loose.clone()).await;
            let has_text = |id: &i64| [3, 4].contains(&(id % 7)) && id % 5 != 0;
            assert_eq!(found.len(), (0..300).filter(has_text).count(), "{found:?}");
        }
        good(&mut client, doc! { "dropIndexes": "c", "index": "x" }).await;
    }
}

#[tokio::test]
async fn documents_in_ranges_expire_at_their_instant() {
    let mut client = Client::new();
    let system = array![doc! { "key": doc! { "_ts": 1 }, "name": "t", "expireAfterSeconds": -1 }];
    good(&mut client, doc! { "createIndexes": "c", "indexes": system }).await;
    good(&mut client, index(doc! { "k": 1, "p": "2dsphere" }, doc! {})).await;
    // The first group is found by its cells, the others by their entries.
    let rows = (0..300).map(|id| {
        let kind = if id < 200 { 0 } else { id };
        let mut row = doc! { "_id": id, "k": kind, "p": point(f64::from(id) / 10.0, 0.0) };
        if id % 2 == 0 {
            row.push("ttl", 10);
        }
        row
    });
    insert(&mut client, rows.collect()).await;
    let ranged = || with(near(0.0, 0.0, doc! {}), doc! { "k": doc! { "$gte": 0 } });
    let find = doc! { "find": "c", "filter": ranged(), "batchSize": 2 };
    let reply = good(&mut client, find).await;
    let cursor = crate::client::cursor_id(&reply);
    let advance = |seconds: f64| doc! { "ebbClock": 1, "advanceSeconds": seconds, "$db": "admin" };
    assert_eq!(number(&client.run(advance(9.999)).await, "ok"), 1);
    assert_eq!(ids(&mut client, ranged(), doc! {}).await, (0..300).collect::<Vec<i64>>());
    assert_eq!(number(&client.run(advance(0.001)).await, "ok"), 1);
    let odd: Vec<i64> = (0..150).map(|id| 2 * id + 1).collect();
    assert_eq!(ids(&mut client, ranged(), doc! {}).await, odd);
    let more = doc! { "getMore": cursor, "collection": "c", "batchSize": 1_000 };
    let more = good(&mut client, more).await;
    let Some(Value::Array(rest)) = crate::client::cursor(&more).get("nextBatch").cloned() else {
        panic!("{more:?}")
    };
    assert_eq!(rest.len(), 149);
}
