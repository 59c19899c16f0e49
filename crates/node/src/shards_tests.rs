//! A cluster of several shards: each database has a home, and any node forwards to the shard's
//! owner, even for one connection that switches between databases.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use cluster::MemoryLedger;
use document::{Value, doc};
use server_base::sleep;
use test_server::MongoClient;

use super::tests::{Node, PATIENCE, ledger_of_shards, start};

pub(super) const SHARDS: usize = 3;
/// Enough databases for each shard to be the home of some.
pub(super) const DATABASES: usize = 12;

/// Starts three nodes and waits until each owns a shard.
pub(super) async fn spread(ledger: &Arc<MemoryLedger>) -> [Node; SHARDS] {
    let nodes =
        [start(ledger, "one").await, start(ledger, "two").await, start(ledger, "three").await];
    for node in &nodes {
        wait_until_spread(node, SHARDS).await;
    }
    nodes
}

/// Waits until a node sees all shards owned, by this many nodes.
pub(super) async fn wait_until_spread(node: &Node, owners: usize) {
    let waits = async {
        loop {
            let cluster = node.server.ask_well("GET", "/_ebb/cluster", "").await;
            let shards = cluster["shards"].as_array().unwrap().iter();
            let owned: BTreeSet<_> = shards.map(|shard| shard["owner"].as_str()).collect();
            if owned.len() == owners && owned.iter().all(Option::is_some) {
                return;
            }
            sleep::wait_for(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waits).await.unwrap();
}

pub(super) fn database(number: usize) -> String {
    format!("db{number}")
}

/// Writes to all databases over one connection, and reads each back.
pub(super) async fn write_all(client: &mut MongoClient, id: i32) {
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

/// Returns the database time in the shard of a database.
pub(super) async fn now_of(node: &Node, number: usize) -> i64 {
    let now = doc! { "$documents": vec![doc! { "now": "$$NOW" }] };
    let ask = doc! {
        "aggregate": 1, "pipeline": Value::Array(vec![now.into()]), "cursor": doc! {},
        "$db": database(number),
    };
    let reply = node.server.run_command(ask).await;
    let Some(Value::Document(cursor)) = reply.get("cursor") else { panic!("{reply:?}") };
    let Some(Value::Array(batch)) = cursor.get("firstBatch") else { panic!("{reply:?}") };
    let Some(Value::Document(row)) = batch.first() else { panic!("{reply:?}") };
    let Some(Value::DateTime(now)) = row.get("now") else { panic!("{row:?}") };
    *now
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
    // A cursor stays valid while the connection uses other databases.
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
    // Lists and the clock cover all shards.
    let reply =
        client.run_command(doc! { "listDatabases": 1, "nameOnly": true, "$db": "admin" }).await;
    let Some(Value::Array(databases)) = reply.get("databases") else { panic!("{reply:?}") };
    assert_eq!(databases.len(), DATABASES + 3, "{reply:?}");
    let moved = doc! { "ebbClock": 1, "advanceSeconds": 86_400, "$db": "admin" };
    let Some(Value::DateTime(now)) = client.run_command(moved).await.get("now").cloned() else {
        panic!("no time");
    };
    for number in 0..DATABASES {
        assert_eq!(now_of(&nodes[2], number).await, now, "{number}");
    }
    // Commands that name their collection in an argument go to its home.
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
    // After one node stops, clients of others stay connected, and its shard gets another owner.
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

/// Returns two databases of different shards.
fn apart() -> (String, String) {
    let home = |number: usize| cluster::home_shard("mongodb", &database(number), 3);
    let other = (1..DATABASES).find(|number| home(*number) != home(0)).unwrap();
    (database(0), database(other))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn operations_of_all_shards_are_shown_and_ended_and_what_needs_two_is_refused() {
    let ledger = ledger_of_shards("manual", 3).await;
    let nodes = spread(&ledger).await;
    write_all(&mut nodes[0].server.connect().await, 1).await;
    // A long operation in each of two databases, through one node.
    let mut long = tokio::task::JoinSet::new();
    let (one, other) = apart();
    for name in [one.clone(), other.clone()] {
        let mut client = nodes[1].server.connect().await;
        long.spawn(async move {
            let documents: Vec<_> = (10..2_000).map(|id| doc! { "_id": id }).collect();
            let insert = doc! { "insert": "many", "documents": documents, "$db": name.as_str() };
            client.run_command(insert).await;
            let numbers = doc! { "$range": vec![Value::Int32(0), Value::Int32(60_000)] };
            let sum = doc! { "$add": vec![Value::from("$$value"), Value::from("$$this")] };
            let inner = doc! { "input": numbers, "initialValue": 0, "in": sum };
            let each = doc! { "x": doc! { "$reduce": inner } };
            let all = doc! { "_id": Value::Null, "sum": doc! { "$sum": "$x" } };
            let long = vec![doc! { "$project": each }.into(), doc! { "$group": all }.into()];
            let find = doc! {
                "aggregate": "many", "pipeline": Value::Array(long), "cursor": doc! {}, "$db": name,
            };
            client.try_command(find).await
        });
    }
    let mut client = nodes[2].server.connect().await;
    let waits = async {
        loop {
            let reply = client
                .run_command(doc! { "currentOp": 1, "command.aggregate": "many", "$db": "admin" })
                .await;
            let Some(Value::Array(shown)) = reply.get("inprog") else { panic!("{reply:?}") };
            if shown.len() == 2 {
                return shown.clone();
            }
            sleep::wait_for(Duration::from_millis(20)).await;
        }
    };
    let shown = tokio::time::timeout(PATIENCE, waits).await.unwrap();
    let mut client = nodes[0].server.connect().await;
    for operation in &shown {
        let Value::Document(operation) = operation else { panic!("{operation:?}") };
        let id = operation.get("opid").unwrap().clone();
        client.run_command(doc! { "killOp": 1, "op": id, "$db": "admin" }).await;
    }
    let ended = tokio::time::timeout(PATIENCE, long.join_all()).await.unwrap();
    let interrupted = |reply: &document::Document| reply.get("code") == Some(&Value::Int32(11_601));
    assert!(ended.iter().all(interrupted), "{ended:?}");
    // Commands on two databases require both to be in one shard.
    let spaces = vec![doc! { "ns": format!("{one}.c") }, doc! { "ns": format!("{other}.c") }];
    let write = doc! { "insert": 1, "document": doc! { "_id": 7 } };
    let bulk = doc! {
        "bulkWrite": 1, "ops": vec![write], "nsInfo": spaces, "$db": "admin",
    };
    let rename = doc! {
        "renameCollection": format!("{one}.c"), "to": format!("{other}.d"), "$db": "admin",
    };
    for refused in [bulk, rename] {
        let reply = client.try_command(refused).await;
        assert_eq!(reply.get("code"), Some(&Value::Int32(20)), "{reply:?}");
        assert!(format!("{reply:?}").contains("another shard"), "{reply:?}");
    }
    assert_counts(&mut client, 1).await;
    for node in nodes {
        node.server.stop().await;
    }
}
