//! The request units of commands: `getLastRequestStatistics`, and error 16500 where the throughput
//! of a collection or its database is enforced.

use crate::client::{Client, number};
use document::{Document, Value, array, doc};
use mongo::Settings;

fn with(mut base: Document, more: Document) -> Document {
    more.into_iter().for_each(|(name, value)| base.push(name, value));
    base
}

async fn run(client: &mut Client, command: Document) -> Document {
    client.run(with(command, doc! { "$db": "db" })).await
}

/// Returns the name and the charge that the server shows.
async fn last(client: &mut Client, more: Document) -> (String, f64) {
    let reply = run(client, with(doc! { "getLastRequestStatistics": 1 }, more)).await;
    let names: Vec<&str> = reply.fields().iter().map(|(name, _)| name.as_str()).collect();
    let want = ["_t", "CommandName", "RequestCharge", "RequestDurationInMilliSeconds", "ok"];
    assert_eq!(names, want);
    assert_eq!(reply.get("_t"), Some(&"GetRequestStatisticsResponse".into()));
    let (Some(Value::String(command)), Some(Value::Double(charge)), Some(Value::Double(took))) = (
        reply.get("CommandName"),
        reply.get("RequestCharge"),
        reply.get("RequestDurationInMilliSeconds"),
    ) else {
        panic!("{reply:?}")
    };
    assert!(0.0 <= *took);
    (command.clone(), *charge)
}

#[tokio::test]
async fn the_last_operation_on_documents_is_shown() {
    let mut client = Client::new();
    assert_eq!(last(&mut client, doc! {}).await, (String::new(), 0.0));
    let padded = |id: i32, bytes: usize| doc! { "_id": id, "a": id, "pad": "x".repeat(bytes) };
    let id = |id: i32| doc! { "_id": id };
    let q = |id: i32| doc! { "q": doc! { "_id": id } };
    let set = |at: i32| with(q(at), doc! { "u": doc! { "$set": doc! { "b": 1 } } });
    for (command, name, charge) in [
        (doc! { "insert": "c", "documents": array![padded(1, 10)] }, "insert", 5.0),
        (
            doc! { "insert": "c", "documents": array![padded(2, 10), padded(3, 1500)] },
            "insert",
            11.0,
        ),
        (doc! { "find": "c", "filter": id(1) }, "find", 1.0),
        (doc! { "find": "c", "filter": id(3) }, "find", 1.5),
        // Rows are charged by number and size of the reply.
        (doc! { "find": "c", "projection": doc! { "a": 1 } }, "find", 2.39),
        (doc! { "update": "c", "updates": array![set(1)] }, "update", 5.0),
        (doc! { "update": "c", "updates": array![set(1)] }, "update", 2.33),
        (
            doc! { "update": "c", "updates": array![with(set(7), doc! { "upsert": true })] },
            "update",
            5.0,
        ),
        (
            doc! {
                "findAndModify": "c", "query": id(2), "update": doc! { "$inc": doc! { "a": 1 } },
            },
            "findAndModify",
            5.0,
        ),
        (
            doc! {
                "findAndModify": "c", "query": id(8), "update": doc! { "$set": doc! { "a": 1 } },
                "upsert": true,
            },
            "findAndModify",
            5.0,
        ),
        (doc! { "delete": "c", "deletes": array![with(q(2), doc! { "limit": 1 })] }, "delete", 5.0),
        // A refused command.
        (doc! { "find": "c", "filter": doc! { "$x": 1 } }, "find", 1.0),
    ] {
        run(&mut client, command.clone()).await;
        let shown = last(&mut client, doc! {}).await;
        assert_eq!(shown, (name.to_owned(), charge), "{command:?}");
        // Neither this command nor others without documents count.
        for command in [doc! { "ping": 1 }, doc! { "hello": 1 }, doc! { "listCollections": 1 }] {
            run(&mut client, command).await;
        }
        assert_eq!(last(&mut client, doc! {}).await, shown);
    }
}

#[tokio::test]
async fn a_session_has_its_operation_on_any_connection() {
    let (mut one, session) = (Client::new(), |byte: u8| {
        let id = Value::Binary { subtype: 4, bytes: vec![byte; 16] };
        doc! { "lsid": doc! { "id": id } }
    });
    let mut other = one.beside();
    run(&mut one, with(doc! { "insert": "c", "documents": array![doc! {}] }, session(1))).await;
    run(&mut other, with(doc! { "find": "c" }, session(2))).await;
    for client in [&mut one, &mut other] {
        assert_eq!(last(client, session(1)).await.0, "insert");
        assert_eq!(last(client, session(2)).await.0, "find");
    }
    // Another session has none, so that of the connection is shown.
    assert_eq!(last(&mut one, session(3)).await.0, "insert");
    assert_eq!(last(&mut other, doc! {}).await.0, "find");
    run(&mut one, with(doc! { "count": "c" }, session(2))).await;
    assert_eq!(last(&mut other, session(2)).await.0, "count");
}

async fn client(throughput: Document) -> Client {
    let mut client = Client::with(Settings { enforce_throughput: true, ..Settings::default() });
    let made = with(doc! { "customAction": "CreateCollection", "collection": "made" }, throughput);
    assert_eq!(number(&run(&mut client, made).await, "ok"), 1);
    client
}

fn small(count: i32) -> Value {
    Value::Array((0..count).map(|id| doc! { "_id": id }.into()).collect())
}

/// Returns the positions in `writeErrors`, all of which must be 16500.
fn refused(reply: &Document) -> Vec<i64> {
    let Some(Value::Array(errors)) = reply.get("writeErrors") else { return Vec::new() };
    let position = |error: &Value| {
        let error = error.as_ref().as_document().unwrap().to_tree();
        assert_eq!(number(&error, "code"), 16500);
        check_text(&error);
        number(&error, "index")
    };
    errors.iter().map(position).collect()
}

/// Clients read the time between `RetryAfterMs=` and the comma.
fn check_text(error: &Document) {
    let Some(Value::String(text)) = error.get("errmsg") else { panic!("{error:?}") };
    let part = text.split(' ').find_map(|part| part.strip_prefix("RetryAfterMs="));
    let ms: u64 = part.unwrap().strip_suffix(',').unwrap().parse().unwrap();
    assert!(0 < ms, "{text}");
}

#[tokio::test]
async fn statements_run_as_far_as_the_throughput_reaches() {
    let limited = || doc! { "offerThroughput": 400 };
    for (ordered, errors) in [(true, vec![80]), (false, (80..100).collect())] {
        let mut client = client(limited()).await;
        let insert = doc! { "insert": "made", "documents": small(100), "ordered": ordered };
        let reply = run(&mut client, insert).await;
        assert_eq!((number(&reply, "n"), refused(&reply)), (80, errors), "{reply:?}");
        assert_eq!(last(&mut client, doc! {}).await.1, 400.0);
    }
    // Updates and deletes alike.
    let mut client = client(limited()).await;
    let delete = |id: i32| Value::from(doc! { "q": doc! { "_id": id }, "limit": 1 });
    let deletes = Value::Array((0..100).map(delete).collect());
    let reply = run(&mut client, doc! { "delete": "made", "deletes": deletes }).await;
    assert_eq!(refused(&reply), [80], "{reply:?}");
    let free = doc! { "insert": "free", "documents": small(1000) };
    assert_eq!(number(&run(&mut client, free).await, "n"), 1000);
}

#[tokio::test]
async fn a_deficit_refuses_reads_and_writes() {
    for shared in [false, true] {
        let limits = doc! { "autoScaleSettings": doc! { "maxThroughput": 1000 } };
        let own = if shared {
            doc! {}
        } else {
            limits.clone()
        };
        let mut client = client(own).await;
        if shared {
            let update = with(doc! { "customAction": "UpdateDatabase" }, limits);
            assert_eq!(number(&run(&mut client, update).await, "ok"), 1);
        }
        // The insert costs more than 14 seconds of the throughput provide.
        let large = array![doc! { "_id": 1, "pad": "x".repeat(15_000_000) }];
        let insert = doc! { "insert": "made", "documents": large };
        assert_eq!(number(&run(&mut client, insert).await, "n"), 1);
        for command in [
            doc! { "find": "made", "filter": doc! { "_id": 1 } },
            doc! { "count": "made" },
            doc! { "aggregate": "made", "pipeline": array![], "cursor": doc! {} },
            doc! { "findAndModify": "made", "remove": true },
        ] {
            let reply = run(&mut client, command.clone()).await;
            assert_eq!(number(&reply, "code"), 16500, "{command:?}: {reply:?}");
            assert_eq!(reply.get("codeName"), Some(&"TooManyRequests".into()));
            assert_eq!(reply.get("errorLabels"), None);
            check_text(&reply);
        }
        let insert = doc! { "insert": "made", "documents": array![doc! {}] };
        assert_eq!(refused(&run(&mut client, insert).await), [0]);
        // Commands without documents are free, and so is another collection without throughput.
        assert_eq!(number(&run(&mut client, doc! { "listCollections": 1 }).await, "ok"), 1);
        let other = run(&mut client, doc! { "find": "c" }).await;
        assert_eq!(number(&other, "ok"), i64::from(!shared), "{other:?}");
    }
}

#[tokio::test]
async fn without_the_setting_nothing_is_refused() {
    let mut client = Client::new();
    let made =
        doc! { "customAction": "CreateCollection", "collection": "made", "offerThroughput": 400 };
    assert_eq!(number(&run(&mut client, made).await, "ok"), 1);
    let insert = doc! { "insert": "made", "documents": small(1000) };
    assert_eq!(number(&run(&mut client, insert).await, "n"), 1000);
}
