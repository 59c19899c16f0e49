//! Whether a new index equals an existing one, and the errors for conflicts between the two.

use crate::client::{Client, cursor, first_batch, number};
use document::{Document, Value, array, doc};

fn index(more: Document) -> Document {
    with(doc! { "key": doc! { "a": 1 } }, more)
}

fn named(name: &str, more: Document) -> Document {
    with(index(doc! { "name": name }), more)
}

fn with(mut base: Document, more: Document) -> Document {
    more.into_iter().for_each(|(name, value)| base.push(name, value));
    base
}

async fn create(client: &mut Client, indexes: &[Document]) -> Document {
    let indexes = indexes.iter().cloned().map(Value::Document).collect();
    client.run(doc! { "createIndexes": "c", "indexes": Value::Array(indexes), "$db": "db" }).await
}

async fn names(client: &mut Client) -> Vec<String> {
    let reply = client.run(doc! { "listIndexes": "c", "$db": "db" }).await;
    let name = |index: Document| index.get("name").unwrap().as_ref().as_str().unwrap().to_owned();
    first_batch(&reply).into_iter().map(name).collect()
}

#[tokio::test]
async fn key_filter_sparse_and_unique_make_an_index() {
    for (more, same_name, other_name) in [
        (doc! {}, 0, 85),
        (doc! { "hidden": true }, 0, 85),
        (doc! { "expireAfterSeconds": 5 }, 85, 85),
        (doc! { "unique": true }, 86, 0),
        (doc! { "sparse": true }, 86, 0),
        (doc! { "partialFilterExpression": doc! { "b": 1 } }, 86, 0),
    ] {
        for (name, want) in [("a_1", same_name), ("other", other_name)] {
            let mut client = Client::new();
            create(&mut client, &[named("a_1", doc! {})]).await;
            let reply = create(&mut client, &[named(name, more.clone())]).await;
            match want {
                0 => assert_eq!(number(&reply, "ok"), 1, "{name} {more:?}: {reply:?}"),
                code => assert_eq!(number(&reply, "code"), code, "{name} {more:?}"),
            }
            let made = name == "other" && want == 0;
            assert_eq!(names(&mut client).await.len(), 2 + usize::from(made), "{name} {more:?}");
        }
    }
}

#[tokio::test]
async fn a_key_pattern_that_several_indexes_have_names_none() {
    let mut client = Client::new();
    let rows = [doc! { "a": 1 }, doc! { "a": 2 }, doc! {}];
    client.send(doc! { "insert": "c", "$db": "db" }, &[("documents", &rows)]).await;
    create(&mut client, &[named("a_1", doc! {}), named("s", doc! { "sparse": true })]).await;
    for (command, code) in [
        (doc! { "find": "c", "hint": doc! { "a": 1 } }, 27),
        (doc! { "dropIndexes": "c", "index": doc! { "a": 1 } }, 181),
    ] {
        let reply = client.run(with(command.clone(), doc! { "$db": "db" })).await;
        assert_eq!(number(&reply, "code"), code, "{command:?}: {reply:?}");
    }
    for (name, n) in [("a_1", 3), ("s", 2)] {
        let reply = client.run(doc! { "count": "c", "hint": name, "$db": "db" }).await;
        assert_eq!(number(&reply, "n"), n, "{name}");
    }
}

#[tokio::test]
async fn indexes_that_cannot_be_made_are_refused() {
    let fields = |range: std::ops::Range<i32>| -> Document {
        range.map(|at| (format!("f{at}"), Value::Int32(1))).collect()
    };
    let single = |at: i32| doc! { "key": fields(at..at + 1), "name": format!("f{at}") };
    let x = |more: Document| vec![named("x", more)];
    for (indexes, code) in [
        ((0..64).map(single).collect(), 67),
        (vec![doc! { "key": fields(0..33), "name": "x" }], 13103),
        (vec![doc! { "key": doc! { "_id": -1 }, "name": "x" }], 2),
        (vec![named("x", doc! {}), named("x", doc! {})], 96),
        (vec![named("x", doc! {}), named("y", doc! {})], 85),
        (x(doc! { "v": 3 }), 67),
        (x(doc! { "v": "x" }), 14),
        (x(doc! { "v": 2.5 }), 2),
        (x(doc! { "partialFilterExpression": doc! { "a": doc! { "$ne": 1 } } }), 67),
    ] {
        let mut client = Client::new();
        let reply = create(&mut client, &indexes).await;
        assert_eq!(number(&reply, "code"), code, "{indexes:?}: {reply:?}");
        assert_eq!(names(&mut client).await, ["_id_"]);
        // On a missing collection the errors are the same, except for the code of two indexes with
        // one name, and the collection is not created.
        let code = if code == 96 { 68 } else { code };
        let indexes = Value::Array(indexes.into_iter().map(Value::Document).collect());
        let command = doc! { "createIndexes": "fresh", "indexes": indexes, "$db": "db" };
        let reply = client.run(command.clone()).await;
        assert_eq!(number(&reply, "code"), code, "{command:?}: {reply:?}");
        let reply = client.run(doc! { "listIndexes": "fresh", "$db": "db" }).await;
        assert_eq!(number(&reply, "code"), 26, "{command:?}: {reply:?}");
    }
    let mut client = Client::new();
    let most: Vec<_> = (0..63).map(single).collect();
    assert_eq!(number(&create(&mut client, &most).await, "numIndexesAfter"), 64);
    // An existing index may be requested twice.
    let reply = create(&mut client, &[single(0), single(0)]).await;
    assert_eq!(number(&reply, "numIndexesAfter"), 64);
}

#[tokio::test]
async fn dropping_takes_a_star_in_an_array_too() {
    for (wanted, left, code) in [
        (Value::from("*"), 1, 0),
        (array!["*"], 1, 0),
        (array![], 3, 0),
        (array!["x"], 2, 0),
        (array!["x", "*"], 3, 27),
        (Value::Int32(1), 3, 14),
        (Value::Null, 3, 14),
    ] {
        let mut client = Client::new();
        let y = doc! { "key": doc! { "b": 1 }, "name": "y" };
        create(&mut client, &[named("x", doc! {}), y]).await;
        let command = doc! { "dropIndexes": "c", "index": wanted.clone(), "$db": "db" };
        let reply = client.run(command).await;
        let got = if code == 0 { 0 } else { number(&reply, "code") };
        assert_eq!((names(&mut client).await.len(), got), (left, code), "{wanted:?}: {reply:?}");
    }
    let reply = Client::new().run(doc! { "dropIndexes": "c", "$db": "db" }).await;
    assert_eq!(number(&reply, "code"), 40414);
}

#[tokio::test]
async fn lists_come_in_batches_when_asked() {
    let mut client = Client::new();
    create(&mut client, &[named("x", doc! {})]).await;
    for (command, of) in [
        (doc! { "listIndexes": "c" }, "c"),
        (doc! { "listCollections": 1 }, "$cmd.listCollections"),
    ] {
        let empty = doc! { "cursor": doc! { "batchSize": 0 }, "$db": "db" };
        let whole = client.run(with(command.clone(), doc! { "$db": "db" })).await;
        let reply = client.run(with(command, empty)).await;
        assert_eq!(first_batch(&reply), [] as [Document; 0]);
        let id = cursor(&reply).get("id").unwrap().clone();
        let more = doc! { "getMore": id, "collection": of, "$db": "db" };
        let limited = client.run(with(more.clone(), doc! { "maxTimeMS": 5 })).await;
        assert_eq!(number(&limited, "code"), 2, "such a cursor does not wait");
        assert_eq!(first_batch(&client.run(more).await), first_batch(&whole));
    }
}

#[tokio::test]
async fn hiding_what_is_hidden_is_no_change() {
    let mut client = Client::new();
    create(&mut client, &[named("x", doc! {})]).await;
    for (hidden, changes) in [(false, false), (true, true), (true, false), (false, true)] {
        let change = doc! { "name": "x", "hidden": hidden };
        let reply = client.run(doc! { "collMod": "c", "index": change, "$db": "db" }).await;
        assert_eq!(number(&reply, "ok"), 1, "{reply:?}");
        assert_eq!(reply.get("hidden_new").is_some(), changes, "{reply:?}");
    }
}

#[tokio::test]
async fn an_index_is_dropped_once_and_shows_that_it_was_made_in_the_background() {
    let mut client = Client::new();
    let index = |filter: Document| {
        let index = doc! { "key": doc! { "a": 1 }, "name": "a_1", "background": true, "partialFilterExpression": filter };
        doc! { "createIndexes": "c", "indexes": array![index], "$db": "db" }
    };
    let parts = || [doc! { "b": 1 }, doc! { "c": 2 }];
    let reply =
        client.run(index(doc! { "$and": array![parts()[0].clone(), parts()[1].clone()] })).await;
    assert_eq!(number(&reply, "numIndexesAfter"), 2, "{reply:?}");
    let reply =
        client.run(index(doc! { "$and": array![parts()[1].clone(), parts()[0].clone()] })).await;
    assert_eq!(number(&reply, "numIndexesAfter"), 2, "{reply:?}");
    let reply = client.run(doc! { "listIndexes": "c", "$db": "db" }).await;
    assert!(format!("{reply:?}").contains("(\"background\", Bool(true))"), "{reply:?}");
    let drop = |names: Value| doc! { "dropIndexes": "c", "index": names, "$db": "db" };
    let reply = client.run(drop(array!["a_1", "a_1"])).await;
    assert_eq!(number(&reply, "code"), 27, "{reply:?}");
    let reply = client.run(drop(array!["a_1"])).await;
    assert_eq!(number(&reply, "nIndexesWas"), 2, "{reply:?}");
}

/// Returns the text of an error reply.
fn errmsg(reply: &Document) -> String {
    reply.get("errmsg").and_then(|text| text.as_ref().as_str()).unwrap_or_default().to_owned()
}

#[tokio::test]
async fn what_the_engine_refuses_has_the_text_that_clients_know() {
    let mut client = Client::new();
    create(&mut client, &[named("a_1", doc! {})]).await;
    let same_key = create(&mut client, &[named("other", doc! {})]).await;
    assert_eq!(errmsg(&same_key), "Index already exists with a different name: a_1");
    let options = doc! { "expireAfterSeconds": 5 };
    let same_name = create(&mut client, &[named("a_1", options.clone())]).await;
    let want = "An equivalent index already exists with the same name but different options. \
                Index: 'a_1'";
    assert_eq!(errmsg(&same_name), want);
    let both = create(&mut client, &[named("other", options)]).await;
    let want = "An equivalent index already exists with a different name and options. Index: 'a_1'";
    assert_eq!(errmsg(&both), want);
    let taken = create(&mut client, &[named("a_1", doc! { "unique": true })]).await;
    let want = "An existing index has the same name as the requested index. ";
    assert!(errmsg(&taken).starts_with(want), "{taken:?}");
    for (command, want) in [
        (doc! { "find": "c", "hint": "none" }, "hint provided does not correspond to"),
        (
            doc! { "create": "c", "storageEngine": doc! { "wiredTiger": doc! {} } },
            "Collection db.c already exists.",
        ),
        (doc! { "collMod": "d", "index": doc! { "name": "x", "hidden": true } }, "ns does not"),
        (doc! { "dropIndexes": "c", "index": "x" }, "index not found with name [x]"),
    ] {
        let reply = client.run(with(command, doc! { "$db": "db" })).await;
        assert!(errmsg(&reply).starts_with(want), "{reply:?}");
    }
    let rename = doc! { "renameCollection": "db.c", "to": "db.d", "$db": "admin" };
    client.send(doc! { "insert": "d", "$db": "db" }, &[("documents", &[doc! { "a": 1 }])]).await;
    assert_eq!(errmsg(&client.run(rename).await), "target namespace exists");
}

#[tokio::test]
async fn options_that_no_index_has_are_left_out_on_request() {
    let mut client = Client::new();
    let ignoring = |spec: Document| {
        doc! { "createIndexes": "c", "indexes": array![spec], "ignoreUnknownIndexOptions": true, "$db": "db" }
    };
    let old = doc! { "safe": Value::Null, "w": 1, "expires": "1h", "expireAfterSeconds": 3600, "unique": true };
    let reply = create(&mut client, &[named("a_1", old.clone())]).await;
    assert_eq!(number(&reply, "code"), 197, "{reply:?}");
    let reply = client.run(ignoring(named("a_1", old))).await;
    assert_eq!(number(&reply, "ok"), 1, "{reply:?}");
    let shown = doc! {
        "v": 2, "key": doc! { "a": 1 }, "name": "a_1", "unique": true, "expireAfterSeconds": 3600,
    };
    assert_eq!(listed(&mut client, "a_1").await, shown);
    // A known option with a wrong value stays an error.
    let reply = client.run(ignoring(named("b", doc! { "unique": "x" }))).await;
    assert_eq!(number(&reply, "code"), 14, "{reply:?}");
    let reply = client.run(doc! {
        "createIndexes": "c", "indexes": array![named("b", doc! {})],
        "ignoreUnknownIndexOptions": "x", "$db": "db",
    });
    assert_eq!(number(&reply.await, "code"), 14);
}

/// Returns an index as listed.
async fn listed(client: &mut Client, name: &str) -> Document {
    let reply = client.run(doc! { "listIndexes": "c", "$db": "db" }).await;
    let found = first_batch(&reply).into_iter().find(|it| it.get("name") == Some(&name.into()));
    found.unwrap_or_else(|| panic!("{reply:?}"))
}

#[tokio::test]
async fn a_false_sparse_is_listed_and_nan_seconds_are_the_most() {
    let mut client = Client::new();
    let nan =
        doc! { "sparse": false, "unique": false, "hidden": false, "expireAfterSeconds": f64::NAN };
    let reply = create(&mut client, &[named("a_1", nan)]).await;
    assert_eq!(number(&reply, "ok"), 1, "{reply:?}");
    let shown = doc! {
        "v": 2, "key": doc! { "a": 1 }, "name": "a_1", "sparse": false,
        "expireAfterSeconds": 2_147_483_647,
    };
    assert_eq!(listed(&mut client, "a_1").await, shown);
    let key = doc! { "key": doc! { "_ts": 1 }, "name": "ttl", "expireAfterSeconds": f64::NAN };
    assert_eq!(number(&create(&mut client, &[key]).await, "code"), 67);
}
