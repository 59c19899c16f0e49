//! Nodes of a cluster of several shards: each database has a home, and whichever node is asked has the
//! shard's owner answer, also where one connection goes from database to database.

use std::{sync::Arc, time::Duration};

use cluster::MemoryLedger;
use document::{Value, doc};
use serde_json::json;

use super::tests::{Node, PATIENCE, ledger_of_shards, start};
use crate::{background, testing::MongoClient};

const SHARDS: usize = 3;
/// Databases enough for each shard to be the home of some.
const DATABASES: usize = 12;
const NAMES: [&str; SHARDS] = ["one", "two", "three"];

/// Three nodes, each of which owns a shard.
async fn spread(ledger: &Arc<MemoryLedger>) -> [Node; SHARDS] {
    let nodes = [
        start(ledger, NAMES[0]).await,
        start(ledger, NAMES[1]).await,
        start(ledger, NAMES[2]).await,
    ];
    for (shard, name) in NAMES.iter().enumerate() {
        wait_for_owner(&nodes[0], shard, |owner| owner.is_some()).await;
        let owner = owner_of(&nodes[0], shard).await;
        if owner.as_deref() != Some(name) {
            let body = json!({ "shard": shard, "to": name }).to_string();
            let told = nodes[1].server.ask_well("POST", "/_ebb/cluster/hand-over", &body).await;
            assert_eq!(told["shards"][shard]["owner"], *name, "{told}");
        }
    }
    for node in &nodes {
        for (shard, name) in NAMES.iter().enumerate() {
            wait_for_owner(node, shard, |owner| owner == Some(name)).await;
        }
    }
    nodes
}

async fn owner_of(node: &Node, shard: usize) -> Option<String> {
    let cluster = node.server.ask_well("GET", "/_ebb/cluster", "").await;
    cluster["shards"][shard]["owner"].as_str().map(str::to_owned)
}

async fn wait_for_owner(node: &Node, shard: usize, wanted: impl Fn(Option<&str>) -> bool) {
    let waits = async {
        while !wanted(owner_of(node, shard).await.as_deref()) {
            background::wait_for(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waits).await.unwrap();
}

fn database(number: usize) -> String {
    format!("db{number}")
}

/// Writes to one database after the other on one connection, and reads each on it.
async fn write_all(client: &mut MongoClient, id: i32) {
    for number in 0..DATABASES {
        let insert = doc! {
            "insert": "c", "documents": vec![doc! { "_id": id }], "$db": database(number),
        };
        let reply = client.run_command(insert).await;
        assert_eq!(reply.get("n"), Some(&Value::Int32(1)), "{reply:?}");
        assert_eq!(
            client.run_command(doc! { "ping": 1, "$db": "admin" }).await.get("ok"),
            Some(&Value::Double(1.0))
        );
    }
}

async fn assert_counts(client: &mut MongoClient, wanted: i32) {
    for number in 0..DATABASES {
        let reply = client.run_command(doc! { "count": "c", "$db": database(number) }).await;
        assert_eq!(reply.get("n"), Some(&Value::Int32(wanted)), "{number}: {reply:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whichever_node_is_asked_the_owner_of_each_database_answers() {
    let ledger = ledger_of_shards("manual", 3).await;
    let nodes = spread(&ledger).await;
    let mut id = 0;
    for node in &nodes {
        let mut client = node.server.connect().await;
        write_all(&mut client, id).await;
        id += 1;
        assert_counts(&mut client, id).await;
    }
    // A cursor goes on where it began, between questions to others.
    let mut client = nodes[0].server.connect().await;
    for number in 0..DATABASES {
        let find = doc! { "find": "c", "batchSize": 1, "$db": database(number) };
        let reply = client.run_command(find).await;
        let Some(Value::Document(cursor)) = reply.get("cursor") else { panic!("{reply:?}") };
        let Some(Value::Int64(cursor)) = cursor.get("id") else { panic!("{reply:?}") };
        let other = database((number + 1) % DATABASES);
        client.run_command(doc! { "count": "c", "$db": other }).await;
        let more = doc! { "getMore": *cursor, "collection": "c", "$db": database(number) };
        let reply = client.run_command(more).await;
        let Some(Value::Document(cursor)) = reply.get("cursor") else { panic!("{reply:?}") };
        let Some(Value::Array(batch)) = cursor.get("nextBatch") else { panic!("{reply:?}") };
        assert_eq!(batch.len(), 2, "{reply:?}");
    }
    // What names its collection elsewhere is about that.
    for number in 0..DATABASES {
        let name = database(number);
        let rename = doc! {
            "renameCollection": format!("{name}.c"), "to": format!("{name}.d"), "$db": "admin",
        };
        client.run_command(rename).await;
        let rename = doc! {
            "renameCollection": format!("{name}.d"), "to": format!("{name}.c"), "$db": "admin",
        };
        nodes[1].server.run_command(rename).await;
    }
    assert_counts(&mut client, id).await;
    // One leaves; clients stay connected to another, and its shard has another owner.
    let [one, two, three] = nodes;
    two.server.stop().await;
    let mut client = one.server.connect().await;
    write_all(&mut client, id).await;
    assert_counts(&mut client, id + 1).await;
    let mut client = three.server.connect().await;
    assert_counts(&mut client, id + 1).await;
    one.server.stop().await;
    three.server.stop().await;
}
