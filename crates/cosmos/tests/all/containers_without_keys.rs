//! Containers without a partition key, as old clients create them and as newer clients see them.

use crate::client::{Client, QUERY};

const KEY: &str = "x-ms-documentdb-partitionkey";
const DOCS: &str = "/dbs/d/colls/c/docs";
const OLD: (&str, &str) = ("x-ms-version", "2018-09-17");
const NEW: (&str, &str) = ("x-ms-version", "2018-12-31");

async fn container() -> Client {
    let mut client = Client::new().await;
    client.ask("POST", "/dbs", &[], r#"{"id":"d"}"#).await;
    let made = client.ask("POST", "/dbs/d/colls", &[OLD], r#"{"id":"c"}"#).await;
    assert_eq!(made.status, 201, "{made:?}");
    assert!(!made.body.contains("partitionKey"), "{made:?}");
    client
}

#[tokio::test]
async fn newer_versions_see_a_key_of_the_system() {
    let mut client = container().await;
    let path = "/dbs/d/colls/c";
    let shown = r#""partitionKey":{"paths":["/_partitionKey"],"kind":"Hash","systemKey":true}"#;
    for (version, sees) in [(OLD, false), (NEW, true), (("x-ms-version", "2020-07-15"), true)] {
        for path in [path, "/dbs/d/colls"] {
            let read = client.ask("GET", path, &[version], "").await;
            assert_eq!(read.body.contains(shown), sees, "{version:?}: {read:?}");
            assert_eq!(read.body.contains("partitionKey"), sees, "{version:?}: {read:?}");
        }
    }
    // A client may send back each form of the definition that clients of some protocol version
    // read.
    for (key, want) in [
        (format!(r#",{shown}"#), 200),
        (String::new(), 200),
        (r#","partitionKey":{"paths":[],"kind":"Hash"}"#.to_owned(), 200),
        (r#","partitionKey":{"paths":["/pk"],"kind":"Hash"}"#.to_owned(), 400),
    ] {
        let body = format!(r#"{{"id":"c"{key},"defaultTtl":-1}}"#);
        let put = client.ask("PUT", path, &[NEW], &body).await;
        assert_eq!(put.status, want, "{key}: {put:?}");
    }
    let read = client.ask("GET", path, &[NEW], "").await;
    assert!(read.body.contains(shown), "{read:?}");
}

#[tokio::test]
async fn items_without_a_key_are_one_partition() {
    let mut client = container().await;
    let none = (KEY, "[]");
    let one = "/dbs/d/colls/c/docs/1";
    // A client that predates partition keys sends no header.
    for headers in [&[OLD][..], &[NEW, none]] {
        let upsert = [headers, &[("x-ms-documentdb-is-upsert", "True")]].concat();
        let item = r#"{"id":"1","n":1}"#;
        let made = client.ask("POST", DOCS, &upsert, item).await;
        assert!(matches!(made.status, 200 | 201), "{headers:?}: {made:?}");
        let patch = r#"[{"op":"incr","path":"/n","value":1}]"#;
        for (verb, body) in [("GET", ""), ("PUT", item), ("PATCH", patch)] {
            let answer = client.ask(verb, one, headers, body).await;
            assert_eq!(answer.status, 200, "{verb} {headers:?}: {answer:?}");
        }
        let query = [headers, &[("content-type", "application/query+json")]].concat();
        let found =
            client.ask("POST", DOCS, &query, r#"{"query":"SELECT VALUE c.n FROM c"}"#).await;
        assert!(found.body.contains("[2]"), "{headers:?}: {found:?}");
        let batch = [
            headers,
            &[("x-ms-cosmos-is-batch-request", "True"), ("x-ms-cosmos-batch-atomic", "True")],
        ]
        .concat();
        let operations = r#"[{"operationType":"Read","id":"1"},{"operationType":"Upsert","resourceBody":{"id":"2"}}]"#;
        let done = client.ask("POST", DOCS, &batch, operations).await;
        assert_eq!(done.status, 200, "{headers:?}: {done:?}");
        let feed = client.ask("GET", DOCS, headers, "").await;
        assert!(feed.body.contains(r#""_count":2"#), "{headers:?}: {feed:?}");
    }
    assert_eq!(client.ask("DELETE", one, &[OLD], "").await.status, 204);
}

#[tokio::test]
async fn items_may_have_the_key_of_the_system() {
    let mut client = container().await;
    let (none, other) = ((KEY, "[]"), (KEY, r#"["x"]"#));
    let (plain, keyed) = (r#"{"id":"1"}"#, r#"{"id":"1","_partitionKey":"x"}"#);
    for (headers, item, want) in [
        (none, plain, (201, 0)),
        (other, keyed, (201, 0)),
        (other, plain, (400, 1001)),
        (none, keyed, (400, 1001)),
    ] {
        let answer = client.ask("POST", DOCS, &[headers], item).await;
        assert_eq!(answer.code(), want, "{headers:?} {item}: {answer:?}");
    }
    let one = "/dbs/d/colls/c/docs/1";
    let read = client.ask("GET", one, &[other], "").await;
    assert!(read.body.contains(r#""_partitionKey":"x""#), "{read:?}");
    assert_eq!(client.ask("DELETE", one, &[none], "").await.status, 204);
    assert_eq!(client.ask("GET", one, &[none], "").await.status, 404);
    assert_eq!(client.ask("GET", one, &[other], "").await.status, 200);
    let all = client.ask("POST", DOCS, &QUERY, r#"{"query":"SELECT VALUE c.id FROM c"}"#).await;
    assert!(all.body.contains(r#"["1"]"#), "{all:?}");
}
