//! `min`, `max`, `returnKey` and `showRecordId` of a find.

use crate::client::{Client, first_batch, number};
use document::{Document, Value, array, doc};

/// Returns a client of a collection with ten documents and three indexes.
async fn client() -> Client {
    let mut client = Client::new();
    let row = |id: i32| doc! { "_id": id, "a": id / 2, "b": -id, "list": array![id, id + 100] };
    let rows: Vec<Document> = (0..10).map(row).collect();
    client.send(doc! { "insert": "c", "$db": "db" }, &[("documents", &rows)]).await;
    let indexes = array![
        doc! { "key": doc! { "a": 1, "b": -1 }, "name": "ab" },
        doc! { "key": doc! { "list": 1 }, "name": "list" },
        doc! { "key": doc! { "b": "hashed" }, "name": "hash" },
    ];
    let reply = client.run(doc! { "createIndexes": "c", "indexes": indexes, "$db": "db" }).await;
    assert_eq!(number(&reply, "numIndexesAfter"), 4, "{reply:?}");
    client
}

async fn find(client: &mut Client, more: Document) -> Document {
    let mut find = doc! { "find": "c" };
    more.into_iter().for_each(|(name, value)| find.push(name, value));
    find.push("$db", "db");
    client.run(find).await
}

async fn ids(client: &mut Client, more: Document) -> Vec<i64> {
    let reply = find(client, more.clone()).await;
    assert_eq!(number(&reply, "ok"), 1, "{more:?}: {reply:?}");
    first_batch(&reply).iter().map(|document| number(document, "_id")).collect()
}

#[tokio::test]
async fn keys_between_bounds_are_found_in_their_order() {
    let mut client = client().await;
    let ab = |a: i32, b: i32| doc! { "a": a, "b": b };
    for (more, want) in [
        (doc! { "hint": "ab", "min": ab(1, -3), "max": ab(3, -6) }, vec![3, 4, 5]),
        (doc! { "hint": "ab", "min": ab(4, 0) }, vec![8, 9]),
        (doc! { "hint": doc! { "a": 1, "b": -1 }, "max": ab(1, -3) }, vec![0, 1, 2]),
        (doc! { "hint": "ab", "min": doc! {}, "max": ab(0, -1) }, vec![0]),
        (doc! { "hint": "ab", "min": ab(1, 0), "filter": doc! { "_id": doc! { "$gt": 7 } } }, {
            vec![8, 9]
        }),
        (doc! { "hint": "ab", "min": ab(1, 0), "max": ab(2, 0), "sort": ab(-1, 1) }, vec![3, 2]),
        (doc! { "hint": "ab", "min": ab(1, 0), "max": ab(3, 0), "sort": doc! { "b": 1 } }, {
            vec![5, 4, 3, 2]
        }),
        (doc! { "hint": "ab", "min": ab(1, 0), "skip": 2, "limit": 3 }, vec![4, 5, 6]),
        (doc! { "hint": "_id_", "min": doc! { "_id": 7 } }, vec![7, 8, 9]),
        (
            doc! { "hint": doc! { "_id": 1 }, "max": doc! { "_id": 2 }, "sort": doc! { "_id": -1 } },
            { vec![1, 0] },
        ),
        // Each document once, at the first of its keys.
        (doc! { "hint": "list", "min": doc! { "list": 8 } }, vec![8, 9, 0, 1, 2, 3, 4, 5, 6, 7]),
    ] {
        assert_eq!(ids(&mut client, more.clone()).await, want, "{more:?}");
    }
    let explained = doc! { "find": "c", "hint": "ab", "min": ab(4, 0) };
    let reply = client.run(doc! { "explain": explained, "$db": "db" }).await;
    let stats = reply.get("executionStats").unwrap().as_ref().as_document().unwrap().to_tree();
    assert_eq!(number(&stats, "totalKeysExamined"), 2);
}

#[tokio::test]
async fn bounds_that_fit_no_index_are_refused() {
    let mut client = client().await;
    let a = || doc! { "a": 1 };
    let ab = |a: i32, b: i32| doc! { "a": a, "b": b };
    let long = "x".repeat(2000);
    for (more, code) in [
        (doc! { "min": ab(1, 1) }, 51173),
        (doc! { "hint": doc! { "$natural": 1 }, "min": a() }, 291),
        (doc! { "hint": "ab", "min": ab(1, 1), "sort": doc! { "$natural": 1 } }, 291),
        (doc! { "hint": "ab", "min": a() }, 51174),
        (doc! { "hint": "ab", "max": doc! { "b": 1, "a": 1 } }, 51174),
        (doc! { "hint": "hash", "max": doc! { "b": 1 } }, 51174),
        (doc! { "hint": "ab", "min": ab(2, 0), "max": ab(1, 0) }, 51175),
        (doc! { "hint": "ab", "min": ab(1, 0), "max": ab(1, 0) }, 51175),
        (doc! { "hint": "ab", "min": ab(1, 0), "max": ab(1, 1) }, 51175),
        (doc! { "hint": "_id_", "min": doc! { "_id": long } }, 2),
        (doc! { "hint": "nope", "min": a() }, 2),
        (doc! { "hint": "ab", "min": 5 }, 14),
    ] {
        let reply = find(&mut client, more.clone()).await;
        assert_eq!(number(&reply, "code"), code, "{more:?}: {reply:?}");
    }
}

#[tokio::test]
async fn keys_are_returned_alone() {
    let mut client = client().await;
    let key = || doc! { "returnKey": true };
    let with = |mut base: Document, more: Document| {
        more.into_iter().for_each(|(name, value)| base.push(name, value));
        base
    };
    for (more, want) in [
        (
            doc! { "filter": doc! { "a": 1 } },
            vec![doc! { "a": 1, "b": -2 }, doc! { "a": 1, "b": -3 }],
        ),
        (doc! { "filter": doc! { "a": 1 }, "sort": doc! { "b": 1 }, "limit": 1 }, {
            vec![doc! { "a": 1, "b": -3 }]
        }),
        // A projection has no effect.
        (doc! { "filter": doc! { "a": 0 }, "projection": doc! { "x": 1 }, "skip": 1 }, {
            vec![doc! { "a": 0, "b": -1 }]
        }),
        (doc! { "filter": doc! { "_id": 3 } }, vec![doc! { "_id": 3 }]),
        (doc! { "filter": doc! { "_id": doc! { "$gt": 8 } } }, vec![doc! { "_id": 9 }]),
        (doc! { "filter": doc! { "x": Value::Null }, "limit": 1 }, vec![doc! {}]),
        // The key by which the scan comes to the document first.
        (
            doc! { "filter": doc! { "list": doc! { "$elemMatch": doc! { "$gt": 105, "$lt": 107 } } } },
            { vec![doc! { "list": 106 }] },
        ),
        (doc! { "filter": doc! { "list": doc! { "$in": array![5, 105] } } }, {
            vec![doc! { "list": 5 }]
        }),
        (
            doc! { "filter": doc! { "$or": array![doc! { "a": 4, "b": -9 }, doc! { "list": 1 }] } },
            { vec![doc! { "a": 4, "b": -9 }, doc! { "list": 1 }] },
        ),
    ] {
        let reply = find(&mut client, with(more.clone(), key())).await;
        assert_eq!(first_batch(&reply), want, "{more:?}: {reply:?}");
    }
    let reply = find(&mut client, doc! { "filter": doc! { "b": -4 }, "returnKey": true }).await;
    let [found] = &first_batch(&reply)[..] else { panic!("{reply:?}") };
    assert!(matches!(found.get("b"), Some(Value::Int64(_))), "{found:?}");
}

#[tokio::test]
async fn rows_are_identified() {
    let mut client = client().await;
    let all =
        doc! { "showRecordId": true, "projection": doc! { "a": 1, "_id": 0 }, "batchSize": 3 };
    let reply = find(&mut client, all).await;
    let mut rows = first_batch(&reply);
    let id = crate::client::cursor_id(&reply);
    let more = client.run(doc! { "getMore": id, "collection": "c", "$db": "db" }).await;
    let batch = crate::client::cursor(&more).get("nextBatch").unwrap().clone();
    let Value::Array(batch) = batch else { panic!("{more:?}") };
    rows.extend(batch.iter().map(|row| row.as_ref().as_document().unwrap().to_tree()));
    assert_eq!(rows.len(), 10);
    let names: Vec<&str> = rows[0].fields().iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["a", "$recordId"]);
    let mut records: Vec<_> =
        rows.iter().map(|row| format!("{:?}", row.get("$recordId"))).collect();
    records.dedup();
    assert_eq!(records.len(), 10);
    let again = find(&mut client, doc! { "showRecordId": true, "sort": doc! { "_id": 1 } }).await;
    let again: Vec<_> =
        first_batch(&again).iter().map(|row| format!("{:?}", row.get("$recordId"))).collect();
    assert_eq!(again, records);
    let key = doc! { "showRecordId": true, "returnKey": true, "filter": doc! { "a": 4, "b": -9 } };
    assert_eq!(first_batch(&find(&mut client, key).await), [doc! { "a": 4, "b": -9 }]);
}
