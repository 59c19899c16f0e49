//! Operations under way: who sees them, and what ends them before they are through.

use crate::client::{Client, cursor_id, first_batch, number};
use document::{Document, Value, array, doc};

/// Turns that an operation gets to end in; it would need many more by itself.
const TURNS: usize = 100;

/// A client of a collection whose documents take long to look at.
async fn client() -> Client {
    let mut client = Client::new();
    let documents: Vec<Document> = (0..1000).map(|id| doc! { "_id": id, "v": 0 }).collect();
    let insert = doc! { "insert": "c", "$db": "db" };
    client.send(insert, &[("documents", &documents)]).await;
    client
}

/// Takes milliseconds a document, and is false.
fn slow() -> Document {
    let sum = doc! { "$sum": doc! { "$range": array![0, 20_000] } };
    doc! { "$expr": doc! { "$lt": array![sum, "$v"] } }
}

fn slow_find() -> Document {
    doc! { "find": "c", "filter": slow(), "$db": "db" }
}

/// Operations under way that the filter means.
async fn current(client: &mut Client, filter: Document) -> Vec<Document> {
    let mut command = doc! { "currentOp": 1, "$db": "admin" };
    filter.into_iter().for_each(|(name, value)| command.push(name, value));
    let reply = client.run(command).await;
    let Some(Value::Array(shown)) = reply.get("inprog") else { panic!("{reply:?}") };
    shown.iter().map(|it| it.as_ref().as_document().unwrap().to_tree()).collect()
}

/// The number of the one operation of this kind, as soon as it runs.
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
    // A first document is found at once, the others take long.
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

#[tokio::test]
async fn what_is_wrong_is_said() {
    let mut client = client().await;
    let current_op = |spec: Value, aggregate: Value, database: &str| {
        let pipeline = array![doc! { "$currentOp": spec }];
        doc! { "aggregate": aggregate, "pipeline": pipeline, "cursor": doc! {}, "$db": database }
    };
    let cases = [
        (doc! { "killOp": 1, "op": 5_000_000_000_i64, "$db": "admin" }, 2),
        (doc! { "killOp": 1, "op": 1.5, "$db": "admin" }, 2),
        (doc! { "currentOp": 1, "$all": "x", "$db": "admin" }, 14),
        (doc! { "currentOp": 1, "secs_running": doc! { "$no": 1 }, "$db": "admin" }, 2),
        (current_op(1.into(), 1.into(), "admin"), 14),
        (current_op(doc! {}.into(), 1.into(), "db"), 73),
        (current_op(doc! {}.into(), "c".into(), "admin"), 73),
        (current_op(doc! { "no": true }.into(), 1.into(), "admin"), 40415),
    ];
    for (command, code) in cases {
        let reply = client.run(command.clone()).await;
        assert_eq!(number(&reply, "code"), code, "{command:?}: {reply:?}");
    }
}
