//! Invalid HybridRow batches: truncated at every byte, or with wrong lengths, types, schemas and
//! counts. Each gets a documented response, uses bounded memory, and stores nothing.

use hybrid_row::{Operation, read_operations, read_results, write_operations};
use memory::Account;

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
const MB: usize = 1 << 20;
/// The segment header of a HybridRow stream, and the start of a record header, which is followed by
/// length and checksum.
const SEGMENT: [u8; 10] = [0x81, 0xf0, 0xd8, 0xff, 0x7f, 1, 10, 0, 0, 0];
const RECORD: [u8; 5] = [0x81, 0xf1, 0xd8, 0xff, 0x7f];
/// Start of a row that creates a document: version, schema, and columns that denote the operation.
const ROW: [u8; 14] = [0x81, 0x70, 0x54, 0xe1, 0x7f, 0x47, 0, 0, 0, 0, 2, 0, 0, 0];
const EVERY: &[u8] =
    include_bytes!("../../../hybrid-row/tests/captured/batch-every-operation.request");

/// Computes the checksum of a record, CRC-32, bit by bit.
fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            (sum >> 1) ^ (0xedb8_8320 & (sum & 1).wrapping_neg())
        })
    })
}

/// Returns a stream with a record for each of these rows.
fn stream(rows: &[&[u8]]) -> Vec<u8> {
    let mut out = SEGMENT.to_vec();
    for row in rows {
        out.extend_from_slice(&RECORD);
        out.extend_from_slice(&u32::try_from(row.len()).unwrap().to_le_bytes());
        out.extend_from_slice(&checksum(row).to_le_bytes());
        out.extend_from_slice(row);
    }
    out
}

/// Returns a row of a bulk request that creates an item in partition `a`.
fn create() -> Vec<u8> {
    [&ROW[..], b"\x05[\"a\"]", b"\x13{\"id\":\"1\",\"pk\":\"a\"}"].concat()
}

/// Returns the status codes of all operations, or the status code of the whole response if it has
/// none.
fn codes(answer: &Answer) -> Vec<i32> {
    match hybrid_row::is_hybrid_row(&answer.bytes) {
        true => {
            let rows = read_results(&answer.bytes).unwrap();
            rows.iter().map(|row| row.status_code.unwrap()).collect()
        }
        false => vec![answer.status.into()],
    }
}

/// Returns the text of a response, including the messages of its rows.
fn texts(answer: &Answer) -> String {
    String::from_utf8_lossy(&answer.bytes).into_owned()
}

async fn client() -> Client {
    let mut client = Client::with_container("").await;
    for id in ["read", "replace", "patch", "delete"] {
        let body = format!(r#"{{"id":"{id}","pk":"a","n":1}}"#);
        assert_eq!(client.item("POST", "", &body).await.status, 201);
    }
    client
}

#[test]
fn the_streams_of_these_tests_are_right() {
    let bytes = stream(&[&create()]);
    let read = read_operations(&bytes).unwrap();
    assert_eq!(write_operations(&read), bytes);
    assert_eq!((read.len(), read[0].partition_key), (1, Some("[\"a\"]")));
}

#[tokio::test]
async fn a_batch_cut_at_any_byte_changes_nothing() {
    let mut client = client().await;
    let before = client.everything().await;
    for cut in (1..EVERY.len()).filter(|cut| read_operations(&EVERY[..*cut]).is_err()) {
        for headers in [ATOMIC, BULK] {
            let refused = client.post_bytes(DOCS, &headers, &EVERY[..cut]).await;
            assert_eq!(refused.code(), (400, 0), "{cut}: {refused:?}");
            assert!(refused.body.contains("not valid HybridRow"), "{cut}: {refused:?}");
        }
    }
    assert_eq!(client.everything().await, before);
}

#[tokio::test]
async fn a_row_cut_at_any_byte_changes_nothing() {
    let mut client = client().await;
    let before = client.everything().await;
    let row = create();
    for cut in 0..row.len() {
        let body = stream(&[&create(), &row[..cut]]);
        for headers in [ATOMIC, BULK] {
            let refused = client.post_bytes(DOCS, &headers, &body).await;
            // Each row of a bulk contains the reason.
            assert!(codes(&refused).iter().all(|code| *code == 400), "{cut}: {refused:?}");
            assert!(texts(&refused).contains("not valid HybridRow"), "{cut}: {refused:?}");
        }
    }
    assert_eq!(client.everything().await, before);
}

#[tokio::test]
async fn a_row_with_any_other_byte_is_done_or_refused() {
    let mut client = client().await;
    let row = create();
    let mut before = client.everything().await;
    for at in 0..row.len() {
        for change in [1, 4, 0x80, 0xff] {
            let mut changed = row.clone();
            changed[at] ^= change;
            let answer = client.post_bytes(DOCS, &BULK, &stream(&[&changed])).await;
            let found = codes(&answer);
            let known = [201, 400, 404, 409, 501];
            assert!(found.len() == 1 && known.contains(&found[0]), "{at} ^ {change}: {answer:?}");
            let after = client.everything().await;
            assert_eq!(found[0] != 201, before == after, "{at} ^ {change}: {answer:?}");
            before = after;
        }
    }
}

/// Replaces bytes of a stream.
fn with(at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut changed = stream(&[&create()]);
    changed[at..at + bytes.len()].copy_from_slice(bytes);
    changed
}

/// Replaces bytes of a stream's row and updates the checksum.
fn with_in_row(at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut changed = create();
    changed[at..at + bytes.len()].copy_from_slice(bytes);
    stream(&[&changed])
}

#[tokio::test]
async fn wrong_lengths_schemas_and_types_change_nothing() {
    let mut client = client().await;
    let before = client.everything().await;
    let after_row = |bytes: &[u8]| stream(&[&[&create(), bytes].concat()]);
    let huge = b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
    let nested = |code: u8| after_row(&[&[code, 14, b'z'][..], &[0; 64]].concat());
    for (body, why) in [
        (with(1, &[0xf1]), "unexpected schema"),
        (with(5, &[0]), "a segment header has no length"),
        (with(6, &[9]), "the length of a segment header"),
        (with(6, &[0xff; 4]), "a length is negative"),
        (with(6, &[0xff, 0xff, 0xff, 0x7f]), "beyond the end"),
        (with(10, &[0x80]), "the version of a row"),
        (with(11, &[0x70, 0x54, 0xe1]), "unexpected schema"),
        (with(15, &[0xff; 4]), "a length is negative"),
        (with(15, &[0xff, 0xff, 0xff, 0x7f]), "beyond the end"),
        (with(19, &[0; 4]), "the checksum"),
        (with_in_row(0, &[0]), "the version of a row"),
        (with_in_row(1, &[0x71]), "unexpected schema"),
        (with_in_row(1, &[0; 4]), "unexpected schema"),
        (with_in_row(1, &[0xf1, 0xd8, 0xff, 0x7f]), "unexpected schema"),
        (with_in_row(5, &[0xc7]), "a presence bit belongs to no column"),
        (with_in_row(14, &[0x7f]), "beyond the end"),
        (with_in_row(20, &[0x7f]), "beyond the end"),
        (with_in_row(15, &[0xff]), "is not valid UTF-8"),
        (after_row(&[&[0x14, 9][..], huge].concat()), "beyond the end"),
        (after_row(&[&[0x14][..], &[0xff; 11]].concat()), "is too long"),
        (after_row(b"\x15\x09\x01e"), "a value of another type"),
        (after_row(b"\x07\x01\0\0\0\0"), "non-sparse"),
        (after_row(b"\x14\x09\x01e\x14\x09\x01e"), "occurs twice"),
        (nested(0), "unknown or nested"),
        (nested(0x22), "unknown or nested"),
        (nested(0x46), "unknown or nested"),
        (nested(0xff), "unknown or nested"),
    ] {
        for headers in [ATOMIC, BULK] {
            let refused = client.post_bytes(DOCS, &headers, &body).await;
            assert_eq!(codes(&refused), [400], "{why}: {refused:?}");
            assert!(texts(&refused).contains(why), "{why}: {}", texts(&refused));
        }
    }
    assert_eq!(client.everything().await, before);
}

#[tokio::test]
async fn a_million_operations_are_refused_and_take_no_memory() {
    let account = Account::new(64 * MB);
    let mut client = Client::with_memory(account.clone()).await;
    let before = client.everything().await;
    let record = stream(&[b""]).split_off(SEGMENT.len());
    let million = [&SEGMENT[..], &record.repeat(1_000_000)].concat();
    // The number of records that fit into the largest permitted request.
    let most = [&SEGMENT[..], &record.repeat(169_000)].concat();
    let segments = SEGMENT.repeat(200_000);
    let columns = [&create()[..], &b"\x01\x0ez".repeat(600_000)].concat();
    let unknown = stream(&[&columns]);
    let create = create();
    let hundred_and_one = stream(&vec![create.as_slice(); 101]);
    for (body, status, why) in [
        (&million, 413, "Request size is too large"),
        (&most, 400, "There are 169000"),
        (&segments, 400, "Batch request has no operations"),
        (&hundred_and_one, 400, "There are 101"),
    ] {
        for headers in [ATOMIC, BULK] {
            let refused = client.post_bytes(DOCS, &headers, body).await;
            // The response has a single status: that of the whole request, or of one operation if
            // the bulk is too large to be read.
            assert_eq!(codes(&refused), [status], "{why}: {refused:?}");
            assert!(texts(&refused).contains(why), "{why}: {refused:?}");
            let next = client.ask("GET", "/dbs", &[], "").await;
            assert_eq!(next.status, 200);
            assert!(account.used_bytes() < MB, "{why}: {}", account.used_bytes());
        }
    }
    assert_eq!(client.everything().await, before);
    assert!(account.peak_bytes() < 16 * MB, "{}", account.peak_bytes());
    // Unknown columns are skipped, and the operation is executed.
    let done = client.post_bytes(DOCS, &BULK, &unknown).await;
    assert_eq!(codes(&done), [201], "{done:?}");
}

#[tokio::test]
async fn an_operation_with_values_out_of_bounds_is_refused() {
    let mut client = client().await;
    let before = client.everything().await;
    let whole = Operation {
        operation_type: Some(0),
        resource_type: Some(2),
        partition_key: Some("[\"a\"]"),
        resource_body: Some(br#"{"id":"1","pk":"a"}"#),
        ..Operation::default()
    };
    let deep = format!(r#"{{"id":"1","pk":"a","x":{}{}}}"#, "[".repeat(5000), "]".repeat(5000));
    let long = "x".repeat(1024);
    let keys = format!("[{}]", vec!["1"; 5000].join(","));
    for (operation, status) in [
        (Operation { operation_type: Some(i32::MIN), ..whole }, 400),
        (Operation { operation_type: Some(i32::MAX), ..whole }, 400),
        (Operation { resource_type: Some(-1), ..whole }, 400),
        (Operation { resource_body: Some(deep.as_bytes()), ..whole }, 400),
        (Operation { resource_body: Some(b"\x80"), ..whole }, 400),
        (Operation { resource_body: Some(b"\xff\xfe"), ..whole }, 400),
        (Operation { partition_key: None, ..whole }, 400),
        (Operation { partition_key: Some(""), ..whole }, 400),
        (Operation { partition_key: Some("a"), ..whole }, 400),
        (Operation { partition_key: Some("[\"a\""), ..whole }, 400),
        (Operation { partition_key: Some("[[\"a\"]]"), ..whole }, 400),
        (Operation { partition_key: Some(&keys), ..whole }, 400),
        (Operation { operation_type: Some(2), id: Some(&long), ..whole }, 400),
        (Operation { operation_type: Some(2), id: Some(""), ..whole }, 400),
        (Operation { operation_type: Some(4), id: None, ..whole }, 400),
        (Operation { operation_type: Some(1), id: Some("read"), ..whole }, 400),
        (
            Operation { operation_type: Some(5), id: Some("read"), if_match: Some(&long), ..whole },
            412,
        ),
    ] {
        let answer = client.post_bytes(DOCS, &BULK, &write_operations(&[operation])).await;
        assert_eq!(codes(&answer), [status], "{operation:?}: {}", texts(&answer));
        assert_eq!(client.everything().await, before, "{operation:?}");
    }
}
