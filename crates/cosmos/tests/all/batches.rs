//! Batches are atomic; the operations of a bulk are independent.

use crate::client::{Answer, Client, PARTITION};

const BATCH: (&str, &str) = ("x-ms-cosmos-is-batch-request", "True");
const ATOMIC: (&str, &str) = ("x-ms-cosmos-batch-atomic", "True");
const GO_ON: (&str, &str) = ("x-ms-cosmos-batch-continue-on-error", "True");

async fn run(client: &mut Client, headers: &[(&str, &str)], operations: &[&str]) -> Answer {
    let body = format!("[{}]", operations.join(","));
    client.ask("POST", "/dbs/d/colls/c/docs", headers, &body).await
}

fn codes(answer: &Answer) -> Vec<u16> {
    let parts = answer.body.split("\"statusCode\":").skip(1);
    parts.map(|part| part.split(',').next().unwrap().parse().unwrap()).collect()
}

const CREATE_1: &str = r#"{"operationType":"Create","resourceBody":{"id":"1","pk":"a","n":1}}"#;
const CREATE_2: &str = r#"{"operationType":"Create","resourceBody":{"id":"2","pk":"a"}}"#;
const READ_1: &str = r#"{"operationType":"Read","id":"1"}"#;
const DELETE_1: &str = r#"{"operationType":"Delete","id":"1"}"#;

#[tokio::test]
async fn a_batch_is_one_unit() {
    let mut client = Client::with_container("").await;
    let headers = [PARTITION, BATCH, ATOMIC];
    let patch = r#"{"operationType":"Patch","id":"1","resourceBody":{"operations":[{"op":"incr","path":"/n","value":1}]}}"#;
    let done = run(&mut client, &headers, &[CREATE_1, READ_1, patch, CREATE_2, DELETE_1]).await;
    assert_eq!((done.status, codes(&done)), (200, vec![201, 200, 200, 201, 204]), "{done:?}");
    assert!(done.body.contains("\"n\":2"), "{}", done.body);
    let before = client.everything().await;
    for (operations, want) in [
        (&[CREATE_1, CREATE_2, READ_1][..], vec![424, 409, 424]),
        (&[CREATE_1, DELETE_1, READ_1], vec![424, 424, 404]),
        (&[CREATE_1, r#"{"operationType":"Merge","id":"1"}"#], vec![424, 400]),
        (
            &[CREATE_1, r#"{"operationType":"Create","resourceBody":{"id":"3","pk":"b"}}"#],
            vec![424, 400],
        ),
    ] {
        let failed = run(&mut client, &headers, operations).await;
        assert_eq!((failed.status, codes(&failed)), (207, want), "{failed:?}");
        assert_eq!(client.everything().await, before);
    }
    assert_eq!(run(&mut client, &[BATCH, ATOMIC], &[CREATE_1]).await.status, 400);
    let many = vec![READ_1; 101];
    for (operations, text) in [
        (&[][..], "Batch request has no operations."),
        (&many, "Batch request has more operations than what is supported."),
    ] {
        let refused = run(&mut client, &headers, operations).await;
        assert!(refused.status == 400 && refused.body.contains(text), "{refused:?}");
    }
}

#[tokio::test]
async fn an_expired_item_is_missing_in_a_batch() {
    let mut client = Client::with_container(r#","defaultTtl":5"#).await;
    client.item("POST", "", r#"{"id":"1","pk":"a"}"#).await;
    client.advance(5);
    let headers = [PARTITION, BATCH, ATOMIC];
    let failed = run(&mut client, &headers, &[CREATE_2, DELETE_1]).await;
    assert_eq!((failed.status, codes(&failed)), (207, vec![424, 404]));
    let done = run(&mut client, &headers, &[CREATE_1, CREATE_2]).await;
    assert_eq!(codes(&done), [201, 201]);
}

#[tokio::test]
async fn a_bulk_has_a_partition_key_for_each_operation() {
    let mut client = Client::with_container("").await;
    let headers = [BATCH, ("x-ms-cosmos-batch-atomic", "false"), GO_ON];
    let create = |id: &str, key: &str| {
        format!(
            r#"{{"operationType":"Create","partitionKey":"[\"{key}\"]","resourceBody":{{"id":"{id}","pk":"{key}"}}}}"#
        )
    };
    let (one, two) = (create("1", "a"), create("1", "b"));
    let delete = r#"{"operationType":"Delete","id":"1","partitionKey":"[\"a\"]"}"#;
    let all = [one.as_str(), two.as_str(), one.as_str(), delete, one.as_str()];
    let done = run(&mut client, &headers, &all).await;
    assert_eq!((done.status, codes(&done)), (207, vec![201, 201, 409, 204, 201]), "{done:?}");
    let stop = [BATCH, ("x-ms-cosmos-batch-atomic", "false")];
    let other = create("2", "a");
    let done = run(&mut client, &stop, &[&other, &one, &create("3", "a")]).await;
    assert_eq!(codes(&done), [201, 409, 424], "{done:?}");
}

#[tokio::test]
async fn a_client_may_want_no_items_of_writes() {
    let mut client = Client::with_container("").await;
    let patch =
        r#"{"operationType":"Patch","id":"1","resourceBody":[{"op":"set","path":"/n","value":5}]}"#;
    let minimal = ("prefer", "return=minimal");
    let headers = [PARTITION, BATCH, ATOMIC, minimal];
    let done = run(&mut client, &headers, &[CREATE_1, patch]).await;
    assert_eq!((done.status, codes(&done)), (200, vec![201, 200]), "{done:?}");
    assert!(!done.body.contains("resourceBody"), "{done:?}");
    let bulk = [PARTITION, BATCH, GO_ON, minimal];
    let done = run(&mut client, &bulk, &[READ_1, CREATE_2]).await;
    assert_eq!((done.status, codes(&done)), (200, vec![200, 201]), "{done:?}");
    assert_eq!(done.body.matches("resourceBody").count(), 1, "{done:?}");
    assert!(done.body.contains("\"n\":5"), "{done:?}");
}

#[tokio::test]
async fn an_answer_has_a_limit() {
    let mut client = Client::with_container("").await;
    let large = format!(r#"{{"id":"1","pk":"a","n":1,"x":"{}"}}"#, "y".repeat(1_900_000));
    assert_eq!(client.item("POST", "", &large).await.status, 201);
    let atomic = [PARTITION, BATCH, ATOMIC];
    let reads = [CREATE_2, READ_1, READ_1, READ_1];
    let refused = run(&mut client, &atomic, &reads).await;
    assert_eq!(refused.code(), (413, 3402));
    assert_eq!(client.item("GET", "2", "").await.status, 404, "nothing was written");
    let done = run(&mut client, &atomic, &reads[..3]).await;
    assert_eq!((done.status, codes(&done)), (200, vec![201, 200, 200]));
    let bulk = [PARTITION, BATCH, GO_ON];
    let done = run(&mut client, &bulk, &reads).await;
    assert_eq!((done.status, codes(&done)), (207, vec![409, 200, 200, 413]));
    let patch = r#"{"operationType":"Patch","id":"1","resourceBody":[{"op":"incr","path":"/n","value":1}]}"#;
    for headers in [&atomic, &bulk] {
        let done = run(&mut client, headers, &[patch; 10]).await;
        assert_eq!((done.status, codes(&done)), (200, vec![200; 10]));
        assert!(done.body.len() < 5 << 20, "{}", done.body.len());
    }
    assert!(client.item("GET", "1", "").await.body.contains("\"n\":21"));
}

#[tokio::test]
async fn a_replace_in_a_batch_may_change_the_id() {
    let mut client = Client::with_container("").await;
    let to = |from: &str, to: &str| {
        format!(
            r#"{{"operationType":"Replace","id":"{from}","resourceBody":{{"id":"{to}","pk":"a"}}}}"#
        )
    };
    let (forth, back) = (to("1", "3"), to("3", "1"));
    for headers in [&[PARTITION, BATCH, ATOMIC][..], &[PARTITION, BATCH, GO_ON]] {
        let operations = [CREATE_1, CREATE_2, &forth, CREATE_1, &back, DELETE_1, &back, &forth];
        let done = run(&mut client, headers, &operations[..4]).await;
        assert_eq!(codes(&done), [201, 201, 200, 201], "{done:?}");
        let before = client.everything().await;
        let failed = run(&mut client, headers, &operations[4..5]).await;
        assert_eq!(codes(&failed), [409], "{failed:?}");
        assert_eq!(client.everything().await, before);
        let done = run(&mut client, headers, &operations[5..]).await;
        assert_eq!(codes(&done), [204, 200, 200], "{done:?}");
        for (id, want) in [("1", 404), ("2", 204), ("3", 204)] {
            assert_eq!(client.item("DELETE", id, "").await.status, want, "{id}");
        }
    }
}
