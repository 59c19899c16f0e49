//! Tailable cursors on capped collections, and `getMore` that waits for documents.

use std::time::Duration;

use document::{Document, Value, array, doc};
use mongo::Settings;

use crate::client::{Client, cursor_id, first_batch, number};
use crate::replies::{code, run};

async fn insert(client: &mut Client, id: i32) {
    let insert = doc! { "insert": "log", "documents": array![doc! { "_id": id }] };
    assert_eq!(number(&run(client, insert).await, "n"), 1);
}

/// Returns a client with a capped collection of at most 10 documents, which has document 1.
async fn client() -> Client {
    let mut client = Client::new();
    prepare(&mut client).await;
    client
}

async fn prepare(client: &mut Client) {
    let create = doc! { "create": "log", "capped": true, "size": 100_000, "max": 10 };
    assert_eq!(number(&run(client, create).await, "ok"), 1);
    insert(client, 1).await;
}

fn tail() -> Document {
    doc! { "find": "log", "tailable": true, "awaitData": true }
}

fn more(id: i64, wait_ms: i64) -> Document {
    doc! { "getMore": id, "collection": "log", "maxTimeMS": wait_ms, "$db": "db" }
}

fn ids(reply: &Document) -> Vec<i64> {
    first_batch(reply).iter().map(|document| number(document, "_id")).collect()
}

#[tokio::test]
async fn a_cursor_waits_for_documents() {
    let mut client = client().await;
    let first = run(&mut client, tail()).await;
    let id = cursor_id(&first);
    assert_eq!((ids(&first), id != 0), (vec![1], true));
    // Without an insert the wait ends, and the cursor stays open.
    let empty = run(&mut client, more(id, 1)).await;
    assert_eq!((ids(&empty), cursor_id(&empty)), (vec![], id));
    let mut writer = client.beside();
    for next in 2..5 {
        client.ask(more(id, 60_000), &[]).await;
        insert(&mut writer, next).await;
        let got = client.reply().await;
        assert_eq!((ids(&got), cursor_id(&got)), (vec![i64::from(next)], id));
    }
    // A document that exists already is returned at once.
    insert(&mut writer, 5).await;
    assert_eq!(ids(&run(&mut client, more(id, 60_000)).await), [5]);
}

#[tokio::test]
async fn a_cursor_without_await_data_returns_at_once() {
    let mut client = client().await;
    let first = run(&mut client, doc! { "find": "log", "tailable": true }).await;
    let id = cursor_id(&first);
    let plain = doc! { "getMore": id, "collection": "log" };
    let began = clock::monotonic_time();
    let empty = run(&mut client, plain.clone()).await;
    assert_eq!((ids(&empty), cursor_id(&empty)), (vec![], id));
    assert!(clock::monotonic_time() - began < Duration::from_secs(60));
    assert_eq!(code(&mut client, more(id, 5)).await, 2);
    insert(&mut client, 2).await;
    assert_eq!(ids(&run(&mut client, plain).await), [2]);
}

#[tokio::test]
async fn a_filter_selects_what_ends_the_wait() {
    let mut client = client().await;
    let mut find = tail();
    find.push("filter", doc! { "_id": doc! { "$gt": 2 } });
    let first = run(&mut client, find).await;
    let id = cursor_id(&first);
    assert_eq!((ids(&first), id != 0), (vec![], true));
    let mut writer = client.beside();
    client.ask(more(id, 60_000), &[]).await;
    for next in [2, 0, 3] {
        insert(&mut writer, next).await;
    }
    assert_eq!(ids(&client.reply().await), [3]);
}

#[tokio::test]
async fn what_cannot_be_tailed() {
    let mut client = client().await;
    let with = |name: &str, value: Value| {
        let mut find = tail();
        find.push(name, value);
        find
    };
    for (command, want) in [
        (with("sort", doc! { "_id": 1 }.into()), 2),
        (with("sort", doc! { "$natural": -1 }.into()), 2),
        (with("sort", doc! { "$natural": 1 }.into()), 0),
        (with("singleBatch", true.into()), 2),
        (doc! { "find": "log", "awaitData": true }, 9),
    ] {
        assert_eq!(code(&mut client, command.clone()).await, want, "{command:?}");
    }
    let plain = doc! { "insert": "plain", "documents": array![doc! { "_id": 1 }] };
    run(&mut client, plain).await;
    let refused = run(&mut client, doc! { "find": "plain", "tailable": true }).await;
    let text = "error processing query: ns=db.plain: tailable cursor requested on non capped \
                collection";
    assert_eq!(refused.get("errmsg"), Some(&Value::from(text)));
    assert_eq!(number(&refused, "code"), 2);
    // An empty or missing collection ends the cursor.
    run(&mut client, doc! { "create": "empty", "capped": true, "size": 1000 }).await;
    for name in ["empty", "missing"] {
        let find = doc! { "find": name, "tailable": true, "awaitData": true };
        assert_eq!(cursor_id(&run(&mut client, find).await), 0, "{name}");
    }
}

#[tokio::test]
async fn a_wait_ends_when_the_cursor_is_killed_or_the_collection_dropped() {
    let mut client = client().await;
    let mut other = client.beside();
    let id = cursor_id(&run(&mut client, tail()).await);
    client.ask(more(id, 60_000), &[]).await;
    wait_until_waiting(&mut other).await;
    let killed =
        run(&mut other, doc! { "killCursors": "log", "cursors": array![Value::Int64(id)] }).await;
    assert_eq!(killed.get("cursorsKilled"), Some(&array![Value::Int64(id)]));
    assert_eq!(number(&client.reply().await, "code"), 237);
    let id = cursor_id(&run(&mut client, tail()).await);
    client.ask(more(id, 60_000), &[]).await;
    wait_until_waiting(&mut other).await;
    run(&mut other, doc! { "drop": "log" }).await;
    assert_eq!(number(&client.reply().await, "code"), 175);
}

/// Waits until a `getMore` is listed, which then waits for documents.
async fn wait_until_waiting(client: &mut Client) {
    loop {
        let list = doc! { "currentOp": 1, "op": "getmore", "$db": "admin" };
        let reply = client.run(list).await;
        if matches!(reply.get("inprog"), Some(Value::Array(list)) if !list.is_empty()) {
            return;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_wait_ends_when_the_server_stops() {
    let mut client = client().await;
    let mut other = client.beside();
    let id = cursor_id(&run(&mut client, tail()).await);
    client.ask(more(id, 600_000), &[]).await;
    wait_until_waiting(&mut other).await;
    client.stop();
    assert_eq!(number(&client.reply().await, "code"), 11600);
}

#[tokio::test]
async fn a_cursor_whose_unread_documents_were_evicted_ends() {
    let mut client = client().await;
    let id = cursor_id(&run(&mut client, tail()).await);
    for next in 2..30 {
        insert(&mut client, next).await;
    }
    assert_eq!(code(&mut client, more(id, 5)).await, 136);
    assert_eq!(code(&mut client, more(id, 5)).await, 43);
}

#[tokio::test]
async fn many_unread_cursors_take_little_memory() {
    let settings = Settings::default();
    let memory = settings.memory.clone();
    let mut client = Client::with(settings);
    prepare(&mut client).await;
    let before = memory.used_bytes();
    let mut last = 0;
    for _ in 0..10_000 {
        last = cursor_id(&run(&mut client, tail()).await);
        assert!(last != 0);
    }
    let each = (memory.used_bytes() - before) / 10_000;
    assert!(each < 16 * 1024, "{each} bytes");
    insert(&mut client, 2).await;
    assert_eq!(ids(&run(&mut client, more(last, 5)).await), [2]);
    let status = client.run(doc! { "serverStatus": 1, "$db": "admin" }).await;
    assert!(format!("{status:?}").contains("10000"), "the cursors are open");
}

#[tokio::test]
async fn an_idle_tailable_cursor_is_shown() {
    let mut client = client().await;
    run(&mut client, tail()).await;
    let stage = doc! { "$currentOp": doc! { "idleCursors": true, "allUsers": true } };
    let list = doc! {
        "aggregate": 1, "pipeline": array![stage], "cursor": doc! {}, "$db": "admin",
    };
    let entries = first_batch(&client.run(list).await);
    let idle = entries.iter().find_map(|entry| match entry.get("cursor") {
        Some(Value::Document(cursor)) => Some(cursor.clone()),
        _ => None,
    });
    let idle = idle.unwrap();
    for name in ["tailable", "awaitData"] {
        assert_eq!(idle.get(name), Some(&Value::from(true)), "{name}");
    }
}

#[tokio::test]
async fn scans_by_tailable_cursors_are_counted() {
    let mut client = client().await;
    run(&mut client, tail()).await;
    run(&mut client, doc! { "find": "log" }).await;
    run(&mut client, doc! { "find": "log", "filter": doc! { "_id": 1 } }).await;
    let stats = |name: &str| {
        let stage = doc! { "$collStats": doc! { "queryExecStats": doc! {} } };
        doc! { "aggregate": name, "pipeline": array![stage], "cursor": doc! {} }
    };
    let shown = first_batch(&run(&mut client, stats("log")).await);
    let scans = doc! { "total": 2_i64, "nonTailable": 1_i64 };
    let want = Value::Document(doc! { "collectionScans": scans });
    assert_eq!(shown[0].get("queryExecStats"), Some(&want));
    assert_eq!(code(&mut client, stats("missing")).await, 26);
}
