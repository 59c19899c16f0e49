//! Clients that stay connected while the data move between nodes.

use std::time::Duration;

use document::{Document, Value, doc};
use server_base::sleep;
use test_server::{
    MongoClient,
    nosql::NosqlClient,
    tls::{ask_mongo, made_certificate},
};

use super::tests::{PATIENCE, ledger, start};

/// Builds a numbered insert, which takes effect once however often it is sent.
fn numbered_insert(session: u8, id: i64) -> Document {
    let lsid = doc! { "id": Value::Binary { subtype: 4, bytes: vec![session; 16] } };
    doc! {
        "insert": "c",
        "documents": vec![doc! { "_id": id, "session": i32::from(session) }],
        "lsid": lsid,
        "txnNumber": id,
        "$db": "test",
    }
}

/// Builds an insert without a number, which must not be repeated unless it is known not to have
/// been executed.
fn insert(session: u8, id: i64) -> Document {
    doc! {
        "insert": "c",
        "documents": vec![doc! { "_id": id, "session": i32::from(session) }],
        "$db": "test",
    }
}

/// Writes and reads on one connection until signalled; every call has to succeed. Every other
/// client numbers its writes. Returns the number of writes.
async fn work(
    mut client: MongoClient,
    session: u8,
    over: tokio::sync::watch::Receiver<bool>,
) -> i64 {
    let client_says = doc! { "driver": doc! { "name": "test", "version": "1" } };
    client.run_command(doc! { "hello": 1, "client": client_says, "$db": "admin" }).await;
    let mut count = 0;
    while !*over.borrow() {
        let id = i64::from(session) * 1_000_000 + count;
        let write = if session.is_multiple_of(2) { insert } else { numbered_insert };
        let reply = client.run_command(write(session, id)).await;
        assert_eq!(reply.get("n"), Some(&Value::Int32(1)), "{reply:?}");
        count += 1;
        let filter = doc! { "session": i32::from(session) };
        let reply = client.run_command(doc! { "count": "c", "query": filter, "$db": "test" }).await;
        assert_eq!(reply.get("n").and_then(number), Some(count), "{reply:?}");
    }
    count
}

fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Int32(number) => Some(i64::from(*number)),
        Value::Int64(number) => Some(*number),
        _ => None,
    }
}

/// Runs the NoSQL API's counterpart of `work` over a persistent connection. Every response has to
/// be the same as without a hand-over.
async fn work_nosql(
    mut client: NosqlClient,
    session: u8,
    over: tokio::sync::watch::Receiver<bool>,
) -> i64 {
    let mut count = 0;
    while !*over.borrow() {
        let id = format!("{session}-{count}");
        let key = format!("[\"{id}\"]");
        let headers = [("x-ms-documentdb-partitionkey", key.as_str())];
        let item = format!("{{\"id\": \"{id}\"}}");
        let answer = client.ask("POST", "/dbs/d/colls/c/docs", &headers, &item).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        let path = format!("/dbs/d/colls/c/docs/{id}");
        let answer = client.ask("GET", &path, &headers, "").await;
        assert_eq!(answer.status, 200, "{answer:?}");
        count += 1;
    }
    count
}

/// Creates the container that `work_nosql` uses.
async fn make_container(client: &mut NosqlClient) {
    client.expect(201, ("POST", "/dbs"), r#"{"id": "d"}"#).await;
    let container = r#"{"id": "c", "partitionKey": {"paths": ["/id"], "kind": "Hash"}}"#;
    client.expect(201, ("POST", "/dbs/d/colls"), container).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_of_every_node_stay_connected_over_hand_overs() {
    let ledger = ledger("manual").await;
    let nodes =
        [start(&ledger, "one").await, start(&ledger, "two").await, start(&ledger, "three").await];
    nodes[0].server.run_command(doc! { "create": "c", "$db": "test" }).await;
    make_container(&mut nodes[0].server.connect_nosql().await).await;
    let (stop, over) = tokio::sync::watch::channel(false);
    let mut clients = tokio::task::JoinSet::new();
    let mut nosql_clients = tokio::task::JoinSet::new();
    for (session, node) in (1..).zip(&nodes) {
        nosql_clients.spawn(work_nosql(node.server.connect_nosql().await, session, over.clone()));
    }
    let mut idle = Vec::new();
    for (session, node) in (1..).zip(nodes.iter().chain(&nodes)) {
        clients.spawn(work(node.server.connect().await, session, over.clone()));
        // Another client, which stays idle.
        let mut client = node.server.connect().await;
        client.run_command(doc! { "ping": 1, "$db": "admin" }).await;
        idle.push(client);
    }
    for to in ["two", "three", "one", "three"] {
        sleep::wait_for(Duration::from_millis(100)).await;
        nodes[1].hand_over_to(to).await;
    }
    sleep::wait_for(Duration::from_millis(100)).await;
    stop.send_replace(true);
    let counts = tokio::time::timeout(PATIENCE, clients.join_all()).await.unwrap();
    assert!(counts.iter().all(|count| 0 < *count), "{counts:?}");
    let made = tokio::time::timeout(PATIENCE, nosql_clients.join_all()).await.unwrap();
    assert!(made.iter().all(|count| 0 < *count), "{made:?}");
    for client in &mut idle {
        // Longer than a message before the login may be.
        let long = "x".repeat(100_000);
        client.run_command(doc! { "ping": 1, "comment": long, "$db": "admin" }).await;
        let reply = client.run_command(doc! { "count": "c", "$db": "test" }).await;
        assert_eq!(reply.get("n").and_then(number), Some(counts.iter().sum()), "{reply:?}");
    }
    for node in nodes {
        node.server.stop().await;
    }
}

/// Each node presents its own certificate, while the owner, on any node, answers the requests.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_speak_tls_to_any_node_and_stay_connected_over_a_hand_over() {
    let ledger = ledger("manual").await;
    let nodes = [start(&ledger, "one").await, start(&ledger, "two").await];
    let mut clients = Vec::new();
    for (id, node) in (0..).zip(&nodes) {
        let trusted = made_certificate(&node.server).await;
        let mut client = ask_mongo(&node.server, &trusted, None).await.unwrap();
        client.run_command(insert(1, id)).await;
        clients.push(client);
    }
    nodes[1].hand_over_to("two").await;
    for client in &mut clients {
        let reply = client.run_command(doc! { "count": "c", "$db": "test" }).await;
        assert_eq!(reply.get("n").and_then(number), Some(2), "{reply:?}");
    }
    for node in nodes {
        node.server.stop().await;
    }
}
