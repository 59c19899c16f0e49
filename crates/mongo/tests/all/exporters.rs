//! Requests of metrics exporters: the values match the work that was done.

use crate::client::{Client, first_batch, number};
use document::{Document, Value, array, doc};

fn part(of: &Document, path: &str) -> Document {
    path.split('.').fold(of.clone(), |at, name| match at.get(name) {
        Some(Value::Document(inner)) => inner.clone(),
        other => panic!("{name} of {path}: {other:?}"),
    })
}

/// Returns a client that has inserted 5 documents into `c` and read all of them twice, once sorted.
async fn client() -> Client {
    let mut client = Client::new();
    let documents: Vec<Document> = (0..5).map(|id| doc! { "_id": id, "a": id }).collect();
    client.send(doc! { "insert": "c", "$db": "db" }, &[("documents", &documents)]).await;
    client.run(doc! { "find": "c", "$db": "db" }).await;
    client.run(doc! { "find": "c", "sort": doc! { "a": 1 }, "$db": "db" }).await;
    client
}

#[tokio::test]
async fn each_collection_is_counted() {
    let mut client = client().await;
    client.run(doc! { "find": "missing", "$db": "db" }).await;
    let reply = client.run(doc! { "top": 1, "$db": "admin" }).await;
    let totals = part(&reply, "totals");
    assert!(totals.get("db.missing").is_none(), "{reply:?}");
    let Some(Value::Document(of)) = totals.get("db.c") else { panic!("{reply:?}") };
    for (kind, count) in
        [("total", 3), ("readLock", 2), ("writeLock", 1), ("queries", 2), ("insert", 1)]
    {
        assert_eq!(number(&part(of, kind), "count"), count, "{kind}: {of:?}");
    }
}

#[tokio::test]
async fn latencies_of_a_collection_are_shown() {
    let mut client = client().await;
    let stage = doc! { "$collStats": doc! { "latencyStats": doc! { "histograms": true } } };
    let aggregate =
        doc! { "aggregate": "c", "pipeline": array![stage], "cursor": doc! {}, "$db": "db" };
    let [stats]: [Document; 1] = first_batch(&client.run(aggregate).await).try_into().unwrap();
    for (kind, ops) in [("reads", 2), ("writes", 1), ("commands", 0), ("transactions", 0)] {
        let shown = part(&stats, &format!("latencyStats.{kind}"));
        assert_eq!(number(&shown, "ops"), ops, "{kind}: {stats:?}");
        assert!(shown.get("histogram").is_some(), "{kind}: {stats:?}");
    }
}

#[tokio::test]
async fn diagnostic_data_has_the_state_with_what_was_looked_at() {
    let mut client = client().await;
    let reply = client.run(doc! { "getDiagnosticData": 1, "$db": "admin" }).await;
    let metrics = part(&reply, "data.serverStatus.metrics");
    let executor = part(&metrics, "queryExecutor");
    assert_eq!(number(&executor, "scannedObjects"), 10, "{executor:?}");
    assert_eq!(number(&part(&executor, "collectionScans"), "total"), 2, "{executor:?}");
    assert_eq!(number(&part(&metrics, "operation"), "scanAndOrder"), 1, "{metrics:?}");
    assert_eq!(number(&part(&metrics, "cursor"), "timedOut"), 0);
    assert_eq!(number(&part(&metrics, "repl.apply"), "ops"), 0);
    part(&reply, "data.systemMetrics.memory");
}
