//! Documents that keep the second of their last write through a dump and a restore.

use std::sync::{Arc, atomic::AtomicBool};

use crate::client::{Client, first_batch, number};
use document::{Document, Value, array, doc};
use mongo::Settings;

fn client(on: bool) -> Client {
    let carry_timestamps = Arc::new(AtomicBool::new(on));
    Client::with(Settings { carry_timestamps, ..Settings::default() })
}

async fn introduce(client: &mut Client, name: &str) {
    let about = doc! {
        "application": doc! { "name": name },
        "driver": doc! { "name": "test", "version": "1" },
        "os": doc! { "type": "test" },
    };
    let reply = client.run(doc! { "hello": 1, "client": about, "$db": "admin" }).await;
    assert_eq!(number(&reply, "ok"), 1, "{reply:?}");
}

/// Seconds since 1970 on the database clock.
async fn now(client: &mut Client) -> i64 {
    let reply = client.run(doc! { "hello": 1, "$db": "admin" }).await;
    let Some(Value::DateTime(ms)) = reply.get("localTime") else { panic!("{reply:?}") };
    ms.div_euclid(1000)
}

async fn advance(client: &mut Client, seconds: i64) {
    let command = doc! { "ebbClock": 1, "advanceSeconds": seconds, "$db": "admin" };
    let reply = client.run(command).await;
    assert_eq!(number(&reply, "ok"), 1, "{reply:?}");
}

async fn insert(client: &mut Client, documents: &[Document]) -> Document {
    client
        .send(doc! { "insert": "c", "ordered": false, "$db": "db" }, &[("documents", documents)])
        .await
}

async fn expire_after(client: &mut Client, seconds: i32) {
    let key = doc! { "_ts": 1 };
    let index = doc! { "key": key, "name": "_ts_1", "expireAfterSeconds": seconds };
    let command = doc! { "createIndexes": "c", "indexes": array![index], "$db": "db" };
    let reply = client.run(command).await;
    assert_eq!(number(&reply, "ok"), 1, "{reply:?}");
}

/// Returns the ids of all documents; `find` and `count` must agree on their number.
async fn ids(client: &mut Client) -> Vec<i64> {
    let found: Vec<i64> = client.all("c").await.iter().map(|it| number(it, "_id")).collect();
    let count = client.run(doc! { "count": "c", "$db": "db" }).await;
    assert_eq!(number(&count, "n"), i64::try_from(found.len()).unwrap());
    found
}

#[tokio::test]
async fn a_dump_shows_when_documents_were_written_and_others_do_not_see_it() {
    for on in [true, false] {
        let mut client = client(on);
        let mut dump = client.beside();
        introduce(&mut dump, "mongodump").await;
        let written = now(&mut client).await;
        insert(&mut client, &[doc! { "_id": 1, "a": 1 }]).await;
        advance(&mut client, 5).await;
        insert(&mut client, &[doc! { "_id": 2 }]).await;
        let plain = [doc! { "_id": 1, "a": 1 }, doc! { "_id": 2 }];
        let dated =
            [doc! { "_id": 1, "a": 1, "_ts": written }, doc! { "_id": 2, "_ts": written + 5 }];
        let want = if on { &dated } else { &plain };
        let find = doc! { "find": "c", "filter": doc! {}, "$db": "db" };
        assert_eq!(first_batch(&dump.run(find.clone()).await), want);
        let few = doc! { "find": "c", "batchSize": 1, "$db": "db" };
        let opened = dump.run(few).await;
        assert_eq!(first_batch(&opened), want[..1]);
        let id = crate::client::cursor_id(&opened);
        let more = doc! { "getMore": id, "collection": "c", "$db": "db" };
        assert_eq!(first_batch(&dump.run(more).await), want[1..]);
        assert_eq!(first_batch(&client.run(find).await), plain);
        let sought = doc! { "find": "c", "filter": doc! { "_ts": written }, "$db": "db" };
        assert_eq!(first_batch(&dump.run(sought).await), [], "it is shown and no more");
    }
}

#[tokio::test]
async fn what_is_restored_dies_when_it_would_have_died() {
    let mut client = client(true);
    let now = now(&mut client).await;
    let documents = [
        doc! { "_id": 1, "_ts": now - 100 },
        doc! { "_id": 2, "ttl": 130, "_ts": now - 100 },
        doc! { "_id": 3, "ttl": -1, "_ts": now - 100 },
        doc! { "_id": 4 },
        doc! { "_id": 5, "_ts": now + 1_000_000 },
        doc! { "_id": 6, "ttl": 50, "_ts": now - 100 },
        doc! { "_ts": (now - 155) as f64, "_id": 7 },
        doc! { "_id": 8, "_ts": now - 160 },
    ];
    let reply = insert(&mut client, &documents).await;
    assert_eq!(number(&reply, "n"), 8, "{reply:?}");
    let stored = client.all("c").await;
    assert!(stored.iter().all(|it| it.get("_ts").is_none()), "{stored:?}");
    expire_after(&mut client, 160).await;
    // Documents that would have expired by now are expired on arrival.
    assert_eq!(ids(&mut client).await, [1, 2, 3, 4, 5, 7]);
    for (after, want) in [
        (4, &[1, 2, 3, 4, 5, 7][..]),
        (5, &[1, 2, 3, 4, 5]),
        (29, &[1, 2, 3, 4, 5]),
        (30, &[1, 3, 4, 5]),
        (59, &[1, 3, 4, 5]),
        (60, &[3, 4, 5]),
        (159, &[3, 4, 5]),
        (160, &[3]),
    ] {
        let past = crate::dumps::now(&mut client).await - now;
        if past < after {
            advance(&mut client, after - past).await;
        }
        assert_eq!(ids(&mut client).await, want, "after {after} seconds");
    }
    let reply = client.run(doc! { "validate": "c", "$db": "db" }).await;
    assert_eq!(reply.get("valid"), Some(&true.into()), "{reply:?}");
    // The id of an expired document is free, and a write restarts its time to live.
    let reply = insert(&mut client, &[doc! { "_id": 1, "_ts": now + 100 }]).await;
    assert_eq!(number(&reply, "n"), 1, "{reply:?}");
    let statement = doc! { "q": doc! { "_id": 1 }, "u": doc! { "$set": doc! { "a": 1 } } };
    client.run(doc! { "update": "c", "updates": array![statement], "$db": "db" }).await;
    advance(&mut client, 159).await;
    assert_eq!(ids(&mut client).await, [1, 3]);
    advance(&mut client, 1).await;
    assert_eq!(ids(&mut client).await, [3]);
}

#[tokio::test]
async fn a_document_below_a_floor_is_a_write_error_that_names_the_reason() {
    let mut client = client(true);
    let now = now(&mut client).await;
    // A default time to live that is set briefly and removed: what expired by it stays expired.
    insert(&mut client, &[doc! { "_id": 0 }]).await;
    expire_after(&mut client, 10).await;
    let command = doc! { "dropIndexes": "c", "index": "_ts_1", "$db": "db" };
    assert_eq!(number(&client.run(command).await, "ok"), 1);
    let documents = [
        doc! { "_id": 1, "_ts": now - 3600 },
        doc! { "_id": 2, "_ts": now - 10 },
        doc! { "_id": 3, "_ts": now - 9 },
        doc! { "_id": 4, "_ts": now - 3600, "ttl": -1 },
        doc! { "_id": 5, "_ts": now - 3600, "ttl": 3600 },
        doc! { "_id": 6, "_ts": now - 3600, "ttl": 3601 },
        doc! { "_id": 7, "_ts": now + 3600, "ttl": 1 },
        doc! { "_id": 8, "ttl": 1 },
    ];
    let reply = insert(&mut client, &documents).await;
    assert_eq!(number(&reply, "n"), 5, "{reply:?}");
    let Some(Value::Array(errors)) = reply.get("writeErrors") else { panic!("{reply:?}") };
    let tree = |it: &Value| it.as_ref().as_document().unwrap().to_tree();
    let errors: Vec<Document> = errors.iter().map(tree).collect();
    let found: Vec<i64> = errors.iter().map(|error| number(error, "index")).collect();
    assert_eq!(found, [0, 1, 4]);
    for (error, part) in errors.iter().zip(["written up to", "written up to", "its ttl give"]) {
        assert_eq!(number(error, "code"), 2);
        let Some(Value::String(text)) = error.get("errmsg") else { panic!("{error:?}") };
        assert!(text.contains(part) && text.contains("without _ts"), "{text}");
    }
    assert_eq!(ids(&mut client).await, [0, 3, 4, 6, 7, 8]);
    // In an ordered insert, documents after the failed one are not written.
    let documents = [doc! { "_id": 9 }, doc! { "_id": 1, "_ts": 5 }, doc! { "_id": 10 }];
    let ordered = doc! { "insert": "c", "$db": "db" };
    let reply = client.send(ordered, &[("documents", &documents)]).await;
    assert_eq!(number(&reply, "n"), 1, "{reply:?}");
    assert_eq!(ids(&mut client).await, [0, 3, 4, 6, 7, 8, 9]);
}

#[tokio::test]
async fn what_is_restored_into_a_collection_that_expires_dies_then_too() {
    let mut client = client(true);
    insert(&mut client, &[doc! { "_id": 0 }]).await;
    expire_after(&mut client, 10).await;
    advance(&mut client, 100).await;
    let now = now(&mut client).await;
    let documents = [
        doc! { "_id": 1, "_ts": now - 4 },
        doc! { "_id": 2, "_ts": now - 10 },
        doc! { "_id": 3, "_ts": now - 1000 },
        doc! { "_id": 4, "ttl": 20, "_ts": now - 15 },
    ];
    assert_eq!(number(&insert(&mut client, &documents).await, "n"), 4);
    assert_eq!(ids(&mut client).await, [1, 4]);
    advance(&mut client, 4).await;
    assert_eq!(ids(&mut client).await, [1, 4]);
    advance(&mut client, 1).await;
    assert_eq!(ids(&mut client).await, [1]);
    advance(&mut client, 1).await;
    assert_eq!(ids(&mut client).await, [0; 0]);
}

#[tokio::test]
async fn seconds_that_are_none_are_refused_and_without_the_switch_all_are() {
    let second = |value: Value| doc! { "_ts": value };
    let mut on = client(true);
    for value in
        [Value::Null, "1".into(), 1.5.into(), (-1).into(), i64::MAX.into(), Value::DateTime(1)]
    {
        let reply = insert(&mut on, &[second(value.clone())]).await;
        assert_eq!(number(&reply, "n"), 0, "{value:?}: {reply:?}");
        assert!(reply.get("writeErrors").is_some());
    }
    let mut off = client(false);
    let reply = insert(&mut off, &[second(1.into())]).await;
    let Some(Value::Array(errors)) = reply.get("writeErrors") else { panic!("{reply:?}") };
    assert_eq!(number(&errors[0].as_ref().as_document().unwrap().to_tree(), "code"), 2);
    // An update may never set `_ts`.
    for client in [&mut on, &mut off] {
        let set = doc! { "q": doc! {}, "u": doc! { "$set": second(1.into()) }, "upsert": true };
        let reply = client.run(doc! { "update": "c", "updates": array![set], "$db": "db" }).await;
        assert!(reply.get("writeErrors").is_some(), "{reply:?}");
        assert_eq!(client.all("c").await, []);
    }
}
