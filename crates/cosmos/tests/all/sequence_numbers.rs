//! Log sequence numbers, session tokens and positions of the change feed: each container reports
//! the commit of its own last change.

use crate::client::{Answer, Client, PARTITION};

const FEED: (&str, &str) = ("a-im", "Incremental Feed");
const DOCS: &str = "/dbs/d/colls/c/docs";
const OTHER: &str = "/dbs/d/colls/other/docs";

/// Returns the sequence number of a response, which must be equal in all headers.
fn number(answer: &Answer) -> u64 {
    let lsn: u64 = answer.header("lsn").unwrap().parse().unwrap();
    assert_eq!(answer.header("x-ms-global-committed-lsn"), Some(lsn.to_string().as_str()));
    assert_eq!(answer.header("x-ms-session-token"), Some(format!("0:-1#{lsn}").as_str()));
    lsn
}

/// Returns the number in the etag of a feed.
fn position(answer: &Answer) -> u64 {
    answer.header("etag").unwrap().trim_matches('"').parse().unwrap()
}

/// Creates a container, and another one for unrelated writes.
async fn two_containers() -> Client {
    let mut client = Client::with_container("").await;
    let body = r#"{"id":"other","partitionKey":{"paths":["/pk"],"kind":"Hash"}}"#;
    assert_eq!(client.ask("POST", "/dbs/d/colls", &[], body).await.status, 201);
    client
}

async fn write_other(client: &mut Client) {
    let headers = [PARTITION, ("x-ms-documentdb-is-upsert", "True")];
    for _ in 0..3 {
        let answer = client.ask("POST", OTHER, &headers, r#"{"id":"1","pk":"a"}"#).await;
        assert!(answer.status < 300, "{answer:?}");
    }
}

#[tokio::test]
async fn every_answer_names_the_last_change_of_its_container() {
    let mut client = two_containers().await;
    let made = client.item("POST", "", r#"{"id":"1","pk":"a"}"#).await;
    let own = number(&made);
    let query = r#"{"query":"SELECT * FROM c WHERE c.n > 1"}"#;
    let count = r#"{"query":"SELECT VALUE COUNT(1) FROM c"}"#;
    let asks = [("content-type", "application/query+json"), PARTITION];
    let everywhere = [asks[0], ("x-ms-documentdb-query-enablecrosspartition", "True")];
    let bulk =
        [PARTITION, ("x-ms-cosmos-is-batch-request", "True"), ("x-ms-cosmos-batch-atomic", "True")];
    let reads = r#"[{"operationType":"Read","id":"1"}]"#;
    for (verb, path, headers, body) in [
        ("GET", "/dbs/d/colls/c/docs/1", &[PARTITION][..], ""),
        ("GET", "/dbs/d/colls/c/docs/none", &[PARTITION], ""),
        ("POST", DOCS, &[PARTITION], r#"{"id":"1","pk":"a"}"#),
        ("GET", DOCS, &[], ""),
        ("GET", DOCS, &[FEED], ""),
        ("POST", DOCS, &asks, query),
        ("POST", DOCS, &everywhere, count),
        ("POST", DOCS, &bulk, reads),
        ("GET", "/dbs/d/colls/c/pkranges", &[], ""),
        ("GET", "/dbs/d/colls/c", &[], ""),
    ] {
        write_other(&mut client).await;
        let answer = client.ask(verb, path, headers, body).await;
        assert_eq!(number(&answer), own, "{verb} {path}: {answer:?}");
    }
    write_other(&mut client).await;
    let gone = client.item("DELETE", "1", "").await;
    assert!(own < number(&gone));
    write_other(&mut client).await;
    let after = client.item("GET", "1", "").await;
    assert_eq!((after.status, number(&after)), (404, number(&gone)));
}

#[tokio::test]
async fn a_created_container_has_the_number_that_its_reads_have() {
    let mut client = two_containers().await;
    let manual = [("x-ms-offer-throughput", "500")];
    for (name, headers) in [("plain", &[][..]), ("manual", &manual)] {
        let body = format!(r#"{{"id":"{name}","partitionKey":{{"paths":["/pk"],"kind":"Hash"}}}}"#);
        let created = client.ask("POST", "/dbs/d/colls", headers, &body).await;
        let own = number(&created);
        write_other(&mut client).await;
        let path = format!("/dbs/d/colls/{name}");
        let replaced = client.ask("PUT", &path, &[], &body).await;
        let read = client.ask("GET", &format!("{path}/docs"), &[], "").await;
        let statuses = [created.status, replaced.status, read.status];
        assert_eq!(statuses, [201, 200, 200], "{created:?} {replaced:?} {read:?}");
        assert_eq!([number(&replaced), number(&read)], [own; 2], "{name}");
    }
}

#[tokio::test]
async fn a_refused_request_stays_within_its_session() {
    let mut client = two_containers().await;
    let own = number(&client.item("POST", "", r#"{"id":"1","pk":"a"}"#).await);
    write_other(&mut client).await;
    let token = format!("0:-1#{own}");
    let session = ("x-ms-session-token", token.as_str());
    let big = " ".repeat(4 << 20);
    for (headers, seq) in [(&[PARTITION, session][..], own), (&[PARTITION], 0)] {
        let answer = client.ask("POST", DOCS, headers, &big).await;
        assert_eq!((answer.status, number(&answer)), (413, seq), "{answer:?}");
    }
}

#[tokio::test]
async fn a_feed_at_its_end_stays_where_it_is() {
    for kept in ["", r#","changeFeedPolicy":{"retentionDuration":60}"#] {
        let mut client = Client::with_container(kept).await;
        let body = r#"{"id":"other","partitionKey":{"paths":["/pk"],"kind":"Hash"}}"#;
        client.ask("POST", "/dbs/d/colls", &[], body).await;
        let own = number(&client.item("POST", "", r#"{"id":"1","pk":"a"}"#).await);
        let modes = if kept.is_empty() {
            vec!["Incremental Feed"]
        } else {
            vec!["Incremental Feed", "Full-Fidelity Feed"]
        };
        for mode in modes {
            write_other(&mut client).await;
            let now = [("a-im", mode), ("if-none-match", "*")];
            let now = client.ask("GET", DOCS, &now, "").await;
            assert_eq!((now.status, position(&now)), (304, own), "{mode}");
            write_other(&mut client).await;
            let etag = now.header("etag").unwrap().to_owned();
            let again = [("a-im", mode), ("if-none-match", etag.as_str())];
            let again = client.ask("GET", DOCS, &again, "").await;
            assert_eq!((again.status, position(&again), number(&again)), (304, own, own), "{mode}");
            // A feed position as earlier versions of the server issued it, greater than the last
            // change of the container.
            let old = format!("\"{}\"", own + 500);
            let old_headers = [("a-im", mode), ("if-none-match", old.as_str())];
            let answer = client.ask("GET", DOCS, &old_headers, "").await;
            assert_eq!((answer.status, answer.header("etag")), (304, Some(old.as_str())), "{mode}");
        }
        let next = client.upsert(r#"{"id":"2","pk":"a"}"#).await;
        let own_headers = [FEED, ("if-none-match", "\"1\"")];
        let page = client.ask("GET", DOCS, &own_headers, "").await;
        assert_eq!((page.status, position(&page)), (200, number(&next)));
    }
}

#[tokio::test]
async fn session_tokens_of_the_whole_server_are_still_good() {
    let mut client = two_containers().await;
    client.item("POST", "", r#"{"id":"1","pk":"a"}"#).await;
    write_other(&mut client).await;
    let newest = client.ask("GET", OTHER, &[], "").await;
    for (seen, status) in [(number(&newest), 200), (number(&newest) + 100, 404)] {
        let token = format!("0:-1#{seen}");
        let headers = [PARTITION, ("x-ms-session-token", token.as_str())];
        let answer = client.ask("GET", "/dbs/d/colls/c/docs/1", &headers, "").await;
        assert_eq!(answer.status, status, "{seen}: {answer:?}");
    }
}
