//! Reads with read concern `snapshot` outside of transactions.

use std::time::Duration;

use document::{Document, Value, array, doc};
use mongo::{MongoApi, Settings, Topology};
use test_kit::Kit;

use crate::client::{Client, cursor, cursor_id, first_batch, number};

/// Returns a client of a router over an engine, with the documents 1 and 2 in the collection `c`.
async fn client_of(kit: &Kit) -> Client {
    let settings = Settings { topology: Topology::Router, ..Settings::default() };
    let mut client = Client::of(MongoApi::new(kit.engine.clone(), settings));
    let documents = array![doc! { "_id": 1, "a": 1 }, doc! { "_id": 2, "a": 2 }];
    run(&mut client, doc! { "insert": "c", "documents": documents }).await;
    client
}

/// Runs a command on the database `db` that succeeds.
async fn run(client: &mut Client, mut command: Document) -> Document {
    command.push("$db", "db");
    let reply = client.run(command).await;
    assert_eq!(number(&reply, "ok"), 1, "{reply:?}");
    reply
}

/// Runs a command on the database `db` that fails; returns its code and its message.
async fn refused(client: &mut Client, mut command: Document) -> (i64, String) {
    command.push("$db", "db");
    let reply = client.run(command.clone()).await;
    assert_eq!(number(&reply, "ok"), 0, "{command:?}: {reply:?}");
    let Some(Value::String(message)) = reply.get("errmsg") else { panic!("{reply:?}") };
    (number(&reply, "code"), message.clone())
}

/// Returns a command that reads at a snapshot, at the time of an earlier one if it is given.
fn at(mut command: Document, time: Option<&Value>) -> Document {
    let mut concern = doc! { "level": "snapshot" };
    time.into_iter().for_each(|time| concern.push("atClusterTime", time.clone()));
    command.push("readConcern", concern);
    command
}

fn find() -> Document {
    doc! { "find": "c", "sort": doc! { "_id": 1 } }
}

fn aggregate(stage: Document) -> Document {
    doc! { "aggregate": "c", "pipeline": array![stage], "cursor": doc! {} }
}

/// Returns the time of the snapshot that a cursor reads.
fn time_of(reply: &Document) -> Value {
    match cursor(reply).get("atClusterTime") {
        Some(time @ Value::Timestamp(_)) => time.clone(),
        other => panic!("{other:?} in {reply:?}"),
    }
}

fn ids(documents: &[Document]) -> Vec<i64> {
    documents.iter().map(|document| number(document, "_id")).collect()
}

#[tokio::test]
async fn reads_of_one_time_see_one_instant() {
    let kit = Kit::default();
    let mut client = client_of(&kit).await;
    let c = &mut client;
    let first = run(c, at(find(), None)).await;
    let time = time_of(&first);
    let set = doc! { "q": doc! { "_id": 1 }, "u": doc! { "$set": doc! { "a": 7 } } };
    run(c, doc! { "update": "c", "updates": array![set] }).await;
    run(c, doc! { "insert": "c", "documents": array![doc! { "_id": 3, "a": 3 }] }).await;
    let again = run(c, at(find(), Some(&time))).await;
    assert_eq!(first_batch(&again), [doc! { "_id": 1, "a": 1 }, doc! { "_id": 2, "a": 2 }]);
    assert_eq!(time_of(&again), time);
    let sum = doc! { "$group": doc! { "_id": Value::Null, "a": doc! { "$sum": "$a" } } };
    let summed = run(c, at(aggregate(sum), Some(&time))).await;
    assert_eq!(number(&first_batch(&summed)[0], "a"), 3);
    assert_eq!(time_of(&summed), time);
    let distinct = doc! { "distinct": "c", "key": "a" };
    let values = run(c, at(distinct.clone(), Some(&time))).await;
    assert_eq!(values.get("values"), Some(&array![1, 2]));
    assert_eq!(values.get("atClusterTime"), Some(&time));
    // Without a time the newest commits are read.
    let newest = run(c, at(distinct, None)).await;
    assert_eq!(newest.get("values"), Some(&array![2, 3, 7]));
    let Some(Value::Timestamp(later)) = newest.get("atClusterTime") else { panic!("{newest:?}") };
    assert!(Value::Timestamp(*later) != time);
    // Other reads have no time.
    assert_eq!(cursor(&run(c, find()).await).get("atClusterTime"), None);
}

#[tokio::test]
async fn a_cursor_goes_on_at_its_instant() {
    let kit = Kit::default();
    let mut client = client_of(&kit).await;
    let c = &mut client;
    let mut command = at(find(), None);
    command.push("batchSize", 1);
    let first = run(c, command).await;
    let delete = doc! { "q": doc! {}, "limit": 0 };
    run(c, doc! { "delete": "c", "deletes": array![delete] }).await;
    let more = run(c, doc! { "getMore": cursor_id(&first), "collection": "c" }).await;
    assert_eq!(first_batch(&more), [doc! { "_id": 2, "a": 2 }]);
    assert_eq!(time_of(&more), time_of(&first));
    assert_eq!(c.all("c").await, Vec::<Document>::new());
}

#[tokio::test]
async fn documents_live_at_the_instant_of_the_snapshot_are_read_after_their_expiry() {
    let kit = Kit::default();
    let mut client = client_of(&kit).await;
    let c = &mut client;
    let collection =
        kit.engine.collection(engine::Model::Documents, &engine::Namespace::new("db", "c"));
    let default = engine::DefaultTtl::Seconds(10);
    kit.engine.set_default_ttl(&collection.unwrap(), default).await.unwrap();
    let young = doc! { "_id": 3, "ttl": 5 };
    run(c, doc! { "insert": "c", "documents": array![young] }).await;
    kit.move_to(4_999);
    let before = time_of(&run(c, at(find(), None)).await);
    kit.move_to(5_000);
    let after = run(c, at(find(), None)).await;
    let seen = |reply: &Document| ids(&first_batch(reply));
    assert_eq!(seen(&after), [1, 2]);
    assert!(time_of(&after) != before, "an expiration is a step in time");
    kit.move_to(20_000);
    assert_eq!(seen(&run(c, at(find(), Some(&before))).await), [1, 2, 3]);
    assert_eq!(seen(&run(c, at(find(), Some(&time_of(&after)))).await), [1, 2]);
    assert_eq!(seen(&run(c, find()).await), Vec::<i64>::new());
    assert_eq!(seen(&run(c, at(find(), None)).await), Vec::<i64>::new());
    // A document of the same key that was inserted later is not seen.
    run(c, doc! { "insert": "c", "documents": array![doc! { "_id": 3, "new": true }] }).await;
    let old = first_batch(&run(c, at(find(), Some(&before))).await);
    assert_eq!(old[2].get("new"), None);
}

#[tokio::test]
async fn a_snapshot_is_kept_for_the_lifetime_of_a_transaction() {
    let kit = Kit::default();
    let mut client = client_of(&kit).await;
    let c = &mut client;
    let mut command = at(find(), None);
    command.push("batchSize", 1);
    let first = run(c, command).await;
    let time = time_of(&first);
    run(c, doc! { "insert": "c", "documents": array![doc! { "_id": 3 }] }).await;
    let after = |seconds| clock::monotonic_time() + Duration::from_secs(seconds);
    c.api.tick(after(59));
    run(c, at(find(), Some(&time))).await;
    c.api.tick(after(60));
    let (code, message) = refused(c, at(find(), Some(&time))).await;
    assert_eq!(code, 239);
    let Value::Timestamp(time) = time else { panic!("{time:?}") };
    let (seconds, increment) = (time >> 32, time & u64::from(u32::MAX));
    let wanted = format!(
        "Read timestamp Timestamp({seconds}, {increment}) is older than the oldest available \
         timestamp."
    );
    assert_eq!(message, wanted);
    // Its cursors are closed, so that nothing holds the old versions.
    let more = doc! { "getMore": cursor_id(&first), "collection": "c" };
    assert_eq!(refused(c, more).await.0, 43);
}

#[tokio::test]
async fn the_oldest_of_too_many_snapshots_is_closed() {
    let kit = Kit::default();
    let mut client = client_of(&kit).await;
    let c = &mut client;
    let oldest = time_of(&run(c, at(find(), None)).await);
    let mut second = None;
    for id in 10..1_010 {
        run(c, doc! { "insert": "c", "documents": array![doc! { "_id": id }] }).await;
        let reply = run(c, at(doc! { "find": "c", "limit": 1 }, None)).await;
        second = second.or(Some(time_of(&reply)));
    }
    assert_eq!(refused(c, at(find(), Some(&oldest))).await.0, 239);
    run(c, at(find(), second.as_ref())).await;
}

#[tokio::test]
async fn a_collection_that_has_changed_since_cannot_be_read() {
    let kit = Kit::default();
    let mut client = client_of(&kit).await;
    let c = &mut client;
    let time = time_of(&run(c, at(find(), None)).await);
    let index = doc! { "key": doc! { "a": 1 }, "name": "a_1" };
    run(c, doc! { "createIndexes": "c", "indexes": array![index] }).await;
    assert_eq!(refused(c, at(find(), Some(&time))).await.0, 246);
    run(c, doc! { "create": "new" }).await;
    assert_eq!(refused(c, at(doc! { "find": "new" }, Some(&time))).await.0, 246);
}

#[tokio::test]
async fn stages_that_cannot_run_at_a_snapshot_are_refused_by_name() {
    let kit = Kit::default();
    let mut client = client_of(&kit).await;
    let c = &mut client;
    for (stage, level) in [
        (doc! { "$collStats": doc! { "count": doc! {} } }, "snapshot"),
        (doc! { "$indexStats": doc! {} }, "snapshot"),
        (doc! { "$out": "other" }, "snapshot"),
        (doc! { "$merge": "other" }, "snapshot"),
        (doc! { "$changeStream": doc! {} }, "snapshot"),
        (doc! { "$changeStream": doc! {} }, "local"),
    ] {
        let mut command = aggregate(stage.clone());
        command.push("readConcern", doc! { "level": level });
        let (code, message) = refused(c, command).await;
        assert_eq!(code, 72, "{message}");
        let name = stage.fields()[0].0.clone();
        assert!(message.contains(&name) && message.contains(level), "{message}");
    }
    assert_eq!(c.all("other").await, Vec::<Document>::new());
}
