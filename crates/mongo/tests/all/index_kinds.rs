//! Hidden, hashed and wildcard indexes: their uses and refusals, and that documents expire
//! in them at their instant.

use crate::client::{Client, first_batch, number};
use crate::replies::{good, refused};
use document::{Document, Value, array, doc};
use test_kit::START_MS;

async fn advance(client: &mut Client, seconds: f64) {
    let forward = doc! { "ebbClock": 1, "advanceSeconds": seconds, "$db": "admin" };
    assert_eq!(number(&client.run(forward).await, "ok"), 1);
}

fn creation(key: Document, more: Document) -> Document {
    let mut index = doc! { "key": key, "name": "x" };
    more.into_iter().for_each(|(name, value)| index.push(name, value));
    doc! { "createIndexes": "c", "indexes": array![index] }
}

async fn insert(client: &mut Client, documents: Vec<Document>) {
    let documents = documents.into_iter().map(Value::Document).collect();
    good(client, doc! { "insert": "c", "documents": Value::Array(documents) }).await;
}

/// Returns the ids that a filter finds, in their order.
async fn ids(client: &mut Client, filter: Document, more: Document) -> Vec<i64> {
    let mut find = doc! { "find": "c", "filter": filter };
    more.into_iter().for_each(|(name, value)| find.push(name, value));
    let mut found: Vec<i64> = first_batch(&good(client, find).await)
        .iter()
        .map(|document| number(document, "_id"))
        .collect();
    found.sort_unstable();
    found
}

/// Returns the index that a filter uses with its key pattern; `None` for a scan of the collection.
async fn scan(client: &mut Client, filter: Document) -> Option<(Value, Document)> {
    let find = doc! { "find": "c", "filter": filter };
    let command = doc! { "explain": find, "verbosity": "queryPlanner" };
    let reply = good(client, command).await;
    let inner = |of: &Document, name: &str| {
        of.get(name).and_then(|value| value.as_ref().as_document().map(|it| it.to_tree()))
    };
    let planner = inner(&reply, "queryPlanner").unwrap();
    let plan = inner(&inner(&planner, "winningPlan").unwrap(), "inputStage")?;
    Some((plan.get("indexName").unwrap().clone(), inner(&plan, "keyPattern").unwrap()))
}

#[tokio::test]
async fn a_hashed_index_serves_equality() {
    let mut client = Client::new();
    let text = "x".repeat(3000);
    let rows = (0..20).map(|id| doc! { "_id": id, "a": id % 4, "b": id, "n": doc! { "t": "x" } });
    insert(&mut client, rows.collect()).await;
    let long = doc! { "_id": 90, "a": text.as_str(), "b": 1 };
    insert(&mut client, vec![long, doc! { "_id": 91, "b": 2 }, doc! { "_id": 92, "a": 1.5 }]).await;
    good(&mut client, creation(doc! { "a": "hashed", "b": 1 }, doc! {})).await;
    let listed = first_batch(&good(&mut client, doc! { "listIndexes": "c" }).await);
    let want = doc! { "v": 2, "key": doc! { "a": "hashed", "b": 1 }, "name": "x" };
    assert_eq!(listed[1], want);
    for (filter, want, used) in [
        (doc! { "a": 2 }, vec![2, 6, 10, 14, 18], true),
        (doc! { "a": 2.0, "b": doc! { "$gt": 9 } }, vec![10, 14, 18], true),
        (doc! { "a": doc! { "$in": array![1.5, 3, 9] } }, vec![3, 7, 11, 15, 19, 92], true),
        (doc! { "a": text }, vec![90], true),
        (doc! { "a": Value::Null }, vec![91], true),
        (doc! { "a": doc! { "$exists": false } }, vec![91], true),
        (doc! { "a": doc! { "$gt": 2 } }, vec![3, 7, 11, 15, 19], false),
        (doc! { "b": 2 }, vec![2, 91], false),
    ] {
        assert_eq!(ids(&mut client, filter.clone(), doc! {}).await, want, "{filter:?}");
        let scan = scan(&mut client, filter.clone()).await;
        let key = doc! { "a": "hashed", "b": 1 };
        assert_eq!(scan, used.then(|| ("x".into(), key)), "{filter:?}");
        // A hint of the index is followed even if it has no bounds.
        let hint = doc! { "hint": doc! { "a": "hashed", "b": 1 } };
        assert_eq!(ids(&mut client, filter.clone(), hint).await, want, "{filter:?}");
    }
    let sorted = doc! {
        "find": "c", "filter": doc! { "a": doc! { "$in": array![3, 1] } },
        "sort": doc! { "a": -1, "b": -1 }, "limit": 6,
    };
    let found = first_batch(&good(&mut client, sorted).await);
    let found: Vec<i64> = found.iter().map(|document| number(document, "_id")).collect();
    assert_eq!(found, [19, 15, 11, 7, 3, 17]);
    let one = doc! {
        "find": "c", "filter": doc! { "a": 1 }, "sort": doc! { "b": -1 }, "limit": 2,
    };
    let found = first_batch(&good(&mut client, one).await);
    assert_eq!(found.iter().map(|it| number(it, "_id")).collect::<Vec<_>>(), [17, 13]);
    let counted = good(&mut client, doc! { "count": "c", "query": doc! { "a": 1 } }).await;
    assert_eq!(number(&counted, "n"), 5);
}

#[tokio::test]
async fn a_hashed_index_refuses_arrays() {
    let mut client = Client::new();
    insert(&mut client, vec![doc! { "_id": 1, "a": 1 }]).await;
    good(&mut client, creation(doc! { "a.b": "hashed", "c": 1 }, doc! {})).await;
    for row in [
        doc! { "_id": 2, "a": doc! { "b": array![1] } },
        doc! { "_id": 2, "a": array![doc! { "b": 1 }] },
        doc! { "_id": 2, "c": array![] },
    ] {
        refused(&mut client, doc! { "insert": "c", "documents": array![row] }, 16766).await;
    }
    let update = doc! { "q": doc! {}, "u": doc! { "$set": doc! { "a": array![] } } };
    refused(&mut client, doc! { "update": "c", "updates": array![update] }, 16766).await;
    assert_eq!(client.all("c").await, [doc! { "_id": 1, "a": 1 }]);
    good(&mut client, doc! { "dropIndexes": "c", "index": doc! { "a.b": "hashed", "c": 1 } }).await;
    insert(&mut client, vec![doc! { "_id": 3, "a": doc! { "b": array![1] } }]).await;
    refused(&mut client, creation(doc! { "a.b": "hashed" }, doc! {}), 16766).await;
    assert_eq!(first_batch(&good(&mut client, doc! { "listIndexes": "c" }).await).len(), 1);
}

#[tokio::test]
async fn kinds_of_index_that_cannot_be_made_are_refused() {
    let all = || doc! { "$**": 1 };
    let many: Document = (0..1001).map(|at| (format!("f{at}"), Value::Int32(1))).collect();
    for (key, more, code) in [
        (doc! { "a": "hashed" }, doc! { "unique": true }, 16764),
        (doc! { "a": "hashed", "b": "hashed" }, doc! {}, 31303),
        (doc! { "_ts": "hashed" }, doc! {}, 67),
        (doc! { "a": "other" }, doc! {}, 67),
        (all(), doc! { "unique": true }, 67),
        (all(), doc! { "sparse": true }, 67),
        (all(), doc! { "expireAfterSeconds": 1 }, 67),
        (doc! { "$**": "hashed" }, doc! {}, 67),
        (doc! { "a.b.$**.c": 1 }, doc! {}, 67),
        (doc! { "a..$**": 1 }, doc! {}, 67),
        (doc! { "$**": 1, "a": 1 }, doc! {}, 67),
        (doc! { "a.$**": 1, "b.$**": 1 }, doc! {}, 7246201),
        (doc! { "a.$**": 1, "b": "hashed" }, doc! {}, 67),
        (doc! { "a.$**": 1, "b": "text" }, doc! {}, 67),
        (doc! { "a.$**": 1, "b": 1 }, doc! { "unique": true }, 67),
        (doc! { "a.$**": 1, "b": 1 }, doc! { "sparse": true }, 67),
        (doc! { "a.$**": 1, "b": 1 }, doc! { "expireAfterSeconds": 60 }, 67),
        (doc! { "a": 1 }, doc! { "wildcardProjection": doc! { "a": 1 } }, 2),
        (all(), doc! { "wildcardProjection": 1 }, 14),
        (all(), doc! { "wildcardProjection": doc! {} }, 9),
        (all(), doc! { "wildcardProjection": doc! { "a": "$b" } }, 9),
        (all(), doc! { "wildcardProjection": doc! { "a": 1, "b": 0 } }, 31254),
        (all(), doc! { "wildcardProjection": doc! { "a": 0, "b": 1 } }, 31253),
        (all(), doc! { "wildcardProjection": many }, 67),
        (doc! { "a.$**": 1 }, doc! { "wildcardProjection": doc! { "a": 1 } }, 9),
        (doc! { "a": 1 }, doc! { "storageEngine": doc! { "other": doc! {} } }, 72),
    ] {
        let mut client = Client::new();
        refused(&mut client, creation(key, more), code).await;
        let listed = first_batch(&good(&mut client, doc! { "listIndexes": "c" }).await);
        assert_eq!(listed.len(), 1);
    }
}

#[tokio::test]
async fn a_wildcard_index_serves_conditions_on_one_path() {
    for arrays in [false, true] {
        let mut client = Client::new();
        insert(
            &mut client,
            vec![
                doc! { "_id": 1, "a": 1, "b": doc! { "c": "x", "d": 2 } },
                doc! { "_id": 2, "a": 2, "b": doc! { "c": "y" } },
                doc! { "_id": 3, "a": "1" },
                doc! { "_id": 4, "b": doc! {} },
                doc! { "_id": 5, "a": Value::Null, "b": 7 },
                doc! { "_id": 6, "a": doc! { "c": 1 } },
            ],
        )
        .await;
        if arrays {
            let list = array![doc! { "c": "x" }, doc! { "c": "z", "d": 1 }, array![9]];
            insert(&mut client, vec![doc! { "_id": 7, "a": array![1, 5], "b": list }]).await;
        }
        let with = |ids: &[i64]| -> Vec<i64> {
            ids.iter().copied().filter(|id| arrays || *id != 7).collect()
        };
        good(&mut client, creation(doc! { "$**": 1 }, doc! {})).await;
        for (filter, want, path) in [
            (doc! { "a": 1 }, with(&[1, 7]), Some("a")),
            (
                doc! { "a": doc! { "$gt": 1, "$lt": 4 } },
                if arrays { vec![2, 7] } else { vec![2] },
                { Some("a") },
            ),
            (doc! { "b.c": "x" }, with(&[1, 7]), Some("b.c")),
            (doc! { "b.c": doc! { "$in": array!["y", "z"] } }, with(&[2, 7]), Some("b.c")),
            (doc! { "b.c": "x", "b.d": 2 }, vec![1], Some("b.d")),
            (doc! { "b": doc! { "$elemMatch": doc! { "d": 1 } } }, with(&[7]), Some("b.d")),
            (doc! { "b": doc! { "$exists": true } }, with(&[1, 2, 4, 5, 7]), Some("b")),
            (doc! { "$or": array![doc! { "a": 1 }, doc! { "a": "1" }] }, with(&[1, 3, 7]), {
                Some("a")
            }),
            // Missing values and objects have no entries.
            (doc! { "a": Value::Null }, vec![4, 5], None),
            (doc! { "a": doc! { "$ne": 1 } }, vec![2, 3, 4, 5, 6], None),
            (doc! { "a": doc! { "$exists": false } }, vec![4], None),
            (doc! { "a": doc! { "c": 1 } }, vec![6], None),
            (doc! { "a": array![1, 5] }, with(&[7]), None),
            (doc! { "$expr": doc! { "$lt": array!["$a", 2] } }, vec![1, 4, 5], None),
        ] {
            let scanned = scan(&mut client, filter.clone()).await;
            let pattern = |path: &str| {
                let mut pattern = doc! { "$_path": 1 };
                pattern.push(path, 1);
                pattern
            };
            let want_scan = path.map(|path| ("x".into(), pattern(path)));
            // Which of two equally good paths is read does not matter.
            if filter.len() == 1 {
                assert_eq!(scanned, want_scan, "{filter:?}");
            }
            assert_eq!(ids(&mut client, filter.clone(), doc! {}).await, want, "{filter:?}");
            let hint = doc! { "hint": "x" };
            match path {
                Some(_) => assert_eq!(ids(&mut client, filter.clone(), hint).await, want),
                None => {
                    let find = doc! { "find": "c", "filter": filter, "hint": "x" };
                    refused(&mut client, find, 291).await;
                }
            }
        }
    }
}

#[tokio::test]
async fn a_wildcard_index_contains_the_paths_of_its_projection() {
    for (key, projection, served, not_served) in [
        (doc! { "$**": 1 }, None, ["a", "b.c"], ["_id.x", "_id.y"]),
        (doc! { "a.b.$**": 1 }, None, ["a.b", "a.b.c"], ["a", "a.c"]),
        (
            doc! { "$**": 1 },
            Some(doc! { "a": 1, "b": doc! { "c": 1 } }),
            ["a.x", "b.c"],
            ["b", "c"],
        ),
        (doc! { "$**": 1 }, Some(doc! { "a": 0 }), ["b", "ab"], ["a", "a.x"]),
        (doc! { "$**": 1 }, Some(doc! { "_id": 1, "a": 1 }), ["a", "_id.x"], ["b", "c"]),
        (doc! { "$**": 1 }, Some(doc! { "_id": 0 }), ["a", "b"], ["_id.x", "_id.y"]),
    ] {
        let mut client = Client::new();
        insert(&mut client, vec![doc! { "_id": 1, "a": doc! { "b": 1 } }]).await;
        let more = projection.map_or(doc! {}, |it| doc! { "wildcardProjection": it });
        good(&mut client, creation(key, more.clone())).await;
        let listed = first_batch(&good(&mut client, doc! { "listIndexes": "c" }).await);
        assert_eq!(listed[1].get("wildcardProjection"), more.get("wildcardProjection"));
        for (path, is_served) in
            served.map(|path| (path, true)).into_iter().chain(not_served.map(|path| (path, false)))
        {
            let mut filter = Document::new();
            filter.push(path, 1);
            let scanned = scan(&mut client, filter).await;
            assert_eq!(scanned.is_some(), is_served, "{path} {more:?}");
        }
    }
}

#[tokio::test]
async fn documents_expire_in_every_kind_of_index() {
    for (key, filter) in [
        (doc! { "a": "hashed" }, doc! { "a": 7 }),
        (doc! { "$**": 1 }, doc! { "a": 7 }),
        (doc! { "b": 1, "a.$**": 1 }, doc! { "b": Value::Null, "a": 7 }),
        (doc! { "a": 1, "b.$**": 1 }, doc! { "a": 7 }),
        (doc! { "a": 1 }, doc! { "a": 7 }),
    ] {
        let mut client = Client::new();
        good(&mut client, creation(key, doc! {})).await;
        let dated = array![doc! { "key": doc! { "at": "hashed" }, "name": "at",
        "expireAfterSeconds": 5 }];
        good(&mut client, doc! { "createIndexes": "c", "indexes": dated }).await;
        let system =
            array![doc! { "key": doc! { "_ts": 1 }, "name": "t", "expireAfterSeconds": -1 }];
        good(&mut client, doc! { "createIndexes": "c", "indexes": system }).await;
        let at = |seconds: i64| Value::DateTime(START_MS + seconds * 1_000);
        insert(
            &mut client,
            vec![
                doc! { "_id": 1, "a": 7, "ttl": 10 },
                doc! { "_id": 2, "a": 7, "at": at(15) },
                doc! { "_id": 3, "a": 7 },
            ],
        )
        .await;
        for (seconds, want) in
            [(9.999, vec![1, 2, 3]), (0.001, vec![2, 3]), (9.999, vec![2, 3]), (0.001, vec![3])]
        {
            advance(&mut client, seconds).await;
            assert_eq!(ids(&mut client, filter.clone(), doc! {}).await, want, "{filter:?}");
            let hint = doc! { "hint": "x" };
            assert_eq!(ids(&mut client, filter.clone(), hint).await, want, "{filter:?}");
        }
    }
}

#[tokio::test]
async fn a_hidden_index_is_kept_but_not_used() {
    let mut client = Client::new();
    let more = doc! { "unique": true, "hidden": true, "expireAfterSeconds": 5 };
    good(&mut client, creation(doc! { "a": 1 }, more)).await;
    let row = |id: i32| doc! { "_id": id, "a": Value::DateTime(START_MS) };
    insert(&mut client, vec![row(1)]).await;
    refused(&mut client, doc! { "insert": "c", "documents": array![row(2)] }, 11000).await;
    let filter = doc! { "a": Value::DateTime(START_MS) };
    assert_eq!(scan(&mut client, filter.clone()).await, None);
    refused(&mut client, doc! { "find": "c", "hint": "x" }, 2).await;
    let listed = first_batch(&good(&mut client, doc! { "listIndexes": "c" }).await);
    assert_eq!(listed[1].get("hidden"), Some(&Value::Bool(true)));
    advance(&mut client, 4.999).await;
    assert_eq!(ids(&mut client, doc! {}, doc! {}).await, [1]);
    advance(&mut client, 0.001).await;
    assert_eq!(ids(&mut client, doc! {}, doc! {}).await, [0_i64; 0]);
    let shown = doc! { "collMod": "c", "index": doc! { "name": "x", "hidden": false } };
    good(&mut client, shown).await;
    assert!(scan(&mut client, filter).await.is_some());
    let listed = first_batch(&good(&mut client, doc! { "listIndexes": "c" }).await);
    assert_eq!(listed[1].get("hidden"), None);
}

#[tokio::test]
async fn options_are_listed_as_they_were_given() {
    let mut client = Client::new();
    let more = doc! {
        "v": 1, "background": true, "storageEngine": doc! { "wiredTiger": doc! {} },
        "sparse": true,
    };
    good(&mut client, creation(doc! { "a": 1 }, more)).await;
    let listed = first_batch(&good(&mut client, doc! { "listIndexes": "c" }).await);
    let want = doc! {
        "v": 1, "key": doc! { "a": 1 }, "name": "x", "background": true,
        "storageEngine": doc! { "wiredTiger": doc! {} }, "sparse": true,
    };
    assert_eq!(listed[1], want);
    // The listed specification can be sent back.
    let again = doc! { "createIndexes": "d", "indexes": array![listed[1].clone()] };
    good(&mut client, again).await;
}

#[tokio::test]
async fn the_wildcard_of_a_compound_index_excludes_its_other_fields() {
    let all = |others: &[&str]| -> Document {
        let names = others.iter().chain(["$**"].iter());
        names.map(|name| ((*name).to_owned(), Value::Int32(1))).collect()
    };
    for (key, projection, code) in [
        (doc! { "a": 1, "a.$**": 1 }, None, 7246204),
        (doc! { "a.b.c": 1, "a.b.$**": 1 }, None, 7246204),
        (all(&["c"]), Some(doc! { "a.b": 1, "a.b.c": 1 }), 7246200),
        (all(&["a"]), Some(doc! { "a": 1 }), 7246208),
        (all(&["a"]), Some(doc! { "a": 1, "b": 1 }), 7246208),
        (all(&["_id"]), Some(doc! { "_id": 1 }), 7246208),
        (all(&["_id"]), Some(doc! { "_id": 1, "a": 1 }), 7246208),
        (all(&["c"]), Some(doc! { "_id": 0, "a": 0, "b": 1 }), 7246211),
        (all(&["_id", "e"]), Some(doc! { "_id": 1, "e": 0 }), 7246209),
        (all(&["a", "b"]), Some(doc! { "b": 0 }), 7246209),
        (all(&["a"]), Some(doc! { "a.b": 0 }), 7246209),
        (all(&["a"]), Some(doc! { "_id": 0 }), 7246210),
        (all(&["b"]), Some(doc! { "_id": 0, "a": 0 }), 7246210),
        (all(&["e.c"]), Some(doc! { "_id": 1, "e.b": 0 }), 7246210),
        (all(&["a"]), Some(doc! { "b": "x" }), 51271),
    ] {
        let mut client = Client::new();
        let more = projection.map_or(doc! {}, |it| doc! { "wildcardProjection": it });
        refused(&mut client, creation(key, more), code).await;
    }
    for (key, projection) in [
        (doc! { "a": 1, "b.$**": -1, "c": 1 }, None),
        (doc! { "$**": -1 }, None),
        (all(&["a"]), Some(doc! { "a": 0 })),
        (all(&["other"]), Some(doc! { "_id": 0, "a": 1 })),
        (all(&["other"]), Some(doc! { "_id": 1 })),
        (all(&["d"]), Some(doc! { "a": doc! { "b": 1, "c": 1 } })),
        (all(&["_id"]), Some(doc! { "_id": 0 })),
        (all(&["_id", "e"]), Some(doc! { "_id": 0, "a": 1 })),
        (all(&["_id", "a.b"]), Some(doc! { "_id": 0, "a": 0 })),
    ] {
        let mut client = Client::new();
        let more = projection.map_or(doc! {}, |it| doc! { "wildcardProjection": it });
        good(&mut client, creation(key.clone(), more.clone())).await;
        let listed = first_batch(&good(&mut client, doc! { "listIndexes": "c" }).await);
        assert_eq!(listed[1].get("key"), Some(&Value::Document(key)));
        assert_eq!(listed[1].get("wildcardProjection"), more.get("wildcardProjection"));
    }
}

#[tokio::test]
async fn a_compound_wildcard_index_serves_conditions_on_all_its_fields() {
    for (key, more, order) in [
        (doc! { "a": 1, "b.$**": 1, "c": -1 }, doc! {}, 1),
        (doc! { "a": -1, "b.$**": -1, "c": 1 }, doc! {}, -1),
        (
            doc! { "a": 1, "$**": 1, "c": 1 },
            doc! { "wildcardProjection": doc! { "a": 0, "c": 0, "d": 0 } },
            1,
        ),
    ] {
        let mut client = Client::new();
        insert(
            &mut client,
            vec![
                doc! { "_id": 1, "a": 1, "b": doc! { "x": 1, "y": "t" }, "c": 1, "d": 5 },
                doc! { "_id": 2, "a": 1, "b": doc! { "x": array![2, 9] }, "c": 2, "d": 5 },
                doc! { "_id": 3, "a": 2, "b": doc! { "x": 1 }, "c": 3, "d": 5 },
                doc! { "_id": 4, "a": 1, "d": 5 },
                doc! { "_id": 5, "b": doc! { "x": 1 } },
            ],
        )
        .await;
        good(&mut client, creation(key.clone(), more)).await;
        let directions: Vec<_> = key.fields().iter().map(|(_, order)| order.clone()).collect();
        let pattern = |path: Option<&str>| {
            let mut pattern = Document::new();
            pattern.push("a", directions[0].clone());
            pattern.push("$_path", 1);
            if let Some(path) = path {
                pattern.push(path, order);
            }
            pattern.push("c", directions[2].clone());
            pattern
        };
        for (filter, want, path) in [
            (doc! { "a": 1, "b.x": 1 }, vec![1], Some(Some("b.x"))),
            (doc! { "a": 1, "b.x": 9 }, vec![2], Some(Some("b.x"))),
            (doc! { "a": doc! { "$in": array![1, 2] }, "b.x": 1 }, vec![1, 3], Some(Some("b.x"))),
            (doc! { "a": 1, "b.x": doc! { "$gt": 1 } }, vec![2], Some(Some("b.x"))),
            (doc! { "a": 1, "b.x": 1, "c": 1 }, vec![1], Some(Some("b.x"))),
            (doc! { "a": 1, "b.x": 1, "c": doc! { "$gt": 1 } }, vec![], Some(Some("b.x"))),
            (doc! { "a": Value::Null, "b.x": 1 }, vec![5], None),
            // Documents without a path of the wildcard are found by the other fields.
            (doc! { "a": 1 }, vec![1, 2, 4], Some(None)),
            (doc! { "a": doc! { "$gt": 1 } }, vec![3], Some(None)),
            (doc! { "a": 1, "b.x": Value::Null }, vec![4], Some(None)),
            (doc! { "b.x": 1 }, vec![1, 3, 5], None),
            (doc! { "a": 1, "b.x": doc! { "$exists": true } }, vec![1, 2], Some(Some("b.x"))),
        ] {
            let found = ids(&mut client, filter.clone(), doc! {}).await;
            assert_eq!(found, want, "{filter:?} {key:?}");
            if let Some(path) = path {
                let scanned = scan(&mut client, filter.clone()).await;
                assert_eq!(scanned, Some(("x".into(), pattern(path))), "{filter:?} {key:?}");
            }
        }
        // Arrays at the other fields are refused, and change nothing.
        let array = vec![doc! { "_id": 6, "a": array![1], "b": doc! { "x": 1 } }];
        refused(&mut client, doc! { "insert": "c", "documents": array }, 7246301).await;
        let update = doc! { "q": doc! { "_id": 1 }, "u": doc! { "$set": doc! { "c": array![1] } } };
        refused(&mut client, doc! { "update": "c", "updates": array![update] }, 7246301).await;
        assert_eq!(ids(&mut client, doc! { "a": 1, "b.x": 1, "c": 1 }, doc! {}).await, vec![1]);
        // The entry of a document follows it.
        let update = doc! { "q": doc! { "_id": 4 }, "u": doc! { "$set": doc! { "b.x": 1 } } };
        good(&mut client, doc! { "update": "c", "updates": array![update] }).await;
        assert_eq!(ids(&mut client, doc! { "a": 1, "b.x": 1 }, doc! {}).await, vec![1, 4]);
        assert_eq!(ids(&mut client, doc! { "a": 1 }, doc! {}).await, vec![1, 2, 4]);
        good(&mut client, doc! { "validate": "c", "full": true }).await;
    }
}
