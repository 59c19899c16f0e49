//! Invalid requests are refused with their error and change nothing.

use crate::client::{Client, PARTITION};

#[tokio::test]
async fn refused_requests_change_nothing() {
    let mut client = Client::with_container(r#","defaultTtl":-1"#).await;
    client.item("POST", "", r#"{"id":"1","pk":"a","n":1}"#).await;
    let before = client.everything().await;
    let docs = "/dbs/d/colls/c/docs";
    let one = "/dbs/d/colls/c/docs/1";
    let deep = format!(r#"{{"id":"2","pk":"a","x":{}{}}}"#, "[".repeat(5000), "]".repeat(5000));
    let long = format!(r#"{{"id":"{}","pk":"a"}}"#, "x".repeat(1024));
    for (verb, path, headers, body, want) in [
        ("POST", docs, &[][..], r#"{"id":"2","pk":"a"}"#, 400),
        ("POST", docs, &[PARTITION], deep.as_str(), 400),
        ("POST", docs, &[PARTITION], long.as_str(), 400),
        ("POST", docs, &[PARTITION], r#"{"id":"","pk":"a"}"#, 400),
        ("POST", docs, &[PARTITION], r#"[{"id":"2","pk":"a"}]"#, 400),
        ("POST", docs, &[("x-ms-documentdb-partitionkey", "a")], r#"{"id":"2","pk":"a"}"#, 400),
        (
            "POST",
            docs,
            &[PARTITION, ("x-ms-documentdb-pre-trigger-include", "t")],
            r#"{"id":"2","pk":"a"}"#,
            501,
        ),
        ("PUT", one, &[PARTITION, ("if-match", "\"x\"")], r#"{"id":"1","pk":"a"}"#, 412),
        ("DELETE", one, &[PARTITION, ("if-match", "\"x\"")], "", 412),
        ("DELETE", one, &[], "", 400),
        (
            "PATCH",
            one,
            &[PARTITION],
            r#"{"operations":[{"op":"set","path":"/id","value":1}]}"#,
            400,
        ),
        (
            "PATCH",
            one,
            &[PARTITION],
            r#"{"operations":[{"op":"set","path":"/pk","value":1}]}"#,
            400,
        ),
        (
            "PATCH",
            one,
            &[PARTITION],
            r#"{"operations":[{"op":"set","path":"/n","value":2},{"op":"remove","path":"/x"}]}"#,
            400,
        ),
        ("POST", "/dbs/d/colls/none/docs", &[PARTITION], r#"{"id":"2","pk":"a"}"#, 404),
        ("POST", "/dbs/none/colls", &[], r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#, 404),
        ("POST", "/dbs", &[], r#"{"id":"d"}"#, 409),
        ("POST", "/dbs", &[], r#"{"id":"a/b"}"#, 400),
        ("POST", "/dbs", &[("x-ms-offer-throughput", "1")], r#"{"id":"e"}"#, 400),
        ("POST", "/dbs/d/colls", &[], r#"{"id":"e","partitionKey":{"paths":["k"]}}"#, 400),
        (
            "PUT",
            "/dbs/d/colls/c",
            &[],
            r#"{"id":"c","partitionKey":{"paths":["/other"],"version":2}}"#,
            400,
        ),
        (
            "PUT",
            "/dbs/d/colls/c",
            &[("if-match", "\"x\"")],
            r#"{"id":"c","partitionKey":{"paths":["/other"],"version":2}}"#,
            412,
        ),
        ("DELETE", "/dbs/d/colls/c", &[("if-match", "\"x\"")], "", 412),
        ("DELETE", "/dbs/d", &[("if-match", "\"x\"")], "", 412),
        ("POST", "/dbs/d/colls/c/operations/partitionkeydelete", &[], "", 400),
        (
            "POST",
            "/dbs/d/colls/c/operations/partitionkeydelete",
            &[("x-ms-documentdb-partitionkey", "[]")],
            "",
            400,
        ),
    ] {
        let answer = client.ask(verb, path, headers, body).await;
        assert_eq!(answer.status, want, "{verb} {path} {headers:?}: {answer:?}");
        assert!(answer.body.contains("\"message\":"), "{answer:?}");
        assert_eq!(client.everything().await, before, "{verb} {path}");
    }
}

#[tokio::test]
async fn queries_that_cannot_be_run_say_why() {
    let mut client = Client::with_container("").await;
    for (text, status, part) in [
        ("SELECT * FROM", 400, "SC1002"),
        ("SELECT nothing(c) FROM c", 400, "SC2005"),
        ("SELECT * FROM c ORDER BY c.a, c.b", 400, "SC2104"),
    ] {
        let answer = client.query(text).await;
        assert!(answer.status == status && answer.body.contains(part), "{text}: {answer:?}");
    }
    for body in ["", "{}", "[]", r#"{"query":1}"#, r#"{"query":"SELECT 1","parameters":1}"#] {
        let headers = [("content-type", "application/query+json"), PARTITION];
        let answer = client.ask("POST", "/dbs/d/colls/c/docs", &headers, body).await;
        assert_eq!(answer.status, 400, "{body}");
    }
}

/// A prefix of a hierarchical key is refused, because it covers the items of many keys.
#[tokio::test]
async fn a_delete_by_key_wants_the_whole_of_a_hierarchical_key() {
    let mut client = Client::with_container("").await;
    let body = r#"{"id":"h","partitionKey":{"paths":["/a","/b"],"kind":"MultiHash","version":2}}"#;
    assert_eq!(client.ask("POST", "/dbs/d/colls", &[], body).await.status, 201);
    for b in ["x", "y"] {
        let key = format!(r#"["u","{b}"]"#);
        let headers = [("x-ms-documentdb-partitionkey", key.as_str())];
        let item = format!(r#"{{"id":"1","a":"u","b":"{b}"}}"#);
        let made = client.ask("POST", "/dbs/d/colls/h/docs", &headers, &item).await;
        assert_eq!(made.status, 201, "{made:?}");
    }
    for (key, code, left) in [
        (r#"["u"]"#, (400, 1001), 2),
        (r#"["u","x","z"]"#, (400, 1001), 2),
        ("[]", (400, 0), 2),
        (r#"["u","x"]"#, (200, 0), 1),
    ] {
        let headers = [("x-ms-documentdb-partitionkey", key)];
        let path = "/dbs/d/colls/h/operations/partitionkeydelete";
        let answer = client.ask("POST", path, &headers, "").await;
        assert_eq!(answer.code(), code, "{key}: {answer:?}");
        let items = client.ask("GET", "/dbs/d/colls/h/docs", &[], "").await;
        assert!(items.body.contains(&format!("\"_count\":{left}")), "{key}: {items:?}");
    }
}
