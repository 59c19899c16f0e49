//! Response headers that clients read and that not every response has.

use crate::client::{Answer, Client, PARTITION};

const DOCS: &str = "/dbs/d/colls/c/docs";

#[tokio::test]
async fn answers_about_items_say_what_their_container_takes() {
    let mut client = Client::with_container("").await;
    let item = r#"{"id":"1","pk":"a","n":1}"#;
    let patch = r#"[{"op":"incr","path":"/n","value":2}]"#;
    for (verb, id, body, writes) in [
        ("POST", "", item, true),
        ("GET", "1", "", false),
        ("PUT", "1", item, true),
        ("PATCH", "1", patch, true),
        ("DELETE", "1", "", true),
    ] {
        let answer = client.item(verb, id, body).await;
        assert!(answer.status < 300, "{verb}: {answer:?}");
        let quota = answer.header("x-ms-resource-quota").unwrap();
        assert!(quota.contains("documentsSize=10485760;"), "{verb}: {quota}");
        let usage = answer.header("x-ms-resource-usage").unwrap();
        for figure in ["documentSize=", "documentsSize=", "documentsCount=-1;", "collectionSize="] {
            assert!(usage.contains(figure), "{verb}: {usage}");
        }
        for name in ["x-ms-current-write-quorum", "x-ms-current-replica-set-size"] {
            assert_eq!(answer.header(name), writes.then_some("1"), "{verb}: {name}");
        }
    }
    let refused = client.item("GET", "1", "").await;
    assert_eq!((refused.status, refused.header("x-ms-resource-usage")), (404, None));
}

#[tokio::test]
async fn containers_say_whether_they_share_throughput() {
    let mut client = Client::new().await;
    let throughput = ("x-ms-offer-throughput", "400");
    client.ask("POST", "/dbs", &[throughput], r#"{"id":"shared"}"#).await;
    client.ask("POST", "/dbs", &[], r#"{"id":"apart"}"#).await;
    let body = r#"{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash"}}"#;
    let own = body.replace("\"c\"", "\"own\"");
    for (database, body, headers, want) in [
        ("shared", own.as_str(), &[throughput][..], "false"),
        ("shared", body, &[], "true"),
        ("apart", body, &[], "false"),
    ] {
        let feed = format!("/dbs/{database}/colls");
        let made = client.ask("POST", &feed, headers, body).await;
        assert_eq!(made.status, 201, "{made:?}");
        let path = format!("{feed}/{}", made.text("id"));
        let read = client.ask("GET", &path, &[], "").await;
        let replaced = client.ask("PUT", &path, &[], body).await;
        for answer in [made, read, replaced] {
            assert_eq!(answer.header("x-ms-share-throughput"), Some(want), "{answer:?}");
        }
    }
}

fn figure(answer: &Answer, name: &str) -> f64 {
    let metrics = answer.header("x-ms-documentdb-query-metrics").unwrap();
    let (_, rest) = metrics.split_once(&format!("{name}=")).unwrap();
    rest.split(';').next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn metrics_of_queries_have_times() {
    let mut client = Client::with_container("").await;
    for at in 0..40 {
        let item = format!(r#"{{"id":"{at}","pk":"a","n":{at}}}"#);
        client.ask("POST", DOCS, &[PARTITION], &item).await;
    }
    let headers = [
        ("content-type", "application/query+json"),
        ("x-ms-documentdb-query-enablecrosspartition", "True"),
        ("x-ms-documentdb-populatequerymetrics", "True"),
    ];
    for (query, reads) in [
        ("SELECT * FROM c WHERE c.n % 2 = 0", true),
        ("SELECT VALUE c.n FROM c ORDER BY c.n DESC", true),
        ("SELECT VALUE COUNT(1) FROM c", false),
    ] {
        let answer = client.ask("POST", DOCS, &headers, &format!(r#"{{"query":"{query}"}}"#)).await;
        let of = |name: &str| figure(&answer, name);
        let [total, compiled, machine, loaded, written] = [
            "totalExecutionTimeInMs",
            "queryCompileTimeInMs",
            "VMExecutionTimeInMs",
            "documentLoadTimeInMs",
            "writeOutputTimeInMs",
        ]
        .map(of);
        assert!(0.0 < compiled && 0.0 < written, "{query}: {answer:?}");
        assert!(compiled + machine <= total + 0.001, "{query}: {answer:?}");
        let evaluated = machine - loaded - written;
        assert_eq!(0.001 < loaded, reads, "{query}: {answer:?}");
        assert!(!reads || 0.001 < evaluated, "{query}: {answer:?}");
    }
}
