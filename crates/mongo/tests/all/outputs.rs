//! `$out` and `$merge`: the documents that they write, and the commands that are refused.

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

fn pipeline(stages: Value) -> Document {
    doc! { "aggregate": "c", "pipeline": stages, "cursor": doc! {} }
}

async fn insert(client: &mut Client, collection: &str, documents: Value) {
    good(client, doc! { "insert": collection, "documents": documents }).await;
}

/// Returns a client of a database with the documents 1 to 3 in `c`.
async fn client_of(kit: &Kit) -> Client {
    let mut client = Client::of(MongoApi::new(kit.engine.clone(), Settings::default()));
    let documents = array![
        doc! { "_id": 1, "a": "x", "n": 1 },
        doc! { "_id": 2, "a": "y", "n": 2 },
        doc! { "_id": 3, "a": "z", "n": 3 },
    ];
    insert(&mut client, "c", documents).await;
    client
}

async fn names(client: &mut Client) -> Vec<String> {
    let list = doc! { "listCollections": 1, "nameOnly": true };
    let listed = first_batch(&good(client, list).await);
    let name = |entry: &Document| entry.get("name").unwrap().as_ref().as_str().unwrap().to_owned();
    listed.iter().map(name).collect()
}

#[tokio::test]
async fn out_replaces_a_collection_and_keeps_its_indexes_and_options() {
    let kit = kit();
    let mut client = client_of(&kit).await;
    let client = &mut client;
    let large = doc! { "$match": doc! { "n": doc! { "$gt": 1 } } };
    let reply = good(client, pipeline(array![large.clone(), doc! { "$out": "new" }])).await;
    assert_eq!(first_batch(&reply), []);
    assert_eq!(client.all("new").await.len(), 2);
    let validator = doc! { "n": doc! { "$gt": 0 } };
    good(client, doc! { "collMod": "new", "validator": validator }).await;
    let indexes = array![
        doc! { "key": doc! { "a": 1 }, "name": "a_1", "unique": true },
        doc! { "key": doc! { "_ts": 1 }, "name": "ttl", "expireAfterSeconds": 60 },
    ];
    good(client, doc! { "createIndexes": "new", "indexes": indexes }).await;
    let shown = |reply: Document| {
        first_batch(&reply)
            .into_iter()
            .map(|mut entry| {
                entry.remove("info");
                entry
            })
            .collect::<Vec<_>>()
    };
    let lists = [
        doc! { "listIndexes": "new" },
        doc! { "listCollections": 1, "filter": doc! { "name": "new" } },
    ];
    let mut before = Vec::new();
    for list in &lists {
        before.push(shown(good(client, list.clone()).await));
    }
    good(client, pipeline(array![doc! { "$limit": 1 }, doc! { "$out": "new" }])).await;
    assert_eq!(client.all("new").await, [doc! { "_id": 1, "a": "x", "n": 1 }]);
    for (list, before) in lists.iter().zip(before) {
        assert_eq!(shown(good(client, list.clone()).await), before);
    }
    // What fails leaves the collection as it was.
    let same = doc! { "$set": doc! { "a": "same" } };
    let out = || doc! { "$out": "new" };
    assert_eq!(code(client, pipeline(array![same, out()])).await, 11000);
    let zero = doc! { "$set": doc! { "n": 0 } };
    assert_eq!(code(client, pipeline(array![zero, out()])).await, 121);
    let broken = doc! { "$set": doc! { "n": doc! { "$divide": array![1, 0] } } };
    assert_ne!(code(client, pipeline(array![broken, out()])).await, 0);
    assert_eq!(client.all("new").await, [doc! { "_id": 1, "a": "x", "n": 1 }]);
    assert_eq!(names(client).await, ["c", "new"]);
    // Into itself, and into another database.
    good(client, pipeline(array![large, doc! { "$out": "c" }])).await;
    assert_eq!(client.all("c").await.len(), 2);
    let other = doc! { "$out": doc! { "db": "other", "coll": "new" } };
    good(client, pipeline(array![other])).await;
    let count = good(client, doc! { "count": "new", "$db": "other" }).await;
    assert_eq!(number(&count, "n"), 2);
    // Documents expire after they were written, and none comes back.
    good(client, pipeline(array![out()])).await;
    good(client, doc! { "ebbClock": 1, "advanceSeconds": 59, "$db": "admin" }).await;
    assert_eq!(client.all("new").await.len(), 2);
    good(client, doc! { "ebbClock": 1, "advanceSeconds": 1, "$db": "admin" }).await;
    assert_eq!(client.all("new").await.len(), 0);
}

#[tokio::test]
async fn merge_does_what_its_modes_say() {
    let kit = kit();
    let mut client = client_of(&kit).await;
    let client = &mut client;
    let sums = || array![doc! { "$set": doc! { "n": doc! { "$add": array!["$n", "$$new.n"] } } }];
    let kept = doc! { "_id": 1, "b": 7, "n": 10 };
    for (matched, not_matched, want) in [
        (Value::from("replace"), "insert", Ok((Some(doc! { "_id": 1, "a": "x", "n": 1 }), 3))),
        ("merge".into(), "insert", Ok((Some(doc! { "_id": 1, "b": 7, "n": 1, "a": "x" }), 3))),
        ("keepExisting".into(), "insert", Ok((Some(kept.clone()), 3))),
        (sums(), "insert", Ok((Some(doc! { "_id": 1, "b": 7, "n": 11 }), 3))),
        ("replace".into(), "discard", Ok((Some(doc! { "_id": 1, "a": "x", "n": 1 }), 1))),
        (sums(), "discard", Ok((Some(doc! { "_id": 1, "b": 7, "n": 11 }), 1))),
        ("fail".into(), "insert", Err((11000, Some(kept.clone()), 1))),
        (
            "merge".into(),
            "fail",
            Err((13113, Some(doc! { "_id": 1, "b": 7, "n": 1, "a": "x" }), 1)),
        ),
        ("keepExisting".into(), "discard", Err((51181, Some(kept.clone()), 1))),
    ] {
        good(client, doc! { "drop": "t" }).await;
        insert(client, "t", array![kept.clone()]).await;
        let merge =
            doc! { "into": "t", "whenMatched": matched.clone(), "whenNotMatched": not_matched };
        let got = code(client, pipeline(array![doc! { "$merge": merge }])).await;
        let after = client.all("t").await;
        let (wanted, first, len) = match want {
            Ok((first, len)) => (0, first, len),
            Err((code, first, len)) => (code, first, len),
        };
        assert_eq!(got, wanted, "{matched:?} {not_matched}");
        assert_eq!(after.first().cloned(), first, "{matched:?} {not_matched}");
        assert_eq!(after.len(), len, "{matched:?} {not_matched}");
    }
}

#[tokio::test]
async fn merge_identifies_documents_by_unique_fields() {
    let kit = kit();
    let mut client = client_of(&kit).await;
    let client = &mut client;
    let index = doc! { "key": doc! { "a": 1, "k.b": 1 }, "name": "u", "unique": true };
    good(client, doc! { "createIndexes": "t", "indexes": array![index] }).await;
    insert(client, "t", array![doc! { "_id": 9, "a": "x", "k": doc! { "b": 1 } }]).await;
    let without_id = doc! { "$project": doc! { "_id": 0, "a": 1, "k.b": "$n" } };
    let merge = |on: Value| doc! { "$merge": doc! { "into": "t", "on": on } };
    let keys = array!["k.b", "a"];
    good(client, pipeline(array![without_id.clone(), merge(keys.clone())])).await;
    let all = client.all("t").await;
    assert_eq!(all.len(), 3);
    assert_eq!(all[0].get("_id"), Some(&Value::Int32(9)));
    for (stage, on, want) in [
        (without_id.clone(), array!["a"], 51183),
        (without_id.clone(), "missing".into(), 51183),
        (doc! { "$project": doc! { "_id": 0, "a": 1 } }, keys.clone(), 51132),
        (doc! { "$set": doc! { "k": doc! { "b": array![1] } } }, keys.clone(), 51185),
    ] {
        assert_eq!(code(client, pipeline(array![stage, merge(on.clone())])).await, want, "{on:?}");
    }
    // The `_id` of a document cannot change.
    let set = doc! { "$set": doc! { "k": doc! { "b": "$n" } } };
    assert_eq!(code(client, pipeline(array![set, merge(keys)])).await, 66);
    // Variables of `let`.
    let stages = array![doc! { "$set": doc! { "seen": "$$name" } }];
    let merge = doc! {
        "into": "c", "let": doc! { "name": "$a" }, "whenMatched": stages,
        "whenNotMatched": "discard",
    };
    good(client, pipeline(array![doc! { "$merge": merge }])).await;
    let seen = client.all("c").await;
    assert_eq!(seen[2], doc! { "_id": 3, "a": "z", "n": 3, "seen": "z" });
}

#[tokio::test]
async fn wrong_targets_and_places_are_refused_and_change_nothing() {
    let kit = kit();
    let mut client = client_of(&kit).await;
    let client = &mut client;
    good(client, doc! { "create": "v", "viewOn": "c" }).await;
    good(client, doc! { "create": "capped", "capped": true, "size": 4096 }).await;
    let merge = |spec: Document| doc! { "$merge": spec };
    for (stages, want) in [
        (array![doc! { "$out": 1 }], 16990),
        (array![doc! { "$out": "" }], 73),
        (array![doc! { "$out": doc! { "coll": "x" } }], 40414),
        (array![doc! { "$out": doc! { "db": "db", "coll": "x", "y": 1 } }], 40415),
        (array![doc! { "$out": "system.x" }], 17385),
        (array![doc! { "$out": doc! { "db": "admin", "coll": "x" } }], 31321),
        (array![doc! { "$out": "v" }], 166),
        (array![doc! { "$out": "capped" }], 17152),
        (array![doc! { "$out": "x" }, doc! { "$limit": 1 }], 40601),
        (array![doc! { "$facet": doc! { "f": array![doc! { "$out": "x" }] } }], 40600),
        (array![merge(doc! {})], 40414),
        (array![doc! { "$merge": 1 }], 51182),
        (array![merge(doc! { "into": 1 })], 51178),
        (array![merge(doc! { "into": "x", "y": 1 })], 40415),
        (array![merge(doc! { "into": "x", "on": 1 })], 51186),
        (array![merge(doc! { "into": "x", "on": array![] })], 51187),
        (array![merge(doc! { "into": "x", "on": array![1] })], 51134),
        (array![merge(doc! { "into": "x", "on": array!["a", "a"] })], 31465),
        (array![merge(doc! { "into": "x", "whenMatched": "y" })], 2),
        (array![merge(doc! { "into": "x", "whenMatched": 1 })], 51191),
        (array![merge(doc! { "into": "x", "whenNotMatched": "y" })], 2),
        (array![merge(doc! { "into": "x", "let": doc! { "y": 1 } })], 51199),
        (array![merge(doc! { "into": "v" })], 166),
        (array![merge(doc! { "into": doc! { "db": "config", "coll": "x" } })], 31320),
    ] {
        assert_eq!(code(client, pipeline(stages.clone())).await, want, "{stages:?}");
    }
    let explain = doc! { "explain": pipeline(array![doc! { "$out": "x" }]) };
    assert_eq!(code(client, explain.clone()).await, 72);
    let mut planned = explain;
    planned.push("verbosity", "queryPlanner");
    good(client, planned).await;
    assert_eq!(names(client).await, ["c", "capped", "v"]);
}

fn code_of(error: engine::Error) -> i32 {
    match error.kind {
        engine::Kind::Query(error) => error.number,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_target_that_has_changed_is_not_replaced() {
    let kit = kit();
    let mut client = client_of(&kit).await;
    let client = &mut client;
    let (temporary, target) = (Namespace::new("db", "tmp"), Namespace::new("db", "c"));
    let record = |name: &Namespace| {
        kit.engine.collection(Model::Documents, name).map(|held| held.state().record.clone())
    };
    let held = record(&target);
    kit.engine.create_temporary(&temporary, held.as_ref()).await.unwrap();
    let index = doc! { "key": doc! { "a": 1 }, "name": "a_1" };
    good(client, doc! { "createIndexes": "c", "indexes": array![index] }).await;
    let replaced = kit.engine.replace_collection(&temporary, &target, held).await;
    assert_eq!(code_of(replaced.unwrap_err()), 125);
    good(client, doc! { "drop": "c" }).await;
    let replaced = kit.engine.replace_collection(&temporary, &target, record(&temporary)).await;
    assert_eq!(code_of(replaced.unwrap_err()), 125);
    kit.engine.replace_collection(&temporary, &target, None).await.unwrap();
    assert_eq!(names(client).await, ["c"]);
}

#[tokio::test]
async fn a_start_drops_what_an_interrupted_out_left() {
    let mut kit = kit();
    let (left, kept) = (Namespace::new("db", "tmp"), Namespace::new("db", "kept"));
    kit.engine.create_temporary(&left, None).await.unwrap();
    kit.engine.create_temporary(&kept, None).await.unwrap();
    kit.engine
        .rename_collection(Model::Documents, &kept, &Namespace::new("db", "new"), false)
        .await
        .unwrap();
    kit.restart();
    let names = kit.engine.collections(Model::Documents).into_iter();
    let names: Vec<String> = names.map(|(name, _)| name.collection).collect();
    assert_eq!(names, ["c", "new"]);
}
