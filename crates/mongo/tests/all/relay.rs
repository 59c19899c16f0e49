//! Single commands of authenticated senders.

use std::sync::Arc;

use document::{DocRef, Document, Value, array, doc};
use mongo::{NoReply, Right, Sender};

use crate::client::{Client, cursor_id, first_batch, number};

fn sender(right: Right, session: u8) -> Sender {
    Sender { right, peer: "test".to_owned(), session: [session; 32] }
}

async fn relay(client: &Client, right: Right, database: &str, command: &Document) -> Document {
    relay_of(client, sender(right, 1), database, command).await
}

async fn relay_of(client: &Client, sender: Sender, database: &str, command: &Document) -> Document {
    let bytes = command.to_buf();
    let relayed = client.api.relay(sender, database, bytes.bytes()).await;
    DocRef::Raw(&relayed.unwrap()).to_tree()
}

async fn filled(count: i32) -> Client {
    let mut client = Client::new();
    let documents: Vec<Document> = (0..count).map(|id| doc! { "_id": id, "v": 0 }).collect();
    client.send(doc! { "insert": "c", "$db": "db" }, &[("documents", &documents)]).await;
    client
}

#[tokio::test]
async fn a_command_is_answered_as_from_a_socket() {
    let client = filled(5).await;
    let before = client.api.counters();
    let find = doc! { "find": "c", "batchSize": 2 };
    let reply = relay(&client, Right::Read, "db", &find).await;
    assert_eq!(first_batch(&reply).len(), 2);
    let more = doc! { "getMore": cursor_id(&reply), "collection": "c" };
    let reply = relay(&client, Right::Read, "db", &more).await;
    assert_eq!((first_batch(&reply).len(), cursor_id(&reply)), (3, 0));
    let failed = relay(&client, Right::Write, "db", &doc! { "find": 1 }).await;
    assert_eq!((number(&failed, "ok"), number(&failed, "code")), (0, 73), "{failed:?}");
    for (database, code) in [("a\0b", 73), ("", 73), ("a.b", 73), ("db", 59)] {
        let failed = relay(&client, Right::Write, database, &doc! { "nonsense": 1 }).await;
        assert_eq!(number(&failed, "code"), code, "{database:?}");
    }
    let counted = |counters: Vec<(&str, u64)>, name: &str| {
        counters.iter().find(|(held, _)| *held == name).unwrap().1
    };
    let after = client.api.counters();
    assert_eq!(counted(after.clone(), "query") - counted(before.clone(), "query"), 2);
    assert!(counted(before.clone(), "bytesIn") < counted(after.clone(), "bytesIn"));
    assert!(counted(before, "bytesOut") < counted(after, "bytesOut"));
    assert_eq!(client.api.open(), (1, 0), "only the socket's connection is left");
}

#[tokio::test]
async fn what_is_no_command_is_refused() {
    let client = Client::new();
    let good = doc! { "ping": 1 }.to_buf().bytes().to_vec();
    let with = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        bytes
    };
    let mut deep = vec![0_u8; 0];
    for _ in 0..1000 {
        let inner = std::mem::take(&mut deep);
        let inner = if inner.is_empty() { vec![5, 0, 0, 0, 0] } else { inner };
        let len = u32::try_from(inner.len() + 4 + 3 + 1).unwrap();
        deep = [&len.to_le_bytes()[..], &[3, b'a', 0], &inner, &[0]].concat();
    }
    let named = doc! { "ping": 1, "$db": "other" }.to_buf().bytes().to_vec();
    for bytes in [
        Vec::new(),
        vec![5],
        vec![4, 0, 0, 0],
        good[..good.len() - 1].to_vec(),
        [&good[..], &[0]].concat(),
        with(0, 14),
        with(0, 255),
        with(4, 0x77),
        with(good.len() - 1, 1),
        deep,
        named,
    ] {
        let relayed = client.api.relay(sender(Right::Write, 1), "admin", &bytes).await;
        assert!(matches!(relayed, Err(NoReply::Malformed(_))), "{bytes:?}: {relayed:?}");
    }
    let large = doc! { "ping": "x".repeat(17 << 20) }.to_buf();
    let relayed = client.api.relay(sender(Right::Write, 1), "admin", large.bytes()).await;
    assert_eq!(relayed, Err(NoReply::TooLarge));
    let fail = doc! { "configureFailPoint": "failCommand", "mode": doc! { "times": 1 },
    "data": doc! { "failCommands": array!["ping"], "closeConnection": true } };
    relay(&client, Right::Write, "admin", &fail).await;
    let relayed = client.api.relay(sender(Right::Write, 1), "admin", &good).await;
    assert_eq!(relayed, Err(NoReply::Closed));
}

#[tokio::test]
async fn whoever_may_read_changes_nothing() {
    let mut client = filled(2).await;
    let set = doc! { "$set": doc! { "v": 1 } };
    let update = doc! { "q": doc! {}, "u": set.clone() };
    let index = doc! { "key": doc! { "v": 1 }, "name": "v" };
    let out =
        |stage: Document| doc! { "aggregate": "c", "pipeline": array![stage], "cursor": doc! {} };
    for (database, command) in [
        ("db", doc! { "insert": "c", "documents": array![doc! { "_id": 9 }] }),
        ("db", doc! { "update": "c", "updates": array![update] }),
        ("db", doc! { "delete": "c", "deletes": array![doc! { "q": doc! {}, "limit": 0 }] }),
        ("db", doc! { "findAndModify": "c", "query": doc! {}, "update": set }),
        ("db", doc! { "create": "e" }),
        ("db", doc! { "drop": "c" }),
        ("db", doc! { "dropDatabase": 1 }),
        ("db", doc! { "createIndexes": "c", "indexes": array![index] }),
        ("db", doc! { "collMod": "c" }),
        ("db", out(doc! { "$out": "e" })),
        ("db", out(doc! { "$merge": "e" })),
        ("admin", doc! { "ebbClock": 1, "advanceSeconds": 1 }),
        ("admin", doc! { "setParameter": 1, "notablescan": true }),
        ("admin", doc! { "killOp": 1, "op": 1 }),
        ("db", doc! { "nonsense": 1 }),
        ("db", doc! {}),
    ] {
        let reply = relay(&client, Right::Read, database, &command).await;
        assert_eq!((number(&reply, "ok"), number(&reply, "code")), (0, 13), "{command:?}");
        assert_eq!(reply.get("codeName"), Some(&"Unauthorized".into()), "{command:?}");
    }
    let documents = client.all("c").await;
    assert_eq!(documents, [doc! { "_id": 0, "v": 0 }, doc! { "_id": 1, "v": 0 }]);
    for (database, command) in [
        ("db", doc! { "find": "c" }),
        ("db", doc! { "count": "c" }),
        ("db", doc! { "distinct": "c", "key": "v" }),
        ("db", out(doc! { "$match": doc! {} })),
        ("db", doc! { "listCollections": 1 }),
        ("db", doc! { "listIndexes": "c" }),
        ("db", doc! { "collStats": "c" }),
        ("db", doc! { "explain": doc! { "find": "c" } }),
        ("db", doc! { "ebbExpiry": "c" }),
        ("admin", doc! { "listDatabases": 1 }),
        ("admin", doc! { "currentOp": 1 }),
        ("admin", doc! { "serverStatus": 1 }),
        ("admin", doc! { "ebbClock": 1 }),
        ("admin", doc! { "hello": 1 }),
    ] {
        let reply = relay(&client, Right::Read, database, &command).await;
        assert_eq!(number(&reply, "ok"), 1, "{command:?}: {reply:?}");
    }
}

#[tokio::test]
async fn whoever_may_only_read_has_only_the_cursors_of_its_session() {
    let mut client = filled(10).await;
    let find = |batch: i32| doc! { "find": "c", "batchSize": batch, "$db": "db" };
    let (reader, other) = (|| sender(Right::Read, 1), || sender(Right::Read, 2));
    let writer = || sender(Right::Write, 3);
    let bare = || doc! { "find": "c", "batchSize": 1 };
    let of_socket = cursor_id(&client.run(find(1)).await);
    let of_writer = cursor_id(&relay_of(&client, writer(), "db", &bare()).await);
    let of_other = cursor_id(&relay_of(&client, other(), "db", &bare()).await);
    let own = cursor_id(&relay_of(&client, reader(), "db", &bare()).await);
    let kill = doc! { "killCursors": "c", "cursors": array![of_socket, of_writer, of_other, own] };
    let more = |id: i64| doc! { "getMore": id, "collection": "c", "batchSize": 1 };
    for id in [of_socket, of_writer, of_other] {
        let refused = relay_of(&client, reader(), "db", &more(id)).await;
        assert_eq!(number(&refused, "code"), 43, "{refused:?}");
    }
    assert_eq!(cursor_id(&relay_of(&client, reader(), "db", &more(own)).await), own);
    let reply = relay_of(&client, reader(), "db", &kill).await;
    assert_eq!(reply.get("cursorsKilled"), Some(&array![own]));
    assert_eq!(reply.get("cursorsNotFound"), Some(&array![of_socket, of_writer, of_other]));
    let mut getmore = more(of_socket);
    getmore.push("$db", "db");
    assert_eq!(cursor_id(&client.run(getmore).await), of_socket);
    let reply = relay_of(&client, writer(), "db", &kill).await;
    assert_eq!(reply.get("cursorsKilled"), Some(&array![of_socket, of_writer, of_other]));
}

#[tokio::test]
async fn no_cursor_is_left_for_a_sender_that_has_gone() {
    let client = filled(10).await;
    for batch in [0, 1] {
        let find = doc! { "find": "c", "batchSize": batch }.to_buf();
        let relayed = client.api.relay(sender(Right::Read, 1), "db", find.bytes());
        // The command is started, and its caller disconnects before it runs.
        tokio::select! {
            biased;
            _ = relayed => panic!("it has run already"),
            () = std::future::ready(()) => {}
        }
        while client.api.open().0 != 1 {
            tokio::task::yield_now().await;
        }
        assert_eq!(client.api.open().1, 0, "batchSize {batch}");
    }
}

#[tokio::test]
async fn a_reply_that_nobody_takes_leaves_no_cursor() {
    let mut client = filled(10).await;
    let begun = relay(&client, Right::Read, "db", &doc! { "find": "c", "batchSize": 1 }).await;
    let more = doc! { "getMore": cursor_id(&begun), "collection": "c", "batchSize": 1 };
    assert_eq!(client.api.open().1, 1);
    for command in [more, doc! { "find": "c", "batchSize": 1 }] {
        let bytes = command.to_buf();
        let mut relayed = Box::pin(client.api.relay(sender(Right::Read, 1), "db", bytes.bytes()));
        // The command completes, and its caller disconnects before it receives the reply.
        tokio::select! {
            biased;
            _ = &mut relayed => panic!("it has run already"),
            () = std::future::ready(()) => {}
        }
        while client.api.open().0 != 1 {
            tokio::task::yield_now().await;
        }
        drop(relayed);
        assert_eq!(client.api.open().1, 0, "{command:?}");
    }
    let gone = doc! { "getMore": cursor_id(&begun), "collection": "c", "$db": "db" };
    assert_eq!(number(&client.run(gone).await, "code"), 43);
}

/// Waits until this many operations of a kind are running.
async fn until(client: &mut Client, op: &str, count: usize) {
    for _ in 0..10_000 {
        let reply = client.run(doc! { "currentOp": 1, "op": op, "$db": "admin" }).await;
        let Some(Value::Array(shown)) = reply.get("inprog") else { panic!("{reply:?}") };
        if shown.len() == count {
            return;
        }
    }
    panic!("never {count} of {op}");
}

#[tokio::test]
async fn a_read_that_nobody_waits_for_ends_and_a_write_does_not() {
    let mut client = filled(1000).await;
    let sum = doc! { "$sum": doc! { "$range": array![0, 20_000] } };
    let slow = doc! { "$expr": doc! { "$lt": array![sum, "$v"] } };
    let api = Arc::clone(&client.api);
    let ask = |command: Document| {
        let api = Arc::clone(&api);
        tokio::spawn(async move {
            let bytes = command.to_buf();
            api.relay(sender(Right::Write, 1), "db", bytes.bytes()).await
        })
    };
    let reads = ask(doc! { "find": "c", "filter": slow });
    let writes = || doc! { "q": doc! {}, "u": doc! { "$inc": doc! { "v": 1 } }, "multi": true };
    until(&mut client, "query", 1).await;
    reads.abort();
    until(&mut client, "query", 0).await;
    let writing = ask(doc! { "update": "c", "updates": array![writes()] });
    // The command is started and abandoned at once.
    tokio::task::yield_now().await;
    writing.abort();
    let counted = doc! { "count": "c", "query": doc! { "v": 1 }, "$db": "db" };
    for _ in 0..10_000 {
        if number(&client.run(counted.clone()).await, "n") == 1000 {
            return;
        }
    }
    panic!("the write ended with its client");
}

#[tokio::test]
async fn requests_of_the_server_itself_need_no_api_version() {
    let mut client = filled(1).await;
    let set = doc! { "setParameter": 1, "requireApiVersion": true };
    assert_eq!(number(&relay(&client, Right::Write, "admin", &set).await, "ok"), 1);
    let refused = client.run(doc! { "find": "c", "$db": "db" }).await;
    assert_eq!(number(&refused, "code"), 498_870);
    let found = relay(&client, Right::Read, "db", &doc! { "find": "c" }).await;
    assert_eq!(first_batch(&found).len(), 1);
}
