//! Requests that the portal passes to the API after it has authenticated the sender: they need no
//! signature and are otherwise handled like all others.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use auth::Right;
use bytes::Bytes;
use http_body_util::BodyExt;
use tokio::task::yield_now;

use crate::client::{Client, PARTITION};

pub(crate) fn request(
    verb: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: impl Into<Bytes>,
) -> http::Request<Bytes> {
    let mut request = http::Request::builder().method(verb).uri(path).header("host", "test:1");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(body.into()).unwrap()
}

/// Returns status and body of the response to a relayed request.
pub(crate) async fn relay(
    client: &Client,
    right: Right,
    verb: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> (u16, String) {
    let request = request(verb, path, headers, body.to_owned());
    let response = client.api.upgrade().unwrap().relay(right, request).await;
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn whoever_may_write_does_everything() {
    let client = Client::new().await;
    let container = r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#;
    let item = r#"{"id":"1","pk":"a"}"#;
    let query = [
        ("content-type", "application/query+json"),
        ("x-ms-documentdb-isquery", "true"),
        ("x-ms-documentdb-query-enablecrosspartition", "True"),
    ];
    let docs = "/dbs/d/colls/c/docs";
    let user = r#"{"id":"u"}"#;
    for (verb, path, headers, body, want) in [
        ("GET", "/", &[][..], "", (200, "localhost")),
        ("POST", "/dbs", &[], r#"{"id":"d"}"#, (201, "\"d\"")),
        ("POST", "/dbs", &[], r#"{"id":"d"}"#, (409, "Conflict")),
        ("POST", "/dbs/d/colls", &[], container, (201, "\"c\"")),
        ("POST", docs, &[PARTITION], item, (201, "\"1\"")),
        ("POST", docs, &query, r#"{"query":"SELECT c.id FROM c"}"#, (200, "{\"id\":\"1\"}")),
        ("GET", "/dbs/d/colls/c/docs/1", &[PARTITION], "", (200, "\"pk\":\"a\"")),
        ("POST", "/dbs/d/users", &[], user, (201, "\"u\"")),
        ("GET", "/dbs/d/users/u/permissions", &[], "", (200, "Permissions")),
        // The signature of a relayed request is not checked.
        ("GET", "/dbs/d", &[("authorization", "type=master&sig=x")], "", (200, "\"d\"")),
        ("DELETE", "/dbs/d", &[], "", (204, "")),
        ("GET", "/nowhere", &[], "", (404, "NotFound")),
    ] {
        let (status, body) = relay(&client, Right::Write, verb, path, headers, body).await;
        let good = status == want.0 && (body.contains(want.1) || path == "/");
        assert!(good, "{verb} {path}: {status} {body}");
    }
    let api = client.api.upgrade().unwrap();
    let counters = api.counters();
    let count = |name: &str| counters.iter().find(|(held, ..)| *held == name).unwrap().2;
    assert_eq!((count("requests"), count("failures"), count("denied")), (12, 2, 0));
    let large = request("POST", "/dbs", &[], vec![b' '; 4 << 20]);
    assert_eq!(api.relay(Right::Write, large).await.status(), 413);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_query_that_nobody_waits_for_ends() {
    static LOOKS: AtomicU64 = AtomicU64::new(0);
    let mut client = Client::with_give_way(|| {
        LOOKS.fetch_add(1, Relaxed);
        tokio::task::block_in_place(|| std::thread::park_timeout(Duration::from_millis(1)));
    })
    .await;
    let list: Vec<String> = (0..1000).map(|at| at.to_string()).collect();
    let body = format!(r#"{{"id":"1","pk":"a","list":[{}]}}"#, list.join(","));
    assert_eq!(client.item("POST", "", &body).await.status, 201);
    let api = client.api.upgrade().unwrap();
    let asked = tokio::spawn(async move {
        let query = r#"{"query":"SELECT VALUE COUNT(1) FROM c JOIN x IN c.list JOIN y IN c.list JOIN z IN c.list WHERE x + y + z < 0"}"#;
        let headers = [
            ("content-type", "application/query+json"),
            ("x-ms-documentdb-isquery", "true"),
            ("x-ms-documentdb-query-enablecrosspartition", "True"),
        ];
        let request = request("POST", "/dbs/d/colls/c/docs", &headers, query);
        api.relay(Right::Read, request).await.status()
    });
    while LOOKS.load(Relaxed) == 0 {
        yield_now().await;
    }
    asked.abort();
    // One reference belongs to the client's connection.
    while 1 < client.api.strong_count() {
        yield_now().await;
    }
    assert!(LOOKS.load(Relaxed) < 60, "{LOOKS:?}");
}
