//! Databases that are listed and dropped, and the limits of documents in their collections.

use crate::client::{Client, number};
use document::{ArrayRef, Document, Value, ValueRef, array, doc};

#[tokio::test]
async fn the_servers_own_databases_are_listed() {
    let mut client = Client::new();
    client.send(doc! { "insert": "c", "$db": "db" }, &[("documents", &[doc! {}])]).await;
    let reply = client.run(doc! { "listDatabases": 1, "$db": "admin" }).await;
    let listed = reply.get("databases").and_then(|value| value.as_ref().as_array());
    let shown = listed.map(|listed| listed.iter().map(name_and_empty).collect::<Vec<_>>());
    let expected = [("admin", false), ("config", false), ("db", false), ("local", false)];
    assert_eq!(shown.unwrap(), expected.map(|(name, empty)| (name.to_owned(), empty)));
    let filter = doc! { "name": doc! { "$nin": array!["admin", "config", "local"] } };
    let reply = client.run(doc! { "listDatabases": 1, "filter": filter, "$db": "admin" }).await;
    assert_eq!(reply.get("databases").and_then(|it| it.as_ref().as_array()).map(len), Some(1));
}

fn len(array: ArrayRef<'_>) -> usize {
    array.iter().count()
}

fn name_and_empty(entry: ValueRef<'_>) -> (String, bool) {
    let entry = entry.as_document().unwrap().to_tree();
    match (entry.get("name"), entry.get("empty")) {
        (Some(Value::String(name)), Some(Value::Bool(empty))) => (name.clone(), *empty),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_drops_a_database_is_checked() {
    let mut client = Client::new();
    client.send(doc! { "insert": "c", "$db": "db" }, &[("documents", &[doc! {}])]).await;
    client.send(doc! { "insert": "c", "$db": "admin" }, &[("documents", &[doc! {}])]).await;
    for (database, argument, code) in [
        ("db", Value::Bool(true), 14),
        ("db", "x".into(), 14),
        ("db", Value::Null, 40414),
        ("db", 0.into(), 5_255_100),
        ("db", 2.into(), 5_255_100),
        ("admin", 1.into(), 20),
    ] {
        let reply = client.run(doc! { "dropDatabase": argument, "$db": database }).await;
        assert_eq!(number(&reply, "code"), code, "{reply:?}");
    }
    for database in ["db", "admin"] {
        let reply = client.run(doc! { "count": "c", "$db": database }).await;
        assert_eq!(number(&reply, "n"), 1, "{database}");
    }
    client.run(doc! { "dropDatabase": 1.0, "$db": "db" }).await;
    assert_eq!(number(&client.run(doc! { "count": "c", "$db": "db" }).await, "n"), 0);
}

#[tokio::test]
async fn a_database_that_differs_from_another_in_case_only_is_refused() {
    let mut client = Client::new();
    let documents = [doc! { "_id": 1 }];
    client.send(doc! { "insert": "c", "$db": "r" }, &[("documents", &documents)]).await;
    let upsert = doc! { "q": doc! {}, "u": doc! { "a": 1 }, "upsert": true };
    for command in [
        doc! { "create": "c", "$db": "R" },
        doc! { "insert": "c", "documents": array![doc! {}], "$db": "R" },
        doc! { "update": "c", "updates": array![upsert], "$db": "R" },
        doc! { "createIndexes": "c", "indexes": array![doc! { "key": doc! { "a": 1 }, "name": "a" }], "$db": "R" },
        doc! { "renameCollection": "r.c", "to": "R.c", "$db": "admin" },
        doc! { "create": "c", "$db": "Admin" },
    ] {
        let reply = client.run(command.clone()).await;
        assert_eq!(code(&reply), 13297, "{command:?}: {reply:?}");
    }
    assert_eq!(number(&client.run(doc! { "count": "c", "$db": "R" }).await, "n"), 0);
    // Once the database `r` is dropped, `R` can be created.
    client.run(doc! { "dropDatabase": 1, "$db": "r" }).await;
    assert_eq!(number(&client.run(doc! { "create": "c", "$db": "R" }).await, "ok"), 1);
}

/// Returns the code of a reply, or of its first write error.
fn code(reply: &Document) -> i64 {
    let errors = reply.get("writeErrors").and_then(|value| value.as_ref().as_array());
    let first = errors.and_then(|errors| errors.iter().next()?.as_document());
    number(&first.map_or_else(|| reply.clone(), |first| first.to_tree()), "code")
}

#[tokio::test]
async fn documents_are_stored_down_to_their_deepest_level() {
    let deep = |levels: usize| {
        (1..levels).fold(doc! { "a": 1 }, |inner, _| doc! { "a": Value::Document(inner) })
    };
    let mut client = Client::new();
    for (levels, n) in [(179, 1), (180, 1), (181, 0)] {
        let document: Document = deep(levels);
        let reply = client
            .send(
                doc! { "insert": "c", "$db": "db" },
                &[("documents", std::slice::from_ref(&document))],
            )
            .await;
        assert_eq!(number(&reply, "n"), n, "{levels}: {reply:?}");
        let reply = client.run(doc! { "count": "c", "query": document, "$db": "db" }).await;
        assert_eq!(number(&reply, "n"), n, "{levels}: {reply:?}");
    }
    assert_eq!(client.all("c").await.len(), 2);
}
