//! The effect of hints, and the errors of wrong ones.

use crate::client::{Client, number};
use document::{Document, Value, array, doc};

/// Returns a client of a collection with four documents, one of them without `a`, and a sparse
/// index on `a`.
async fn client() -> Client {
    let mut client = Client::new();
    let rows = [doc! { "a": 1 }, doc! { "a": 2 }, doc! { "a": 3 }, doc! {}];
    client.send(doc! { "insert": "c", "$db": "db" }, &[("documents", &rows)]).await;
    let index = doc! { "key": doc! { "a": 1 }, "name": "a_1", "sparse": true };
    let reply = create(&mut client, index).await;
    assert_eq!(number(&reply, "numIndexesAfter"), 2, "{reply:?}");
    client
}

async fn create(client: &mut Client, index: Document) -> Document {
    let command = doc! { "createIndexes": "c", "indexes": array![index], "$db": "db" };
    client.run(command).await
}

#[tokio::test]
async fn a_count_follows_its_hint() {
    let mut client = client().await;
    let key = |value: Value| Value::Document(doc! { "a": value });
    for (hint, n) in [
        (Value::Null, 4),
        ("_id_".into(), 4),
        (doc! { "_id": 1 }.into(), 4),
        (doc! { "$natural": 1 }.into(), 4),
        ("a_1".into(), 3),
        (key(1.into()), 3),
        (key(1.0.into()), 3),
    ] {
        let reply = client.run(doc! { "count": "c", "hint": hint.clone(), "$db": "db" }).await;
        assert_eq!(number(&reply, "n"), n, "{hint:?}: {reply:?}");
        let command =
            doc! { "count": "c", "hint": hint.clone(), "limit": 2, "skip": 1, "$db": "db" };
        assert_eq!(number(&client.run(command).await, "n"), 2, "{hint:?}");
    }
}

#[tokio::test]
async fn a_hint_that_means_no_index_is_a_bad_value() {
    let mut client = client().await;
    let nope = || doc! { "q": doc! {}, "hint": "nope" };
    let with = |mut base: Document, name: &str, value: Value| {
        base.push(name, value);
        base
    };
    let set = || Value::Document(doc! { "$set": doc! { "x": 1 } });
    for command in [
        doc! { "find": "c", "hint": "nope" },
        doc! { "find": "c", "hint": doc! { "a": -1 } },
        doc! { "count": "c", "hint": "nope" },
        doc! { "count": "c", "hint": doc! { "b": 1 } },
        doc! { "aggregate": "c", "pipeline": array![], "cursor": doc! {}, "hint": "nope" },
        doc! { "findAndModify": "c", "update": set(), "hint": "nope" },
        doc! { "update": "c", "updates": array![with(nope(), "u", set())] },
        doc! { "delete": "c", "deletes": array![with(nope(), "limit", 0.into())] },
    ] {
        let reply = client.run(with(command.clone(), "$db", "db".into())).await;
        let error = match reply.get("writeErrors") {
            Some(Value::Array(errors)) => errors[0].as_ref().as_document().unwrap().to_tree(),
            _ => reply,
        };
        assert_eq!(number(&error, "code"), 2, "{command:?}: {error:?}");
    }
    // On a missing collection nothing is checked.
    let reply = client.run(doc! { "count": "none", "hint": "nope", "$db": "db" }).await;
    assert_eq!(number(&reply, "n"), 0);
}

#[tokio::test]
async fn a_hint_to_a_partial_index_means_what_is_in_it() {
    let mut client = client().await;
    let filter = doc! { "a": 2 };
    let index = doc! { "key": doc! { "a": -1 }, "name": "part", "partialFilterExpression": filter };
    let reply = create(&mut client, index).await;
    assert_eq!(number(&reply, "numIndexesAfter"), 3, "{reply:?}");
    for (query, n) in [(doc! {}, 1), (doc! { "a": doc! { "$lt": 3 } }, 1), (doc! { "a": 1 }, 0)] {
        let command = doc! { "count": "c", "query": query.clone(), "hint": "part", "$db": "db" };
        let reply = client.run(command).await;
        assert_eq!(number(&reply, "n"), n, "{query:?}: {reply:?}");
    }
    let deletes = [doc! { "q": doc! {}, "limit": 0, "hint": "part" }];
    let reply = client.send(doc! { "delete": "c", "$db": "db" }, &[("deletes", &deletes)]).await;
    assert_eq!(number(&reply, "n"), 1, "{reply:?}");
    assert_eq!(number(&client.run(doc! { "count": "c", "$db": "db" }).await, "n"), 3);
}
