//! Cursors continue in their sessions, and a client can wait for a change of the server's state.

use crate::client::{Client, number};
use document::{Document, Value, array, doc};

fn session(byte: u8) -> Document {
    doc! { "id": Value::Binary { subtype: 4, bytes: vec![byte; 16] } }
}

async fn open(client: &mut Client, lsid: Option<Document>) -> i64 {
    let mut command = doc! { "find": "c", "batchSize": 1 };
    command.push("$db", "db");
    lsid.into_iter().for_each(|lsid| command.push("lsid", lsid));
    let reply = client.run(command).await;
    let cursor = reply.get("cursor").unwrap().as_ref().as_document().unwrap().to_tree();
    number(&cursor, "id")
}

#[tokio::test]
async fn a_cursor_goes_on_in_its_session_alone() {
    let mut client = Client::new();
    let rows = [doc! {}, doc! {}, doc! {}];
    client.send(doc! { "insert": "c", "$db": "db" }, &[("documents", &rows)]).await;
    for (opened, asking, code) in [
        (None, Some(session(1)), 50736),
        (Some(session(1)), None, 50737),
        (Some(session(1)), Some(session(2)), 50738),
        (Some(session(1)), Some(session(1)), 0),
        (None, None, 0),
    ] {
        let cursor = open(&mut client, opened.clone()).await;
        let more = |lsid: Option<Document>| {
            let mut command = doc! { "getMore": cursor, "collection": "c", "batchSize": 1 };
            command.push("$db", "db");
            lsid.into_iter().for_each(|lsid| command.push("lsid", lsid));
            command
        };
        let reply = client.run(more(asking)).await;
        assert_eq!(reply.get("code").map_or(0, |_| number(&reply, "code")), code, "{reply:?}");
        // A refused request does not close the cursor.
        let reply = client.run(more(opened)).await;
        assert_eq!(number(&reply, "ok"), 1, "{reply:?}");
    }
}

/// Returns the code of a `getMore` on a cursor in a session; 0 on success.
async fn more(client: &mut Client, cursor: i64, lsid: Document) -> i64 {
    let command =
        doc! { "getMore": cursor, "collection": "c", "batchSize": 1, "lsid": lsid, "$db": "db" };
    let reply = client.run(command).await;
    reply.get("code").map_or(0, |_| number(&reply, "code"))
}

/// Returns the digest of a client without a login: SHA-256 of the empty string.
fn nobody() -> Value {
    Value::Binary { subtype: 0, bytes: auth::sha256(b"").to_vec() }
}

#[tokio::test]
async fn cursors_end_with_the_sessions_that_are_named() {
    let mut client = Client::new();
    let rows = [doc! {}, doc! {}, doc! {}];
    client.send(doc! { "insert": "c", "$db": "db" }, &[("documents", &rows)]).await;
    let with_user = |byte: u8| {
        let mut lsid = session(byte);
        lsid.push("uid", nobody());
        lsid
    };
    let of_another = Value::Binary { subtype: 0, bytes: vec![0; 32] };
    let mut foreign = session(1);
    foreign.push("uid", of_another.clone());
    // For each command, which of the two sessions it ends.
    for (command, value, ended) in [
        ("killSessions", array![session(1)], [true, false]),
        ("killSessions", array![with_user(2)], [false, true]),
        ("killSessions", array![foreign], [false, false]),
        ("killSessions", array![], [true, true]),
        ("killAllSessions", array![], [true, true]),
        ("killAllSessionsByPattern", array![doc! { "lsid": with_user(1) }], [true, false]),
        ("killAllSessionsByPattern", array![doc! { "uid": nobody() }], [true, true]),
        ("killAllSessionsByPattern", array![doc! { "uid": of_another }], [false, false]),
        ("killAllSessionsByPattern", array![doc! {}], [true, true]),
        ("endSessions", array![session(1)], [true, false]),
        ("refreshSessions", array![session(1)], [false, false]),
    ] {
        let one = open(&mut client, Some(session(1))).await;
        let other = open(&mut client, Some(session(2))).await;
        let outside = open(&mut client, None).await;
        let mut kill = Document::new();
        kill.push(command, value.clone());
        kill.push("$db", "admin");
        // The command itself may be in a session that it ends.
        kill.push("lsid", session(1));
        let reply = client.run(kill).await;
        assert_eq!(number(&reply, "ok"), 1, "{command} {value:?}: {reply:?}");
        let codes =
            [more(&mut client, one, session(1)).await, more(&mut client, other, session(2)).await];
        assert_eq!(codes.map(|code| code == 43), ended, "{command} {value:?}");
        let more = doc! { "getMore": outside, "collection": "c", "$db": "db" };
        assert_eq!(number(&client.run(more).await, "ok"), 1, "{command} {value:?}");
    }
}

#[tokio::test]
async fn killing_a_cursor_does_not_look_at_the_collection_that_is_named() {
    let mut client = Client::new();
    client.send(doc! { "insert": "c", "$db": "db" }, &[("documents", &[doc! {}, doc! {}])]).await;
    let cursor = open(&mut client, None).await;
    let kill = doc! { "killCursors": "another", "cursors": array![cursor], "$db": "db" };
    assert_eq!(client.run(kill).await.get("cursorsKilled"), Some(&array![cursor]));
}

#[tokio::test]
async fn a_client_that_knows_the_server_waits_for_news() {
    let mut client = Client::new();
    let reply = client.run(doc! { "hello": 1, "$db": "admin" }).await;
    let known = reply.get("topologyVersion").unwrap().as_ref().as_document().unwrap().to_tree();
    let ask = |known: Document, wait: i32| doc! { "hello": 1, "topologyVersion": known, "maxAwaitTimeMS": wait, "$db": "admin" };
    // The client knows the current state, so the reply comes at the timeout, which is 0 here.
    let reply = client.run(ask(known.clone(), 0)).await;
    assert_eq!(number(&reply, "ok"), 1, "{reply:?}");
    // The state of a restarted server differs, so the reply comes at once; a wait would never end.
    let mut other = known.clone();
    other.remove("processId");
    other.push("processId", Value::ObjectId(document::ObjectId::from_parts(1, [1; 5], 1)));
    let reply = client.run(ask(other, i32::MAX)).await;
    assert_eq!(number(&reply, "ok"), 1, "{reply:?}");
    let mut later = known.clone();
    later.remove("counter");
    later.push("counter", 9_i64);
    assert_eq!(number(&client.run(ask(later, i32::MAX)).await, "code"), 51764);
    // A waiting command ends when the server stops.
    client.ask(ask(known, i32::MAX), &[]).await;
    client.stop();
    client.ended().await;
}

#[tokio::test]
async fn a_pipeline_that_is_none_fails_the_whole_update() {
    let mut client = Client::new();
    client.send(doc! { "insert": "c", "$db": "db" }, &[("documents", &[doc! { "a": 1 }])]).await;
    let set = doc! { "q": doc! {}, "u": doc! { "$set": doc! { "a": 2 } } };
    let bad = doc! { "q": doc! {}, "u": array![doc! { "$nope": 1 }] };
    let updates = [set, bad];
    let reply = client.send(doc! { "update": "c", "$db": "db" }, &[("updates", &updates)]).await;
    assert_eq!(number(&reply, "code"), 40324, "{reply:?}");
    let query = doc! { "a": 1 };
    let reply = client.run(doc! { "count": "c", "query": query, "$db": "db" }).await;
    assert_eq!(number(&reply, "n"), 1);
}
