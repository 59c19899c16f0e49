//! A retryable write is executed once, however often it is sent, and each attempt returns its
//! result.

use crate::client::{Client, first_batch, number};
use document::{Document, Value, array, doc};
use mongo::{MongoApi, Settings, Topology};
use test_kit::Kit;

/// Returns a client of a router over an engine. It is a node of a cluster, whose replies have no
/// cluster time, so that the replies to repeats are the same.
pub(crate) fn client_of(kit: &Kit) -> Client {
    let settings = Settings { topology: Topology::Router, in_cluster: true, ..Settings::default() };
    Client::of(MongoApi::new(kit.engine.clone(), settings))
}

/// Returns a command with this transaction number, in the session whose id repeats the byte
/// `session`.
pub(crate) fn numbered(mut command: Document, session: u8, number: i64) -> Document {
    let id = Value::Binary { subtype: 4, bytes: vec![session; 16] };
    command.push("lsid", doc! { "id": id });
    command.push("txnNumber", number);
    if command.get("$db").is_none() {
        command.push("$db", "db");
    }
    command
}

/// Returns a reply without the fields that list repeated statements.
pub(crate) fn plain(mut reply: Document) -> Document {
    reply.remove("retriedStmtIds");
    reply.remove("retriedStmtId");
    reply
}

fn insert(documents: Value) -> Document {
    doc! { "insert": "c", "documents": documents }
}

fn update(updates: Value) -> Document {
    doc! { "update": "c", "updates": updates, "ordered": false }
}

fn set(id: i32, edit: Document, upsert: bool) -> Document {
    doc! { "q": doc! { "_id": id }, "u": edit, "upsert": upsert }
}

fn inc() -> Document {
    doc! { "$inc": doc! { "a": 1 } }
}

/// Returns statements of all kinds, for documents 1 and 2 with `a` 1 and 2.
fn writes() -> Vec<Document> {
    let deletes = array![
        doc! { "q": doc! { "_id": 1 }, "limit": 1 },
        doc! { "q": doc! { "_id": 9 }, "limit": 1 },
        doc! { "q": doc! { "a": doc! { "$gt": 0 } }, "limit": 1 },
    ];
    let none = doc! { "$set": doc! { "a": 1 } };
    let modify = |more: Document| {
        let mut command = doc! { "findAndModify": "c" };
        more.into_iter().for_each(|(name, value)| command.push(name, value));
        command
    };
    let one = || doc! { "_id": 1 };
    vec![
        insert(array![doc! { "_id": 3 }, doc! { "_id": 4 }]),
        insert(array![doc! { "_id": 3 }, doc! { "_id": 1 }, doc! { "_id": 4 }]),
        insert(array![doc! { "b": 1 }, doc! { "b": 1 }]),
        update(array![set(1, inc(), false), set(1, none, false), set(7, inc(), false)]),
        update(array![set(7, inc(), true), set(8, inc(), true), set(2, inc(), true)]),
        // Each attempt generates a new id.
        update(array![doc! { "q": doc! { "b": 5 }, "u": inc(), "upsert": true }]),
        update(array![set(1, inc(), false), doc! { "q": doc! {}, "u": doc! { "$no": 1 } }]),
        doc! { "delete": "c", "deletes": deletes, "ordered": false },
        modify(doc! { "query": one(), "update": inc() }),
        modify(doc! { "query": one(), "update": inc(), "new": true }),
        modify(
            doc! { "query": one(), "update": inc(), "new": true, "fields": doc! { "a": 1, "_id": 0 } },
        ),
        modify(doc! { "query": one(), "remove": true }),
        modify(doc! { "query": doc! { "_id": 9 }, "remove": true }),
        modify(doc! { "query": doc! { "_id": 9 }, "update": inc() }),
        modify(doc! { "query": doc! { "_id": 9 }, "update": inc(), "upsert": true }),
        modify(doc! { "query": doc! { "_id": 9 }, "update": inc(), "upsert": true, "new": true }),
        modify(doc! { "query": one(), "update": doc! { "$set": doc! { "a": 1 } }, "new": true }),
        modify(doc! { "sort": doc! { "a": -1 }, "query": doc! {}, "update": inc() }),
    ]
}

async fn fill(client: &mut Client) {
    let documents = array![doc! { "_id": 1, "a": 1 }, doc! { "_id": 2, "a": 2 }];
    let mut command = insert(documents);
    command.push("$db", "db");
    client.run(command).await;
}

#[tokio::test]
async fn a_repeat_hears_what_the_first_attempt_did_also_after_a_restart() {
    for command in writes() {
        let mut kit = Kit::default();
        let mut client = client_of(&kit);
        fill(&mut client).await;
        let first = client.run(numbered(command.clone(), 1, 5)).await;
        assert_eq!(number(&first, "ok"), 1, "{command:?}: {first:?}");
        let after = client.all("c").await;
        let repeat = client.run(numbered(command.clone(), 1, 5)).await;
        assert!(plain(repeat.clone()) != repeat, "it is not said to be a repeat: {repeat:?}");
        assert_eq!(plain(repeat), first, "{command:?}");
        assert_eq!(client.all("c").await, after, "{command:?}");
        kit.restart();
        let mut client = client_of(&kit);
        // Another client has removed all documents since.
        let many = doc! { "q": doc! {}, "limit": 0 };
        client.run(doc! { "delete": "c", "deletes": array![many], "$db": "db" }).await;
        let late = plain(client.run(numbered(command.clone(), 1, 5)).await);
        if first.get("writeErrors").is_none() {
            assert_eq!((late, client.all("c").await), (first, vec![]), "{command:?}");
        }
        // The same number in another session is a different write.
        fill(&mut client).await;
        let other = client.run(numbered(command.clone(), 2, 5)).await;
        assert_eq!(plain(other.clone()), other, "{command:?}");
    }
}

#[tokio::test]
async fn writes_to_a_capped_collection_are_executed_once() {
    for command in writes() {
        let kit = Kit::default();
        let settings = Settings { topology: Topology::Router, ..Settings::default() };
        let mut client = Client::of(MongoApi::new(kit.engine.clone(), settings));
        let create = doc! { "create": "c", "capped": true, "size": 4096, "max": 3, "$db": "db" };
        client.run(doc! { "drop": "c", "$db": "db" }).await;
        let created = client.run(create).await;
        assert_eq!(number(&created, "ok"), 1, "{created:?}");
        fill(&mut client).await;
        let first = client.run(numbered(command.clone(), 1, 5)).await;
        assert_eq!(number(&first, "ok"), 1, "{command:?}: {first:?}");
        let after = client.all("c").await;
        assert!(after.len() <= 3, "{after:?}");
        let repeat = client.run(numbered(command.clone(), 1, 5)).await;
        assert!(plain(repeat.clone()) != repeat, "it is not said to be a repeat: {repeat:?}");
        assert_eq!(client.all("c").await, after, "{command:?}");
    }
}

#[tokio::test]
async fn the_first_attempt_ends_at_any_commit_and_the_next_one_does_the_rest() {
    let statements =
        |from: i32| (from..from + 3).map(|id| set(id, inc(), true)).collect::<Vec<_>>();
    let list = |documents: Vec<Document>| {
        Value::Array(documents.into_iter().map(Value::Document).collect())
    };
    let inserts = (3..6).map(|id| doc! { "_id": id, "a": 1 }).collect();
    for command in [insert(list(inserts)), update(list(statements(1))), update(list(statements(7)))]
    {
        for lost in 1..=4 {
            let kit = Kit::default();
            let mut client = client_of(&kit);
            fill(&mut client).await;
            // The first receipt creates the collection of receipts.
            client.run(numbered(update(array![set(0, inc(), false)]), 9, 1)).await;
            let wanted = {
                let kit = Kit::default();
                let mut client = client_of(&kit);
                fill(&mut client).await;
                let reply = client.run(numbered(command.clone(), 1, 1)).await;
                (reply, client.all("c").await)
            };
            kit.store.lose_nth_commit(lost);
            let mut replies = Vec::new();
            for _ in 0..3 {
                replies.push(plain(client.run(numbered(command.clone(), 1, 1)).await));
            }
            // Whether the commit was lost or not, the last reply has the results of all statements.
            assert_eq!((replies.pop().unwrap(), client.all("c").await), wanted, "{command:?}");
        }
    }
}

#[tokio::test]
async fn two_attempts_at_once_do_it_once() {
    for command in writes() {
        let kit = Kit::default();
        let mut client = client_of(&kit);
        fill(&mut client).await;
        client.run(numbered(update(array![set(0, inc(), false)]), 9, 1)).await;
        let mut second = client.beside();
        kit.store.gate().shut();
        client.ask(numbered(command.clone(), 1, 5), &[]).await;
        tokio::task::yield_now().await;
        second.ask(numbered(command.clone(), 1, 5), &[]).await;
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        kit.store.gate().open();
        let replies = [plain(client.reply().await), plain(second.reply().await)];
        assert_eq!(replies[0], replies[1], "{command:?}");
        let alone = {
            let kit = Kit::default();
            let mut client = client_of(&kit);
            fill(&mut client).await;
            client.run(numbered(command.clone(), 1, 5)).await;
            client.all("c").await
        };
        let after = client.all("c").await;
        let without_ids = |documents: Vec<Document>| -> Vec<Document> {
            let made = |it: &Document| matches!(it.get("_id"), Some(Value::ObjectId(_)));
            documents.into_iter().filter(|it| !made(it)).collect()
        };
        assert_eq!(after.len(), alone.len(), "{command:?}");
        assert_eq!(without_ids(after), without_ids(alone), "{command:?}");
    }
}

#[tokio::test]
async fn a_lower_number_is_refused_and_a_higher_one_forgets() {
    let kit = Kit::default();
    let mut client = client_of(&kit);
    fill(&mut client).await;
    let write = || update(array![set(1, inc(), false)]);
    let a = |documents: &[Document]| number(&documents[0], "a");
    for (number_of, code, value) in
        [(5, 0, 2), (5, 0, 2), (4, 225, 2), (6, 0, 3), (5, 225, 3), (6, 0, 3)]
    {
        let reply = client.run(numbered(write(), 1, number_of)).await;
        let found = reply.get("code").map_or(0, |_| number(&reply, "code"));
        assert_eq!((found, a(&client.all("c").await)), (code, value), "{number_of}: {reply:?}");
        assert!(
            reply.get("errorLabels").is_none(),
            "nothing is won by sending it again: {reply:?}"
        );
    }
    forget(&client, 30).await;
    let reply = client.run(numbered(write(), 1, 4)).await;
    assert_eq!((number(&reply, "n"), a(&client.all("c").await)), (1, 4), "{reply:?}");
}

#[tokio::test]
async fn writes_of_many_documents_take_no_number() {
    let kit = Kit::default();
    let mut client = client_of(&kit);
    fill(&mut client).await;
    let many = doc! { "q": doc! {}, "u": inc(), "multi": true };
    let deletes = array![doc! { "q": doc! {}, "limit": 0 }];
    for command in [update(array![many]), doc! { "delete": "c", "deletes": deletes }] {
        let reply = client.run(numbered(command, 1, 1)).await;
        let Some(Value::Array(errors)) = reply.get("writeErrors") else { panic!("{reply:?}") };
        let error = errors[0].as_ref().as_document().unwrap().to_tree();
        assert_eq!((number(&error, "code"), number(&reply, "n")), (72, 0));
    }
    assert_eq!(client.all("c").await.len(), 2);
}

#[tokio::test]
async fn a_find_and_modify_that_is_another_one_is_refused() {
    let kit = Kit::default();
    let mut client = client_of(&kit);
    fill(&mut client).await;
    let modify =
        |new: bool| doc! { "findAndModify": "c", "query": doc! {}, "update": inc(), "new": new };
    client.run(numbered(modify(false), 1, 1)).await;
    let reply = client.run(numbered(modify(true), 1, 1)).await;
    assert_eq!(number(&reply, "code"), 40606, "{reply:?}");
}

#[tokio::test]
async fn statements_are_told_apart_by_their_ids() {
    let kit = Kit::default();
    let mut client = client_of(&kit);
    fill(&mut client).await;
    let send = |ids: Value| {
        let mut command = update(array![set(1, inc(), false), set(2, inc(), false)]);
        command.push("stmtIds", ids);
        command
    };
    for (ids, repeated, a) in [
        (array![4, 900], None, [2, 3]),
        (array![900, 5], Some(array![900]), [2, 4]),
        (array![5, 70_000], Some(array![5]), [2, 5]),
        (array![4, 70_000], Some(array![4, 70_000]), [2, 5]),
    ] {
        let reply = client.run(numbered(send(ids), 1, 1)).await;
        assert_eq!(reply.get("retriedStmtIds").cloned(), repeated, "{reply:?}");
        assert_eq!(number(&reply, "n"), 2);
        let held: Vec<i64> = client.all("c").await.iter().map(|it| number(it, "a")).collect();
        assert_eq!(held, a);
    }
}

/// A batch with more than one commit and more than one receipt.
#[tokio::test]
async fn a_large_batch_is_done_once() {
    let kit = Kit::default();
    let mut client = client_of(&kit);
    let documents: Vec<_> = (0..2_500).map(|id| doc! { "_id": id, "a": 0 }).collect();
    let updates: Vec<_> = (0..2_500).map(|id| set(id, inc(), false)).collect();
    for (body, name, list) in [
        (doc! { "insert": "c" }, "documents", &documents),
        (doc! { "update": "c" }, "updates", &updates),
    ] {
        let number_of = if name == "documents" { 1 } else { 2 };
        kit.store.lose_nth_commit(2);
        let command = numbered(body, 1, number_of);
        let first = client.send(command.clone(), &[(name, list)]).await;
        assert_ne!(first.get("n"), Some(&2_500.into()), "{first:?}");
        let second = client.send(command, &[(name, list)]).await;
        assert_eq!(number(&second, "n"), 2_500, "{second:?}");
        assert!(second.get("writeErrors").is_none());
    }
    let found = client.run(doc! { "count": "c", "query": doc! { "a": 1 }, "$db": "db" }).await;
    assert_eq!(number(&found, "n"), 2_500);
}

#[tokio::test]
async fn a_bulk_write_is_done_once() {
    let kit = Kit::default();
    let mut client: Client = client_of(&kit);
    let ops = [
        doc! { "insert": 0, "document": doc! { "_id": 1, "a": 1 } },
        doc! { "update": 0, "filter": doc! { "_id": 1 }, "updateMods": inc() },
        doc! { "update": 1, "filter": doc! { "_id": 1 }, "updateMods": inc(), "upsert": true },
        doc! { "delete": 0, "filter": doc! { "_id": 7 } },
        doc! { "insert": 1, "document": doc! { "_id": 1 } },
        doc! { "delete": 1, "filter": doc! { "_id": 1 } },
    ];
    let options = || {
        let mut options = numbered(doc! { "ordered": false, "$db": "" }, 1, 1);
        options.remove("$db");
        options
    };
    let first = client.bulk(options(), &ops).await;
    assert_eq!((number(&first, "nErrors"), number(&first, "nUpserted")), (1, 1), "{first:?}");
    assert_eq!((number(&first, "nInserted"), number(&first, "nDeleted")), (1, 1), "{first:?}");
    let after = (client.all("a").await, client.all("b").await);
    let again = client.bulk(options(), &ops).await;
    assert_eq!(again.get("retriedStmtIds"), Some(&array![0, 1, 2, 3, 5]), "{again:?}");
    // The failed insert is executed now, since the conflicting document was removed.
    assert_eq!((number(&again, "nErrors"), number(&again, "nInserted")), (0, 2), "{again:?}");
    assert_eq!(first_batch(&again).len(), 6);
    assert_eq!((client.all("a").await, client.all("b").await.len()), (after.0, 1));
    let last = client.bulk(options(), &ops).await;
    assert_eq!(plain(last), plain(again));
    let many = [doc! { "update": 0, "filter": doc! {}, "updateMods": inc(), "multi": true }];
    let mut options = numbered(doc! { "$db": "" }, 1, 2);
    options.remove("$db");
    assert_eq!(number(&client.bulk(options, &many).await, "nErrors"), 1);
}

/// An attempt fails if its session uses the next transaction number after the attempt has read its
/// receipts, whichever receipt it would write.
#[tokio::test]
async fn an_attempt_that_comes_after_the_next_number_does_nothing() {
    for statement in [1, 200] {
        let kit = Kit::default();
        let mut client = client_of(&kit);
        fill(&mut client).await;
        let write = |id: i32, statement: i32| {
            let mut command = update(array![set(id, inc(), false)]);
            command.push("stmtId", statement);
            command
        };
        client.run(numbered(write(1, statement), 1, 5)).await;
        let mut late = client.beside();
        kit.store.gate().shut();
        client.ask(numbered(write(1, 0), 1, 6), &[]).await;
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        late.ask(numbered(write(2, statement + 1), 1, 5), &[]).await;
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        kit.store.gate().open();
        assert_eq!(number(&client.reply().await, "n"), 1);
        let reply = late.reply().await;
        assert_eq!(number(&reply, "code"), 225, "{reply:?}");
        let held: Vec<i64> = client.all("c").await.iter().map(|it| number(it, "a")).collect();
        assert_eq!(held, [3, 2]);
    }
}

/// Removes the receipts that are old this number of minutes from now.
async fn forget(client: &Client, minutes: i64) {
    let then = clock::wall_ms() + minutes * 60 * 1000;
    client.api.forget_receipts(then).await.unwrap();
}

/// A session's receipts are kept for half an hour of the machine's clock after its last write,
/// however far a manual clock is moved.
#[tokio::test]
async fn receipts_are_kept_for_half_an_hour_of_the_machines_clock() {
    let kit = Kit::default();
    let mut client = client_of(&kit);
    fill(&mut client).await;
    let write = |statement: i32| {
        let mut command = update(array![set(1, inc(), false)]);
        command.push("stmtId", statement);
        numbered(command, 1, 5)
    };
    for (days, minutes, statement, repeated) in
        [(0, 0, 0, false), (90, 29, 200, false), (91, 29, 0, true), (92, 30, 0, false)]
    {
        kit.move_to(days * 24 * 60 * 60 * 1000);
        forget(&client, minutes).await;
        let reply = client.run(write(statement)).await;
        assert_eq!(reply.get("retriedStmtIds").is_some(), repeated, "{days}: {reply:?}");
    }
    let reply = client.run(numbered(update(array![set(1, inc(), false)]), 1, 4)).await;
    assert_eq!(number(&reply, "code"), 225, "{reply:?}");
}
