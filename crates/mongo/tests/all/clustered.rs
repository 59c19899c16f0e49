//! Clustered collections: how they are made and shown, and that documents expire by a date in `_id`.

use std::sync::Arc;

use crate::client::{Client, first_batch, number};
use crate::replies::{code, good};
use document::{Document, Value, array, doc};
use engine::{Model, Namespace};
use mongo::{MongoApi, MongoDialect, Settings};
use test_kit::{Kit, Setup};

fn kit() -> Kit {
    Kit::new(Setup { dialect: Arc::new(MongoDialect), ..Setup::default() })
}

/// Returns a client of a database without collections.
async fn client_of(kit: &Kit) -> Client {
    let mut client = Client::of(MongoApi::new(kit.engine.clone(), Settings::default()));
    client.run(doc! { "dropDatabase": 1, "$db": "db" }).await;
    client
}

fn cluster_key() -> Document {
    doc! { "key": doc! { "_id": 1 }, "unique": true, "name": "by day" }
}

fn forward(seconds: i32) -> Document {
    doc! { "ebbClock": 1, "advanceSeconds": seconds, "$db": "admin" }
}

/// Returns database time in milliseconds.
async fn now(client: &mut Client) -> i64 {
    match good(client, doc! { "ebbClock": 1, "$db": "admin" }).await.get("now") {
        Some(Value::DateTime(now)) => *now,
        other => panic!("{other:?}"),
    }
}

/// Returns the field `n` of all documents, in the order of `_id`.
async fn left(client: &mut Client) -> Vec<i64> {
    let found = client.all("c").await;
    let counted = good(client, doc! { "count": "c" }).await;
    assert_eq!(number(&counted, "n"), found.len() as i64);
    found.iter().map(|row| number(row, "n")).collect()
}

/// Fills the clustered collection `c`: documents 1 to 3 with dates a second apart from now on, 4
/// half a second after 1, and 9 without a date.
async fn fill(client: &mut Client) {
    let now = now(client).await;
    let mut documents = vec![doc! { "_id": "text", "n": 9 }];
    for (n, after_ms) in [(1, 0), (2, 1000), (3, 2000), (4, 500)] {
        documents.push(doc! { "_id": Value::DateTime(now + after_ms), "n": n });
    }
    let documents = Value::Array(documents.into_iter().map(Value::Document).collect());
    good(client, doc! { "insert": "c", "documents": documents }).await;
}

#[tokio::test]
async fn documents_expire_by_the_date_in_their_id() {
    let kit = kit();
    let mut client = client_of(&kit).await;
    let client = &mut client;
    let create = doc! { "create": "c", "clusteredIndex": cluster_key(), "expireAfterSeconds": 10 };
    good(client, create).await;
    fill(client).await;
    good(client, forward(9)).await;
    assert_eq!(left(client).await, [9, 1, 4, 2, 3]);
    good(client, forward(1)).await;
    assert_eq!(left(client).await, [9, 4, 2, 3]);
    good(client, forward(1)).await;
    assert_eq!(left(client).await, [9, 3]);
    // Expired documents stay expired.
    good(client, doc! { "collMod": "c", "expireAfterSeconds": "off" }).await;
    assert_eq!(left(client).await, [9, 3]);
    good(client, forward(100)).await;
    assert_eq!(left(client).await, [9, 3]);
    good(client, doc! { "collMod": "c", "expireAfterSeconds": 200 }).await;
    assert_eq!(left(client).await, [9, 3]);
    let update = doc! { "q": doc! { "n": 3 }, "u": doc! { "$set": doc! { "m": 1 } } };
    good(client, doc! { "update": "c", "updates": array![update] }).await;
    good(client, forward(90)).await;
    assert_eq!(left(client).await, [9, 3]);
    good(client, forward(1)).await;
    assert_eq!(left(client).await, [9]);
    let collection = kit.engine.collection(Model::Documents, &Namespace::new("db", "c")).unwrap();
    let checked = kit.engine.check_collection(&collection).await.unwrap();
    assert!(checked.differences.listed.is_empty(), "{checked:?}");
}

#[tokio::test]
async fn a_ttl_that_is_set_later_takes_effect_at_once() {
    let kit = kit();
    let mut client = client_of(&kit).await;
    let client = &mut client;
    good(client, doc! { "create": "c", "clusteredIndex": cluster_key() }).await;
    fill(client).await;
    good(client, forward(60)).await;
    assert_eq!(left(client).await, [9, 1, 4, 2, 3]);
    good(client, doc! { "collMod": "c", "expireAfterSeconds": 59 }).await;
    assert_eq!(left(client).await, [9, 3]);
    good(client, doc! { "renameCollection": "db.c", "to": "db.d", "$db": "admin" }).await;
    good(client, forward(1)).await;
    let found = client.all("d").await;
    assert_eq!(found.iter().map(|row| number(row, "n")).collect::<Vec<_>>(), [9]);
}

#[tokio::test]
async fn it_is_listed_hinted_and_explained() {
    let kit = kit();
    let mut client = client_of(&kit).await;
    let client = &mut client;
    let create =
        doc! { "create": "c", "clusteredIndex": cluster_key(), "expireAfterSeconds": 3600 };
    good(client, create.clone()).await;
    good(client, create).await;
    assert_eq!(code(client, doc! { "create": "c", "clusteredIndex": cluster_key() }).await, 48);
    fill(client).await;
    let spec = doc! { "v": 2, "key": doc! { "_id": 1 }, "name": "by day", "unique": true };
    let listed = first_batch(&good(client, doc! { "listCollections": 1 }).await);
    let options = doc! { "clusteredIndex": spec.clone(), "expireAfterSeconds": 3600_i64 };
    assert_eq!(listed[0].get("options"), Some(&Value::Document(options)));
    assert_eq!(listed[0].get("idIndex"), None);
    let mut entry = spec;
    entry.push("expireAfterSeconds", 3600_i64);
    entry.push("clustered", true);
    let listed = first_batch(&good(client, doc! { "listIndexes": "c" }).await);
    assert_eq!(listed, [entry]);
    for hint in [Value::from("by day"), Value::from(doc! { "_id": 1 })] {
        let find = doc! { "find": "c", "filter": doc! { "_id": "text" }, "hint": hint };
        assert_eq!(first_batch(&good(client, find.clone()).await).len(), 1);
        let explained = good(client, doc! { "explain": find }).await;
        let planner = explained.get("queryPlanner").unwrap().as_ref().as_document().unwrap();
        let plan = planner.get("winningPlan").unwrap().as_document().unwrap();
        assert_eq!(plan.get("stage").unwrap().as_str(), Some("CLUSTERED_IXSCAN"));
    }
    let find = doc! { "find": "c", "hint": "by night" };
    assert_eq!(code(client, find).await, 2);
    let drop = |name: &str| doc! { "dropIndexes": "c", "index": name };
    assert_eq!(code(client, drop("by day")).await, 5_979_800);
    good(client, drop("*")).await;
    assert_eq!(first_batch(&good(client, doc! { "listIndexes": "c" }).await).len(), 1);
}

#[tokio::test]
async fn wrong_options_are_refused() {
    let kit = kit();
    let mut client = client_of(&kit).await;
    let client = &mut client;
    let key = || doc! { "_id": 1 };
    for (spec, want) in [
        (Value::from(true), 5_979_703),
        (Value::from(1), 14),
        (Value::from(doc! { "key": key() }), 40414),
        (Value::from(doc! { "unique": true }), 40414),
        (Value::from(doc! { "key": key(), "unique": true, "x": 1 }), 40415),
        (Value::from(doc! { "key": key(), "unique": false }), 5_979_700),
        (Value::from(doc! { "key": doc! { "_id": -1 }, "unique": true }), 197),
        (Value::from(doc! { "key": doc! { "a": 1 }, "unique": true }), 197),
        (Value::from(doc! { "key": key(), "unique": true, "v": 1 }), 5_979_704),
        (Value::from(doc! { "key": key(), "unique": true, "name": 1 }), 14),
    ] {
        let create = doc! { "create": "new", "clusteredIndex": spec.clone() };
        assert_eq!(code(client, create).await, want, "{spec:?}");
    }
    for (option, value, want) in [
        ("expireAfterSeconds", Value::from(-1), 72),
        ("expireAfterSeconds", Value::from(1_i64 << 31), 72),
        ("expireAfterSeconds", Value::from("off"), 14),
        ("capped", Value::from(true), 6_127_800),
        ("autoIndexId", Value::from(false), 6_026_501),
        ("idIndex", Value::from(doc! { "key": key(), "name": "_id_" }), 72),
    ] {
        let mut create = doc! { "create": "new", "clusteredIndex": cluster_key() };
        create.push(option, value.clone());
        assert_eq!(code(client, create).await, want, "{option} {value:?}");
    }
    assert_eq!(code(client, doc! { "create": "new", "expireAfterSeconds": 1 }).await, 72);
    good(client, doc! { "create": "plain" }).await;
    good(client, doc! { "create": "c", "clusteredIndex": cluster_key() }).await;
    for (name, value, want) in [
        ("plain", Value::from(60), 72),
        ("missing", Value::from(60), 72),
        ("c", Value::from("on"), 72),
        ("c", Value::from(-1), 72),
        ("c", Value::from(true), 14),
    ] {
        let change = doc! { "collMod": name, "expireAfterSeconds": value.clone() };
        assert_eq!(code(client, change).await, want, "{name} {value:?}");
    }
}
