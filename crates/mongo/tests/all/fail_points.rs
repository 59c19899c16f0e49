//! Fail points, as application tests and drivers' test suites set them.

use crate::client::{Client, cursor_id, number};
use document::{Document, Value, array, doc};
use mongo::{Settings, Topology};

async fn set(client: &mut Client, mode: Document, data: Document) {
    let command =
        doc! { "configureFailPoint": "failCommand", "mode": mode, "data": data, "$db": "admin" };
    let reply = client.run(command).await;
    assert_eq!(number(&reply, "ok"), 1, "{reply:?}");
}

fn hello(app: &str) -> Document {
    let client = doc! {
        "application": doc! { "name": app },
        "driver": doc! { "name": "test", "version": "1" },
        "os": doc! { "type": "test" },
    };
    doc! { "hello": 1, "client": client, "$db": "admin" }
}

#[tokio::test]
async fn that_there_are_fail_points_is_said() {
    let mut client = Client::new();
    for command in [
        doc! { "getParameter": 1, "enableTestCommands": 1, "$db": "admin" },
        doc! { "getParameter": "*", "$db": "admin" },
        doc! { "getParameter": doc! { "allParameters": true }, "$db": "admin" },
    ] {
        let reply = client.run(command.clone()).await;
        assert_eq!(reply.get("enableTestCommands"), Some(&true.into()), "{command:?}: {reply:?}");
    }
    let set = doc! { "setParameter": 1, "enableTestCommands": false, "$db": "admin" };
    assert_eq!(number(&client.run(set).await, "ok"), 0);
}

#[tokio::test]
async fn a_fail_point_with_a_name_meets_the_handshake_itself() {
    let mut client = Client::new();
    let data = doc! {
        "failCommands": array!["hello", "isMaster", "ping"], "errorCode": 91, "appName": "mine",
    };
    set(&mut client, doc! { "times": 2 }, data).await;
    let reply = client.beside().run(hello("other")).await;
    assert_eq!(number(&reply, "ok"), 1, "{reply:?}");
    let mut mine = client.beside();
    let reply = mine.run(hello("mine")).await;
    assert_eq!((number(&reply, "ok"), number(&reply, "code")), (0, 91));
    // The failed handshake did not record the metadata, so it may be repeated.
    let reply = mine.run(doc! { "ping": 1, "$db": "admin" }).await;
    assert_eq!(number(&reply, "ok"), 1);
    let reply = mine.run(hello("mine")).await;
    assert_eq!((number(&reply, "ok"), number(&reply, "code")), (0, 91));
    let reply = mine.run(hello("mine")).await;
    assert_eq!(number(&reply, "ok"), 1, "it failed as often as it was to: {reply:?}");
}

#[tokio::test]
async fn a_connection_that_has_said_its_name_is_met_and_others_are_not() {
    let mut client = Client::new();
    let mut mine = client.beside();
    mine.run(hello("mine")).await;
    let data = doc! { "failCommands": array!["find"], "closeConnection": true, "appName": "mine" };
    set(&mut client, doc! { "times": 1 }, data).await;
    let find = || doc! { "find": "c", "$db": "db" };
    assert_eq!(number(&client.run(find()).await, "ok"), 1);
    mine.ask(find(), &[]).await;
    mine.ended().await;
}

#[tokio::test]
async fn a_command_is_struck_by_each_of_its_names_and_by_its_collection() {
    let mut client = Client::new();
    let index = || doc! { "dropIndexes": "none", "index": "*", "$db": "db" };
    let old_index = || doc! { "deleteIndexes": "none", "index": "*", "$db": "db" };
    let remove = |name: &str| {
        let mut command = Document::new();
        command.push(name, "c");
        command.push("remove", true);
        command.push("$db", "db");
        command
    };
    let more = || doc! { "getMore": 5_i64, "collection": "c", "$db": "db" };
    let find = |collection: &str| doc! { "find": collection, "$db": "db" };
    for (named, namespace, command, struck) in [
        ("dropIndexes", None, old_index(), true),
        ("deleteIndexes", None, index(), true),
        ("findandmodify", None, remove("findAndModify"), true),
        ("findAndModify", None, remove("findandmodify"), true),
        ("isMaster", None, doc! { "ismaster": 1, "$db": "admin" }, true),
        ("ismaster", None, doc! { "isMaster": 1, "$db": "admin" }, true),
        ("isMaster", None, doc! { "hello": 1, "$db": "admin" }, false),
        ("hello", None, doc! { "isMaster": 1, "$db": "admin" }, false),
        ("FIND", None, find("c"), false),
        ("find", Some("db.c"), find("c"), true),
        ("find", Some("db.d"), find("c"), false),
        ("find", Some("other.c"), find("c"), false),
        ("getMore", Some("db.c"), more(), true),
        ("getMore", Some("db.d"), more(), false),
        ("ping", Some("db.c"), doc! { "ping": 1, "$db": "db" }, false),
    ] {
        let mut data = doc! { "failCommands": array![named], "errorCode": 8 };
        namespace.into_iter().for_each(|namespace| data.push("namespace", namespace));
        set(&mut client, doc! { "times": 1 }, data).await;
        let reply = client.run(command.clone()).await;
        let code = reply.get("code").map_or(0, |_| number(&reply, "code"));
        assert_eq!(code == 8, struck, "{named} {namespace:?} {command:?}: {reply:?}");
    }
}

/// Enables or disables a fail point without data; returns how often it has triggered.
async fn turn(client: &mut Client, name: &str, mode: impl Into<document::Value>) -> i64 {
    let reply =
        client.run(doc! { "configureFailPoint": name, "mode": mode.into(), "$db": "admin" }).await;
    assert_eq!(number(&reply, "ok"), 1, "{reply:?}");
    number(&reply, "count")
}

#[tokio::test]
async fn time_limits_are_over_or_do_not_count() {
    let mut client = Client::new();
    let insert = |id: i32| doc! { "insert": "c", "documents": array![doc! { "_id": id }] };
    let limited = |mut command: Document| {
        command.push("maxTimeMS", 100_000);
        command.push("$db", "db");
        command
    };
    client.run(limited(insert(1))).await;
    client.run(limited(insert(2))).await;
    let opened = client.run(limited(doc! { "find": "c", "batchSize": 1 })).await;
    let cursor = crate::client::cursor_id(&opened);
    let always = "maxTimeAlwaysTimeOut";
    assert_eq!(turn(&mut client, always, "alwaysOn").await, 0);
    for command in [doc! { "find": "c" }, doc! { "ping": 1 }, insert(3), doc! { "hello": 1 }] {
        let reply = client.run(limited(command.clone())).await;
        assert_eq!(number(&reply, "code"), 50, "{command:?}: {reply:?}");
    }
    let get_more = doc! { "getMore": cursor, "collection": "c", "$db": "db" };
    assert_eq!(number(&client.run(get_more.clone()).await, "code"), 50);
    assert_eq!(number(&client.run(get_more).await, "code"), 43, "a failed cursor is closed");
    let count = doc! { "count": "c", "$db": "db" };
    assert_eq!(number(&client.run(count.clone()).await, "n"), 2, "nothing was inserted");
    assert_eq!(turn(&mut client, always, doc! { "times": 1 }).await, 5);
    for want in [0, 1] {
        assert_eq!(number(&client.run(limited(doc! { "ping": 1 })).await, "ok"), want);
    }
    for (chance, want) in [(0.0, 1), (1.0, 0)] {
        turn(&mut client, always, doc! { "activationProbability": chance }).await;
        assert_eq!(number(&client.run(limited(doc! { "ping": 1 })).await, "ok"), want);
    }
    // The two fail points are independent; if time limits do not apply, no operation times out.
    turn(&mut client, "maxTimeNeverTimeOut", "alwaysOn").await;
    assert_eq!(number(&client.run(limited(doc! { "ping": 1 })).await, "ok"), 1);
    turn(&mut client, "maxTimeNeverTimeOut", "off").await;
    assert_eq!(number(&client.run(limited(doc! { "ping": 1 })).await, "ok"), 0);
    turn(&mut client, always, "off").await;
    assert_eq!(number(&client.run(limited(doc! { "ping": 1 })).await, "ok"), 1);
}

#[tokio::test]
async fn a_wrong_fail_point_or_mode_is_refused() {
    let mut client = Client::new();
    for (name, mode, code) in [
        ("none", document::Value::from("off"), 266),
        ("maxTimeAlwaysTimeOut", "on".into(), 2),
        ("maxTimeAlwaysTimeOut", 1.into(), 14),
        ("maxTimeAlwaysTimeOut", doc! {}.into(), 2),
        ("maxTimeAlwaysTimeOut", doc! { "times": -1 }.into(), 2),
        ("maxTimeAlwaysTimeOut", doc! { "activationProbability": 1.5 }.into(), 2),
        ("failCommand", "alwaysOn".into(), 2),
    ] {
        let command = doc! { "configureFailPoint": name, "mode": mode.clone(), "$db": "admin" };
        let reply = client.run(command).await;
        assert_eq!(number(&reply, "code"), code, "{name} {mode:?}: {reply:?}");
    }
    let reply = client.run(doc! { "ping": 1, "maxTimeMS": 100_000, "$db": "db" }).await;
    assert_eq!(number(&reply, "ok"), 1, "nothing was set: {reply:?}");
}

/// Returns a command that sets another fail point than `failCommand`.
fn point(name: &str, data: Document) -> Document {
    let mode = doc! { "times": 1 };
    doc! { "configureFailPoint": name, "mode": mode, "data": data, "$db": "admin" }
}

#[tokio::test]
async fn a_retryable_write_fails_before_its_commit_or_loses_its_reply() {
    let insert = || {
        let lsid = doc! { "id": Value::Binary { subtype: 4, bytes: vec![1; 16] } };
        doc! {
            "insert": "c", "documents": array![doc! { "_id": 1 }], "lsid": lsid,
            "txnNumber": 1_i64, "$db": "db",
        }
    };
    let failing =
        |closes: bool| doc! { "closeConnection": closes, "failBeforeCommitExceptionCode": 1 };
    for (data, closes, is_made) in [
        (doc! {}, true, true),
        (doc! { "failBeforeCommitExceptionCode": 1 }, true, false),
        (failing(true), true, false),
        (failing(false), false, false),
        (doc! { "closeConnection": false }, false, true),
    ] {
        let settings = Settings { topology: Topology::Router, ..Settings::default() };
        let mut client = Client::with(settings);
        let reply = client.run(point("onPrimaryTransactionalWrite", data.clone())).await;
        assert_eq!(number(&reply, "ok"), 1, "{reply:?}");
        let mut writer = client.beside();
        writer.ask(insert(), &[]).await;
        if closes {
            writer.ended().await;
        } else {
            let reply = writer.reply().await;
            assert_eq!(number(&reply, "ok") == 1, is_made, "{data:?}: {reply:?}");
        }
        assert_eq!(client.all("c").await.len(), usize::from(is_made), "{data:?}");
        let reply = client.run(insert()).await;
        assert_eq!(number(&reply, "n"), 1, "{reply:?}");
        assert_eq!(reply.get("retriedStmtIds").is_some(), is_made, "{data:?}: {reply:?}");
        assert_eq!(client.all("c").await.len(), 1);
    }
}

#[tokio::test]
async fn a_batch_fails_after_its_cursor_was_taken() {
    let mut client = Client::new();
    let documents: Vec<Value> = (0..5).map(|id| doc! { "_id": id }.into()).collect();
    client.run(doc! { "insert": "c", "documents": Value::Array(documents), "$db": "db" }).await;
    let find = doc! { "find": "c", "batchSize": 1, "$db": "db" };
    let id = cursor_id(&client.run(find).await);
    let data = doc! { "errorCode": 91, "closeConnection": false };
    client.run(point("failGetMoreAfterCursorCheckout", data)).await;
    for code in [91, 43] {
        let more = doc! { "getMore": id, "collection": "c", "$db": "db" };
        assert_eq!(number(&client.run(more).await, "code"), code);
    }
}

#[tokio::test]
async fn a_concern_error_has_the_labels_of_its_fail_point() {
    let mut client = Client::new();
    let data = doc! {
        "failCommands": array!["insert"], "writeConcernError": doc! { "code": 91 },
        "errorLabels": array!["RetryableWriteError"],
    };
    set(&mut client, doc! { "times": 1 }, data).await;
    let insert = doc! { "insert": "c", "documents": array![doc! { "_id": 1 }], "$db": "db" };
    let reply = client.run(insert).await;
    assert_eq!(reply.get("errorLabels"), Some(&array!["RetryableWriteError"]), "{reply:?}");
    assert_eq!((number(&reply, "n"), number(&reply, "ok")), (1, 1));
}

fn labels(reply: &Document) -> Value {
    reply.get("errorLabels").cloned().unwrap_or(Value::Null)
}

#[tokio::test]
async fn a_stream_that_can_be_resumed_says_so() {
    let mut client = Client::new();
    client.run(doc! { "create": "c", "$db": "db" }).await;
    let stream = array![doc! { "$changeStream": doc! {} }];
    let resumable = || array!["ResumableChangeStreamError"];
    let lost = || array!["NonResumableChangeStreamError"];
    for (pipeline, code, want) in [
        (stream.clone(), 6, resumable()),
        (stream.clone(), 91, resumable()),
        (stream.clone(), 133, resumable()),
        (stream.clone(), 150, resumable()),
        (stream.clone(), 234, resumable()),
        (stream.clone(), 13_388, resumable()),
        (stream.clone(), 280, lost()),
        (stream.clone(), 286, lost()),
        (stream.clone(), 11_601, Value::Null),
        (stream.clone(), 50, Value::Null),
        (array![], 91, Value::Null),
    ] {
        let rows: Vec<Value> = (0..3).map(|id| doc! { "_id": code * 10 + id }.into()).collect();
        let open = doc! {
            "aggregate": "c", "pipeline": pipeline, "cursor": doc! { "batchSize": 0 }, "$db": "db",
        };
        let id = cursor_id(&client.run(open).await);
        client.run(doc! { "insert": "c", "documents": Value::Array(rows), "$db": "db" }).await;
        let data = doc! { "errorCode": code, "closeConnection": false };
        client.run(point("failGetMoreAfterCursorCheckout", data)).await;
        let more = doc! { "getMore": id, "collection": "c", "$db": "db" };
        let reply = client.run(more).await;
        assert_eq!(number(&reply, "code"), i64::from(code));
        assert_eq!(labels(&reply), want, "{code}: {reply:?}");
    }
    // The cursor was not taken yet, so it is not known whether it is a stream.
    let open = doc! { "aggregate": "c", "pipeline": stream, "cursor": doc! {}, "$db": "db" };
    let id = cursor_id(&client.run(open).await);
    let data = doc! { "failCommands": array!["getMore"], "errorCode": 6 };
    set(&mut client, doc! { "times": 1 }, data).await;
    let reply = client.run(doc! { "getMore": id, "collection": "c", "$db": "db" }).await;
    assert_eq!((number(&reply, "code"), labels(&reply)), (6, Value::Null));
}

#[tokio::test]
async fn an_attempt_that_has_written_nothing_says_so() {
    let settings = Settings { topology: Topology::Router, ..Settings::default() };
    let mut client = Client::with(settings);
    client.run(doc! { "insert": "c", "documents": array![doc! { "_id": 1 }], "$db": "db" }).await;
    let lsid = doc! { "id": Value::Binary { subtype: 4, bytes: vec![1; 16] } };
    // Each update depends on the one before, so each has a commit of its own.
    let add = doc! { "q": doc! { "n": doc! { "$ne": 7 } }, "u": doc! { "$inc": doc! { "n": 1 } } };
    let write = |number: i64| {
        doc! {
            "update": "c", "updates": array![add.clone(), add.clone()], "lsid": lsid.clone(),
            "txnNumber": number, "$db": "db",
        }
    };
    let data = doc! { "closeConnection": false, "failBeforeCommitExceptionCode": 91 };
    let first = doc! { "times": 1 };
    let (both, one) =
        (array!["RetryableWriteError", "NoWritesPerformed"], array!["RetryableWriteError"]);
    for (number_of_write, mode, done, want) in
        [(1, first.clone(), 0, &both), (2, doc! { "skip": 1 }, 1, &one)]
    {
        let name = "onPrimaryTransactionalWrite";
        let on = |mode: Value| {
            doc! { "configureFailPoint": name, "mode": mode, "data": data.clone(), "$db": "admin" }
        };
        client.run(on(mode.into())).await;
        let reply = client.run(write(number_of_write)).await;
        assert_eq!((number(&reply, "code"), &labels(&reply)), (91, want), "{reply:?}");
        client.run(on("off".into())).await;
        let reply = client.run(write(number_of_write)).await;
        assert_eq!(number(&reply, "n"), 2, "{reply:?}");
        let repeated = reply.get("retriedStmtIds").is_some();
        assert_eq!(repeated, done == 1, "{reply:?}");
    }
    // The command did not begin.
    set(&mut client, first, doc! { "failCommands": array!["update"], "errorCode": 91 }).await;
    assert_eq!(labels(&client.run(write(3)).await), one);
}
