//! Transactions of several statements, as drivers send them.

use crate::{
    client::{Client, cursor_id, first_batch, number},
    numbered_writes::numbered,
};
use document::{Document, Value, array, doc};
use mongo::{MongoApi, Settings, Topology};
use test_kit::Kit;

/// Returns a client of a router over an engine.
fn client_of(kit: &Kit) -> Client {
    let settings = Settings { topology: Topology::Router, ..Settings::default() };
    Client::of(MongoApi::new(kit.engine.clone(), settings))
}

/// Returns a command of a transaction.
fn within(command: Document, session: u8, txn: i64) -> Document {
    let mut command = numbered(command, session, txn);
    command.push("autocommit", false);
    command
}

/// Returns the first command of a transaction.
fn starting(command: Document, session: u8, txn: i64) -> Document {
    let mut command = within(command, session, txn);
    command.push("startTransaction", true);
    command
}

fn end(name: &str, session: u8, txn: i64) -> Document {
    let mut command = doc! {};
    command.push(name, 1);
    command.push("$db", "admin");
    within(command, session, txn)
}

fn insert(id: i32) -> Document {
    doc! { "insert": "c", "documents": array![doc! { "_id": id }] }
}

fn find() -> Document {
    doc! { "find": "c", "sort": doc! { "_id": 1 } }
}

fn set(id: i32, a: i32) -> Document {
    let update = doc! { "q": doc! { "_id": id }, "u": doc! { "$set": doc! { "a": a } } };
    doc! { "update": "c", "updates": array![update] }
}

/// Runs a command that succeeds.
async fn run(client: &mut Client, command: Document) -> Document {
    let reply = client.run(command).await;
    assert_eq!(number(&reply, "ok"), 1, "{reply:?}");
    assert!(reply.get("writeErrors").is_none(), "{reply:?}");
    reply
}

/// Runs a command that fails; returns its code, and whether it has the label by which drivers repeat
/// transactions.
async fn refused(client: &mut Client, command: Document) -> (i64, bool) {
    let reply = client.run(command.clone()).await;
    assert_eq!(number(&reply, "ok"), 0, "{command:?}: {reply:?}");
    let label = array!["TransientTransactionError"];
    (number(&reply, "code"), reply.get("errorLabels") == Some(&label))
}

async fn client() -> Client {
    let mut client = client_of(&Kit::default());
    let documents = array![doc! { "_id": 1, "a": 1 }, doc! { "_id": 2, "a": 2 }];
    run(&mut client, doc! { "insert": "c", "documents": documents, "$db": "db" }).await;
    client
}

fn ids(documents: &[Document]) -> Vec<i64> {
    documents.iter().map(|document| number(document, "_id")).collect()
}

#[tokio::test]
async fn statements_are_seen_by_others_after_the_commit() {
    let mut client = client().await;
    let mut other = client.beside();
    run(&mut client, starting(insert(5), 1, 1)).await;
    run(&mut client, within(set(1, 10), 1, 1)).await;
    let remove =
        doc! { "delete": "c", "deletes": array![doc! { "q": doc! { "_id": 2 }, "limit": 1 }] };
    run(&mut client, within(remove, 1, 1)).await;
    let seen = first_batch(&run(&mut client, within(find(), 1, 1)).await);
    assert_eq!(seen, [doc! { "_id": 1, "a": 10 }, doc! { "_id": 5 }]);
    let before = [doc! { "_id": 1, "a": 1 }, doc! { "_id": 2, "a": 2 }];
    assert_eq!(other.all("c").await, before);
    // A transaction may continue over another connection.
    run(&mut other, within(insert(6), 1, 1)).await;
    assert_eq!(other.all("c").await, before);
    run(&mut client, end("commitTransaction", 1, 1)).await;
    assert_eq!(ids(&other.all("c").await), [1, 5, 6]);
    // The commit may be repeated, and nothing else.
    run(&mut client, end("commitTransaction", 1, 1)).await;
    assert_eq!(refused(&mut client, end("abortTransaction", 1, 1)).await, (256, false));
    assert_eq!(refused(&mut client, within(find(), 1, 1)).await, (256, false));
}

#[tokio::test]
async fn numbers_and_states_have_the_errors_of_mongod() {
    let mut client = client().await;
    let c = &mut client;
    assert_eq!(refused(c, within(find(), 1, 5)).await, (251, true), "not started");
    assert_eq!(refused(c, end("commitTransaction", 1, 5)).await, (251, true));
    assert_eq!(refused(c, end("abortTransaction", 1, 5)).await, (251, true));
    run(c, starting(insert(5), 1, 5)).await;
    assert_eq!(refused(c, starting(find(), 1, 5)).await, (117, false), "started");
    assert_eq!(refused(c, starting(find(), 1, 4)).await, (225, false), "older");
    assert_eq!(refused(c, within(find(), 1, 6)).await, (251, true), "newer");
    assert_eq!(refused(c, within(find(), 2, 5)).await, (251, true), "of another session");
    // A higher number aborts the open one.
    run(c, starting(insert(5), 1, 6)).await;
    assert_eq!(refused(c, end("commitTransaction", 1, 5)).await, (225, false));
    run(c, end("abortTransaction", 1, 6)).await;
    for command in [end("abortTransaction", 1, 6), end("commitTransaction", 1, 6)] {
        assert_eq!(refused(c, command).await, (251, true), "aborted");
    }
    assert_eq!(ids(&c.all("c").await), [1, 2]);
    // Writes and transactions share the session's numbers.
    run(c, starting(insert(5), 1, 8)).await;
    assert_eq!(refused(c, numbered(insert(7), 1, 7)).await, (225, false));
    assert_eq!(refused(c, numbered(insert(7), 1, 8)).await, (217, false));
    run(c, numbered(insert(7), 1, 9)).await;
    assert_eq!(refused(c, end("commitTransaction", 1, 8)).await, (251, true));
    assert_eq!(refused(c, starting(find(), 1, 9)).await, (225, false), "of a write");
    assert_eq!(ids(&c.all("c").await), [1, 2, 7]);
}

#[tokio::test]
async fn arguments_that_do_not_fit_together_change_nothing() {
    let mut client = client().await;
    let c = &mut client;
    run(c, starting(insert(5), 1, 1)).await;
    let lsid = doc! { "id": Value::Binary { subtype: 4, bytes: vec![1; 16] } };
    let with = |more: Document| {
        let mut command = find();
        command.push("$db", "db");
        more.into_iter().for_each(|(name, value)| command.push(name, value));
        command
    };
    let numbered_with = |more: Document| {
        let mut command = numbered(find(), 1, 1);
        more.into_iter().for_each(|(name, value)| command.push(name, value));
        command
    };
    for (command, code) in [
        (with(doc! { "autocommit": false }), 72),
        (with(doc! { "autocommit": false, "lsid": lsid.clone() }), 72),
        (with(doc! { "autocommit": false, "txnNumber": 1_i64 }), 72),
        (with(doc! { "startTransaction": true, "txnNumber": 1_i64, "lsid": lsid }), 72),
        (numbered_with(doc! { "autocommit": true }), 72),
        (numbered_with(doc! { "autocommit": 1 }), 14),
        (numbered_with(doc! { "autocommit": false, "startTransaction": false }), 72),
        (numbered_with(doc! { "autocommit": false, "startTransaction": 1 }), 14),
        (within(doc! { "find": "c", "readConcern": doc! { "level": "snapshot" } }, 1, 1), 72),
        (within(doc! { "find": "c", "readConcern": 1 }, 1, 1), 14),
        (
            within(
                doc! { "insert": "c", "documents": array![doc! {}], "writeConcern": doc! { "w": 1 } },
                1,
                1,
            ),
            72,
        ),
        (starting(doc! { "find": "c", "readConcern": doc! { "level": "linearizable" } }, 2, 1), 72),
        (starting(doc! { "find": "c", "readConcern": doc! { "level": 1 } }, 2, 1), 14),
        (
            starting(
                doc! {
                    "find": "c",
                    "readConcern": doc! {
                        "level": "snapshot", "atClusterTime": Value::Timestamp(1 << 32),
                    },
                },
                2,
                1,
            ),
            72,
        ),
        (numbered(doc! { "commitTransaction": 1, "$db": "admin" }, 1, 1), 125),
        (starting(doc! { "commitTransaction": 1, "$db": "admin" }, 1, 2), 263),
        (starting(doc! { "getMore": 1_i64, "collection": "c" }, 1, 2), 263),
        (within(doc! { "commitTransaction": 1 }, 1, 1), 13),
    ] {
        assert_eq!(refused(c, command.clone()).await, (code, false), "{command:?}");
    }
    run(c, end("commitTransaction", 1, 1)).await;
    assert_eq!(ids(&c.all("c").await), [1, 2, 5]);
    for (txn, level) in [(1, "local"), (2, "majority"), (3, "snapshot")] {
        let read = doc! { "find": "c", "readConcern": doc! { "level": level } };
        run(c, starting(read, 3, txn)).await;
        let mut commit = end("commitTransaction", 3, txn);
        commit.push("writeConcern", doc! { "w": "majority", "wtimeout": 10_000 });
        commit.push("recoveryToken", doc! { "a": 1 });
        run(c, commit).await;
    }
}

#[tokio::test]
async fn conflicts_are_found_at_the_statement_and_end_the_transaction() {
    let mut client = client().await;
    let c = &mut client;
    run(c, starting(insert(5), 1, 1)).await;
    run(c, starting(find(), 2, 1)).await;
    assert_eq!(refused(c, within(insert(5), 2, 1)).await, (112, true));
    assert_eq!(refused(c, end("commitTransaction", 2, 1)).await, (251, true));
    run(c, starting(find(), 2, 2)).await;
    run(c, within(set(1, 5), 1, 1)).await;
    assert_eq!(refused(c, within(set(1, 6), 2, 2)).await, (112, true));
    run(c, starting(find(), 2, 3)).await;
    run(c, end("commitTransaction", 1, 1)).await;
    // The document was committed after the snapshot.
    let modify = doc! { "findAndModify": "c", "query": doc! { "_id": 1 }, "remove": true };
    assert_eq!(refused(c, within(modify, 2, 3)).await, (112, true));
    // A duplicate is an error of the statement, and ends the transaction, too.
    let reply = c.run(starting(insert(5), 2, 4)).await;
    assert_eq!((number(&reply, "ok"), number(&reply, "n")), (1, 0), "{reply:?}");
    assert!(reply.get("writeErrors").is_some() && reply.get("errorLabels").is_none());
    assert_eq!(refused(c, within(find(), 2, 4)).await, (251, true));
    // So does a command that fails.
    run(c, starting(insert(9), 2, 5)).await;
    let wrong = doc! { "find": "c", "filter": doc! { "$no": 1 } };
    assert_eq!(refused(c, within(wrong, 2, 5)).await, (2, false));
    assert_eq!(refused(c, end("commitTransaction", 2, 5)).await, (251, true));
    assert_eq!(ids(&c.all("c").await), [1, 2, 5]);
}

#[tokio::test]
async fn a_plain_write_waits_for_the_transaction() {
    let mut client = client().await;
    let mut other = client.beside();
    for commits in ["commitTransaction", "abortTransaction"] {
        let txn = i64::from(commits == "abortTransaction") + 1;
        run(&mut client, starting(set(1, 50), 1, txn)).await;
        let mut command = doc! { "update": "c", "$db": "db" };
        let add = doc! { "q": doc! { "_id": 1 }, "u": doc! { "$inc": doc! { "a": 1 } } };
        command.push("updates", array![add]);
        other.ask(command, &[]).await;
        // It has not been answered when a later command is.
        let waits = tokio::time::timeout(std::time::Duration::from_millis(50), other.reply()).await;
        assert!(waits.is_err(), "{waits:?}");
        run(&mut client, end(commits, 1, txn)).await;
        let reply = other.reply().await;
        assert_eq!(number(&reply, "nModified"), 1, "{reply:?}");
        let after = first_batch(&run(&mut client, doc! { "find": "c", "$db": "db" }).await);
        let a = if commits == "commitTransaction" { 51 } else { 52 };
        assert_eq!(after[0], doc! { "_id": 1, "a": a });
    }
    // Its own time limit ends the wait.
    run(&mut client, starting(set(1, 50), 1, 3)).await;
    let mut limited = set(1, 7);
    limited.push("$db", "db");
    limited.push("maxTimeMS", 30);
    other.ask(limited, &[]).await;
    let api = std::sync::Arc::clone(&client.api);
    let ticks = async {
        loop {
            tokio::task::yield_now().await;
            api.tick(clock::monotonic_time());
        }
    };
    let reply = tokio::select! { reply = other.reply() => reply, () = ticks => unreachable!() };
    let text = format!("{reply:?}");
    assert!(text.contains("50"), "{text}");
    run(&mut client, end("abortTransaction", 1, 3)).await;
}

#[tokio::test]
async fn cursors_belong_to_their_transaction() {
    let mut client = client().await;
    let c = &mut client;
    let open = doc! { "find": "c", "batchSize": 1 };
    let more = |cursor: i64| doc! { "getMore": cursor, "collection": "c", "batchSize": 1 };
    let inside = cursor_id(&run(c, starting(open.clone(), 1, 1)).await);
    let outside = cursor_id(
        &run(c, {
            let mut open = numbered(open.clone(), 1, 1);
            open.remove("txnNumber");
            open
        })
        .await,
    );
    // Others change what the cursor has not read.
    run(c, {
        let mut set = set(2, 77);
        set.push("$db", "db");
        set
    })
    .await;
    let mut alone = numbered(more(inside), 1, 1);
    alone.remove("txnNumber");
    assert_eq!(refused(c, alone).await.0, 50740);
    let rest = first_batch(&run(c, within(more(inside), 1, 1)).await);
    assert_eq!(rest, [doc! { "_id": 2, "a": 2 }]);
    assert_eq!(refused(c, within(more(outside), 1, 1)).await.0, 50739);
    // It ends with its transaction, which the refused command has aborted.
    let inside = cursor_id(&run(c, starting(open, 1, 2)).await);
    run(c, end("commitTransaction", 1, 2)).await;
    run(c, starting(find(), 1, 3)).await;
    assert_eq!(refused(c, within(more(inside), 1, 3)).await.0, 43);
}

#[tokio::test]
async fn what_cannot_run_inside_is_refused_by_name() {
    let mut client = client().await;
    let c = &mut client;
    run(c, starting(insert(5), 1, 1)).await;
    let stage = |stage: Document| {
        doc! { "aggregate": "c", "pipeline": array![stage], "cursor": doc! {} }
    };
    let at = |mut command: Document, database: &str| {
        command.push("$db", database);
        command
    };
    for command in [
        doc! { "count": "c" },
        doc! { "drop": "c" },
        doc! { "dropIndexes": "c", "index": "*" },
        doc! { "collMod": "c" },
        doc! { "listCollections": 1 },
        doc! { "listIndexes": "c" },
        doc! { "explain": doc! { "find": "c" } },
        doc! { "ping": 1 },
        at(doc! { "renameCollection": "db.c", "to": "db.d" }, "admin"),
        at(doc! { "find": "c" }, "local"),
        at(doc! { "find": "transactions" }, "config"),
        doc! { "find": "system.views" },
        stage(doc! { "$out": "d" }),
        stage(doc! { "$merge": doc! { "into": "d" } }),
        stage(doc! { "$collStats": doc! {} }),
        stage(doc! { "$indexStats": doc! {} }),
        doc! {
            "createIndexes": "c",
            "indexes": array![doc! { "key": doc! { "a": 1 }, "name": "a_1" }],
        },
    ] {
        let (code, labelled) = refused(c, within(command.clone(), 1, 1)).await;
        assert_eq!((code, labelled), (263, false), "{command:?}");
        if command.get("createIndexes").is_none() {
            continue;
        }
        // Refused while it ran, so that the transaction is aborted.
        assert_eq!(refused(c, end("commitTransaction", 1, 1)).await, (251, true));
    }
    run(c, at(doc! { "create": "log", "capped": true, "size": 10_000 }, "db")).await;
    let write = doc! { "insert": "log", "documents": array![doc! {}] };
    let reply = c.run(starting(write, 1, 2)).await;
    assert!(format!("{reply:?}").contains("263"), "{reply:?}");
    assert_eq!(ids(&c.all("c").await), [1, 2]);
}

#[tokio::test]
async fn collections_and_indexes_are_created_inside() {
    let mut client = client().await;
    let c = &mut client;
    let of = |collection: &str, id: i32| {
        doc! { "insert": collection, "documents": array![doc! { "_id": id, "a": id }] }
    };
    run(c, starting(find(), 1, 1)).await;
    run(c, within(of("new", 1), 1, 1)).await;
    run(c, within(doc! { "create": "made" }, 1, 1)).await;
    let index = doc! {
        "createIndexes": "made",
        "indexes": array![doc! { "key": doc! { "a": 1 }, "name": "a_1", "unique": true }],
    };
    let reply = c.run(starting(doc! { "create": "c" }, 2, 1)).await;
    assert_eq!(number(&reply, "code"), 48, "{reply:?}");
    run(c, within(index.clone(), 1, 1)).await;
    run(c, within(of("made", 2), 1, 1)).await;
    run(c, within(index, 1, 1)).await;
    let joined = doc! {
        "aggregate": "new",
        "pipeline": array![
            doc! { "$lookup": doc! {
                "from": "made", "pipeline": array![], "as": "made" } },
            doc! { "$lookup": doc! {
                "from": "c", "localField": "_id", "foreignField": "_id", "as": "c" } },
        ],
        "cursor": doc! {},
    };
    let found = first_batch(&run(c, within(joined, 1, 1)).await);
    assert_eq!(
        found,
        [doc! {
            "_id": 1,
            "a": 1,
            "made": array![doc! { "_id": 2, "a": 2 }],
            "c": array![doc! { "_id": 1, "a": 1 }],
        }]
    );
    let counted = doc! {
        "aggregate": "c",
        "pipeline": array![doc! { "$count": "n" }],
        "cursor": doc! {},
    };
    run(c, within(insert(30), 1, 1)).await;
    assert_eq!(first_batch(&run(c, within(counted, 1, 1)).await), [doc! { "n": 3 }]);
    let distinct = run(c, within(doc! { "distinct": "c", "key": "_id" }, 1, 1)).await;
    assert_eq!(distinct.get("values"), Some(&array![1, 2, 30]));
    assert_eq!((c.all("new").await, c.all("made").await), (vec![], vec![]));
    run(c, end("commitTransaction", 1, 1)).await;
    assert_eq!((c.all("new").await.len(), c.all("made").await.len()), (1, 1));
}

#[tokio::test]
async fn a_commit_is_answered_again_after_a_restart() {
    let mut kit = Kit::default();
    let mut client = client_of(&kit);
    run(&mut client, starting(insert(1), 1, 4)).await;
    run(&mut client, end("commitTransaction", 1, 4)).await;
    run(&mut client, starting(insert(2), 2, 4)).await;
    kit.restart();
    let mut client = client_of(&kit);
    let c = &mut client;
    run(c, end("commitTransaction", 1, 4)).await;
    assert_eq!(refused(c, end("commitTransaction", 2, 4)).await, (251, true));
    assert_eq!(refused(c, numbered(insert(9), 1, 4)).await, (217, false));
    assert_eq!(refused(c, starting(insert(9), 1, 4)).await, (225, false));
    run(c, numbered(insert(9), 1, 5)).await;
    assert_eq!(refused(c, end("commitTransaction", 1, 4)).await, (225, false));
    assert_eq!(ids(&c.all("c").await), [1, 9]);
}

#[tokio::test]
async fn time_and_other_clients_end_it() {
    let mut client = client().await;
    let c = &mut client;
    let lsid = doc! { "id": Value::Binary { subtype: 4, bytes: vec![1; 16] } };
    for (txn, name) in [(1, "killSessions"), (2, "endSessions")] {
        run(c, starting(insert(5), 1, txn)).await;
        let mut kill = doc! {};
        kill.push(name, array![lsid.clone()]);
        kill.push("$db", "admin");
        run(c, kill).await;
        assert_eq!(refused(c, within(find(), 1, txn)).await, (251, true));
    }
    run(c, starting(insert(5), 1, 3)).await;
    run(c, doc! { "killAllSessions": array![], "$db": "admin" }).await;
    assert_eq!(refused(c, end("commitTransaction", 1, 3)).await, (251, true));
    // The lifetime is counted by the machine's clock.
    let limit = |seconds: i32| {
        doc! { "setParameter": 1, "transactionLifetimeLimitSeconds": seconds, "$db": "admin" }
    };
    assert_eq!(refused(c, limit(0)).await.0, 2);
    for (txn, seconds) in [(11, 60), (12, 5)] {
        if txn == 12 {
            run(c, limit(5)).await;
        }
        run(c, starting(insert(5), 1, txn)).await;
        let after = |seconds| clock::monotonic_time() + std::time::Duration::from_secs(seconds);
        c.api.tick(after(seconds - 1));
        run(c, within(find(), 1, txn)).await;
        c.api.tick(after(seconds));
        assert_eq!(refused(c, within(find(), 1, txn)).await, (251, true));
    }
    assert_eq!(ids(&c.all("c").await), [1, 2]);
}

#[tokio::test]
async fn open_ones_are_counted_and_shown() {
    let mut client = client().await;
    let c = &mut client;
    run(c, starting(insert(5), 1, 1)).await;
    run(c, starting(insert(6), 2, 1)).await;
    run(c, end("commitTransaction", 1, 1)).await;
    run(c, starting(insert(7), 1, 2)).await;
    run(c, end("abortTransaction", 1, 2)).await;
    let status = run(c, doc! { "serverStatus": 1, "$db": "admin" }).await;
    let Some(Value::Document(section)) = status.get("transactions") else { panic!("{status:?}") };
    let counts =
        ["totalStarted", "totalCommitted", "totalAborted", "currentOpen", "currentInactive"]
            .map(|name| number(section, name));
    assert_eq!(counts, [3, 1, 1, 1, 1]);
    let shown = run(c, doc! { "currentOp": 1, "type": "idleSession", "$db": "admin" }).await;
    let Some(Value::Array(shown)) = shown.get("inprog") else { panic!("{shown:?}") };
    let [Value::Document(entry)] = &shown[..] else { panic!("{shown:?}") };
    assert_eq!(entry.get("desc"), Some(&"inactive transaction".into()));
    let Some(Value::Document(transaction)) = entry.get("transaction") else { panic!("{entry:?}") };
    assert!(0 < number(transaction, "bytes"));
}

#[tokio::test]
async fn bulk_writes_and_replies_of_find_and_modify_work_inside() {
    let mut client = client().await;
    let c = &mut client;
    let bulk = doc! {
        "bulkWrite": 1,
        "ops": array![
            doc! { "insert": 0, "document": doc! { "_id": 5, "a": 1 } },
            doc! { "update": 0, "filter": doc! { "_id": 5 }, "updateMods": doc! { "$inc": doc! { "a": 1 } } },
            doc! { "update": 0, "filter": doc! {}, "updateMods": doc! { "$inc": doc! { "a": 1 } }, "multi": true },
            doc! { "delete": 0, "filter": doc! { "_id": 2 } },
        ],
        "nsInfo": array![doc! { "ns": "db.c" }],
        "$db": "admin",
    };
    let reply = run(c, starting(bulk, 1, 1)).await;
    assert_eq!((number(&reply, "nErrors"), number(&reply, "nModified")), (0, 4), "{reply:?}");
    let modify = doc! {
        "findAndModify": "c",
        "query": doc! { "a": doc! { "$gt": 2 } },
        "update": doc! { "$set": doc! { "b": 1 } },
        "new": true,
    };
    let reply = run(c, within(modify, 1, 1)).await;
    let wanted = doc! { "_id": 5, "a": 3, "b": 1 };
    assert_eq!(reply.get("value"), Some(&Value::Document(wanted)));
    run(c, end("commitTransaction", 1, 1)).await;
    let all = [doc! { "_id": 1, "a": 2 }, doc! { "_id": 5, "a": 3, "b": 1 }];
    assert_eq!(c.all("c").await, all);
    // A failed operation of a bulk write ends the transaction.
    let failing = doc! {
        "bulkWrite": 1,
        "ops": array![doc! { "insert": 0, "document": doc! { "_id": 5 } }],
        "nsInfo": array![doc! { "ns": "db.c" }],
        "$db": "admin",
    };
    let reply = run(c, starting(failing, 1, 2)).await;
    assert_eq!(number(&reply, "nErrors"), 1);
    assert_eq!(refused(c, end("commitTransaction", 1, 2)).await, (251, true));
}

#[tokio::test]
async fn a_document_that_expires_meanwhile_conflicts() {
    let kit = Kit::default();
    let mut client = client_of(&kit);
    let c = &mut client;
    run(c, doc! { "create": "c", "$db": "db" }).await;
    let collection =
        kit.engine.collection(engine::Model::Documents, &engine::Namespace::new("db", "c"));
    let default = engine::DefaultTtl::Seconds(10);
    kit.engine.set_default_ttl(&collection.unwrap(), default).await.unwrap();
    let documents = array![doc! { "_id": 1, "ttl": 5 }, doc! { "_id": 2 }];
    run(c, doc! { "insert": "c", "documents": documents, "$db": "db" }).await;
    run(c, starting(set(1, 5), 1, 1)).await;
    run(c, starting(doc! { "find": "c", "filter": doc! { "_id": 2 } }, 2, 1)).await;
    kit.move_to(5_000);
    assert_eq!(refused(c, within(find(), 1, 1)).await, (112, true));
    run(c, within(set(2, 5), 2, 1)).await;
    let seen = first_batch(&run(c, within(find(), 2, 1)).await);
    assert_eq!(seen, [doc! { "_id": 2, "a": 5 }]);
    run(c, end("commitTransaction", 2, 1)).await;
    kit.move_to(14_999);
    assert_eq!(ids(&c.all("c").await), [2]);
    kit.move_to(15_000);
    assert_eq!(c.all("c").await, Vec::<Document>::new());
}

#[tokio::test]
async fn events_of_a_transaction_name_it_and_stand_together() {
    let mut client = client().await;
    let c = &mut client;
    let stages = array![doc! { "$changeStream": doc! {} }];
    let stream = doc! { "aggregate": "c", "pipeline": stages, "cursor": doc! {}, "$db": "db" };
    let stream = cursor_id(&run(c, stream).await);
    run(c, starting(insert(5), 1, 7)).await;
    let mut between = insert(6);
    between.push("$db", "db");
    run(c, between).await;
    run(c, within(set(1, 10), 1, 7)).await;
    let remove =
        doc! { "delete": "c", "deletes": array![doc! { "q": doc! { "_id": 2 }, "limit": 1 }] };
    run(c, within(remove, 1, 7)).await;
    run(c, end("commitTransaction", 1, 7)).await;
    let more = doc! { "getMore": stream, "collection": "c", "$db": "db" };
    let events = first_batch(&run(c, more).await);
    let key = |event: &Document| match event.get("documentKey") {
        Some(Value::Document(key)) => number(key, "_id"),
        other => panic!("{other:?}"),
    };
    assert_eq!(events.iter().map(key).collect::<Vec<_>>(), [6, 1, 2, 5]);
    assert_eq!((events[0].get("txnNumber"), events[0].get("lsid")), (None, None));
    for event in &events[1..] {
        assert_eq!(event.get("txnNumber"), Some(&Value::Int64(7)));
        assert_eq!(event.get("clusterTime"), events[1].get("clusterTime"));
        let Some(Value::Document(lsid)) = event.get("lsid") else { panic!("{event:?}") };
        let id = Value::Binary { subtype: 4, bytes: vec![1; 16] };
        assert_eq!(lsid.get("id"), Some(&id));
        let Some(Value::Binary { subtype: 0, bytes }) = lsid.get("uid") else { panic!("{lsid:?}") };
        assert_eq!(bytes.len(), 32);
    }
}

#[tokio::test]
async fn a_node_of_a_cluster_refuses_them_by_name() {
    let settings = Settings { topology: Topology::Router, in_cluster: true, ..Settings::default() };
    let mut client = Client::with(settings);
    let reply = client.run(starting(insert(1), 1, 1)).await;
    assert_eq!((number(&reply, "code"), reply.get("errorLabels")), (115, None), "{reply:?}");
    assert_eq!(refused(&mut client, end("commitTransaction", 1, 1)).await, (115, false));
    assert_eq!(client.all("c").await, Vec::<Document>::new());
}

#[tokio::test]
async fn a_stopping_server_does_not_wait_for_them() {
    let mut client = client().await;
    let mut other = client.beside();
    run(&mut client, starting(set(1, 50), 1, 1)).await;
    let mut waiting = set(1, 7);
    waiting.push("$db", "db");
    other.ask(waiting, &[]).await;
    // The update begins to wait before the server stops.
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    other.stop();
    let within = std::time::Duration::from_secs(10);
    let reply = tokio::time::timeout(within, other.reply()).await.unwrap();
    assert!(reply.get("ok").is_some(), "{reply:?}");
    assert_eq!(refused(&mut client, end("commitTransaction", 1, 1)).await, (251, true));
}
