//! Capped collections through commands: how they are made, shown and changed, and which limits are
//! refused.

use document::{Document, Value, array, doc};
use mongo::Settings;

use crate::client::{Client, first_batch, number};
use crate::replies::{code, good, run};

async fn ids(client: &mut Client, find: Document) -> Vec<i64> {
    first_batch(&good(client, find).await).iter().map(|it| number(it, "_id")).collect()
}

async fn insert(client: &mut Client, ids: impl IntoIterator<Item = i32>) {
    let documents = ids.into_iter().map(|id| Value::Document(doc! { "_id": id })).collect();
    good(client, doc! { "insert": "log", "documents": Value::Array(documents) }).await;
}

async fn options(client: &mut Client, name: &str) -> Document {
    let list = doc! { "listCollections": 1, "filter": doc! { "name": name } };
    let entry = first_batch(&good(client, list).await).remove(0);
    entry.get("options").unwrap().as_ref().as_document().unwrap().to_tree()
}

fn create(size: i64, max: i64) -> Document {
    doc! { "create": "log", "capped": true, "size": size, "max": max }
}

#[tokio::test]
async fn a_capped_collection_is_made_shown_and_filled() {
    let mut client = Client::new();
    good(&mut client, create(1_000, 3)).await;
    let shown = doc! { "capped": true, "size": 1024, "max": 3 };
    assert_eq!(options(&mut client, "log").await, shown);
    // The same options, also as they are shown, are no error; other ones are.
    good(&mut client, create(1_000, 3)).await;
    good(&mut client, create(1_024, 3)).await;
    assert_eq!(code(&mut client, create(1_025, 3)).await, 48);
    assert_eq!(code(&mut client, create(1_000, 4)).await, 48);
    assert_eq!(code(&mut client, doc! { "create": "log" }).await, 48);
    insert(&mut client, [7, 3, 9, 1]).await;
    insert(&mut client, [2]).await;
    assert_eq!(ids(&mut client, doc! { "find": "log" }).await, [9, 1, 2]);
    for (direction, want) in [(1, [9, 1, 2]), (-1, [2, 1, 9])] {
        let sorted = doc! { "find": "log", "sort": doc! { "$natural": direction } };
        assert_eq!(ids(&mut client, sorted).await, want);
        let hinted = doc! { "find": "log", "hint": doc! { "$natural": direction } };
        assert_eq!(ids(&mut client, hinted).await, want);
    }
    let by_id = doc! { "find": "log", "sort": doc! { "_id": 1 } };
    assert_eq!(ids(&mut client, by_id).await, [1, 2, 9]);
    let stats = good(&mut client, doc! { "collStats": "log" }).await;
    assert_eq!(stats.get("capped"), Some(&Value::from(true)));
    for (name, want) in [("max", 3), ("maxSize", 1024), ("count", 3), ("nindexes", 1)] {
        assert_eq!(number(&stats, name), want, "{name}");
    }
    // The index of the order is not shown.
    let indexes = first_batch(&good(&mut client, doc! { "listIndexes": "log" }).await);
    assert_eq!(indexes.len(), 1);
    let valid = good(&mut client, doc! { "validate": "log" }).await;
    assert_eq!((valid.get("valid"), number(&valid, "nIndexes")), (Some(&Value::from(true)), 1));
    let pipeline = array![doc! { "$indexStats": doc! {} }];
    let stats = doc! { "aggregate": "log", "pipeline": pipeline, "cursor": doc! {} };
    assert_eq!(first_batch(&good(&mut client, stats).await).len(), 1);
    let made = doc! { "key": doc! { "a": 1 }, "name": "a_1" };
    let created = good(&mut client, doc! { "createIndexes": "log", "indexes": array![made] }).await;
    assert_eq!((number(&created, "numIndexesBefore"), number(&created, "numIndexesAfter")), (1, 2));
    let dropped = good(&mut client, doc! { "dropIndexes": "log", "index": "*" }).await;
    assert_eq!(number(&dropped, "nIndexesWas"), 2);
    assert_eq!(ids(&mut client, doc! { "find": "log" }).await, [9, 1, 2]);
    let explained = doc! { "explain": doc! { "find": "log" }, "verbosity": "executionStats" };
    let plan = format!("{:?}", good(&mut client, explained).await);
    assert!(plan.contains("COLLSCAN") && !plan.contains("insertion order"), "{plan}");
}

#[tokio::test]
async fn wrong_limits_are_refused_and_make_nothing() {
    let mut client = Client::new();
    let capped = |name: &str, value: Value| {
        let mut create = doc! { "create": "log", "capped": true };
        create.push(name, value);
        create
    };
    for (command, want) in [
        (doc! { "create": "log", "capped": true }, 72),
        (capped("max", 5.into()), 72),
        (doc! { "create": "log", "size": 1000 }, 72),
        (doc! { "create": "log", "capped": false, "max": 5 }, 72),
        (capped("size", 0.into()), 51024),
        (capped("size", (-1).into()), 51024),
        (capped("size", Value::Int64((1 << 50) + 1)), 51024),
        (capped("size", "x".into()), 14),
        (create(1_000, 1 << 31), 2),
        (doc! { "create": "log", "capped": "yes", "size": 1000 }, 14),
    ] {
        assert_eq!(code(&mut client, command.clone()).await, want, "{command:?}");
    }
    assert_eq!(ids(&mut client, doc! { "find": "log" }).await, [0; 0]);
    // A maximum below 1 is none.
    good(&mut client, create(1_000, 0)).await;
    assert_eq!(options(&mut client, "log").await, doc! { "capped": true, "size": 1024 });
}

#[tokio::test]
async fn limits_are_changed() {
    let mut client = Client::new();
    good(&mut client, create(1 << 20, 10)).await;
    insert(&mut client, 0..10).await;
    for (command, want) in [
        (doc! { "collMod": "log", "cappedSize": 0 }, 51024),
        (doc! { "collMod": "log", "cappedMax": 1_i64 << 31 }, 2),
        (doc! { "collMod": "none", "cappedMax": 5 }, 26),
    ] {
        assert_eq!(code(&mut client, command.clone()).await, want, "{command:?}");
    }
    good(&mut client, doc! { "collMod": "log", "cappedMax": 3 }).await;
    assert_eq!(ids(&mut client, doc! { "find": "log" }).await.len(), 10);
    insert(&mut client, [10]).await;
    assert_eq!(ids(&mut client, doc! { "find": "log" }).await, [8, 9, 10]);
    good(&mut client, doc! { "collMod": "log", "cappedMax": 0, "cappedSize": 200 }).await;
    assert_eq!(options(&mut client, "log").await, doc! { "capped": true, "size": 256 });
    insert(&mut client, 20..60).await;
    // 18 documents of 14 bytes fit into 256.
    assert_eq!(ids(&mut client, doc! { "find": "log" }).await, (42..60).collect::<Vec<_>>());
    good(&mut client, doc! { "insert": "plain", "documents": array![doc! { "_id": 1 }] }).await;
    assert_eq!(code(&mut client, doc! { "collMod": "plain", "cappedMax": 5 }).await, 72);
}

#[tokio::test]
async fn writes_of_capped_collections() {
    let mut client = Client::new();
    good(&mut client, create(256, 3)).await;
    let large = doc! { "_id": 1, "text": "x".repeat(300) };
    let reply = run(&mut client, doc! { "insert": "log", "documents": array![large] }).await;
    assert!(format!("{reply:?}").contains("object to insert exceeds cappedMaxSize"), "{reply:?}");
    insert(&mut client, 0..4).await;
    let remove = doc! { "q": doc! { "_id": 2 }, "limit": 1 };
    good(&mut client, doc! { "delete": "log", "deletes": array![remove] }).await;
    let grow = doc! { "q": doc! { "_id": 1 }, "u": doc! { "$set": doc! { "a": "longer" } } };
    let upsert =
        doc! { "q": doc! { "_id": 9 }, "u": doc! { "$set": doc! { "a": 1 } }, "upsert": true };
    good(&mut client, doc! { "update": "log", "updates": array![grow, upsert] }).await;
    assert_eq!(ids(&mut client, doc! { "find": "log" }).await, [1, 3, 9]);
    // An update without an order takes the oldest document.
    let next = doc! { "findAndModify": "log", "remove": true };
    let taken = good(&mut client, next).await;
    assert!(format!("{taken:?}").contains("longer"), "{taken:?}");
    let mut ops = Vec::new();
    for id in 20..24 {
        ops.push(doc! { "insert": 0, "document": doc! { "_id": id } });
    }
    good(&mut client, doc! { "create": "a", "capped": true, "size": 4096, "max": 2 }).await;
    let reply = client.bulk(doc! {}, &ops).await;
    assert_eq!(number(&reply, "nInserted"), 4, "{reply:?}");
    assert_eq!(ids(&mut client, doc! { "find": "a" }).await, [22, 23]);
}

#[tokio::test]
async fn collections_become_capped() {
    let mut client = Client::new();
    insert(&mut client, [5, 1, 4]).await;
    let convert = |size: i64| doc! { "convertToCapped": "log", "size": size };
    assert_eq!(code(&mut client, doc! { "convertToCapped": "log" }).await, 72);
    assert_eq!(code(&mut client, convert(0)).await, 51024);
    assert_eq!(code(&mut client, doc! { "convertToCapped": "none", "size": 5 }).await, 26);
    assert_eq!(ids(&mut client, doc! { "find": "log" }).await, [1, 4, 5]);
    good(&mut client, convert(1_000)).await;
    assert_eq!(options(&mut client, "log").await, doc! { "capped": true, "size": 1024 });
    assert_eq!(ids(&mut client, doc! { "find": "log" }).await, [5, 1, 4]);
    insert(&mut client, [2]).await;
    assert_eq!(ids(&mut client, doc! { "find": "log" }).await, [5, 1, 4, 2]);
    let copy = |to: &str, size: i64| {
        doc! { "cloneCollectionAsCapped": "log", "toCollection": to, "size": size }
    };
    good(&mut client, copy("copy", 10)).await;
    assert_eq!(ids(&mut client, doc! { "find": "copy" }).await, [5, 1, 4, 2]);
    assert_eq!(options(&mut client, "copy").await, doc! { "capped": true, "size": 256 });
    assert_eq!(code(&mut client, copy("copy", 10)).await, 48);
    assert_eq!(code(&mut client, copy("system.x", 10)).await, 73);
    let missing = doc! { "cloneCollectionAsCapped": "none", "toCollection": "x", "size": 5 };
    assert_eq!(code(&mut client, missing).await, 26);
    let no_size = doc! { "cloneCollectionAsCapped": "log", "toCollection": "x" };
    assert_eq!(code(&mut client, no_size).await, 2);
    assert_eq!(ids(&mut client, doc! { "find": "x" }).await, [0; 0]);
}

#[tokio::test]
async fn a_node_of_a_cluster_refuses_capped_collections() {
    let mut client = Client::with(Settings { in_cluster: true, ..Settings::default() });
    good(&mut client, doc! { "insert": "log", "documents": array![doc! { "_id": 1 }] }).await;
    let copy = doc! { "cloneCollectionAsCapped": "log", "toCollection": "copy", "size": 1000 };
    for command in [
        doc! { "create": "new", "capped": true, "size": 1000 },
        doc! { "convertToCapped": "log", "size": 1000 },
        copy,
        doc! { "profile": 2 },
    ] {
        assert_eq!(code(&mut client, command.clone()).await, 115, "{command:?}");
    }
    let list = first_batch(&good(&mut client, doc! { "listCollections": 1 }).await);
    let names: Vec<_> = list.iter().map(|entry| entry.get("name").unwrap().clone()).collect();
    assert_eq!(names, [Value::from("c"), Value::from("log")]);
    assert_eq!(options(&mut client, "log").await, doc! {});
}
