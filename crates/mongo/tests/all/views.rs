//! Views: their documents, the commands that work on them, and those refused.

use std::sync::Arc;

use crate::client::{Client, cursor_id, first_batch, number};
use crate::replies::{code, good};
use document::{Document, Value, array, doc};
use mongo::{MongoApi, MongoDialect, Settings};
use test_kit::{Kit, Setup};

fn kit() -> Kit {
    Kit::new(Setup { dialect: Arc::new(MongoDialect), ..Setup::default() })
}

/// Returns a client of a database with the documents 1 to 4 in `c`, two of them in the view `v`.
async fn client_of(kit: &Kit) -> Client {
    let mut client = Client::of(MongoApi::new(kit.engine.clone(), Settings::default()));
    let documents = (1..=4).map(|id| doc! { "_id": id, "a": id % 2, "n": id * 10 });
    let documents: Vec<Value> = documents.map(Value::Document).collect();
    good(&mut client, doc! { "insert": "c", "documents": Value::Array(documents) }).await;
    create(&mut client, "v", "c", array![doc! { "$match": doc! { "a": 1 } }]).await;
    client
}

async fn create(client: &mut Client, name: &str, source: &str, pipeline: Value) {
    good(client, doc! { "create": name, "viewOn": source, "pipeline": pipeline }).await;
}

async fn ids(client: &mut Client, command: Document) -> Vec<i64> {
    let reply = good(client, command).await;
    first_batch(&reply).iter().map(|row| number(row, "_id")).collect()
}

#[tokio::test]
async fn reads_see_the_result_of_the_pipeline() {
    let mut client = client_of(&kit()).await;
    let client = &mut client;
    assert_eq!(ids(client, doc! { "find": "v" }).await, [1, 3]);
    let find = doc! { "find": "v", "filter": doc! { "n": doc! { "$gt": 10 } } };
    assert_eq!(ids(client, find).await, [3]);
    let find = doc! { "find": "v", "sort": doc! { "n": -1 }, "skip": 1, "limit": 5 };
    assert_eq!(ids(client, find).await, [1]);
    let find = doc! { "find": "v", "projection": doc! { "n": 1 }, "limit": 1 };
    let reply = good(client, find).await;
    assert_eq!(first_batch(&reply), [doc! { "_id": 1, "n": 10 }]);
    let reply = good(client, doc! { "find": "v", "batchSize": 1 }).await;
    let more = doc! { "getMore": cursor_id(&reply), "collection": "v" };
    assert_eq!(ids(client, more).await, [3]);
    let pipeline = array![doc! { "$sort": doc! { "_id": -1 } }];
    let aggregate = doc! { "aggregate": "v", "pipeline": pipeline, "cursor": doc! {} };
    assert_eq!(ids(client, aggregate).await, [3, 1]);
    for (count, want) in [
        (doc! { "count": "v" }, 2),
        (doc! { "count": "v", "query": doc! { "n": 30 } }, 1),
        (doc! { "count": "v", "skip": 1, "limit": 5 }, 1),
    ] {
        assert_eq!(number(&good(client, count).await, "n"), want);
    }
    let reply = good(client, doc! { "distinct": "v", "key": "n" }).await;
    assert_eq!(reply.get("values"), Some(&array![10, 30]));
    // A view of documents that the stages make.
    let group = doc! { "$group": doc! { "_id": "$a", "n": doc! { "$sum": "$n" } } };
    create(client, "g", "c", array![group]).await;
    let reply = good(client, doc! { "find": "g", "filter": doc! { "_id": 0 } }).await;
    assert_eq!(first_batch(&reply), [doc! { "_id": 0, "n": 60 }]);
    // A view of what does not exist yet is empty.
    create(client, "later", "missing", array![]).await;
    assert_eq!(ids(client, doc! { "find": "later" }).await, [0_i64; 0]);
    good(client, doc! { "insert": "missing", "documents": array![doc! { "_id": 7 }] }).await;
    assert_eq!(ids(client, doc! { "find": "later" }).await, [7]);
}

#[tokio::test]
async fn views_lie_over_views_and_are_joined() {
    let mut client = client_of(&kit()).await;
    let client = &mut client;
    create(client, "w", "v", array![doc! { "$match": doc! { "n": doc! { "$gt": 10 } } }]).await;
    assert_eq!(ids(client, doc! { "find": "w" }).await, [3]);
    let over = |stage: Document| {
        doc! { "aggregate": "c", "pipeline": array![stage], "cursor": doc! {} }
    };
    let lookup = doc! { "from": "w", "localField": "_id", "foreignField": "_id", "as": "w" };
    let reply = good(client, over(doc! { "$lookup": lookup.clone() })).await;
    let joined: Vec<usize> = first_batch(&reply)
        .iter()
        .map(|row| row.get("w").unwrap().as_ref().as_array().unwrap().iter().count())
        .collect();
    assert_eq!(joined, [0, 0, 1, 0]);
    let pipeline = array![doc! { "$match": doc! { "a": 0 } }];
    let union = doc! { "$unionWith": doc! { "coll": "v", "pipeline": pipeline } };
    assert_eq!(ids(client, over(union)).await, [1, 2, 3, 4]);
    assert_eq!(ids(client, over(doc! { "$unionWith": "v" })).await, [1, 2, 3, 4, 1, 3]);
    let graph = doc! {
        "from": "v", "startWith": "$_id", "connectFromField": "n", "connectToField": "_id",
        "as": "w",
    };
    let reply = good(client, over(doc! { "$graphLookup": graph })).await;
    let found = |row: &Document| row.get("w").unwrap().as_ref().as_array().unwrap().iter().count();
    assert_eq!(first_batch(&reply).iter().map(found).collect::<Vec<_>>(), [1, 0, 1, 0]);
    // A view that joins a view, read through another one.
    create(client, "j", "v", array![doc! { "$lookup": lookup }]).await;
    create(client, "jj", "j", array![doc! { "$match": doc! { "w._id": 3 } }]).await;
    assert_eq!(ids(client, doc! { "find": "jj" }).await, [3]);
}

#[tokio::test]
async fn a_circle_and_too_many_levels_are_refused() {
    let mut client = client_of(&kit()).await;
    let client = &mut client;
    let view = |name: &str, source: &str, pipeline: Value| {
        doc! { "create": name, "viewOn": source, "pipeline": pipeline }
    };
    assert_eq!(code(client, view("self", "self", array![])).await, 5);
    create(client, "x", "y", array![]).await;
    assert_eq!(code(client, view("y", "x", array![])).await, 5);
    let joins = |name: &str| array![doc! { "$unionWith": name }];
    assert_eq!(code(client, view("y", "c", joins("x"))).await, 5);
    let change = doc! { "collMod": "v", "viewOn": "c", "pipeline": joins("v") };
    assert_eq!(code(client, change).await, 5);
    let mut below = "c".to_owned();
    for level in 1..=20 {
        let name = format!("level{level}");
        create(client, &name, &below, array![]).await;
        below = name;
    }
    assert_eq!(ids(client, doc! { "find": "level20" }).await, [1, 2, 3, 4]);
    assert_eq!(code(client, view("level21", "level20", array![])).await, 165);
    // A lower view may be moved away from the collection later; the read then finds the depth.
    create(client, "base", "c", array![]).await;
    let change = doc! { "collMod": "level1", "viewOn": "base", "pipeline": array![] };
    good(client, change).await;
    assert_eq!(code(client, doc! { "find": "level20" }).await, 165);
    assert_eq!(ids(client, doc! { "find": "level19" }).await, [1, 2, 3, 4]);
}

#[tokio::test]
async fn pipelines_that_are_too_large_together_are_refused() {
    let mut client = client_of(&kit()).await;
    let client = &mut client;
    let large = || array![doc! { "$match": doc! { "a": "x".repeat(6 << 20) } }];
    create(client, "one", "c", large()).await;
    create(client, "two", "one", large()).await;
    let three = doc! { "create": "three", "viewOn": "two", "pipeline": large() };
    assert_eq!(code(client, three).await, 195);
    assert_eq!(ids(client, doc! { "find": "two" }).await, [0_i64; 0]);
}

#[tokio::test]
async fn what_needs_a_collection_is_refused_and_changes_nothing() {
    let mut client = client_of(&kit()).await;
    let client = &mut client;
    let all = doc! { "q": doc! {}, "u": doc! { "$set": doc! { "x": 1 } }, "multi": true };
    let index = doc! { "key": doc! { "x": 1 }, "name": "x_1" };
    for command in [
        doc! { "insert": "v", "documents": array![doc! { "_id": 9 }] },
        doc! { "update": "v", "updates": array![all.clone()] },
        doc! { "update": "v", "updates": array![doc! { "q": doc! { "_id": 9 }, "u": doc! {}, "upsert": true }] },
        doc! { "delete": "v", "deletes": array![doc! { "q": doc! {}, "limit": 0 }] },
        doc! { "findAndModify": "v", "query": doc! {}, "remove": true },
        doc! { "findAndModify": "v", "query": doc! {}, "update": doc! { "x": 1 }, "upsert": true },
        doc! { "createIndexes": "v", "indexes": array![index] },
        doc! { "dropIndexes": "v", "index": "*" },
        doc! { "listIndexes": "v" },
        doc! { "collStats": "v" },
        doc! { "validate": "v" },
        doc! { "reIndex": "v" },
        doc! { "dataSize": "db.v" },
        doc! { "renameCollection": "db.v", "to": "db.w", "$db": "admin" },
        doc! { "explain": doc! { "update": "v", "updates": array![all] } },
        doc! { "aggregate": "v", "pipeline": array![doc! { "$collStats": doc! { "count": doc! {} } }], "cursor": doc! {} },
        doc! { "aggregate": "v", "pipeline": array![doc! { "$indexStats": doc! {} }], "cursor": doc! {} },
    ] {
        assert_eq!(code(client, command.clone()).await, 166, "{command:?}");
    }
    let bulk = client.bulk(doc! {}, &[]).await;
    assert_ne!(number(&bulk, "code"), 0);
    let rename =
        doc! { "renameCollection": "db.c", "to": "db.v", "dropTarget": true, "$db": "admin" };
    assert_eq!(code(client, rename).await, 48);
    for (option, value) in [
        ("tailable", Value::Bool(true)),
        ("noCursorTimeout", Value::Bool(true)),
        ("allowPartialResults", Value::Bool(true)),
        ("singleBatch", Value::Bool(true)),
        ("showRecordId", Value::Bool(true)),
        ("min", doc! { "_id": 1 }.into()),
    ] {
        let mut find = doc! { "find": "v" };
        find.push(option, value);
        assert_eq!(code(client, find).await, 168, "{option}");
    }
    assert_eq!(client.all("c").await.len(), 4);
}

#[tokio::test]
async fn wrong_definitions_are_refused() {
    let mut client = client_of(&kit()).await;
    let client = &mut client;
    let out = array![doc! { "$out": "x" }];
    for (options, want) in [
        (doc! { "pipeline": array![] }, 2),
        (doc! { "viewOn": 1 }, 14),
        (doc! { "viewOn": "" }, 73),
        (doc! { "viewOn": "c$d" }, 73),
        (doc! { "viewOn": "c", "pipeline": 1 }, 14),
        (doc! { "viewOn": "c", "pipeline": array![1] }, 14),
        (doc! { "viewOn": "c", "pipeline": array![doc! { "$wrong": 1 }] }, 40324),
        (doc! { "viewOn": "c", "pipeline": out }, 167),
        (doc! { "viewOn": "c", "pipeline": array![doc! { "$documents": array![] }] }, 73),
        (doc! { "viewOn": "c", "capped": true, "size": 1 }, 72),
        (doc! { "viewOn": "c", "validator": doc! {} }, 72),
    ] {
        let mut create = doc! { "create": "wrong" };
        options.clone().into_iter().for_each(|(name, value)| create.push(name, value));
        assert_eq!(code(client, create).await, want, "{options:?}");
    }
    for (options, want) in [
        (doc! { "viewOn": "c" }, 72),
        (doc! { "pipeline": array![] }, 72),
        (doc! { "validator": doc! {} }, 72),
    ] {
        let mut change = doc! { "collMod": "v" };
        options.clone().into_iter().for_each(|(name, value)| change.push(name, value));
        assert_eq!(code(client, change).await, want, "{options:?}");
    }
    let change = doc! { "collMod": "c", "viewOn": "v", "pipeline": array![] };
    assert_eq!(code(client, change).await, 72);
    assert_eq!(code(client, doc! { "create": "c", "viewOn": "v" }).await, 48);
    assert_eq!(code(client, doc! { "create": "v" }).await, 48);
    let again = array![doc! { "$match": doc! { "a": 1 } }];
    create(client, "v", "c", again).await;
    let find = doc! { "listCollections": 1, "filter": doc! { "name": "wrong" } };
    assert_eq!(first_batch(&good(client, find).await), []);
}

#[tokio::test]
async fn they_are_listed_changed_and_dropped() {
    let kit = kit();
    let mut client = client_of(&kit).await;
    let client = &mut client;
    let list = |names: bool| {
        doc! { "listCollections": 1, "filter": doc! { "type": "view" }, "nameOnly": names }
    };
    let pipeline = array![doc! { "$match": doc! { "a": 1 } }];
    let entry = doc! {
        "name": "v", "type": "view", "options": doc! { "viewOn": "c", "pipeline": pipeline },
        "info": doc! { "readOnly": true },
    };
    assert_eq!(first_batch(&good(client, list(false)).await), [entry]);
    let name = doc! { "name": "v", "type": "view" };
    assert_eq!(first_batch(&good(client, list(true)).await), [name]);
    let stats = good(client, doc! { "dbStats": 1 }).await;
    assert_eq!([number(&stats, "collections"), number(&stats, "views")], [1, 1]);
    let none = array![doc! { "$match": doc! { "a": 0 } }];
    good(client, doc! { "collMod": "v", "viewOn": "c", "pipeline": none }).await;
    assert_eq!(ids(client, doc! { "find": "v" }).await, [2, 4]);
    let explain = doc! { "explain": doc! { "count": "v" }, "verbosity": "queryPlanner" };
    let explained = good(client, explain).await;
    let planner = explained.get("queryPlanner").unwrap().as_ref().as_document().unwrap();
    let plan = planner.get("winningPlan").unwrap().as_document().unwrap();
    assert_eq!(plan.get("stage").unwrap().as_str(), Some("COUNT"), "{explained:?}");
    let dropped = good(client, doc! { "drop": "v" }).await;
    assert_eq!(dropped, doc! { "ns": "db.v", "ok": 1.0 });
    assert_eq!(client.all("c").await.len(), 4);
    create(client, "v", "c", array![]).await;
    good(client, doc! { "dropDatabase": 1 }).await;
    assert_eq!(first_batch(&good(client, list(false)).await), []);
}

#[tokio::test]
async fn documents_expire_at_the_second_through_a_view() {
    let kit = kit();
    let mut client = client_of(&kit).await;
    let client = &mut client;
    let index = doc! { "key": doc! { "_ts": 1 }, "name": "ttl", "expireAfterSeconds": 10 };
    good(client, doc! { "createIndexes": "c", "indexes": array![index] }).await;
    let lookup = doc! { "from": "v", "localField": "_id", "foreignField": "_id", "as": "w" };
    create(client, "j", "v", array![doc! { "$lookup": lookup }]).await;
    let forward = |seconds: i32| doc! { "ebbClock": 1, "advanceSeconds": seconds, "$db": "admin" };
    let count = || doc! { "count": "j" };
    good(client, forward(9)).await;
    assert_eq!(ids(client, doc! { "find": "j" }).await, [1, 3]);
    let first = good(client, doc! { "find": "v", "batchSize": 1 }).await;
    good(client, forward(1)).await;
    assert_eq!(ids(client, doc! { "find": "v" }).await, [0_i64; 0]);
    assert_eq!(ids(client, doc! { "find": "j" }).await, [0_i64; 0]);
    assert_eq!(number(&good(client, count()).await, "n"), 0);
    let more = doc! { "getMore": cursor_id(&first), "collection": "v" };
    assert_eq!(ids(client, more).await, [0_i64; 0]);
}

#[tokio::test]
async fn a_view_compares_texts_by_its_own_collation() {
    let kit = kit();
    let mut client = Client::of(MongoApi::new(kit.engine.clone(), Settings::default()));
    let client = &mut client;
    let loose = || doc! { "locale": "en", "strength": 2 };
    let texts = ["b", "A", "a", "C"].into_iter().zip(1..);
    let documents: Vec<Value> =
        texts.map(|(text, id)| Value::Document(doc! { "_id": id, "t": text })).collect();
    good(client, doc! { "insert": "c", "documents": Value::Array(documents) }).await;
    let with = |name: &str, source: &str, pipeline: Value| {
        doc! { "create": name, "viewOn": source, "pipeline": pipeline, "collation": loose() }
    };
    // Also the stages of the view compare by it.
    let matched = || array![doc! { "$match": doc! { "t": doc! { "$in": array!["a", "B", "c"] } } }];
    good(client, with("v", "c", matched())).await;
    good(client, with("v", "c", matched())).await;
    create(client, "plain", "c", matched()).await;
    assert_eq!(ids(client, doc! { "find": "v" }).await, [1, 2, 3, 4]);
    assert_eq!(ids(client, doc! { "find": "plain" }).await, [3]);
    let sorted = |name: &str| doc! { "find": name, "sort": doc! { "t": 1, "_id": 1 } };
    assert_eq!(ids(client, sorted("v")).await, [2, 3, 1, 4]);
    let count = doc! { "count": "v", "query": doc! { "t": "A" } };
    assert_eq!(number(&good(client, count).await, "n"), 2);
    let distinct = good(client, doc! { "distinct": "v", "key": "t" }).await;
    assert!(matches!(distinct.get("values"), Some(Value::Array(values)) if values.len() == 3));
    // A collection's default is not that of a view over it.
    good(client, doc! { "create": "d", "collation": loose() }).await;
    good(client, doc! { "insert": "d", "documents": array![doc! { "_id": 1, "t": "A" }] }).await;
    create(client, "over", "d", array![doc! { "$match": doc! { "t": "a" } }]).await;
    assert_eq!(ids(client, doc! { "find": "over" }).await, [] as [i64; 0]);
    // The collation can be repeated, and no other one can be given.
    let given = |name: &str, collation: Document| doc! { "find": name, "collation": collation };
    let stored = || doc! { "locale": "en", "strength": 2, "caseLevel": false };
    assert_eq!(ids(client, given("v", stored())).await, [1, 2, 3, 4]);
    assert_eq!(ids(client, given("plain", doc! { "locale": "simple" })).await, [3]);
    for command in [
        given("v", doc! { "locale": "simple" }),
        given("v", doc! { "locale": "en" }),
        given("plain", loose()),
        doc! { "count": "plain", "collation": loose() },
        doc! { "distinct": "plain", "key": "t", "collation": loose() },
    ] {
        assert_eq!(code(client, command).await, 167);
    }
    // Views that are read together have one collation.
    let joined = |from: &str| {
        let lookup = doc! { "from": from, "localField": "t", "foreignField": "t", "as": "j" };
        array![doc! { "$lookup": lookup }]
    };
    for command in [
        doc! { "aggregate": "c", "pipeline": joined("v"), "cursor": doc! {} },
        doc! { "aggregate": "v", "pipeline": joined("plain"), "cursor": doc! {} },
        with("w", "plain", array![]),
        with("w", "c", joined("plain")),
        doc! { "create": "w", "viewOn": "v", "pipeline": array![] },
        doc! { "collMod": "v", "viewOn": "plain", "pipeline": array![] },
    ] {
        assert_eq!(code(client, command).await, 167);
    }
    let aggregate = doc! { "aggregate": "v", "pipeline": joined("v"), "cursor": doc! {} };
    let reply = good(client, aggregate).await;
    let row = first_batch(&reply).into_iter().find(|row| number(row, "_id") == 2);
    let row = row.expect("the document 2");
    assert!(matches!(row.get("j"), Some(Value::Array(joined)) if joined.len() == 2));
    good(client, with("w", "v", array![doc! { "$match": doc! { "t": "a" } }])).await;
    assert_eq!(ids(client, doc! { "find": "w" }).await, [2, 3]);
    // It stays when the definition changes, and is listed.
    good(client, doc! { "collMod": "w", "viewOn": "v", "pipeline": array![] }).await;
    assert_eq!(ids(client, doc! { "find": "w", "filter": doc! { "t": "C" } }).await, [4]);
    let list = doc! { "listCollections": 1, "filter": doc! { "name": "w" } };
    let listed = first_batch(&good(client, list).await);
    let Some(Value::Document(options)) = listed[0].get("options") else { panic!("options") };
    let Some(Value::Document(collation)) = options.get("collation") else { panic!("collation") };
    assert_eq!(collation.get("strength"), Some(&Value::Int32(2)));
    // Another collation makes another view.
    let other = doc! { "create": "w", "viewOn": "v", "pipeline": array![] };
    assert_eq!(code(client, other).await, 167);
    assert_eq!(code(client, with("v", "c", array![])).await, 48);
}
