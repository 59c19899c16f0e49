//! Change streams: events, images, tokens, waiting, and errors.

use std::{sync::Arc, time::Duration};

use document::{Document, Value, array, doc};
use mongo::{MongoApi, MongoDialect, Settings};
use test_kit::{Kit, Setup};

use crate::client::{Client, cursor, cursor_id, first_batch, number};
use crate::replies::{code, run};

/// Returns a client whose collection `c` keeps images.
async fn client_with_images() -> Client {
    let kit = Kit::new(Setup { dialect: Arc::new(MongoDialect), ..Setup::default() });
    let mut client = Client::of(MongoApi::new(kit.engine, Settings::default()));
    run(&mut client, doc! { "drop": "c" }).await;
    let create = doc! { "create": "c", "changeStreamPreAndPostImages": doc! { "enabled": true } };
    assert_eq!(number(&run(&mut client, create).await, "ok"), 1);
    client
}

fn open(stage: Document, rest: &[Document]) -> Document {
    let stages = [doc! { "$changeStream": stage }];
    let pipeline = stages.iter().chain(rest).cloned().map(Value::Document).collect();
    doc! { "aggregate": "c", "pipeline": Value::Array(pipeline), "cursor": doc! {} }
}

fn more(id: i64, wait_ms: i64) -> Document {
    doc! { "getMore": id, "collection": "c", "maxTimeMS": wait_ms, "$db": "db" }
}

fn token(reply: &Document) -> Document {
    match cursor(reply).get("postBatchResumeToken") {
        Some(Value::Document(token)) => token.clone(),
        other => panic!("no token: {other:?} in {reply:?}"),
    }
}

/// Opens a stream on the collection, which must have no events yet.
async fn watch(client: &mut Client, stage: Document, rest: &[Document]) -> i64 {
    let reply = run(client, open(stage, rest)).await;
    assert_eq!(first_batch(&reply).len(), 0, "{reply:?}");
    assert!(token(&reply).get("_data").is_some());
    cursor_id(&reply)
}

/// Returns the next events, waiting for the first one.
async fn next(client: &mut Client, id: i64) -> Vec<Document> {
    let reply = run(client, more(id, 60_000)).await;
    assert_eq!(number(&reply, "ok"), 1, "{reply:?}");
    first_batch(&reply)
}

fn text<'a>(event: &'a Document, name: &str) -> &'a str {
    match event.get(name) {
        Some(Value::String(text)) => text,
        other => panic!("{name}: {other:?} in {event:?}"),
    }
}

fn kinds(events: &[Document]) -> Vec<&str> {
    events.iter().map(|event| text(event, "operationType")).collect()
}

fn get(event: &Document, name: &str) -> Value {
    event.get(name).cloned().unwrap_or(Value::Null)
}

fn insert(document: Document) -> Document {
    doc! { "insert": "c", "documents": array![document] }
}

fn update(id: i32, change: impl Into<Value>) -> Document {
    let statement = doc! { "q": doc! { "_id": id }, "u": change.into() };
    doc! { "update": "c", "updates": array![statement] }
}

fn delete(id: i32) -> Document {
    let statement = doc! { "q": doc! { "_id": id }, "limit": 1 };
    doc! { "delete": "c", "deletes": array![statement] }
}

async fn advance(client: &mut Client, seconds: i64) {
    let reply =
        run(client, doc! { "ebbClock": 1, "advanceSeconds": seconds, "$db": "admin" }).await;
    assert_eq!(number(&reply, "ok"), 1, "{reply:?}");
}

#[tokio::test]
async fn each_write_is_an_event() {
    let mut client = Client::new();
    let id = watch(&mut client, doc! {}, &[]).await;
    run(&mut client, insert(doc! { "_id": 1, "a": 1, "b": array![1, 2, 3] })).await;
    run(&mut client, update(1, doc! { "$set": doc! { "a": 2, "b": array![1, 2] } })).await;
    run(&mut client, update(1, doc! { "$unset": doc! { "b": "" } })).await;
    run(&mut client, update(1, doc! { "z": 1 })).await;
    // A write that changes nothing is no event.
    run(&mut client, update(1, doc! { "$set": doc! { "z": 1 } })).await;
    run(&mut client, delete(1)).await;
    let events = next(&mut client, id).await;
    assert_eq!(kinds(&events), ["insert", "update", "update", "replace", "delete"]);
    for event in &events {
        let names = doc! { "db": "db", "coll": "c" };
        assert_eq!(event.get("ns"), Some(&Value::Document(names)));
        assert_eq!(event.get("documentKey"), Some(&Value::Document(doc! { "_id": 1 })));
        assert!(matches!(event.get("clusterTime"), Some(Value::Timestamp(_))), "{event:?}");
        assert!(matches!(event.get("wallTime"), Some(Value::DateTime(_))), "{event:?}");
        assert_eq!(event.get("collectionUUID"), None);
    }
    let full = doc! { "_id": 1, "a": 1, "b": array![1, 2, 3] };
    assert_eq!(get(&events[0], "fullDocument"), Value::Document(full));
    let truncated = array![doc! { "field": "b", "newSize": 2 }];
    let want = doc! {
        "updatedFields": doc! { "a": 2 },
        "removedFields": array![],
        "truncatedArrays": truncated,
    };
    assert_eq!(get(&events[1], "updateDescription"), Value::Document(want));
    assert_eq!(events[1].get("fullDocument"), None);
    let want = doc! {
        "updatedFields": doc! {},
        "removedFields": array!["b"],
        "truncatedArrays": array![],
    };
    assert_eq!(get(&events[2], "updateDescription"), Value::Document(want));
    assert_eq!(get(&events[3], "fullDocument"), Value::Document(doc! { "_id": 1, "z": 1 }));
}

#[tokio::test]
async fn an_expiration_is_a_delete_at_its_instant() {
    let mut client = Client::new();
    let index = doc! { "key": doc! { "_ts": 1 }, "name": "_ts_1", "expireAfterSeconds": -1 };
    let create = doc! { "createIndexes": "c", "indexes": array![index] };
    assert_eq!(number(&run(&mut client, create).await, "ok"), 1);
    let id = watch(&mut client, doc! { "showExpandedEvents": true }, &[]).await;
    run(&mut client, insert(doc! { "_id": 1, "ttl": 2 })).await;
    assert_eq!(kinds(&next(&mut client, id).await), ["insert"]);
    // The waiting request is answered when the clock passes the second, by no other command.
    client.ask(more(id, 60_000), &[]).await;
    let mut other = client.beside();
    advance(&mut other, 2).await;
    let reply = client.reply().await;
    let events = first_batch(&reply);
    assert_eq!(kinds(&events), ["delete"], "{reply:?}");
    assert_eq!(get(&events[0], "expired"), Value::Bool(true));
    assert_eq!(get(&events[0], "documentKey"), Value::Document(doc! { "_id": 1 }));
    let Value::DateTime(wall) = get(&events[0], "wallTime") else { panic!("{events:?}") };
    assert_eq!(wall % 1000, 0);
    // Once only, also for a stream that is resumed.
    let again = run(&mut client, more(id, 1)).await;
    assert_eq!(first_batch(&again).len(), 0);
    let resumed = run(&mut client, open(doc! { "resumeAfter": get(&events[0], "_id") }, &[])).await;
    assert_eq!(first_batch(&resumed).len(), 0, "{resumed:?}");
    run(&mut client, insert(doc! { "_id": 1 })).await;
    assert_eq!(kinds(&next(&mut client, id).await), ["insert"]);
}

#[tokio::test]
async fn a_waiting_stream_is_woken_by_its_collection() {
    let mut client = Client::new();
    let id = watch(&mut client, doc! {}, &[]).await;
    let mut writer = client.beside();
    for number in 0..3 {
        client.ask(more(id, 60_000), &[]).await;
        run(&mut writer, doc! { "insert": "other", "documents": array![doc! {}] }).await;
        run(&mut writer, insert(doc! { "_id": number })).await;
        assert_eq!(kinds(&first_batch(&client.reply().await)), ["insert"]);
    }
    // Without events the wait ends, and the token moves on with changes elsewhere.
    let first = token(&run(&mut client, more(id, 1)).await);
    run(&mut writer, doc! { "insert": "other", "documents": array![doc! {}] }).await;
    let began = clock::monotonic_time();
    let second = token(&run(&mut client, more(id, 1)).await);
    assert!(clock::monotonic_time() - began < Duration::from_secs(30));
    assert!(text(&first, "_data") < text(&second, "_data"));
}

#[tokio::test]
async fn a_stream_is_resumed_after_any_event() {
    let mut client = Client::new();
    let id = watch(&mut client, doc! {}, &[]).await;
    for number in 0..5 {
        run(&mut client, insert(doc! { "_id": number })).await;
    }
    let events = next(&mut client, id).await;
    let tokens: Vec<Value> = events.iter().map(|event| get(event, "_id")).collect();
    for (at, token) in tokens.iter().enumerate() {
        for name in ["resumeAfter", "startAfter"] {
            let mut start = doc! {};
            start.push(name, token.clone());
            let reply = run(&mut client, open(start, &[])).await;
            assert_eq!(first_batch(&reply), events[at + 1..], "{name} {at}");
        }
        let time = get(&events[at], "clusterTime");
        let reply = run(&mut client, open(doc! { "startAtOperationTime": time }, &[])).await;
        assert_eq!(first_batch(&reply), events[at..]);
    }
    let mut small = open(doc! { "resumeAfter": tokens[0].clone() }, &[]);
    small.insert("cursor", doc! { "batchSize": 2 });
    let reply = run(&mut client, small).await;
    assert_eq!(first_batch(&reply), events[1..3]);
    assert_eq!(Value::Document(token(&reply)), tokens[2]);
    let reply = run(&mut client, more(cursor_id(&reply), 1)).await;
    assert_eq!(first_batch(&reply), events[3..]);
}

#[tokio::test]
async fn databases_and_the_whole_server_are_watched() {
    let mut client = Client::new();
    run(&mut client, doc! { "drop": "c" }).await;
    let pipeline = |stage: Document| {
        let stages = array![doc! { "$changeStream": stage }];
        doc! { "aggregate": 1, "pipeline": stages, "cursor": doc! {} }
    };
    let of_database = cursor_id(&run(&mut client, pipeline(doc! {})).await);
    let mut all = pipeline(doc! { "allChangesForCluster": true });
    all.push("$db", "admin");
    let of_all = cursor_id(&run(&mut client, all).await);
    run(&mut client, doc! { "insert": "a", "documents": array![doc! { "_id": 1 }] }).await;
    let mut other = doc! { "insert": "b", "documents": array![doc! { "_id": 2 }] };
    other.push("$db", "other");
    run(&mut client, other).await;
    run(&mut client, doc! { "drop": "a" }).await;
    run(&mut client, doc! { "insert": "a", "documents": array![doc! { "_id": 3 }] }).await;
    run(&mut client, doc! { "dropDatabase": 1 }).await;
    let ask = |id: i64, database: &str| {
        let collection = "$cmd.aggregate";
        doc! { "getMore": id, "collection": collection, "maxTimeMS": 60_000, "$db": database }
    };
    let reply = run(&mut client, ask(of_database, "db")).await;
    let want = ["insert", "drop", "insert", "drop", "dropDatabase", "invalidate"];
    assert_eq!(kinds(&first_batch(&reply)), want);
    assert_eq!(cursor_id(&reply), 0);
    let reply = run(&mut client, ask(of_all, "admin")).await;
    let want = ["insert", "insert", "drop", "insert", "drop", "dropDatabase"];
    assert_eq!(kinds(&first_batch(&reply)), want);
    assert_eq!(cursor_id(&reply), of_all);
}

#[tokio::test]
async fn drop_and_rename_end_the_stream_of_a_collection() {
    let mut client = Client::new();
    for change in [
        doc! { "drop": "c" },
        doc! { "renameCollection": "db.c", "to": "db.d", "dropTarget": true, "$db": "admin" },
    ] {
        run(&mut client, insert(doc! { "_id": 1 })).await;
        let id = watch(&mut client, doc! {}, &[]).await;
        run(&mut client, change.clone()).await;
        let reply = run(&mut client, more(id, 60_000)).await;
        let events = first_batch(&reply);
        assert_eq!(text(&events[1], "operationType"), "invalidate", "{events:?}");
        assert_eq!(cursor_id(&reply), 0);
        let after = get(&events[1], "_id");
        assert_eq!(code(&mut client, open(doc! { "resumeAfter": after.clone() }, &[])).await, 260);
        run(&mut client, insert(doc! { "_id": 7 })).await;
        let reply = run(&mut client, open(doc! { "startAfter": after }, &[])).await;
        assert_eq!(kinds(&first_batch(&reply)), ["insert"]);
        run(&mut client, doc! { "drop": "c" }).await;
    }
}

#[tokio::test]
async fn images_are_kept_on_request() {
    let mut client = client_with_images().await;
    let images = |enabled: bool| doc! { "enabled": enabled };
    let listed = run(&mut client, doc! { "listCollections": 1 }).await;
    let options = get(&first_batch(&listed)[0], "options");
    let want = doc! { "changeStreamPreAndPostImages": images(true) };
    assert_eq!(options, Value::Document(want));
    let both = doc! { "fullDocument": "required", "fullDocumentBeforeChange": "required" };
    let id = watch(&mut client, both.clone(), &[]).await;
    run(&mut client, insert(doc! { "_id": 1, "a": 1 })).await;
    run(&mut client, update(1, doc! { "$inc": doc! { "a": 1 } })).await;
    run(&mut client, update(1, doc! { "$inc": doc! { "a": 1 } })).await;
    run(&mut client, delete(1)).await;
    let events = next(&mut client, id).await;
    let image = |a: i32| Value::Document(doc! { "_id": 1, "a": a });
    assert_eq!(get(&events[1], "fullDocument"), image(2));
    assert_eq!(get(&events[1], "fullDocumentBeforeChange"), image(1));
    assert_eq!(get(&events[2], "fullDocument"), image(3));
    assert_eq!(get(&events[3], "fullDocumentBeforeChange"), image(3));
    assert_eq!(events[0].get("fullDocumentBeforeChange"), None);
    let off = doc! { "collMod": "c", "changeStreamPreAndPostImages": images(false) };
    assert_eq!(number(&run(&mut client, off).await, "ok"), 1);
    let mut available = doc! { "fullDocument": "whenAvailable" };
    available.push("fullDocumentBeforeChange", "whenAvailable");
    let lenient = watch(&mut client, available, &[]).await;
    run(&mut client, insert(doc! { "_id": 2, "a": 1 })).await;
    run(&mut client, update(2, doc! { "$inc": doc! { "a": 1 } })).await;
    let events = next(&mut client, lenient).await;
    assert_eq!(get(&events[1], "fullDocument"), Value::Null);
    assert!(events[1].get("fullDocumentBeforeChange").is_some());
    // The events before the one without an image are returned.
    assert_eq!(kinds(&next(&mut client, id).await), ["insert"]);
    assert_eq!(code(&mut client, more(id, 1)).await, 47);
}

#[tokio::test]
async fn updates_are_looked_up_as_they_are_now() {
    let mut client = Client::new();
    let id = watch(&mut client, doc! { "fullDocument": "updateLookup" }, &[]).await;
    run(&mut client, insert(doc! { "_id": 1, "a": 1 })).await;
    run(&mut client, insert(doc! { "_id": 2, "a": 1 })).await;
    for id in [1, 2] {
        run(&mut client, update(id, doc! { "$set": doc! { "a": 2 } })).await;
    }
    run(&mut client, update(1, doc! { "$set": doc! { "a": 3 } })).await;
    run(&mut client, delete(2)).await;
    let events = next(&mut client, id).await;
    let now = Value::Document(doc! { "_id": 1, "a": 3 });
    assert_eq!(get(&events[2], "fullDocument"), now);
    assert_eq!(events[3].get("fullDocument"), Some(&Value::Null));
    assert_eq!(get(&events[4], "fullDocument"), now);
}

#[tokio::test]
async fn stages_select_and_reshape_events() {
    let mut client = Client::new();
    let stages = [
        doc! { "$match": doc! { "operationType": "insert", "fullDocument.a": doc! { "$gt": 1 } } },
        doc! { "$project": doc! { "a": "$fullDocument.a" } },
    ];
    let id = watch(&mut client, doc! {}, &stages).await;
    for a in 0..4 {
        run(&mut client, insert(doc! { "_id": a, "a": a })).await;
    }
    let events = next(&mut client, id).await;
    let shown: Vec<Value> = events.iter().map(|event| get(event, "a")).collect();
    assert_eq!(shown, [Value::Int32(2), Value::Int32(3)]);
    let without = [doc! { "$project": doc! { "_id": 0 } }];
    let id = watch(&mut client, doc! {}, &without).await;
    run(&mut client, insert(doc! { "_id": 9 })).await;
    assert_eq!(code(&mut client, more(id, 60_000)).await, 280);
}

#[tokio::test]
async fn what_is_wrong_is_refused() {
    let mut client = Client::new();
    let id = watch(&mut client, doc! {}, &[]).await;
    run(&mut client, insert(doc! { "_id": 1 })).await;
    let event = next(&mut client, id).await.remove(0);
    let Value::Document(good) = get(&event, "_id") else { panic!("{event:?}") };
    let data = text(&good, "_data").to_owned();
    let damaged = |data: String| doc! { "resumeAfter": doc! { "_data": data } };
    let time = Value::Timestamp(0x7000_0000_0000_0001);
    let changed = if data.contains("6E5A") { data.replace("6E5A", "6F5A") } else { data.clone() };
    let rows = [
        (doc! { "x": 1 }, 40415),
        (doc! { "fullDocument": "x" }, 2),
        (doc! { "fullDocument": 1 }, 14),
        (doc! { "fullDocumentBeforeChange": "default" }, 2),
        (doc! { "fullDocumentBeforeChange": "updateLookup" }, 2),
        (doc! { "showExpandedEvents": "x" }, 14),
        (doc! { "showRawUpdateDescription": true }, 115),
        (doc! { "allChangesForCluster": true }, 72),
        (doc! { "startAtOperationTime": 1 }, 14),
        (doc! { "startAtOperationTime": Value::Timestamp(1 << 32) }, 286),
        (doc! { "resumeAfter": doc! {} }, 40647),
        (damaged("x".into()), 9),
        (damaged(data[..20].into()), 50796),
        (damaged(format!("{}00", &data[..data.len() - 2])), 260),
        (damaged(changed), 260),
        (doc! { "resumeAfter": good.clone(), "startAfter": good.clone() }, 50865),
        (doc! { "resumeAfter": good.clone(), "startAtOperationTime": time }, 40674),
    ];
    for (stage, want) in rows {
        assert_eq!(code(&mut client, open(stage.clone(), &[])).await, want, "{stage:?}");
    }
    for (stage, want) in [
        (doc! { "$group": doc! { "_id": 1 } }, 20),
        (doc! { "$changeStream": doc! {} }, 40602),
        (doc! { "$nothing": 1 }, 40324),
        (doc! { "$changeStreamSplitLargeEvent": doc! { "x": 1 } }, 2),
    ] {
        assert_eq!(
            code(&mut client, open(doc! {}, std::slice::from_ref(&stage))).await,
            want,
            "{stage:?}"
        );
    }
    let mut own = open(doc! {}, &[]);
    own.push("$db", "admin");
    assert_eq!(code(&mut client, own).await, 73);
    let mut second = open(doc! {}, &[]);
    let stages = array![doc! { "$match": doc! {} }, doc! { "$changeStream": doc! {} }];
    second.insert("pipeline", stages);
    assert_eq!(code(&mut client, second).await, 40602);
    for (level, ok) in [("local", 0), ("available", 0), ("majority", 1)] {
        let mut read = open(doc! {}, &[]);
        read.push("readConcern", doc! { "level": level });
        let reply = run(&mut client, read).await;
        assert_eq!(number(&reply, "ok"), ok, "{reply:?}");
        assert!(ok == 1 || number(&reply, "code") == 72, "{reply:?}");
    }
    run(&mut client, doc! { "create": "v", "viewOn": "c", "pipeline": array![] }).await;
    let mut view = open(doc! {}, &[]);
    view.insert("aggregate", "v");
    assert_eq!(code(&mut client, view).await, 166);
    let settings = Settings { change_retention_s: None, ..Settings::default() };
    assert_eq!(code(&mut Client::with(settings), open(doc! {}, &[])).await, 40573);
}

#[tokio::test]
async fn large_events_are_split_on_request() {
    let mut client = client_with_images().await;
    let images = doc! { "fullDocumentBeforeChange": "required", "fullDocument": "required" };
    let split = [doc! { "$changeStreamSplitLargeEvent": doc! {} }];
    let whole = watch(&mut client, images.clone(), &[]).await;
    let id = watch(&mut client, images.clone(), &split).await;
    let large = "x".repeat(10 << 20);
    run(&mut client, insert(doc! { "_id": 1, "a": large })).await;
    assert_eq!(kinds(&next(&mut client, id).await), ["insert"]);
    run(&mut client, update(1, doc! { "$set": doc! { "b": 1 } })).await;
    let first = next(&mut client, id).await.remove(0);
    let split_event = |fragment: i32| Value::Document(doc! { "fragment": fragment, "of": 2 });
    assert_eq!(get(&first, "splitEvent"), split_event(1));
    let second = next(&mut client, id).await.remove(0);
    assert_eq!(get(&second, "splitEvent"), split_event(2));
    let mut resumed = images.clone();
    resumed.push("resumeAfter", get(&first, "_id"));
    let reply = run(&mut client, open(resumed, &split)).await;
    assert_eq!(first_batch(&reply), [second]);
    assert_eq!(kinds(&next(&mut client, whole).await), ["insert"]);
    assert_eq!(code(&mut client, more(whole, 1)).await, 10334);
}
