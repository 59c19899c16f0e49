//! Tests the sample data over both APIs while its sessions expire.

use document::{array, doc};
use serde_json::{Value, json};
use server_base::config::Config;
use test_server::Server;

const SAMPLE: &str = "/_ebb/quickstart";
const OF: &str = "/_ebb/databases/quickstart/collections/sessions/expiry";
const DOORS: [&str; 2] = ["nosql", "mongo"];

async fn made(server: &Server) -> Value {
    server.ask_well("POST", SAMPLE, "").await
}

async fn live(server: &Server, door: &str) -> i64 {
    let expiry = server.ask_well("GET", &format!("{OF}?door={door}"), "").await;
    expiry["live"]["documents"].as_i64().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_disappear_one_after_another_within_a_minute() {
    let server = Server::new(&Config::for_tests()).await;
    let answer = made(&server).await;
    let now = answer["now_ms"].as_i64().unwrap();
    assert_eq!(answer["database"], "quickstart");
    assert_eq!(answer["nosql"], json!({ "container": "sessions", "items": 40 }));
    assert_eq!(answer["mongo"], json!({ "collection": "sessions", "documents": 40 }));
    let last = answer["last_dies_ms"].as_i64().unwrap();
    assert!((59_000..=60_000).contains(&(last - now)), "{answer}");
    let mut before = [40, 40];
    for second in 0..=60 {
        for (door, before) in DOORS.into_iter().zip(&mut before) {
            let now = live(&server, door).await;
            assert!((*before - now) <= if second == 60 { 4 } else { 1 }, "{door} at {second} s");
            *before = now;
        }
        server.move_forward(1.0).await;
    }
    assert_eq!(before, [2, 2]);
    let clock = server.ask_well("GET", "/_ebb/clock", "").await;
    assert!(last <= clock["now_ms"].as_i64().unwrap());
    // The sample can be created again after most of its sessions have expired.
    made(&server).await;
    for door in DOORS {
        assert_eq!(live(&server, door).await, 40, "{door}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_changed_meanwhile_is_put_right() {
    let server = Server::new(&Config::for_tests()).await;
    made(&server).await;
    let index = doc! { "name": "_ts_1", "expireAfterSeconds": 5 };
    server.run_command(doc! { "collMod": "sessions", "index": index, "$db": "quickstart" }).await;
    let delete = doc! { "q": doc! { "user": "ada" }, "limit": 0 };
    server
        .run_command(doc! { "delete": "sessions", "deletes": array![delete], "$db": "quickstart" })
        .await;
    let own = [doc! { "_id": "mine", "ttl": -1 }];
    let documents = document::Value::Array(own.into_iter().map(document::Value::from).collect());
    server
        .run_command(doc! { "insert": "sessions", "documents": documents, "$db": "quickstart" })
        .await;
    let container = "/_portal/api/nosql/dbs/quickstart/colls/sessions";
    let changed = json!({
        "id": "sessions",
        "partitionKey": { "paths": ["/user"], "kind": "Hash", "version": 2 },
    });
    server.ask_well("PUT", container, &changed.to_string()).await;
    server.move_forward(7.0).await;
    made(&server).await;
    for (door, want) in DOORS.into_iter().zip([40, 41]) {
        let expiry = server.ask_well("GET", &format!("{OF}?door={door}"), "").await;
        assert_eq!((&expiry["default"], &expiry["live"]["documents"]), (&json!(60), &json!(want)));
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_container_that_is_something_else_is_left_alone() {
    let server = Server::new(&Config::for_tests()).await;
    let root = "/_portal/api/nosql/dbs";
    let path = json!({ "paths": ["/other"], "kind": "Hash" });
    for (at, body) in [
        (root.to_owned(), json!({ "id": "quickstart" })),
        (format!("{root}/quickstart/colls"), json!({ "id": "sessions", "partitionKey": path })),
    ] {
        assert_eq!(server.ask_admin("POST", &at, &body.to_string()).await.status, 201);
    }
    let refused = server.ask_admin("POST", SAMPLE, "").await;
    assert_eq!(refused.status, 409, "{refused:?}");
    assert!(refused.body.contains("partition key"), "{refused:?}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_door_that_is_off_has_no_sample() {
    for (mongo, nosql) in [(true, false), (false, true), (false, false)] {
        let address = |on: bool| on.then(|| "127.0.0.1:0".to_owned());
        let (mongo_addr, cosmos_addr) = (address(mongo), address(nosql));
        let server = Server::new(&Config { mongo_addr, cosmos_addr, ..Config::for_tests() }).await;
        let answer = server.ask_admin("POST", SAMPLE, "").await;
        if mongo || nosql {
            let answer = answer.json();
            assert_eq!((answer["mongo"].is_null(), answer["nosql"].is_null()), (!mongo, !nosql));
        } else {
            assert_eq!(answer.status, 409);
            assert_eq!(answer.json()["error"]["code"], "Conflict");
        }
        server.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ttl_that_is_switched_off_counts_at_the_other_door_still() {
    let per_document_ttl = Some(false);
    let server = Server::new(&Config { per_document_ttl, ..Config::for_tests() }).await;
    made(&server).await;
    for (seconds, items, documents) in [(30.0, 22, 40), (26.0, 6, 40), (4.0, 2, 0)] {
        server.move_forward(seconds).await;
        for (door, want) in DOORS.into_iter().zip([items, documents]) {
            let got = live(&server, door).await;
            assert!((got - want).abs() <= 1, "{door} {seconds}: {got}");
        }
    }
    server.stop().await;
}
