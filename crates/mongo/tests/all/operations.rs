//! Running operations: who sees them, and what stops them.

use crate::client::{Client, cursor_id, first_batch, number};
use document::{Document, Value, array, doc};

/// Number of polls within which a stopped operation must end; without the stop it would need many
/// more.
const TURNS: usize = 100;

/// Returns a client of a collection whose documents take long to examine.
async fn client() -> Client {
    let mut client = Client::new();
    let documents: Vec<Document> = (0..1000).map(|id| doc! { "_id": id, "v": 0 }).collect();
    let insert = doc! { "insert": "c", "$db": "db" };
    client.send(insert, &[("documents", &documents)]).await;
    client
}

/// Returns a condition that takes milliseconds per document and is false.
fn slow() -> Document {
    sum_below(20_000)
}

/// Returns a condition that takes longer with a higher `end` and is false.
fn sum_below(end: i32) -> Document {
    let sum = doc! { "$sum": doc! { "$range": array![0, end] } };
    doc! { "$expr": doc! { "$lt": array![sum, "$v"] } }
}

fn slow_find() -> Document {
    doc! { "find": "c", "filter": slow(), "$db": "db" }
}

/// Returns the running operations that match the filter.
async fn current(client: &mut Client, filter: Document) -> Vec<Document> {
    let mut command = doc! { "currentOp": 1, "$db": "admin" };
    filter.into_iter().for_each(|(name, value)| command.push(name, value));
    let reply = client.run(command).await;
    let Some(Value::Array(shown)) = reply.get("inprog") else { panic!("{reply:?}") };
    shown.iter().map(|it| it.as_ref().as_document().unwrap().to_tree()).collect()
}

/// Returns the id of the only operation of this kind, once it runs.
async fn number_of(client: &mut Client, op: &str) -> i64 {
    for _ in 0..TURNS {
        if let [running] = current(client, doc! { "op": op }).await.as_slice() {
            return number(running, "opid");
        }
    }
    panic!("no {op} under way");
}

async fn kill(client: &mut Client, op: i64) {
    let reply = client.run(doc! { "killOp": 1, "op": op, "$db": "admin" }).await;
    assert_eq!(reply, doc! { "info": "attempting to kill op", "ok": 1.0 });
}

#[tokio::test]
async fn a_read_is_killed() {
    let mut reader = client().await;
    let mut other = reader.beside();
    reader.ask(slow_find(), &[]).await;
    let op = number_of(&mut other, "query").await;
    kill(&mut other, op + 1000).await;
    assert_eq!(number_of(&mut other, "query").await, op, "another number is another operation");
    kill(&mut other, op).await;
    let reply = reader.reply().await;
    assert_eq!(
        (number(&reply, "code"), reply.get("codeName")),
        (11601, Some(&"Interrupted".into()))
    );
    assert_eq!(current(&mut other, doc! { "op": "query" }).await, []);
    let reply = reader.run(doc! { "count": "c", "$db": "db" }).await;
    assert_eq!(number(&reply, "n"), 1000, "the connection goes on");
}

#[tokio::test]
async fn a_read_ends_with_its_session() {
    let lsid = || doc! { "id": Value::Binary { subtype: 4, bytes: vec![7; 16] } };
    for (command, value) in [
        ("killSessions", array![lsid()]),
        ("killAllSessions", array![]),
        ("killAllSessionsByPattern", array![doc! {}]),
    ] {
        let mut reader = client().await;
        let mut other = reader.beside();
        let mut find = slow_find();
        find.push("lsid", lsid());
        reader.ask(find, &[]).await;
        number_of(&mut other, "query").await;
        let mut kill = Document::new();
        kill.push(command, value);
        kill.push("$db", "admin");
        let reply = other.run(kill).await;
        assert_eq!(number(&reply, "ok"), 1, "{command}: {reply:?}");
        assert_eq!(number(&reader.reply().await, "code"), 11601, "{command}");
    }
}

#[tokio::test]
async fn an_update_is_killed() {
    let mut writer = client().await;
    let mut other = writer.beside();
    let statement = doc! { "q": slow(), "u": doc! { "$set": doc! { "v": 1 } }, "multi": true };
    writer.ask(doc! { "update": "c", "updates": array![statement], "$db": "db" }, &[]).await;
    let op = number_of(&mut other, "update").await;
    kill(&mut other, op).await;
    let reply = writer.reply().await;
    let Some(Value::Array(errors)) = reply.get("writeErrors") else { panic!("{reply:?}") };
    assert_eq!(number(&errors[0].as_ref().as_document().unwrap().to_tree(), "code"), 11601);
}

/// A computation of minutes does not delay the server's shutdown.
#[tokio::test]
async fn commands_end_when_the_server_stops() {
    let mut writer = client().await;
    let mut reader = writer.beside();
    let mut other = writer.beside();
    let filter = sum_below(200_000);
    let update = doc! { "$set": doc! { "v": 1 } };
    let statement = doc! { "q": filter.clone(), "u": update, "multi": true };
    writer.ask(doc! { "update": "c", "updates": array![statement], "$db": "db" }, &[]).await;
    reader.ask(doc! { "find": "c", "filter": filter, "$db": "db" }, &[]).await;
    number_of(&mut other, "update").await;
    number_of(&mut other, "query").await;
    reader.stop();
    writer.stop();
    let reply = reader.reply().await;
    let name = reply.get("codeName");
    assert_eq!((number(&reply, "code"), name), (11600, Some(&"InterruptedAtShutdown".into())));
    let reply = writer.reply().await;
    let Some(Value::Array(errors)) = reply.get("writeErrors") else { panic!("{reply:?}") };
    assert_eq!(number(&errors[0].as_ref().as_document().unwrap().to_tree(), "code"), 11600);
    reader.ended().await;
    writer.ended().await;
}

#[tokio::test]
async fn a_read_ends_when_its_client_leaves() {
    let mut reader = client().await;
    let mut other = reader.beside();
    reader.ask(slow_find(), &[]).await;
    number_of(&mut other, "query").await;
    drop(reader);
    for _ in 0..TURNS {
        if current(&mut other, doc! { "op": "query" }).await.is_empty() {
            return;
        }
    }
    panic!("it goes on for nobody");
}

#[tokio::test]
async fn a_write_goes_on_when_its_client_leaves() {
    let mut writer = client().await;
    let mut other = writer.beside();
    let statement = doc! { "q": doc! {}, "u": doc! { "$set": doc! { "v": 1 } }, "multi": true };
    writer.ask(doc! { "update": "c", "updates": array![statement], "$db": "db" }, &[]).await;
    drop(writer);
    let query = doc! { "count": "c", "query": doc! { "v": 1 }, "$db": "db" };
    for _ in 0..10 * TURNS {
        if number(&other.run(query.clone()).await, "n") == 1000 {
            return;
        }
    }
    panic!("it ended with its client");
}

#[tokio::test]
async fn a_cursor_is_killed_while_it_is_read() {
    let mut reader = client().await;
    let mut other = reader.beside();
    let find = doc! { "find": "c", "filter": slow(), "batchSize": 0, "$db": "db" };
    let opened = reader.run(find).await;
    let id = cursor_id(&opened);
    reader.ask(doc! { "getMore": id, "collection": "c", "$db": "db" }, &[]).await;
    number_of(&mut other, "getmore").await;
    let reply = other.run(doc! { "killCursors": "c", "cursors": array![id], "$db": "db" }).await;
    assert_eq!(reply.get("cursorsKilled"), Some(&array![id]));
    assert_eq!(number(&reader.reply().await, "code"), 237);
}

#[tokio::test]
async fn a_killed_batch_does_not_kill_the_next() {
    let mut reader = client().await;
    let mut other = reader.beside();
    // A first document is found at once; the others take long.
    let filter = doc! { "$or": array![doc! { "_id": 0 }, slow()] };
    let opened =
        reader.run(doc! { "find": "c", "filter": filter, "batchSize": 1, "$db": "db" }).await;
    assert_eq!(first_batch(&opened).len(), 1);
    let get_more = doc! { "getMore": cursor_id(&opened), "collection": "c", "$db": "db" };
    reader.ask(get_more.clone(), &[]).await;
    let op = number_of(&mut other, "getmore").await;
    kill(&mut other, op).await;
    assert_eq!(number(&reader.reply().await, "code"), 11601);
    assert_eq!(number(&reader.run(get_more).await, "code"), 43, "a failed cursor is closed");
}

#[tokio::test]
async fn operations_are_shown_with_what_they_were_asked() {
    let mut client = client().await;
    let _idle = client.beside();
    let shown = current(&mut client, doc! {}).await;
    let [own] = shown.as_slice() else { panic!("{shown:?}") };
    let text =
        |name: &str| own.get(name).and_then(|value| value.as_ref().as_str().map(str::to_owned));
    assert_eq!(text("ns").unwrap(), "admin.$cmd");
    assert_eq!((text("type").unwrap(), text("op").unwrap()), ("op".into(), "command".into()));
    assert_eq!(own.get("active"), Some(&true.into()));
    assert_eq!(current(&mut client, doc! { "ns": "none" }).await, []);
    assert_eq!(current(&mut client, doc! { "$all": true }).await.len(), 2);
    for (idle, want) in [(false, 1), (true, 2)] {
        let stage = doc! { "$currentOp": doc! { "idleConnections": idle, "allUsers": true } };
        let pipeline = array![stage, doc! { "$project": doc! { "active": 1 } }];
        let command =
            doc! { "aggregate": 1, "pipeline": pipeline, "cursor": doc! {}, "$db": "admin" };
        assert_eq!(first_batch(&client.run(command).await).len(), want);
    }
}

/// Returns the result of `$currentOp` with these options and this filter.
async fn stage(client: &mut Client, options: Document, filter: Document) -> Vec<Document> {
    let pipeline = array![doc! { "$currentOp": options }, doc! { "$match": filter }];
    let command = doc! { "aggregate": 1, "pipeline": pipeline, "cursor": doc! {}, "$db": "admin" };
    first_batch(&client.run(command).await)
}

fn inner(of: &Document, name: &str) -> Document {
    let value = of.get(name).unwrap_or_else(|| panic!("{name} of {of:?}"));
    value.as_ref().as_document().unwrap().to_tree()
}

#[tokio::test]
async fn a_large_command_is_shown_whole_unless_it_is_to_be_cut() {
    let mut reader = client().await;
    let mut other = reader.beside();
    let mut find = slow_find();
    find.push("comment", "long".repeat(1000));
    reader.ask(find.clone(), &[]).await;
    let op = number_of(&mut other, "query").await;
    let query = || doc! { "op": "query" };
    for (options, whole) in [
        (doc! {}, true),
        (doc! { "truncateOps": false }, true),
        (doc! { "truncateOps": true }, false),
    ] {
        let shown = stage(&mut other, options.clone(), query()).await;
        let shown = inner(&shown[0], "command");
        assert_eq!(shown == find, whole, "{options:?}");
        assert_eq!(shown.get("$truncated").is_none(), whole, "{options:?}");
    }
    let shown = current(&mut other, query()).await;
    assert!(inner(&shown[0], "command").get("$truncated").is_some());
    kill(&mut other, op).await;
    assert_eq!(number(&reader.reply().await, "code"), 11601);
}

#[tokio::test]
async fn idle_cursors_are_shown() {
    let mut client = client().await;
    let id = Value::Binary { subtype: 4, bytes: vec![7; 16] };
    let session = doc! { "id": id };
    let find = doc! {
        "find": "c", "filter": doc! { "_id": doc! { "$gte": 5 } }, "batchSize": 3,
        "comment": "mine", "lsid": session.clone(), "$db": "db",
    };
    let cursor = cursor_id(&client.run(find.clone()).await);
    let of_idle = doc! { "type": "idleCursor" };
    assert_eq!(stage(&mut client, doc! {}, of_idle.clone()).await, []);
    let options = || doc! { "idleCursors": true };
    let shown = stage(&mut client, options(), of_idle.clone()).await;
    let [shown] = shown.as_slice() else { panic!("{shown:?}") };
    assert_eq!(shown.get("ns"), Some(&"db.c".into()));
    assert_eq!(shown.get("planSummary"), Some(&"IXSCAN { _id: 1 }".into()));
    assert_eq!(inner(shown, "lsid"), session);
    let about = inner(shown, "cursor");
    assert_eq!(inner(&about, "originatingCommand"), find);
    assert_eq!((number(&about, "cursorId"), number(&about, "nDocsReturned")), (cursor, 3));
    assert_eq!(number(&about, "nBatchesReturned"), 1);
    for name in ["createdDate", "lastAccessDate"] {
        assert!(matches!(about.get(name), Some(Value::DateTime(_))), "{about:?}");
    }
    let more = doc! {
        "getMore": cursor, "collection": "c", "batchSize": 4, "lsid": session, "$db": "db",
    };
    client.run(more).await;
    let shown = stage(&mut client, options(), of_idle.clone()).await;
    let about = inner(&shown[0], "cursor");
    assert_eq!((number(&about, "nDocsReturned"), number(&about, "nBatchesReturned")), (7, 2));
    client.run(doc! { "killCursors": "c", "cursors": array![cursor], "$db": "db" }).await;
    assert_eq!(stage(&mut client, options(), of_idle).await, []);
}

#[tokio::test]
async fn a_running_get_more_is_shown_with_its_cursor() {
    let mut reader = client().await;
    let mut other = reader.beside();
    let find = doc! { "find": "c", "filter": slow(), "batchSize": 0, "$db": "db" };
    let id = cursor_id(&reader.run(find).await);
    reader.ask(doc! { "getMore": id, "collection": "c", "$db": "db" }, &[]).await;
    let op = number_of(&mut other, "getmore").await;
    let shown = current(&mut other, doc! { "op": "getmore" }).await;
    let [shown] = shown.as_slice() else { panic!("{shown:?}") };
    assert_eq!(shown.get("planSummary"), Some(&"COLLSCAN".into()));
    let about = inner(shown, "cursor");
    assert_eq!((number(&about, "cursorId"), number(&about, "operationUsingCursorId")), (id, op));
    assert_eq!(inner(&about, "originatingCommand").get("find"), Some(&"c".into()));
    let idle = stage(&mut other, doc! { "idleCursors": true }, doc! { "type": "idleCursor" });
    assert_eq!(idle.await, [], "it is in use");
    kill(&mut other, op).await;
    assert_eq!(number(&reader.reply().await, "code"), 11601);
}

#[tokio::test]
async fn the_state_of_the_server_is_told_in_sections() {
    let mut client = client().await;
    client.run(doc! { "find": "c", "batchSize": 2, "$db": "db" }).await;
    client.run(doc! { "find": 1, "$db": "db" }).await;
    let delete = doc! { "q": doc! { "_id": 1 }, "limit": 1 };
    client.run(doc! { "delete": "c", "deletes": array![delete], "$db": "db" }).await;
    let status = client.run(doc! { "serverStatus": 1, "$db": "admin" }).await;
    for section in [
        "mem",
        "asserts",
        "globalLock",
        "extra_info",
        "locks",
        "transactions",
        "security",
        "wiredTiger",
        "network",
        "opcounters",
        "opcountersRepl",
        "opLatencies",
        "connections",
        "storageEngine",
        "logicalSessionRecordCache",
        "metrics",
        "ebbClock",
    ] {
        assert!(!inner(&status, section).is_empty(), "{section}");
    }
    assert_eq!(inner(&status, "asserts").get("user"), Some(&Value::Int32(1)));
    let metrics = inner(&status, "metrics");
    let documents = inner(&metrics, "document");
    let counts = ["inserted", "returned", "updated", "deleted"].map(|it| number(&documents, it));
    assert_eq!(counts, [1000, 2, 0, 1]);
    let open = inner(&inner(&metrics, "cursor"), "open");
    assert_eq!((number(&open, "total"), number(&open, "pinned")), (1, 0));
    let find = inner(&inner(&metrics, "commands"), "find");
    assert_eq!((number(&find, "total"), number(&find, "failed")), (2, 1));
    let reads = inner(&inner(&status, "opLatencies"), "reads");
    assert_eq!(number(&reads, "ops"), 2);
    let tickets = inner(&inner(&status, "wiredTiger"), "concurrentTransactions");
    assert_eq!(number(&inner(&tickets, "read"), "out"), 0);
}

#[tokio::test]
async fn sections_are_left_out_and_asked_for() {
    let mut client = client().await;
    let all = client.run(doc! { "serverStatus": 1, "$db": "admin" }).await;
    let names = |of: &Document| -> Vec<String> {
        of.fields().iter().map(|(name, _)| name.clone()).collect()
    };
    for (asked, left_out) in [
        (doc! { "metrics": 0 }, &["metrics"][..]),
        (
            doc! { "metrics": false, "locks": 0.0, "wiredTiger": Value::Null },
            &["locks", "wiredTiger", "metrics"],
        ),
        (doc! { "metrics": 1, "repl": 1, "no": doc! {} }, &[]),
    ] {
        let mut command = doc! { "serverStatus": 1 };
        asked.clone().into_iter().for_each(|(name, value)| command.push(name, value));
        command.push("$db", "admin");
        let reply = client.run(command).await;
        let mut want = names(&all);
        want.retain(|name| !left_out.contains(&name.as_str()));
        assert_eq!(names(&reply), want, "{asked:?}");
    }
    let few = doc! { "serverStatus": 1, "none": 1, "mem": 1, "$db": "admin" };
    let few = names(&client.run(few).await);
    assert!(few.contains(&"mem".to_owned()) && !few.contains(&"metrics".to_owned()), "{few:?}");
}

#[tokio::test]
async fn what_is_wrong_is_said() {
    let mut client = client().await;
    let current_op = |spec: Value, aggregate: Value, database: &str| {
        let pipeline = array![doc! { "$currentOp": spec }];
        doc! { "aggregate": aggregate, "pipeline": pipeline, "cursor": doc! {}, "$db": database }
    };
    let cases = [
        (doc! { "killOp": 1, "op": 5_000_000_000_i64, "$db": "admin" }, 26823),
        (doc! { "killOp": 1, "op": 1.5, "$db": "admin" }, 2),
        (doc! { "currentOp": 1, "$all": "x", "$db": "admin" }, 14),
        (doc! { "currentOp": 1, "secs_running": doc! { "$no": 1 }, "$db": "admin" }, 2),
        (current_op(1.into(), 1.into(), "admin"), 14),
        (current_op(doc! {}.into(), 1.into(), "db"), 73),
        (current_op(doc! {}.into(), "c".into(), "admin"), 73),
        (current_op(doc! { "no": true }.into(), 1.into(), "admin"), 9),
        (current_op(doc! { "allUsers": 1 }.into(), 1.into(), "admin"), 14),
        (current_op(doc! { "allUsers": Value::Null }.into(), 1.into(), "admin"), 14),
        (current_op(doc! { "localOps": "x" }.into(), 1.into(), "admin"), 14),
        (current_op(doc! { "truncateOps": 1 }.into(), 1.into(), "admin"), 9),
        (current_op(doc! { "idleCursors": Value::Null }.into(), 1.into(), "admin"), 9),
    ];
    for (command, code) in cases {
        let reply = client.run(command.clone()).await;
        assert_eq!(number(&reply, "code"), code, "{command:?}: {reply:?}");
    }
}
