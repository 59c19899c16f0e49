//! Nodes of a cluster of several shards: each database has a home, and whichever node is asked has the
//! shard's owner answer, also where one connection goes from database to database.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use cluster::MemoryLedger;
use document::{Value, doc};

use super::tests::{Node, PATIENCE, ledger_of_shards, start};
use crate::{background, testing::MongoClient};

pub(super) const SHARDS: usize = 3;
/// Databases enough for each shard to be the home of some.
const DATABASES: usize = 12;

/// Three nodes, each of which owns a shard once they have been there for a while.
pub(super) async fn spread(ledger: &Arc<MemoryLedger>) -> [Node; SHARDS] {
    let nodes =
        [start(ledger, "one").await, start(ledger, "two").await, start(ledger, "three").await];
    for node in &nodes {
        wait_until_spread(node, SHARDS).await;
    }
    nodes
}

/// Waits until a node sees all shards owned, by so many nodes.
pub(super) async fn wait_until_spread(node: &Node, owners: usize) {
    let waits = async {
        loop {
            let cluster = node.server.ask_well("GET", "/_ebb/cluster", "").await;
            let shards = cluster["shards"].as_array().unwrap().iter();
            let owned: BTreeSet<_> = shards.map(|shard| shard["owner"].as_str()).collect();
            if owned.len() == owners && owned.iter().all(Option::is_some) {
                return;
            }
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
    // Lists and the clock are those of all shards.
    let reply =
        client.run_command(doc! { "listDatabases": 1, "nameOnly": true, "$db": "admin" }).await;
    let Some(Value::Array(databases)) = reply.get("databases") else { panic!("{reply:?}") };
    assert_eq!(databases.len(), DATABASES + 3, "{reply:?}");
    let moved = doc! { "ebbClock": 1, "advanceSeconds": 86_400, "$db": "admin" };
    let Some(Value::DateTime(now)) = client.run_command(moved).await.get("now").cloned() else {
        panic!("no time");
    };
    for number in 0..DATABASES {
        let stages =
            vec![doc! { "$project": doc! { "now": "$$NOW" } }.into(), doc! { "$limit": 1 }.into()];
        let ask = doc! {
            "aggregate": "c", "pipeline": Value::Array(stages), "cursor": doc! {},
            "$db": database(number),
        };
        let reply = nodes[2].server.run_command(ask).await;
        let Some(Value::Document(cursor)) = reply.get("cursor") else { panic!("{reply:?}") };
        let Some(Value::Array(batch)) = cursor.get("firstBatch") else { panic!("{reply:?}") };
        let Some(Value::Document(row)) = batch.first() else { panic!("{reply:?}") };
        assert_eq!(row.get("now"), Some(&Value::DateTime(now)), "{number}");
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
    wait_until_spread(&one, SHARDS - 1).await;
    let mut client = one.server.connect().await;
    write_all(&mut client, id).await;
    assert_counts(&mut client, id + 1).await;
    let mut client = three.server.connect().await;
    assert_counts(&mut client, id + 1).await;
    one.server.stop().await;
    three.server.stop().await;
}
