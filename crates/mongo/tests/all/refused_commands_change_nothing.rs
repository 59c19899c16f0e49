//! A refused command has no effect: its errors are detected before it starts.

use crate::client::{Client, number};
use document::{Document, Value, array, doc};

const SET: fn() -> Document = || doc! { "$set": doc! { "x": 1 } };

fn rows() -> Vec<Document> {
    vec![doc! { "_id": 1, "b": array![1, 2] }, doc! { "_id": 2 }]
}

async fn client() -> Client {
    let mut client = Client::new();
    client.send(doc! { "insert": "c", "$db": "db" }, &[("documents", &rows())]).await;
    client
}

fn with(mut base: Document, more: Document) -> Document {
    more.into_iter().for_each(|(name, value)| base.push(name, value));
    base
}

#[tokio::test]
async fn find_and_modify_reads_all_arguments_first() {
    let mut client = client().await;
    for (more, code) in [
        (doc! { "fields": 5 }, 14),
        (doc! { "fields": doc! { "$x": 1 } }, 16410),
        (doc! { "fields": doc! { "b.$": 1 }, "new": true }, 2),
        (doc! { "hint": "nope" }, 2),
        (doc! { "hint": 1 }, 9),
        (doc! { "collation": 1 }, 14),
    ] {
        let query = doc! { "query": doc! { "b": 1 }, "$db": "db" };
        let base = with(doc! { "findAndModify": "c" }, query);
        for change in [doc! { "update": SET() }, doc! { "remove": true }] {
            if change.get("remove").is_some() && more.get("new").is_some() {
                continue;
            }
            let command = with(with(base.clone(), change), more.clone());
            let reply = client.run(command.clone()).await;
            assert_eq!(number(&reply, "code"), code, "{command:?}: {reply:?}");
            assert_eq!(client.all("c").await, rows(), "{command:?}");
        }
    }
    let query = doc! { "b": 1, "$expr": true };
    let fields = doc! { "b.$": 1 };
    let command = doc! { "findAndModify": "c", "query": query, "fields": fields, "update": SET(), "$db": "db" };
    assert_eq!(number(&client.run(command).await, "code"), 224);
    assert_eq!(client.all("c").await, rows());
    let upsert = doc! { "findAndModify": "new", "query": doc! {}, "update": doc! { "$foo": 1 },
    "upsert": true, "$db": "db" };
    assert_eq!(number(&client.run(upsert).await, "code"), 9);
    let made = client.run(doc! { "listIndexes": "new", "$db": "db" }).await;
    assert_eq!(number(&made, "code"), 26);
}

#[tokio::test]
async fn a_malformed_statement_spoils_all_of_them() {
    let mut client = client().await;
    let good = doc! { "q": doc! { "_id": 1 }, "u": SET() };
    let q = || doc! { "q": doc! { "_id": 2 } };
    for (bad, code) in [
        (q(), 40414),
        (doc! { "u": SET() }, 40414),
        (doc! { "q": 5, "u": SET() }, 14),
        (with(q(), doc! { "u": 5 }), 9),
        (with(q(), doc! { "u": SET(), "n": 1 }), 40415),
        (with(q(), doc! { "u": SET(), "multi": "x" }), 14),
        (with(q(), doc! { "u": SET(), "upsert": "x" }), 14),
        (with(q(), doc! { "u": SET(), "arrayFilters": 1 }), 14),
        (with(q(), doc! { "u": SET(), "arrayFilters": array![1] }), 14),
        (with(q(), doc! { "u": SET(), "hint": 1 }), 9),
        (with(q(), doc! { "u": SET(), "collation": 1 }), 14),
        (with(q(), doc! { "u": SET(), "c": 1 }), 14),
    ] {
        let command = doc! { "update": "c", "updates": array![good.clone(), bad], "$db": "db" };
        let reply = client.run(command.clone()).await;
        assert_eq!(number(&reply, "code"), code, "{command:?}: {reply:?}");
        assert_eq!(client.all("c").await, rows(), "{command:?}");
    }
    let good = doc! { "q": doc! { "_id": 1 }, "limit": 1 };
    for (bad, code) in [
        (q(), 40414),
        (doc! { "limit": 1 }, 40414),
        (doc! { "q": 1, "limit": 1 }, 14),
        (with(q(), doc! { "limit": 2 }), 9),
        (with(q(), doc! { "limit": 0.5 }), 9),
        (with(q(), doc! { "limit": "x" }), 14),
        (with(q(), doc! { "limit": 1, "x": 1 }), 40415),
        (with(q(), doc! { "limit": 1, "hint": 1 }), 9),
    ] {
        let command = doc! { "delete": "c", "deletes": array![good.clone(), bad], "$db": "db" };
        let reply = client.run(command.clone()).await;
        assert_eq!(number(&reply, "code"), code, "{command:?}: {reply:?}");
        assert_eq!(client.all("c").await, rows(), "{command:?}");
    }
}

#[tokio::test]
async fn a_statement_that_looks_right_fails_alone() {
    let mut client = client().await;
    let q = || doc! { "q": doc! { "_id": 2 } };
    for (bad, code) in [
        (with(q(), doc! { "u": SET(), "hint": "nope" }), 2),
        (with(q(), doc! { "u": SET(), "c": doc! {} }), 51198),
        (with(q(), doc! { "u": doc! { "$foo": 1 } }), 9),
        (doc! { "q": doc! { "$foo": 1 }, "u": SET() }, 2),
    ] {
        let good = doc! { "q": doc! { "_id": 1 }, "u": SET() };
        let command = doc! { "update": "c", "updates": array![good, bad], "$db": "db" };
        let reply = client.run(command.clone()).await;
        assert_eq!(number(&reply, "n"), 1, "{command:?}: {reply:?}");
        let Some(Value::Array(errors)) = reply.get("writeErrors") else { panic!("{reply:?}") };
        let error = errors[0].as_ref().as_document().unwrap().to_tree();
        assert_eq!((number(&error, "index"), number(&error, "code")), (1, code), "{command:?}");
    }
}
