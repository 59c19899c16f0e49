//! The all-versions change feed of containers whose definition has no change feed policy: retention
//! starts with the first request for the feed.

use document::Value;

use crate::client::{Answer, Client, PARTITION};

const DOCS: &str = "/dbs/d/colls/c/docs";
const MODE: (&str, &str) = ("a-im", "Full-Fidelity Feed");
const CONTAINER: &str = "/dbs/d/colls/c";

async fn feed(client: &mut Client, position: &str) -> Answer {
    client.ask("GET", DOCS, &[MODE, ("if-none-match", position)], "").await
}

fn etag(answer: &Answer) -> String {
    answer.header("etag").unwrap().to_owned()
}

/// Returns the metadata of all events of a page.
fn metadata(answer: &Answer) -> Vec<document::Document> {
    let Some(Value::Array(events)) = answer.document().remove("Documents") else {
        panic!("{answer:?}")
    };
    let metadata = events.into_iter().map(|event| match event {
        Value::Document(mut event) => match event.remove("metadata") {
            Some(Value::Document(metadata)) => metadata,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    });
    metadata.collect()
}

fn kinds(answer: &Answer) -> Vec<String> {
    let all =
        metadata(answer).into_iter().map(|mut metadata| match metadata.remove("operationType") {
            Some(Value::String(kind)) => kind,
            other => panic!("{other:?}"),
        });
    all.collect()
}

#[tokio::test]
async fn a_feed_begins_with_its_first_request() {
    let mut client = Client::with_container(r#","defaultTtl":-1"#).await;
    client.item("POST", "", r#"{"id":"before","pk":"a","ttl":9}"#).await;
    let definition = client.ask("GET", CONTAINER, &[], "").await;
    let start = feed(&mut client, "*").await;
    assert_eq!((start.status, start.header("x-ms-item-count")), (304, Some("0")), "{start:?}");
    let start = etag(&start);
    // The definition does not change.
    let again = client.ask("GET", CONTAINER, &[], "").await;
    assert_eq!(again.body, definition.body);
    client.item("POST", "", r#"{"id":"1","pk":"a","ttl":5}"#).await;
    client.item("PUT", "1", r#"{"id":"1","pk":"a","ttl":5,"n":1}"#).await;
    client.advance(5);
    let page = feed(&mut client, &start).await;
    assert_eq!(kinds(&page), ["create", "replace", "delete"], "{page:?}");
    for (at, metadata) in metadata(&page).iter().enumerate() {
        let names = ["id", "partitionKey"].map(|name| metadata.get(name).is_some());
        assert_eq!(names, [at == 2, at == 2], "{metadata:?}");
    }
    client.advance(4);
    let later = feed(&mut client, &etag(&page)).await;
    assert_eq!(kinds(&later), ["delete"], "{later:?}");
    assert!(later.body.contains(r#""timeToLiveExpired":true,"id":"before""#), "{later:?}");
}

#[tokio::test]
async fn a_feed_that_has_begun_goes_on_when_the_container_is_replaced() {
    let mut client = Client::with_container("").await;
    let start = etag(&feed(&mut client, "*").await);
    let body = |more: &str| {
        format!(
            r#"{{"id":"c","partitionKey":{{"paths":["/pk"],"kind":"Hash","version":2}}{more}}}"#
        )
    };
    client.item("POST", "", r#"{"id":"1","pk":"a"}"#).await;
    let replaced = client.ask("PUT", CONTAINER, &[], &body(r#","defaultTtl":-1"#)).await;
    assert_eq!(replaced.status, 200, "{replaced:?}");
    client.item("DELETE", "1", "").await;
    let page = feed(&mut client, &start).await;
    assert_eq!(kinds(&page), ["create", "delete"], "{page:?}");
    // A retention of zero in the policy disables the feed.
    let none = r#","changeFeedPolicy":{"retentionDuration":0}"#;
    assert_eq!(client.ask("PUT", CONTAINER, &[], &body(none)).await.status, 200);
    let refused = feed(&mut client, "*").await;
    assert!(refused.status == 400 && refused.body.contains("must be enabled"), "{refused:?}");
}

/// Lets running requests proceed until all of them wait.
async fn let_others_run() {
    for _ in 0..2_000 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_policy_that_forbids_versions_meanwhile_is_kept() {
    let mut client = Client::with_container("").await;
    let (mut writer, gate) = (client.beside().await, client.kit.store.gate());
    let key = r#""partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}"#;
    let none = format!(r#"{{"id":"c",{key},"changeFeedPolicy":{{"retentionDuration":0}}}}"#);
    gate.shut();
    let replaced =
        tokio::spawn(async move { writer.ask("PUT", CONTAINER, &[], &none).await.status });
    let_others_run().await;
    // This request reads the container's state before the new definition is visible.
    let begun = tokio::spawn(async move { (feed(&mut client, "*").await.status, client) });
    let_others_run().await;
    gate.open();
    assert_eq!(replaced.await.unwrap(), 200);
    let (status, mut client) = begun.await.unwrap();
    assert_eq!(status, 400);
    assert_eq!(feed(&mut client, "*").await.status, 400);
}

#[tokio::test]
async fn a_request_that_is_refused_begins_no_feed() {
    let mut client = Client::with_container("").await;
    for position in ["", "x"] {
        assert_eq!(feed(&mut client, position).await.status, 400, "{position}");
    }
    assert_eq!(client.ask("GET", DOCS, &[MODE], "").await.status, 400);
    client.item("POST", "", r#"{"id":"1","pk":"a"}"#).await;
    let page = feed(&mut client, "\"1\"").await;
    assert_eq!(page.status, 304, "{page:?}");
}

#[tokio::test]
async fn a_feed_with_a_query_is_refused_by_name() {
    let mut client = Client::with_container("").await;
    let query = r#"{"query":"SELECT * FROM c","enableQueryOnPreviousImage":true}"#;
    for mode in ["Full-Fidelity Feed", "Incremental Feed"] {
        let headers = [
            ("a-im", mode),
            ("if-none-match", "*"),
            ("content-type", "application/query+json"),
            PARTITION,
        ];
        let answer = client.ask("POST", DOCS, &headers, query).await;
        assert!(
            answer.status == 501 && answer.body.contains("change feed with a query"),
            "{answer:?}"
        );
    }
}
