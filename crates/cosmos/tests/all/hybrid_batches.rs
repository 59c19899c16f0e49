//! Batches and bulks in HybridRow. The requests are captured from Microsoft.Azure.Cosmos for .NET.

use document::{Value, json};
use hybrid_row::{Operation, OperationResult, read_operations, read_results, write_operations};

use crate::client::{Answer, Client, PARTITION};

/// The headers of a request by the SDK's `TransactionalBatch`.
const ATOMIC: [(&str, &str); 4] = [
    PARTITION,
    ("x-ms-cosmos-is-batch-request", "True"),
    ("x-ms-cosmos-batch-atomic", "True"),
    ("x-ms-cosmos-batch-ordered", "True"),
];
/// The headers of a request by the SDK's `AllowBulkExecution`.
const BULK: [(&str, &str); 4] = [
    ("x-ms-documentdb-partitionkeyrangeid", "0"),
    ("x-ms-cosmos-is-batch-request", "True"),
    ("x-ms-cosmos-batch-atomic", "False"),
    ("x-ms-cosmos-batch-continue-on-error", "True"),
];
const DOCS: &str = "/dbs/d/colls/c/docs";

/// Includes a captured request by name.
macro_rules! captured {
    ($name:literal) => {
        include_bytes!(concat!("../../../hybrid-row/tests/captured/", $name, ".request"))
    };
}

async fn run(client: &mut Client, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    client.post_bytes(DOCS, headers, body).await
}

fn rows(answer: &Answer) -> Vec<OperationResult<'_>> {
    assert_eq!(answer.header("content-type"), Some("application/octet-stream"), "{answer:?}");
    read_results(&answer.bytes).unwrap()
}

fn codes(answer: &Answer) -> Vec<i32> {
    rows(answer).iter().map(|row| row.status_code.unwrap()).collect()
}

/// Returns the body of a row as text.
fn text(answer: &Answer, at: usize) -> String {
    let body = rows(answer).get(at).and_then(|row| row.resource_body).unwrap_or_default();
    String::from_utf8(body.to_vec()).unwrap()
}

fn operation(kind: i32) -> Operation<'static> {
    Operation { operation_type: Some(kind), resource_type: Some(2), ..Operation::default() }
}

const CREATE_1: &[u8] = br#"{"id":"1","pk":"a"}"#;

fn create_1() -> Operation<'static> {
    Operation { resource_body: Some(CREATE_1), ..operation(0) }
}

async fn with_items(ids: &[&str]) -> Client {
    let mut client = Client::with_container("").await;
    for id in ids {
        let body = format!(r#"{{"id":"{id}","pk":"a","n":1}}"#);
        assert_eq!(client.item("POST", "", &body).await.status, 201);
    }
    client
}

#[tokio::test]
async fn every_operation_of_a_batch_is_done() {
    let mut client = with_items(&["read", "replace", "patch", "delete"]).await;
    let done = run(&mut client, &ATOMIC, captured!("batch-every-operation")).await;
    assert_eq!((done.status, codes(&done)), (200, vec![201, 200, 201, 200, 200, 200, 204]));
    let patched = json::parse_document(text(&done, 4).as_bytes(), 9).unwrap();
    assert_eq!(patched.get("name"), Some(&Value::from("ü")));
    assert_eq!(patched.get("n"), Some(&Value::Int64(7)));
    let now = client.item("GET", "patch", "").await;
    for (at, row) in rows(&done).iter().enumerate() {
        assert_eq!((row.etag.is_some(), row.resource_body.is_some()), (at < 6, at < 6), "{row:?}");
        assert_eq!((row.sub_status_code, row.retry_after_milliseconds), (Some(0), None));
        assert!(row.request_charge.is_some_and(|charge| 1.0 <= charge), "{row:?}");
    }
    assert_eq!(rows(&done)[4].etag, now.header("etag"));
    assert_eq!(text(&done, 4), now.body);
    assert!(client.item("GET", "upsert", "").await.body.contains("\"n\":5"));
    assert_eq!(client.item("GET", "delete", "").await.status, 404);
}

#[tokio::test]
async fn a_failed_batch_says_why_in_its_rows_and_changes_nothing() {
    let mut client = with_items(&["read", "replace", "e"]).await;
    let before = client.everything().await;
    let conflict = "{\"Errors\":[\"Entity with the specified id already exists in the system.\"]}";
    for (body, want, at, error) in [
        (&captured!("batch-conflict")[..], vec![424, 409, 424], 1, conflict),
        (captured!("batch-etag-delete"), vec![424, 412], 1, "pre-condition is not met"),
        (captured!("batch-bad-not-json"), vec![424, 400], 1, "invalid JSON"),
    ] {
        let failed = run(&mut client, &ATOMIC, body).await;
        assert_eq!((failed.status, codes(&failed)), (207, want));
        assert!(text(&failed, at).contains(error), "{}", text(&failed, at));
        assert_eq!((text(&failed, 0), rows(&failed)[0].request_charge), (String::new(), Some(0.0)));
        assert_eq!(client.everything().await, before);
    }
}

#[tokio::test]
async fn writes_may_want_no_items() {
    let mut client = with_items(&[]).await;
    let done = run(&mut client, &ATOMIC, captured!("batch-no-content")).await;
    assert_eq!((done.status, codes(&done)), (200, vec![201, 201, 200, 200, 200, 204]));
    let bodies: Vec<bool> = rows(&done).iter().map(|row| row.resource_body.is_some()).collect();
    assert_eq!(bodies, [false, false, false, false, true, false]);
    assert!(rows(&done)[..5].iter().all(|row| row.etag.is_some()));
}

#[tokio::test]
async fn a_read_of_what_the_client_has_is_not_modified_and_the_writes_are_done() {
    let mut client = with_items(&["e"]).await;
    let etag = client.item("GET", "e", "").await.header("etag").unwrap().to_owned();
    let read = Operation { id: Some("e"), ..operation(2) };
    for (at, read) in [
        Operation { if_match: Some(&etag), ..read },
        Operation { if_none_match: Some(&etag), ..read },
    ]
    .into_iter()
    .enumerate()
    {
        let body = format!(r#"{{"id":"{at}","pk":"a"}}"#);
        let create = Operation { resource_body: Some(body.as_bytes()), ..operation(0) };
        let done = run(&mut client, &ATOMIC, &write_operations(&[create, read])).await;
        assert_eq!((done.status, codes(&done)), (207, vec![201, 304]));
        assert_eq!(client.item("GET", &at.to_string(), "").await.status, 200);
    }
}

#[tokio::test]
async fn an_expired_item_is_missing_in_a_batch() {
    let mut client = Client::with_container(r#","defaultTtl":5"#).await;
    let create = write_operations(&[create_1()]);
    assert_eq!(codes(&run(&mut client, &ATOMIC, &create).await), [201]);
    client.advance(5);
    let delete = Operation { id: Some("1"), ..operation(4) };
    let failed = run(&mut client, &ATOMIC, &write_operations(&[delete])).await;
    assert_eq!((failed.status, codes(&failed)), (207, vec![404]));
    assert_eq!(codes(&run(&mut client, &ATOMIC, &create).await), [201]);
}

#[tokio::test]
async fn operations_of_a_bulk_are_independent() {
    // The second request contains items in binary JSON.
    for (body, want) in [
        (
            &captured!("bulk-mixed")[..],
            [400, 400, 412, 412, 404, 409, 204, 200, 200, 200, 200, 201],
        ),
        (captured!("bulk-binary"), [400, 201, 200, 200, 200, 200, 204, 409, 404, 412, 412, 400]),
    ] {
        let mut client = Client::with_container(r#","defaultTtl":-1"#).await;
        let key = ("x-ms-documentdb-partitionkey", "[\"p1\"]");
        for id in ["i1", "i51", "i101", "i151", "i201", "i251"] {
            let item = format!(r#"{{"id":"{id}","pk":"p1","n":1}}"#);
            assert_eq!(client.ask("POST", DOCS, &[key], &item).await.status, 201);
        }
        let done = run(&mut client, &BULK, body).await;
        assert_eq!((done.status, codes(&done)), (207, want.to_vec()));
        for row in rows(&done) {
            let failed = row.resource_body.is_some_and(|body| body.starts_with(b"{\"Errors\":[\""));
            assert_eq!(failed, 400 <= row.status_code.unwrap(), "{row:?}");
        }
    }
}

#[tokio::test]
async fn operations_of_a_bulk_have_keys_of_any_type() {
    let mut client = with_items(&[]).await;
    let done = run(&mut client, &BULK, captured!("bulk-keys")).await;
    assert_eq!((done.status, codes(&done)), (200, vec![201; 5]));
    let number = Operation {
        partition_key: Some("[19.0]"),
        resource_body: Some(br#"{"id":"1","pk":19}"#),
        ..operation(0)
    };
    let done = run(&mut client, &BULK, &write_operations(&[number])).await;
    assert_eq!(codes(&done), [201]);
    let key = ("x-ms-documentdb-partitionkey", "[19]");
    assert_eq!(client.ask("GET", "/dbs/d/colls/c/docs/1", &[key], "").await.status, 200);
}

#[tokio::test]
async fn limits_are_those_of_the_service() {
    let mut client = with_items(&[]).await;
    let read = Operation { id: Some("1"), ..operation(2) };
    let refused = run(&mut client, &ATOMIC, &write_operations(&[read; 101])).await;
    assert!(refused.status == 400 && refused.body.contains("There are 101"), "{refused:?}");
    let refused = run(&mut client, &ATOMIC, &write_operations(&[])).await;
    assert!(refused.status == 400 && refused.body.contains("no operations"), "{refused:?}");
    let around = write_operations(&[Operation { resource_body: Some(&[b' '; 99_999]), ..read }]);
    let around = around.len() - 99_999;
    for (bytes, status) in [(2_202_010, 413), (2_202_011, 413), (1_000_000, 201)] {
        let item = format!(r#"{{"id":"1","pk":"a"{}}}"#, " ".repeat(bytes - around - 20));
        let create = Operation { resource_body: Some(item.as_bytes()), ..operation(0) };
        let answer = run(&mut client, &ATOMIC, &write_operations(&[create])).await;
        // Items of 2 MiB and more are refused, and requests above a separate limit.
        let found = if answer.status == 413 { 413 } else { codes(&answer)[0] };
        assert_eq!(found, status, "{bytes}");
    }
}

#[tokio::test]
async fn a_request_that_is_no_hybrid_row_is_refused() {
    let mut client = with_items(&["read"]).await;
    let before = client.everything().await;
    let body = captured!("batch-every-operation");
    assert_eq!(read_operations(body).unwrap().len(), 7);
    for headers in [ATOMIC, BULK] {
        for cut in [1, 5, 9, 11, 40, body.len() - 1] {
            let refused = run(&mut client, &headers, &body[..cut]).await;
            assert!(refused.status == 400 && refused.body.contains("HybridRow"), "{refused:?}");
        }
    }
    assert_eq!(client.everything().await, before);
}

#[tokio::test]
async fn an_operation_that_is_wrong_in_itself_fails_alone_in_a_bulk() {
    let mut client = with_items(&[]).await;
    let create = Operation { partition_key: Some("[\"a\"]"), ..create_1() };
    for (wrong, status, error) in [
        (Operation { operation_type: Some(3), ..create }, 400, "the unknown type 3"),
        (Operation { operation_type: None, ..create }, 400, "the unknown type -1"),
        (Operation { resource_type: Some(1), ..create }, 400, "not for a document"),
        (Operation { resource_body: None, ..create }, 400, "'Create' has no"),
        (Operation { resource_body: Some(b""), ..create }, 400, "invalid JSON"),
        (Operation { indexing_directive: Some("None"), ..create }, 400, "'None'"),
        (Operation { effective_partition_key: Some(b""), ..create }, 501, "effectivePartitionKey"),
        (Operation { binary_id: Some(b""), ..create }, 501, "binaryId"),
        (Operation { time_to_live_in_seconds: Some(5), ..create }, 501, "timeToLiveInSeconds"),
    ] {
        let upsert = Operation { operation_type: Some(20), ..create };
        let done = run(&mut client, &BULK, &write_operations(&[wrong, upsert])).await;
        let found = codes(&done);
        assert!(done.status == 207 && found[0] == status && found[1] < 300, "{found:?} {error}");
        assert!(text(&done, 0).contains(error), "{}", text(&done, 0));
    }
}

#[tokio::test]
async fn a_whole_bulk_that_is_refused_has_the_reason_in_each_row() {
    let mut client = with_items(&[]).await;
    let body = write_operations(&[create_1(); 3]);
    let missing = "/dbs/d/colls/none/docs";
    let refused = client.post_bytes(missing, &BULK, &body).await;
    assert_eq!((refused.status, codes(&refused)), (207, vec![404; 3]));
    for (at, row) in rows(&refused).iter().enumerate() {
        assert_eq!(row.sub_status_code, Some(1003));
        assert!(text(&refused, at).contains("Owner resource does not exist"));
    }
    // If a bulk is too large to be read, the response has one operation with the reason, as other
    // refused bulks have.
    let item = vec![b' '; 3_000_000];
    let large = write_operations(&[Operation { resource_body: Some(&item), ..create_1() }]);
    let refused = run(&mut client, &BULK, &large).await;
    assert_eq!((refused.status, codes(&refused)), (207, vec![413]));
    assert!(text(&refused, 0).contains("Request size is too large"), "{}", text(&refused, 0));
    assert_eq!(run(&mut client, &ATOMIC, &large).await.status, 413);
    // A batch fails as a whole, since the SDK shows that failure.
    let refused = client.post_bytes(missing, &ATOMIC, &body).await;
    assert_eq!(refused.code(), (404, 1003));
    // A bulk also fails as a whole, if the SDK handles the failure itself.
    let other = [("x-ms-documentdb-partitionkeyrangeid", "7"), BULK[1], BULK[2], BULK[3]];
    assert_eq!(run(&mut client, &other, &body).await.code(), (410, 1002));
}

#[tokio::test]
async fn a_bulk_without_throughput_is_told_when_to_come_again() {
    let mut client = Client::limited().await;
    assert_eq!(client.ask("POST", "/dbs", &[], r#"{"id":"d"}"#).await.status, 201);
    let definition = r#"{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}"#;
    assert_eq!(client.ask("POST", "/dbs/d/colls", &[], definition).await.status, 201);
    let item = format!(r#"{{"id":"1","pk":"a","x":"{}"}}"#, "y".repeat(1_900_000));
    assert_eq!(client.item("POST", "", &item).await.status, 201);
    // The response needs no operations: the SDK waits for the time in the header and ignores the
    // body.
    let refused = run(&mut client, &BULK, &write_operations(&[create_1()])).await;
    assert_eq!(refused.code(), (429, 3200), "{refused:?}");
    assert!(refused.header("x-ms-retry-after-ms").is_some(), "{refused:?}");
}
