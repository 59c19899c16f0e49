//! The number of documents that a query examines: `$or`, conditions on array elements, paging by
//! key and `skip` use an index.

use crate::client::{Client, number};
use document::{Document, Value, array, doc};

const DOCUMENTS: i32 = 400;

async fn client() -> Client {
    let mut client = Client::new();
    let row = |id: i32| {
        let locked = if id % 3 == 0 { Value::Int32(id) } else { Value::Null };
        doc! {
            "_id": id, "u": id, "org": id % 20, "name": "job", "next": id, "locked": locked,
            "arr": array![doc! { "p": id % 40, "s": id % 3 }],
            "tags": array![format!("t{}", id % 40).as_str()],
            "plain": id,
        }
    };
    let rows: Vec<Document> = (0..DOCUMENTS).map(row).collect();
    client.send(doc! { "insert": "c", "$db": "db" }, &[("documents", &rows)]).await;
    let keys = [
        doc! { "u": 1 },
        doc! { "org": 1, "next": 1 },
        doc! { "name": 1, "next": 1, "locked": 1 },
        doc! { "arr.p": 1 },
        doc! { "tags": 1 },
        doc! { "plain": 1, "_id": 1 },
    ];
    let index =
        |(at, key): (usize, Document)| doc! { "key": key, "name": format!("i{at}").as_str() };
    let indexes: Vec<Value> = keys.into_iter().enumerate().map(|it| index(it).into()).collect();
    let create = doc! { "createIndexes": "c", "indexes": Value::Array(indexes), "$db": "db" };
    client.run(create).await;
    client
}

fn of<'d>(document: &'d Document, name: &str) -> &'d Document {
    let Some(Value::Document(inner)) = document.get(name) else { panic!("{document:?}") };
    inner
}

#[tokio::test]
async fn few_documents_are_looked_at() {
    let mut client = client().await;
    let sorted = |field: &str| {
        let mut sort = Document::new();
        sort.push(field, 1);
        doc! { "sort": sort }
    };
    let more = |mut options: Document, name: &str, value: i32| {
        options.push(name, value);
        options
    };
    let or = |any: Value| doc! { "$or": any };
    let em = |inner: Document| doc! { "$elemMatch": inner };
    let lock = array![
        doc! { "name": "job", "locked": Value::Null, "next": doc! { "$lte": 20 } },
        doc! { "name": "job", "locked": doc! { "$lte": 5 } },
    ];
    let page = |field: &str| {
        let (mut behind, mut same) = (Document::new(), Document::new());
        behind.push(field, doc! { "$gt": 100 });
        same.push(field, 100);
        same.push("_id", doc! { "$gt": 5 });
        or(array![behind, same])
    };
    let by_key = doc! { "sort": doc! { "plain": 1, "_id": 1 }, "limit": 5 };
    for (filter, options, returned, most) in [
        (
            or(array![doc! { "u": doc! { "$lt": 3 } }, doc! { "u": doc! { "$gt": 397 } }]),
            doc! {},
            5,
            5,
        ),
        (or(array![doc! { "u": 3 }, doc! { "org": 3 }]), doc! {}, 20, 21),
        (or(array![doc! { "_id": 3 }, doc! { "u": 7 }]), doc! {}, 2, 2),
        (page("plain"), by_key.clone(), 5, 7),
        (or(array![doc! { "org": 3 }, doc! { "org": 4 }]), more(sorted("next"), "limit", 5), 5, 5),
        (or(lock), more(sorted("next"), "limit", 1), 1, 2),
        (doc! { "arr": em(doc! { "p": 29, "s": 2 }) }, doc! {}, 4, 10),
        (doc! { "arr": em(doc! { "p": 29 }) }, doc! {}, 10, 10),
        (doc! { "tags": em(doc! { "$eq": "t5" }) }, doc! {}, 10, 10),
        (doc! { "tags": em(doc! { "$in": array!["t5", "t6"] }) }, doc! {}, 20, 20),
        (doc! { "arr": doc! { "$all": array![em(doc! { "p": 29 })] } }, doc! {}, 10, 10),
        (doc! { "u": doc! { "$not": doc! { "$lt": 390 } } }, doc! {}, 10, 10),
        (doc! { "$nor": array![doc! { "u": doc! { "$gte": 10 } }] }, doc! {}, 10, 10),
        (doc! { "u": doc! { "$exists": false } }, doc! {}, 0, 0),
        (doc! { "$expr": doc! { "$gte": array!["$u", 390] } }, doc! {}, 10, 10),
        (doc! { "$expr": doc! { "$eq": array![5, "$org"] } }, doc! {}, 20, 20),
        (doc! { "u": doc! { "$gte": 0 } }, more(more(sorted("u"), "skip", 300), "limit", 5), 5, 5),
        (doc! { "org": doc! { "$in": array![1, 2, 3] } }, more(sorted("next"), "limit", 5), 5, 5),
    ] {
        let mut find = doc! { "find": "c", "filter": filter.clone() };
        options.into_iter().for_each(|(name, value)| find.push(name, value));
        let reply = client.run(doc! { "explain": find, "$db": "db" }).await;
        let stats = of(&reply, "executionStats");
        assert_eq!(number(stats, "nReturned"), returned, "{filter:?}: {reply:?}");
        assert!(number(stats, "totalDocsExamined") <= most, "{filter:?}: {reply:?}");
    }
}

#[tokio::test]
async fn a_unique_index_serves_an_order_that_ends_with_the_id() {
    let mut client = client().await;
    let unique = array![doc! { "key": doc! { "u": 1 }, "name": "one", "unique": true }];
    client.run(doc! { "dropIndexes": "c", "index": "i0", "$db": "db" }).await;
    let reply = client.run(doc! { "createIndexes": "c", "indexes": unique, "$db": "db" }).await;
    assert_eq!(number(&reply, "ok"), 1, "{reply:?}");
    for (sort, filter) in [
        (doc! { "u": 1, "_id": 1 }, doc! {}),
        (doc! { "u": -1, "_id": 1 }, doc! {}),
        (doc! { "u": 1, "org": -1, "_id": 1 }, doc! { "u": doc! { "$gt": 100 } }),
        (doc! { "org": 1, "_id": 1 }, doc! { "u": 7 }),
    ] {
        let find = doc! { "find": "c", "filter": filter, "sort": sort.clone(), "limit": 5 };
        let reply = client.run(doc! { "explain": find, "$db": "db" }).await;
        assert!(number(of(&reply, "executionStats"), "totalDocsExamined") <= 5, "{reply:?}");
        let plan = format!("{:?}", of(of(&reply, "queryPlanner"), "winningPlan"));
        assert!(!plan.contains("\"SORT\""), "{sort:?}: {plan}");
    }
}

#[tokio::test]
async fn walks_along_ids_are_those_of_their_index() {
    let mut client = client().await;
    let find = |more: Document| {
        let mut find = doc! { "find": "c" };
        more.into_iter().for_each(|(name, value)| find.push(name, value));
        find
    };
    let range = || doc! { "_id": doc! { "$gte": 390 } };
    let group = array![doc! { "$group": doc! { "_id": "$org" } }];
    for (command, keys) in [
        (find(doc! { "filter": range() }), 10),
        (find(doc! { "sort": doc! { "_id": -1 }, "limit": 3 }), 3),
        (find(doc! { "hint": "_id_" }), 400),
        (find(doc! { "filter": doc! { "x": 3 }, "hint": doc! { "_id": 1 } }), 400),
        (doc! { "aggregate": "c", "pipeline": group, "hint": "_id_", "cursor": doc! {} }, 400),
        (find(doc! { "filter": doc! { "_id": doc! { "$in": array![1, 2, 900] } } }), 2),
        (find(doc! { "sort": doc! { "_id": 1 }, "skip": 7, "limit": 2 }), 9),
    ] {
        let reply = client.run(doc! { "explain": command.clone(), "$db": "db" }).await;
        let mut stage = of(of(&reply, "queryPlanner"), "winningPlan");
        while stage.get("inputStage").is_some() {
            stage = of(stage, "inputStage");
        }
        assert_eq!(stage.get("stage"), Some(&"IXSCAN".into()), "{reply:?}");
        assert_eq!(stage.get("indexName"), Some(&"_id_".into()), "{reply:?}");
        let stats = of(&reply, "executionStats");
        assert_eq!(number(stats, "totalKeysExamined"), keys, "{command:?}: {reply:?}");
    }
    let reply =
        client.run(doc! { "explain": doc! { "count": "c", "query": range() }, "$db": "db" });
    let reply = reply.await;
    let stage = of(of(of(&reply, "queryPlanner"), "winningPlan"), "inputStage");
    assert_eq!(stage.get("stage"), Some(&"COUNT_SCAN".into()), "{reply:?}");
    let stats = of(&reply, "executionStats");
    assert_eq!(number(stats, "totalKeysExamined"), 10, "{reply:?}");
    assert_eq!(number(stats, "totalDocsExamined"), 0, "{reply:?}");
    let reply =
        client.run(doc! { "explain": find(doc! { "filter": doc! { "x": 1 } }), "$db": "db" });
    let reply = reply.await;
    let plan = of(of(&reply, "queryPlanner"), "winningPlan");
    assert_eq!(plan.get("stage"), Some(&"COLLSCAN".into()));
}
