//! What `explain` reports on indexes, and on writes that it does not execute.

use crate::client::{Client, number};
use document::{Document, Value, array, doc};

/// Returns a client of a collection with twenty documents and indexes of several kinds.
async fn client() -> Client {
    let mut client = Client::new();
    let row = |id: i32| doc! { "_id": id, "a": id, "b": id % 3, "list": array![id, 0], "s": id };
    let rows: Vec<Document> = (0..20).map(row).collect();
    client.send(doc! { "insert": "c", "$db": "db" }, &[("documents", &rows)]).await;
    let part = doc! { "a": doc! { "$gt": 3 } };
    let indexes = array![
        doc! { "key": doc! { "a": 1, "b": -1 }, "name": "plain" },
        doc! { "key": doc! { "s": 1 }, "name": "one", "unique": true, "sparse": true },
        doc! { "key": doc! { "list": 1 }, "name": "many" },
        doc! { "key": doc! { "b": 1 }, "name": "part", "partialFilterExpression": part },
    ];
    let reply = client.run(doc! { "createIndexes": "c", "indexes": indexes, "$db": "db" }).await;
    assert_eq!(number(&reply, "numIndexesAfter"), 5, "{reply:?}");
    client
}

fn inner(of: &Document, path: &[&str]) -> Document {
    let value = path.iter().fold(Value::Document(of.clone()), |value, name| {
        value
            .as_ref()
            .as_document()
            .unwrap()
            .get(name)
            .unwrap_or_else(|| panic!("{name} of {of:?}"))
            .to_value()
    });
    value.as_ref().as_document().unwrap().to_tree()
}

async fn explain(client: &mut Client, command: Document) -> Document {
    let reply = client.run(doc! { "explain": command.clone(), "$db": "db" }).await;
    assert_eq!(number(&reply, "ok"), 1, "{command:?}: {reply:?}");
    reply
}

#[tokio::test]
async fn an_index_is_described() {
    let mut client = client().await;
    for (filter, hint, flags) in [
        (doc! { "a": doc! { "$gte": 5 } }, "plain", [false, false, false, false]),
        (doc! { "s": 4 }, "one", [false, true, true, false]),
        (doc! { "list": 7 }, "many", [true, false, false, false]),
        (doc! { "b": 1, "a": doc! { "$gt": 5 } }, "part", [false, false, false, true]),
    ] {
        let find = doc! { "find": "c", "filter": filter.clone(), "hint": hint };
        let reply = explain(&mut client, find).await;
        assert_eq!(inner(&reply, &["queryPlanner", "parsedQuery"]), filter);
        let scan = inner(&reply, &["queryPlanner", "winningPlan", "inputStage"]);
        assert_eq!(scan.get("stage"), Some(&"IXSCAN".into()));
        let shown = ["isMultiKey", "isUnique", "isSparse", "isPartial"];
        assert_eq!(shown.map(|name| scan.get(name).cloned().unwrap()), flags.map(Value::Bool));
        let stats = inner(&reply, &["executionStats"]);
        for name in ["nReturned", "executionTimeMillis", "totalKeysExamined", "totalDocsExamined"] {
            assert!(matches!(stats.get(name), Some(Value::Int32(_))), "{name} of {stats:?}");
        }
        let run = inner(&stats, &["executionStages"]);
        assert_eq!(run.get("docsExamined"), stats.get("totalDocsExamined"));
        assert_eq!(run.get("nReturned"), stats.get("nReturned"));
        let keys = inner(&run, &["inputStage"]);
        assert_eq!(keys.get("keysExamined"), stats.get("totalKeysExamined"));
    }
}

/// Returns the names of stages, from the outermost to the access path.
fn stage_names(plan: &Document) -> Vec<String> {
    let mut names = Vec::new();
    let mut plan = Some(plan.clone());
    while let Some(stage) = plan {
        let Some(Value::String(name)) = stage.get("stage") else { panic!("{stage:?}") };
        names.push(name.to_string());
        plan = stage.get("inputStage").map(|_| inner(&stage, &["inputStage"]));
    }
    names
}

#[tokio::test]
async fn a_sort_is_shown_unless_the_index_gives_its_order() {
    let mut client = client().await;
    let sort = |field: &str| {
        let mut order = Document::new();
        order.push(field, 1);
        Value::Document(doc! { "$sort": order })
    };
    let group = || Value::Document(doc! { "$group": doc! { "_id": "$b" } });
    for (pipeline, names) in [
        (vec![sort("b")], &["SORT", "COLLSCAN"][..]),
        (vec![sort("a")], &["FETCH", "IXSCAN"]),
        (vec![group(), sort("_id")], &["SORT", "GROUP", "COLLSCAN"]),
        (vec![sort("a"), group(), sort("_id")], &["SORT", "GROUP", "FETCH", "IXSCAN"]),
    ] {
        let command = doc! {
            "aggregate": "c",
            "pipeline": Value::Array(pipeline.clone()),
            "cursor": doc! {},
        };
        let reply = explain(&mut client, command).await;
        let plan = inner(&reply, &["queryPlanner", "winningPlan"]);
        assert_eq!(stage_names(&plan), names, "{pipeline:?}");
    }
}

#[tokio::test]
async fn a_write_is_explained_and_not_made() {
    let mut client = client().await;
    let before = client.all("c").await;
    let set = || doc! { "$set": doc! { "b": 1 } };
    let update = |q: Document, more: Document| {
        let mut statement = doc! { "q": q, "u": set() };
        more.into_iter().for_each(|(name, value)| statement.push(name, value));
        doc! { "update": "c", "updates": array![statement] }
    };
    let delete = |q: Document, limit: i32| {
        doc! { "delete": "c", "deletes": array![doc! { "q": q, "limit": limit }] }
    };
    let small = || doc! { "a": doc! { "$lt": 6 } };
    let many = || doc! { "multi": true };
    let modify = |more: Document| {
        let mut command = doc! { "findAndModify": "c", "query": small(), "sort": doc! { "b": -1 } };
        more.into_iter().for_each(|(name, value)| command.push(name, value));
        command
    };
    for (command, stage, counts) in [
        (
            update(small(), many()),
            "UPDATE",
            doc! { "nMatched": 6, "nWouldModify": 4, "nWouldUpsert": 0, "nReturned": 0 },
        ),
        (
            update(doc! { "_id": 3 }, doc! {}),
            "UPDATE",
            doc! { "nMatched": 1, "nWouldModify": 1, "nWouldUpsert": 0 },
        ),
        (
            update(doc! { "a": 99 }, doc! { "upsert": true }),
            "UPDATE",
            doc! { "nMatched": 0, "nWouldModify": 0, "nWouldUpsert": 1 },
        ),
        (delete(small(), 0), "DELETE", doc! { "nWouldDelete": 6, "nReturned": 0 }),
        (delete(small(), 1), "DELETE", doc! { "nWouldDelete": 1 }),
        (
            modify(doc! { "update": set() }),
            "UPDATE",
            doc! { "nMatched": 1, "nWouldModify": 1, "nReturned": 1 },
        ),
        (modify(doc! { "remove": true }), "DELETE", doc! { "nWouldDelete": 1, "nReturned": 1 }),
        (doc! { "count": "c", "query": small() }, "COUNT", doc! { "nCounted": 6, "nReturned": 0 }),
    ] {
        let reply = explain(&mut client, command.clone()).await;
        let planned = inner(&reply, &["queryPlanner", "winningPlan"]);
        assert_eq!(planned.get("stage"), Some(&stage.into()), "{command:?}");
        assert!(planned.get("inputStage").is_some(), "{planned:?}");
        let run = inner(&reply, &["executionStats", "executionStages"]);
        for (name, count) in counts {
            assert_eq!(run.get(&name), Some(&count), "{name} of {command:?}: {run:?}");
        }
    }
    assert_eq!(client.all("c").await, before);
}

#[tokio::test]
async fn a_count_that_an_index_answers_reads_no_document() {
    let mut client = client().await;
    let count = |query: Document| doc! { "count": "c", "query": query };
    let group = |filter: Document| {
        let sum = doc! { "_id": 1, "n": doc! { "$sum": 1 } };
        let stages = array![doc! { "$match": filter }, doc! { "$group": sum }];
        doc! { "aggregate": "c", "pipeline": stages, "cursor": doc! {} }
    };
    let below = || doc! { "a": doc! { "$lt": 6 } };
    for (command, stages, keys, documents) in [
        (count(below()), &["COUNT", "COUNT_SCAN"][..], 6, 0),
        (count(doc! { "s": 4 }), &["COUNT", "COUNT_SCAN"], 1, 0),
        (count(doc! { "a": doc! { "$in": array![1, 5] } }), &["COUNT", "IXSCAN"], 2, 0),
        (group(below()), &["GROUP", "COUNT_SCAN"], 6, 0),
        (count(doc! { "a": 3, "c": 1 }), &["COUNT", "FETCH", "IXSCAN"], 1, 1),
        (count(doc! { "list": 7 }), &["COUNT", "FETCH", "IXSCAN"], 1, 1),
    ] {
        let reply = explain(&mut client, command.clone()).await;
        let mut plan = inner(&reply, &["queryPlanner", "winningPlan"]);
        for (at, stage) in stages.iter().enumerate() {
            assert_eq!(plan.get("stage"), Some(&(*stage).into()), "{at} of {command:?}: {reply:?}");
            if at + 1 < stages.len() {
                plan = inner(&plan, &["inputStage"]);
            }
        }
        assert!(plan.get("inputStage").is_none(), "{plan:?}");
        let stats = inner(&reply, &["executionStats"]);
        assert_eq!(number(&stats, "totalKeysExamined"), keys, "{command:?}: {stats:?}");
        assert_eq!(number(&stats, "totalDocsExamined"), documents, "{command:?}: {stats:?}");
    }
    let command = doc! { "count": "c", "query": below(), "skip": 1, "limit": 3 };
    let reply = explain(&mut client, command).await;
    let run = inner(&reply, &["executionStats", "executionStages"]);
    assert_eq!(run.get("nCounted"), Some(&3.into()), "{run:?}");
}

#[tokio::test]
async fn small_counts_and_sizes_have_32_bits() {
    let mut client = client().await;
    let pipeline =
        array![doc! { "$collStats": doc! { "storageStats": doc! {}, "count": doc! {} } }];
    let stage = doc! { "aggregate": "c", "pipeline": pipeline, "cursor": doc! {}, "$db": "db" };
    let stage = client.run(stage).await;
    let stage = crate::client::first_batch(&stage).remove(0);
    let all = client.run(doc! { "collStats": "c", "$db": "db" }).await;
    let database = client.run(doc! { "dbStats": 1, "$db": "db" }).await;
    let checked = client.run(doc! { "validate": "c", "$db": "db" }).await;
    let stored = inner(&stage, &["storageStats"]);
    for (reply, names) in [
        (&all, &["size", "count", "avgObjSize", "storageSize", "totalSize", "scaleFactor"][..]),
        (&stored, &["size", "count", "avgObjSize", "totalIndexSize", "nindexes"]),
        (&stage, &["count"]),
        (&database, &["collections", "objects", "indexes", "views"]),
        (&checked, &["nrecords", "nIndexes"]),
        (&inner(&all, &["indexSizes"]), &["_id_", "plain"]),
        (&inner(&checked, &["keysPerIndex"]), &["_id_", "plain"]),
    ] {
        for name in names {
            let value = reply.get(name);
            assert!(matches!(value, Some(Value::Int32(_))), "{name}: {value:?} in {reply:?}");
        }
    }
    for name in ["dataSize", "storageSize", "indexSize", "totalSize", "scaleFactor"] {
        assert!(matches!(database.get(name), Some(Value::Double(_))), "{name}: {database:?}");
    }
}

#[tokio::test]
async fn plans_that_were_tried_are_listed_unless_only_statistics_are_asked_for() {
    let mut client = client().await;
    for (verbosity, listed) in [
        (None, true),
        (Some("allPlansExecution"), true),
        (Some("executionStats"), false),
        (Some("queryPlanner"), false),
    ] {
        for inner in [doc! { "find": "c", "filter": doc! { "a": 1 } }, doc! { "count": "c" }] {
            let mut command = doc! { "explain": inner, "$db": "db" };
            if let Some(verbosity) = verbosity {
                command.push("verbosity", verbosity);
            }
            let reply = client.run(command.clone()).await;
            let run = reply.get("executionStats").map(Value::as_ref);
            let plans = run.and_then(|run| run.as_document()?.get("allPlansExecution"));
            let plans = plans.map(|plans| plans.to_value());
            assert_eq!(plans, listed.then(|| array![]), "{command:?}: {reply:?}");
        }
    }
}

#[tokio::test]
async fn the_shape_of_a_query_has_hashes() {
    let mut client = client().await;
    let find = |value: Value| doc! { "find": "c", "filter": doc! { "a": value } };
    let one = explain(&mut client, find(1.into())).await;
    let other = explain(&mut client, find(2.into())).await;
    let text = explain(&mut client, find("x".into())).await;
    let query = |reply: &Document| reply.get("queryShapeHash").cloned();
    let plan = |reply: &Document| {
        let planner = inner(reply, &["queryPlanner"]);
        assert_eq!(planner.get("queryHash"), planner.get("planCacheShapeHash"));
        planner.get("planCacheShapeHash").cloned()
    };
    for (hash, digits) in [(query(&one), 64), (plan(&one), 8)] {
        assert!(matches!(&hash, Some(Value::String(it)) if it.len() == digits), "{hash:?}");
    }
    assert_eq!((query(&one), plan(&one)), (query(&other), plan(&other)));
    assert!(query(&one) != query(&text) && plan(&one) != plan(&text));
    let count = explain(&mut client, doc! { "count": "c" }).await;
    assert_eq!(query(&count), None);
    assert!(plan(&count).is_some());
    let stages = array![doc! { "$match": doc! { "a": 1 } }];
    let command = doc! { "aggregate": "c", "pipeline": stages, "explain": true, "$db": "db" };
    let reply = client.run(command).await;
    assert_eq!(plan(&reply), plan(&one));
    assert!(matches!(query(&reply), Some(Value::String(_))));
}
