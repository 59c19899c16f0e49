//! `$indexStats`: usage counts of indexes; and the progress of index builds in `currentOp`.

use crate::client::{Client, first_batch, number};
use document::{Document, Value, array, doc};
use mongo::{MongoApi, Settings};
use test_kit::{Kit, START_MS, plain_index};

/// Number of documents in the collection.
const DOCUMENTS: i32 = 3_000;
/// Number of polls until a build must have reached its pause.
const TURNS: usize = 1_000;

/// Returns a server, and a client that has inserted documents into its collection.
async fn filled() -> (Kit, Client) {
    let kit = Kit::default();
    let mut client = client(&kit);
    let documents: Vec<_> = (0..DOCUMENTS).map(|id| doc! { "_id": id, "a": id % 10 }).collect();
    let insert = doc! { "insert": "c", "$db": "db" };
    let reply = client.send(insert, &[("documents", &documents)]).await;
    assert_eq!(number(&reply, "n"), i64::from(DOCUMENTS));
    (kit, client)
}

fn client(kit: &Kit) -> Client {
    Client::of(MongoApi::new(kit.engine.clone(), Settings::default()))
}

fn make_index() -> Document {
    let index = doc! { "key": doc! { "a": 1 }, "name": "a_1" };
    doc! { "createIndexes": "c", "indexes": array![index], "$db": "db" }
}

fn command_of(collection: impl Into<Value>, stages: Vec<Document>) -> Document {
    let stages = stages.into_iter().map(Value::Document).collect();
    doc! {
        "aggregate": collection.into(), "pipeline": Value::Array(stages), "cursor": doc! {}, "$db": "db",
    }
}

fn all() -> Document {
    doc! { "$indexStats": doc! {} }
}

async fn stats(client: &mut Client, behind: &[Document]) -> Vec<Document> {
    let stages = [&[all()], behind].concat();
    first_batch(&client.run(command_of("c", stages)).await)
}

/// Returns the same command with a strict Stable API version 1.
fn strictly(mut command: Document) -> Document {
    command.push("apiVersion", "1");
    command.push("apiStrict", true);
    command
}

/// Returns the usage counts of an index.
async fn uses(client: &mut Client, name: &str) -> Vec<i64> {
    let found = stats(client, &[doc! { "$match": doc! { "name": name } }]).await;
    let accesses = found.iter().map(|it| it.get("accesses").unwrap().as_ref().as_document());
    accesses.map(|it| number(&it.unwrap().to_tree(), "ops")).collect()
}

#[tokio::test]
async fn each_index_has_a_document_and_stages_work_on_it() {
    let (kit, mut client) = filled().await;
    kit.move_to(5_000);
    let index = doc! { "key": doc! { "a": 1 }, "name": "a_1", "sparse": true };
    let made = doc! { "createIndexes": "c", "indexes": array![index], "$db": "db" };
    assert_eq!(number(&client.run(made).await, "ok"), 1);
    client.run(doc! { "find": "c", "filter": doc! { "_id": 7 }, "$db": "db" }).await;
    client.run(doc! { "find": "c", "filter": doc! { "a": 7 }, "hint": "a_1", "$db": "db" }).await;
    client.run(doc! { "count": "c", "query": doc! { "a": 7 }, "hint": "a_1", "$db": "db" }).await;
    let found = stats(&mut client, &[]).await;
    let listed = first_batch(&client.run(doc! { "listIndexes": "c", "$db": "db" }).await);
    let host = Value::from(Settings::default().host);
    let want = |at: usize, ops: i64, since_ms: i64| {
        let spec = listed[at].clone();
        let since = Value::DateTime(START_MS + since_ms);
        doc! {
            "name": spec.get("name").cloned().unwrap(),
            "key": spec.get("key").cloned().unwrap(),
            "host": host.clone(),
            "accesses": doc! { "ops": ops, "since": since },
            "spec": spec,
        }
    };
    assert_eq!(found, [want(0, 1, 0), want(1, 2, 5_000)]);
    let behind = [
        doc! { "$sort": doc! { "accesses.ops": -1 } },
        doc! { "$limit": 1 },
        doc! { "$project": doc! { "name": 1, "ops": "$accesses.ops" } },
    ];
    assert_eq!(stats(&mut client, &behind).await, [doc! { "name": "a_1", "ops": 2_i64 }]);
    assert_eq!(uses(&mut client, "a_1").await, [2], "asking is no use");
}

#[tokio::test]
async fn each_statement_counts_and_explaining_does_not() {
    let (_kit, mut client) = filled().await;
    client.run(make_index()).await;
    let by_a = || doc! { "a": 3 };
    let set = || doc! { "$set": doc! { "b": 1 } };
    let updates = array![
        doc! { "q": by_a(), "u": set(), "multi": true },
        doc! { "q": by_a(), "u": set() },
        doc! { "q": doc! { "_id": 3 }, "u": set() },
    ];
    let mut ops = 0;
    for (command, more) in [
        (doc! { "find": "c", "filter": by_a(), "batchSize": 1 }, 1),
        (doc! { "distinct": "c", "key": "b", "query": by_a() }, 1),
        (doc! { "update": "c", "updates": updates }, 2),
        (doc! { "findAndModify": "c", "query": by_a(), "update": set() }, 1),
        (doc! { "findAndModify": "c", "query": by_a(), "remove": true }, 1),
        (doc! { "delete": "c", "deletes": array![doc! { "q": by_a(), "limit": 1 }] }, 1),
        (command_of("c", vec![doc! { "$match": by_a() }, doc! { "$count": "n" }]), 1),
        (doc! { "find": "c", "filter": doc! { "b": 1 } }, 0),
        (doc! { "count": "c" }, 0),
        (doc! { "explain": doc! { "find": "c", "filter": by_a() } }, 0),
    ] {
        let mut command = command;
        if command.get("$db").is_none() {
            command.push("$db", "db");
        }
        let reply = client.run(command.clone()).await;
        assert_eq!(number(&reply, "ok"), 1, "{command:?}: {reply:?}");
        ops += more;
        assert_eq!(uses(&mut client, "a_1").await, [ops], "{command:?}");
    }
    assert_eq!(uses(&mut client, "_id_").await, [1]);
    let index = doc! { "dropIndexes": "c", "index": "a_1", "$db": "db" };
    assert_eq!(number(&client.run(index).await, "ok"), 1);
    assert_eq!(uses(&mut client, "a_1").await, [0; 0]);
    client.run(make_index()).await;
    assert_eq!(uses(&mut client, "a_1").await, [0]);
}

#[tokio::test]
async fn filters_that_begin_a_joined_pipeline_use_an_index() {
    let (_kit, mut client) = filled().await;
    assert_eq!(number(&client.run(make_index()).await, "ok"), 1);
    let joined = |filter: Document| {
        let later = doc! { "_id": doc! { "$mod": array![20, 3] } };
        array![doc! { "$match": filter }, doc! { "$match": later }, doc! { "$count": "n" }]
    };
    let one = doc! { "$match": doc! { "_id": 0 } };
    let lookup = doc! { "from": "c", "pipeline": joined(doc! { "a": 3 }), "as": "found" };
    let lookup = command_of("c", vec![one.clone(), doc! { "$lookup": lookup }]);
    let rows = first_batch(&client.run(lookup).await);
    assert_eq!(rows[0].get("found"), Some(&array![doc! { "n": DOCUMENTS / 20 }]));
    assert_eq!(uses(&mut client, "a_1").await, [1]);
    let union = doc! { "coll": "c", "pipeline": joined(doc! { "a": 3 }) };
    let union = command_of("c", vec![one.clone(), doc! { "$unionWith": union }]);
    let rows = first_batch(&client.run(union).await);
    assert_eq!(rows[1..], [doc! { "n": DOCUMENTS / 20 }]);
    assert_eq!(uses(&mut client, "a_1").await, [2]);
    // A filter behind another stage reads the whole collection.
    let behind = array![doc! { "$limit": 9 }, doc! { "$match": doc! { "a": 3 } }];
    let lookup = doc! { "from": "c", "pipeline": behind, "as": "found" };
    let lookup = command_of("c", vec![one, doc! { "$lookup": lookup }]);
    let rows = first_batch(&client.run(lookup).await);
    assert_eq!(rows[0].get("found"), Some(&array![doc! { "_id": 3, "a": 3 }]));
    assert_eq!(uses(&mut client, "a_1").await, [2]);
}

#[tokio::test]
async fn it_is_the_first_stage_of_a_collection_and_says_nothing() {
    let kit = Kit::default();
    let mut client = client(&kit);
    let none = client.run(command_of("none", vec![all()])).await;
    assert_eq!(first_batch(&none), [], "no collection has no indexes");
    let limit = || doc! { "$limit": 1 };
    let first_only = "$indexStats is only valid as the first stage in a pipeline";
    let no_collection = "{aggregate: 1} is not valid for '$indexStats'; a collection is required.";
    let empty = "The $indexStats stage specification must be an empty object";
    let inside = doc! { "$facet": doc! { "x": array![all()] } };
    for (command, code, text) in [
        (command_of("c", vec![doc! { "$indexStats": 1 }]), 28803, empty),
        (command_of("c", vec![doc! { "$indexStats": doc! { "x": 1 } }]), 28803, empty),
        (command_of("c", vec![limit(), all()]), 40602, first_only),
        (command_of("c", vec![all(), all()]), 40602, first_only),
        (command_of(1, vec![all()]), 73, no_collection),
        (
            command_of("c", vec![inside]),
            40600,
            "$indexStats is not allowed to be used within a $facet stage",
        ),
        (
            command_of(1, vec![doc! { "$collStats": doc! {} }]),
            73,
            "{aggregate: 1} is not valid for '$collStats'; a collection is required.",
        ),
        (
            command_of("c", vec![doc! { "$collStats": doc! {} }, doc! { "$documents": array![] }]),
            40602,
            "$documents is only valid as the first stage in a pipeline",
        ),
        (
            strictly(command_of("c", vec![all()])),
            323,
            "$indexStats is not allowed with 'apiStrict: true' in API Version 1",
        ),
        (
            strictly(command_of(1, vec![doc! { "$currentOp": doc! {} }])),
            323,
            "$currentOp is not allowed with 'apiStrict: true' in API Version 1",
        ),
    ] {
        let reply = client.run(command.clone()).await;
        let got = (number(&reply, "code"), reply.get("errmsg"));
        assert_eq!(got, (code, Some(&text.into())), "{command:?}");
    }
}

/// Returns the only entry of a build in `currentOp`, once it has progress.
async fn build(client: &mut Client) -> Document {
    let mut last = Document::new();
    for _ in 0..TURNS {
        let filter = doc! { "currentOp": 1, "command.createIndexes": "c", "$db": "admin" };
        let reply = client.run(filter).await;
        let Some(Value::Array(shown)) = reply.get("inprog") else { panic!("{reply:?}") };
        if let [shown] = shown.as_slice() {
            let shown = shown.as_ref().as_document().unwrap().to_tree();
            if shown.get("progress").is_some() {
                return shown;
            }
        }
        last = reply;
    }
    panic!("no build says how far it is: {last:?}");
}

/// Returns the progress of a build as done and total, which must match its message.
fn progress(shown: &Document) -> (i64, i64) {
    let of = shown.get("progress").unwrap().as_ref().as_document().unwrap().to_tree();
    let (done, total) = (number(&of, "done"), number(&of, "total"));
    let said = "Index Build: scanning collection";
    let text = format!("{said} {said}: {done}/{total} {}%", done * 100 / total);
    assert_eq!(shown.get("msg"), Some(&text.into()));
    (done, total)
}

#[tokio::test]
async fn a_build_shows_how_far_it_is() {
    let (kit, mut maker) = filled().await;
    let mut client = maker.beside();
    kit.store.turnstile().stop_nth(8);
    maker.ask(make_index(), &[]).await;
    let shown = build(&mut client).await;
    assert_eq!(shown.get("ns"), Some(&"db.c".into()));
    assert!(shown.get("opid").is_some(), "{shown:?}");
    let (done, total) = progress(&shown);
    assert_eq!(total, i64::from(DOCUMENTS));
    assert!(0 < done && done < total, "{done}");
    let building = stats(&mut client, &[doc! { "$match": doc! { "building": true } }]).await;
    assert_eq!(building.iter().map(|it| it.get("name")).collect::<Vec<_>>(), [Some(&"a_1".into())]);
    kit.store.turnstile().open();
    assert_eq!(number(&maker.reply().await, "numIndexesAfter"), 2);
    assert!(stats(&mut client, &[]).await.iter().all(|it| it.get("building").is_none()));
}

#[tokio::test]
async fn a_build_that_no_client_waits_for_is_shown_as_well() {
    let (kit, mut client) = filled().await;
    kit.store.turnstile().stop_nth(8);
    let (engine, collection) = (kit.engine.clone(), kit.collection());
    let task =
        tokio::spawn(
            async move { engine.create_indexes(&collection, vec![plain_index("a")]).await },
        );
    let shown = build(&mut client).await;
    let (done, total) = progress(&shown);
    assert!(0 < done && done < total, "{done}");
    assert_eq!((shown.get("op"), shown.get("opid")), (Some(&"command".into()), None));
    let own = doc! { "currentOp": 1, "active": true, "$db": "admin" };
    let shown = client.run(own).await;
    assert_eq!(shown.get("inprog").unwrap().as_ref().as_array().unwrap().iter().count(), 2);
    kit.store.turnstile().open();
    assert_eq!(task.await.unwrap().unwrap(), (1, 2));
    let gone = doc! { "currentOp": 1, "command.createIndexes": "c", "$db": "admin" };
    assert_eq!(client.run(gone).await.get("inprog"), Some(&Value::Array(Vec::new())));
}
