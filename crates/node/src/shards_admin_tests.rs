//! The admin address and the portal of a cluster of several shards: on any node, requests about a
//! database are answered by its home shard, and global ones cover all shards.

use document::{DocRef, Document, Value, doc};
use serde_json::json;
use test_server::{run_portal_command, send_request};

use super::{
    shards_tests::{DATABASES, database, now_of, spread, write_all},
    tests::{Node, ledger_of_shards},
};

/// Runs a command through the portal.
async fn through_portal(node: &Node, database: &str, body: Document) -> Document {
    let address = node.server.0.admin().unwrap();
    let session = send_request(address, "GET", "/_portal/api/session", &[], "").await.json();
    let token = [("x-ebb-csrf", session["csrf"].as_str().unwrap())];
    let (status, head, reply) =
        run_portal_command(&node.server, &token, database, body.to_buf().bytes()).await;
    assert_eq!(status, 200, "{body:?}: {head}");
    DocRef::Raw(&reply).to_tree()
}

async fn count_all(node: &Node) -> Vec<Option<Value>> {
    let mut client = node.server.connect().await;
    let mut counts = Vec::new();
    for number in 0..DATABASES {
        let reply = client.run_command(doc! { "count": "c", "$db": database(number) }).await;
        counts.push(reply.get("n").cloned());
    }
    counts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whichever_node_is_asked_the_admin_address_speaks_for_all_shards() {
    let ledger = ledger_of_shards("manual", 3).await;
    let nodes = spread(&ledger).await;
    write_all(&mut nodes[0].server.connect().await, 1).await;
    let mut nosql = nodes[1].server.connect_nosql().await;
    for number in 0..DATABASES {
        let name = format!("items{number}");
        nosql.expect(201, ("POST", "/dbs"), &json!({ "id": name }).to_string()).await;
        let container = r#"{"id": "c", "partitionKey": {"paths": ["/id"], "kind": "Hash"}}"#;
        nosql.expect(201, ("POST", &format!("/dbs/{name}/colls")), container).await;
    }
    for node in &nodes {
        for number in 0..DATABASES {
            let of = |name: &str| format!("/_ebb/databases/{name}/collections/c/expiry");
            let own = of(&database(number));
            for path in [format!("{own}?door=mongo"), own] {
                let forecast = node.server.ask_well("GET", &path, "").await;
                assert_eq!(forecast["live"]["documents"], json!(1), "{path}: {forecast}");
            }
            let items = of(&format!("items{number}"));
            for path in [format!("{items}?door=nosql"), items] {
                let forecast = node.server.ask_well("GET", &path, "").await;
                assert_eq!(forecast["live"]["documents"], json!(0), "{path}: {forecast}");
            }
            let find = doc! { "find": "c", "filter": doc! {} };
            let reply = through_portal(node, &database(number), find).await;
            let Some(Value::Document(cursor)) = reply.get("cursor") else { panic!("{reply:?}") };
            let Some(Value::Array(batch)) = cursor.get("firstBatch") else { panic!("{reply:?}") };
            assert_eq!(batch.len(), 1, "{reply:?}");
            let path = format!("/_portal/api/nosql/dbs/items{number}");
            assert_eq!(
                node.server.ask_well("GET", &path, "").await["id"],
                format!("items{number}")
            );
        }
        let dbs = node.server.ask_well("GET", "/_portal/api/nosql/dbs", "").await;
        assert_eq!(dbs["_count"], json!(DATABASES));
        let series = node.server.ask_well("GET", "/_ebb/expiry/series", "").await;
        assert_eq!(series["collections"], json!(2 * DATABASES), "{series}");
        assert_eq!(series["live"]["documents"], json!(DATABASES), "{series}");
        let figures = node.server.ask_admin("GET", "/metrics", "").await.body;
        assert_eq!(figures.matches("# TYPE ebb_cluster_epoch gauge").count(), 1, "{figures}");
        for shard in 0..3 {
            assert!(
                figures.contains(&format!("ebb_cluster_epoch{{shard=\"{shard}\"}} ")),
                "{figures}"
            );
        }
        // All clocks move, whichever node gets the request.
        node.server.move_forward(60.0).await;
        let now = node.server.ask_well("GET", "/_ebb/clock", "").await["now_ms"].as_i64().unwrap();
        for number in 0..DATABASES {
            assert_eq!(now_of(node, number).await, now);
        }
    }
    // A switch applies to all shards.
    let body = r#"{"per_document_ttl": false}"#;
    nodes[2].server.ask_well("PUT", "/_ebb/features", body).await;
    for number in 0..DATABASES {
        let insert = doc! {
            "insert": "c", "documents": vec![doc! { "_id": 2, "ttl": 5 }], "$db": database(number),
        };
        nodes[0].server.run_command(insert).await;
    }
    nodes[1].server.move_forward(60.0).await;
    assert_eq!(count_all(&nodes[2]).await, vec![Some(Value::Int32(2)); DATABASES]);
    // The sample is created in the home shards of its databases.
    let made = nodes[0].server.ask_well("POST", "/_ebb/quickstart", "").await;
    let reply =
        nodes[1].server.run_command(doc! { "count": "sessions", "$db": "quickstart" }).await;
    assert_eq!(reply.get("n").map(|n| format!("{n:?}")).is_some(), made["mongo"].is_object());
    nosql.expect(200, ("GET", "/dbs/quickstart/colls/sessions"), "").await;
    drop(nosql);
    for node in nodes {
        node.server.stop().await;
    }
}

/// Moves the clock ten times by ten seconds.
async fn move_clock(node: &Node) {
    let mut client = node.server.connect().await;
    for _ in 0..10 {
        let by = doc! { "ebbClock": 1, "advanceSeconds": 10, "$db": "admin" };
        client.run_command(by).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_who_move_the_clock_at_once_move_it_twice() {
    let ledger = ledger_of_shards("manual", 2).await;
    let nodes =
        [super::tests::start(&ledger, "one").await, super::tests::start(&ledger, "two").await];
    let before = now_of(&nodes[0], 0).await;
    tokio::join!(move_clock(&nodes[0]), move_clock(&nodes[1]), async {
        for _ in 0..10 {
            nodes[1].server.move_forward(10.0).await;
        }
    });
    for number in 0..DATABASES {
        assert_eq!(now_of(&nodes[1], number).await, before + 300_000);
    }
    for node in nodes {
        node.server.stop().await;
    }
}
