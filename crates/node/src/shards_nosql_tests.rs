//! The NoSQL API of a cluster of several shards: through any node, each database is found in its
//! home shard, by name and by resource id, and feeds cover all shards.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use test_server::nosql::NosqlClient;

use super::{
    shards_tests::{SHARDS, spread, wait_until_spread},
    tests::ledger_of_shards,
};

/// Enough databases for each shard to be the home of some.
const DATABASES: usize = 9;

fn database(number: usize) -> String {
    format!("db{number}")
}

/// Reads all pages of a feed, in order.
async fn list(
    client: &mut NosqlClient,
    path: &str,
    query: Option<&str>,
    named: &str,
) -> Vec<Value> {
    let mut all = Vec::new();
    let mut after = String::new();
    let query = query.map(|query| json!({ "query": query, "parameters": [] }).to_string());
    loop {
        let mut headers = vec![("x-ms-max-item-count", "4"), ("x-ms-continuation", after.as_str())];
        let answer = match &query {
            None => client.ask("GET", path, &headers, "").await,
            Some(query) => {
                headers.push(("x-ms-documentdb-isquery", "true"));
                headers.push(("content-type", "application/query+json"));
                client.ask("POST", path, &headers, query).await
            }
        };
        assert_eq!(answer.status, 200, "{answer:?}");
        all.extend(answer.body[named].as_array().unwrap().iter().cloned());
        match answer.headers.get("x-ms-continuation") {
            None => return all,
            Some(next) => after = next.to_str().unwrap().to_owned(),
        }
    }
}

/// Creates all databases, each with a container with throughput, and an item.
async fn make_all(client: &mut NosqlClient) {
    for number in 0..DATABASES {
        let name = database(number);
        client.expect(201, ("POST", "/dbs"), &json!({ "id": name }).to_string()).await;
        client.expect(409, ("POST", "/dbs"), &json!({ "id": name }).to_string()).await;
        let container = json!({
            "id": "c", "partitionKey": { "paths": ["/id"], "kind": "Hash", "version": 2 },
        });
        let path = format!("/dbs/{name}/colls");
        client.expect(201, ("POST", &path), &container.to_string()).await;
    }
}

fn item_path(database: &str) -> String {
    format!("/dbs/{database}/colls/c/docs")
}

async fn write_item(client: &mut NosqlClient, database: &str, id: &str) {
    let key = format!("[\"{id}\"]");
    let headers = [("x-ms-documentdb-partitionkey", key.as_str())];
    let item = json!({ "id": id }).to_string();
    let answer = client.ask("POST", &item_path(database), &headers, &item).await;
    assert_eq!(answer.status, 201, "{answer:?}");
}

async fn assert_item(client: &mut NosqlClient, database: &str, id: &str) {
    let key = format!("[\"{id}\"]");
    let headers = [("x-ms-documentdb-partitionkey", key.as_str())];
    let path = format!("{}/{id}", item_path(database));
    let answer = client.ask("GET", &path, &headers, "").await;
    assert_eq!((answer.status, &answer.body["id"]), (200, &json!(id)), "{answer:?}");
}

/// Returns a text field of each resource.
fn texts(resources: &[Value], name: &str) -> Vec<String> {
    resources.iter().map(|resource| resource[name].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn databases_live_in_all_shards_and_are_found_through_all_nodes() {
    let ledger = ledger_of_shards("manual", 3).await;
    let nodes = spread(&ledger).await;
    let mut clients = Vec::new();
    for node in &nodes {
        clients.push(node.server.connect_nosql().await);
    }
    make_all(&mut clients[0]).await;
    let names: Vec<_> = (0..DATABASES).map(database).collect();
    for (at, client) in clients.iter_mut().enumerate() {
        for name in &names {
            write_item(client, name, &format!("from{at}")).await;
        }
    }
    for client in &mut clients {
        client.expect(200, ("GET", "/"), "").await;
        let databases = list(client, "/dbs", None, "Databases").await;
        assert_eq!(texts(&databases, "id"), names);
        let rids: BTreeSet<_> = texts(&databases, "_rid").into_iter().collect();
        assert_eq!(rids.len(), DATABASES, "{rids:?}");
        let found = list(client, "/dbs", Some("SELECT * FROM c WHERE c.id = 'db4'"), "Databases");
        assert_eq!(texts(&found.await, "id"), ["db4"]);
        let counted = list(client, "/dbs", Some("SELECT VALUE COUNT(1) FROM c"), "Databases").await;
        assert_eq!(counted, [json!(DATABASES)]);
        for (database, rid) in names.iter().zip(texts(&databases, "_rid")) {
            for at in 0..nodes.len() {
                assert_item(client, database, &format!("from{at}")).await;
            }
            let by_id = client.expect(200, ("GET", &format!("/dbs/{rid}")), "").await;
            assert_eq!(by_id["id"], json!(database));
            let containers = client.expect(200, ("GET", &format!("/dbs/{rid}/colls")), "").await;
            assert_eq!(containers["_count"], json!(1), "{containers}");
        }
        // The throughput of a container, looked up as SDKs do.
        let offers = list(client, "/offers", None, "Offers").await;
        assert_eq!(offers.len(), DATABASES);
        for offer in offers {
            let (id, resource) = (offer["id"].as_str().unwrap(), &offer["offerResourceId"]);
            let query = format!("SELECT * FROM c WHERE c.offerResourceId = {resource}");
            let found = list(client, "/offers", Some(&query), "Offers").await;
            assert_eq!(texts(&found, "id"), [id]);
            client.expect(200, ("GET", &format!("/offers/{id}")), "").await;
        }
    }
    for node in &nodes {
        let figures = node.server.ask_admin("GET", "/metrics", "").await.body;
        let open = figures.lines().find_map(|line| line.strip_prefix("ebb_nosql_connections "));
        assert!(open.is_some_and(|open| open != "0"), "{figures}");
    }
    // After one node stops, its clients go elsewhere and those of the others stay connected.
    let [one, two, three] = nodes;
    drop(clients.remove(1));
    two.server.stop().await;
    wait_until_spread(&one, SHARDS - 1).await;
    wait_until_spread(&three, SHARDS - 1).await;
    for client in &mut clients {
        for name in &names {
            assert_item(client, name, "from1").await;
        }
    }
    clients[0].expect(204, ("DELETE", "/dbs/db3"), "").await;
    clients[1].expect(404, ("GET", "/dbs/db3"), "").await;
    assert_eq!(list(&mut clients[1], "/dbs", None, "Databases").await.len(), DATABASES - 1);
    drop(clients);
    one.server.stop().await;
    three.server.stop().await;
}
