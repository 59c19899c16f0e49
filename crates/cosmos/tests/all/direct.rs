//! Direct mode: requests as frames are the same requests as those of HTTP, with the same rights and
//! the same expiry, and a client that breaks the protocol harms only itself.

use cosmos::{DirectMode, Keys, Right, WELL_KNOWN_KEY};
use document::Value;
use rntbd::{
    AnswerToken, Kind,
    OperationType::{
        self, Batch, Create, Delete, Head, Patch, Query, Read, ReadFeed, Replace, Upsert,
    },
    RequestToken, ResourceType,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::client::{
    Client, date,
    frames::{Frame, FrameAnswer, FrameClient, context_bytes, tls},
    sign,
};

const READ_KEY: &str = "cmVhZGtleXJlYWRrZXlyZWFka2V5";

fn item(operation: OperationType, id: &str) -> Frame {
    Frame::of_item(operation, id)
}

/// Checks what a client needs of every answer, errors included.
fn check_tokens(answer: &FrameAnswer) {
    let lsn = answer.number(AnswerToken::Lsn);
    assert!(lsn.is_some_and(|lsn| 0 <= lsn), "{answer:?}");
    assert_eq!(answer.number(AnswerToken::LocalLsn), lsn, "{answer:?}");
    assert_eq!(answer.number(AnswerToken::QuorumAckedLocalLsn), lsn, "{answer:?}");
    assert_eq!(answer.number(AnswerToken::CurrentReplicaSetSize), Some(1), "{answer:?}");
    let session = answer.text(AnswerToken::SessionToken);
    assert_eq!(session, format!("-1#{}", lsn.unwrap()), "{answer:?}");
}

#[tokio::test]
async fn items_are_written_and_read() {
    let mut client = Client::with_container("").await;
    let mut frames = FrameClient::beside(&mut client).await;
    let created = frames.ask(&item(Create, "").body(r#"{"id":"1","pk":"a","n":1}"#)).await;
    assert_eq!(created.code(), (201, 0), "{created:?}");
    let etag = created.text(AnswerToken::ETag);
    assert!(created.body.contains(&etag.trim_matches('"').to_owned()));
    assert_eq!(created.text(AnswerToken::PartitionKeyRangeId), "0");
    assert_eq!(created.text(AnswerToken::OwnerFullName), "dbs/d/colls/c");
    let matches = |frame: Frame, etag: &str| frame.with(RequestToken::Match, etag.as_bytes());
    let minimal = item(Upsert, "").with(RequestToken::ReturnPreference, &[1]);
    let session = item(Read, "1").with(RequestToken::SessionToken, b"0:-1#999999");
    let patch = r#"{"operations":[{"op":"incr","path":"/n","value":4}]}"#;
    for (frame, want) in [
        (item(Create, "").body(r#"{"id":"1","pk":"a"}"#), (409, 0)),
        (item(Create, "").body(r#"{"pk":"a"}"#), (400, 0)),
        (item(Create, "").body(r#"{"id":"1\\2","pk":"a"}"#), (400, 0)),
        (item(Read, "1"), (200, 0)),
        (matches(item(Read, "1"), &etag), (304, 0)),
        (item(Read, "none"), (404, 0)),
        (session, (404, 1002)),
        (item(Upsert, "").body(r#"{"id":"2","pk":"a"}"#), (201, 0)),
        (minimal.body(r#"{"id":"1","pk":"a","n":2}"#), (200, 0)),
        (matches(item(Replace, "1"), &etag).body(r#"{"id":"1","pk":"a"}"#), (412, 0)),
        (matches(item(Replace, "1"), "*").body(r#"{"id":"1","pk":"a","n":3}"#), (200, 0)),
        (item(Patch, "1").body(patch), (200, 0)),
        (item(Delete, "2"), (204, 0)),
        (item(Delete, "2"), (404, 0)),
    ] {
        let answer = frames.ask(&frame).await;
        assert_eq!(answer.code(), want, "{frame:?} {answer:?}");
        check_tokens(&answer);
        let empty = matches!(want.0, 204 | 304)
            || frame.tokens.iter().any(|(token, _)| *token == RequestToken::ReturnPreference);
        assert_eq!(answer.body.is_empty(), empty, "{answer:?}");
    }
    let read = frames.ask(&item(Read, "1")).await;
    assert_eq!(read.document().get("n"), Some(&Value::Int64(7)));
    // The same item through the gateway.
    assert_eq!(client.item("GET", "1", "").await.bytes, read.bytes);
}

#[tokio::test]
async fn no_answer_is_ahead_of_the_reads_of_its_container() {
    let mut client = Client::with_container("").await;
    let mut frames = FrameClient::beside(&mut client).await;
    assert_eq!(frames.ask(&item(Create, "").body(r#"{"id":"1","pk":"a"}"#)).await.status, 201);
    // A commit elsewhere.
    assert_eq!(client.ask("POST", "/dbs", &[], r#"{"id":"other"}"#).await.status, 201);
    let read = frames.ask(&item(Read, "1")).await.number(AnswerToken::Lsn).unwrap();
    let token = format!("0:-1#{read}");
    let in_session = |frame: Frame| frame.with(RequestToken::SessionToken, token.as_bytes());
    for (frame, want, lsn) in [
        (item(Create, "").body(vec![b' '; 4 << 20]), 413, 0),
        (in_session(item(Create, "").body(vec![b' '; 4 << 20])), 413, read),
        (item(Create, "").body("{"), 400, read),
        (item(Read, "1").authorized("x".to_owned()), 401, 0),
        (in_session(item(Read, "2")), 404, read),
    ] {
        let answer = frames.ask(&frame).await;
        assert_eq!(answer.status, want, "{answer:?}");
        assert_eq!(answer.number(AnswerToken::Lsn), Some(lsn), "{answer:?}");
        check_tokens(&answer);
    }
}

#[tokio::test]
async fn reads_have_a_level_up_to_that_of_the_account() {
    let mut client = Client::with_container("").await;
    let mut frames = FrameClient::beside(&mut client).await;
    assert_eq!(frames.ask(&item(Create, "").body(r#"{"id":"1","pk":"a"}"#)).await.status, 201);
    // Strong, BoundedStaleness, Session, Eventual and ConsistentPrefix.
    for (level, want) in [400, 400, 200, 200, 200].into_iter().enumerate() {
        let level = u8::try_from(level).unwrap();
        let of_level = |frame: Frame| frame.with(RequestToken::ConsistencyLevel, &[level]);
        let query = item(Query, "").body(r#"{"query":"SELECT * FROM c"}"#);
        for frame in [item(Read, "1"), query] {
            let answer = frames.ask(&of_level(frame)).await;
            assert_eq!(answer.status, want, "{level} {answer:?}");
            check_tokens(&answer);
        }
        // Databases are always read at the level Strong, which clients demand on any account.
        let database = Frame::new(ResourceType::Database, Read);
        let database = of_level(database.named(RequestToken::DatabaseName, "d"));
        assert_eq!(frames.ask(&database).await.status, 200, "{level}");
    }
}

#[tokio::test]
async fn ids_are_names_as_they_are() {
    let mut client = Client::with_container("").await;
    let mut frames = FrameClient::beside(&mut client).await;
    for id in ["a b", "trailing ", "q?x", "h#x", "p%20", "%E9%B1%80", "ü鱀", "a&b=c+d", "a/b"] {
        let body = format!(r#"{{"id":"{id}","pk":"a"}}"#);
        assert_eq!(frames.ask(&item(Create, "").body(&body)).await.status, 201, "{id}");
        let read = frames.ask(&item(Read, id)).await;
        assert_eq!(read.document().get("id"), Some(&Value::from(id)), "{read:?}");
        assert_eq!(frames.ask(&item(Replace, id).body(&body)).await.status, 200, "{id}");
        assert_eq!(frames.ask(&item(Delete, id)).await.status, 204, "{id}");
    }
}

#[tokio::test]
async fn queries_feeds_and_batches_have_their_tokens() {
    let mut client = Client::with_container("").await;
    let mut frames = FrameClient::beside(&mut client).await;
    for n in 0..5 {
        let body = format!(r#"{{"id":"{n}","pk":"a","n":{n}}}"#);
        assert_eq!(frames.ask(&item(Create, "").body(body)).await.status, 201);
    }
    let query = item(Query, "")
        .with(RequestToken::PageSize, &2_u32.to_le_bytes())
        .body(r#"{"query":"SELECT VALUE c.n FROM c ORDER BY c.n"}"#);
    let (mut page, mut seen) = (query.clone(), String::new());
    loop {
        let answer = frames.ask(&page).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let count = answer.number(AnswerToken::ItemCount).unwrap();
        assert_eq!(answer.document().get("_count"), Some(&Value::Int64(count)));
        seen.push_str(answer.body.split("\"Documents\":").nth(1).unwrap());
        if answer.token(AnswerToken::ContinuationToken).is_none() {
            break;
        }
        let token = answer.text(AnswerToken::ContinuationToken);
        page = query.clone().with(RequestToken::ContinuationToken, token.as_bytes());
    }
    let digits: String = seen.chars().filter(char::is_ascii_digit).collect();
    assert_eq!(digits, "01223241", "three pages, each with its count: {seen}");
    // A query of a range needs no header that permits it to cross partitions.
    let whole = item(Query, "")
        .without(RequestToken::PartitionKey)
        .with(RequestToken::PartitionKeyRangeId, b"0")
        .with(RequestToken::PageSize, &u32::MAX.to_le_bytes())
        .body(r#"{"query":"SELECT VALUE COUNT(1) FROM c"}"#);
    assert!(frames.ask(&whole).await.body.contains("[5]"));
    let bounds = |start: &[u8], end: &[u8], kind: u8| {
        whole
            .clone()
            .with(RequestToken::StartEpk, start)
            .with(RequestToken::EndEpk, end)
            .with(RequestToken::ReadFeedKeyType, &[kind])
    };
    assert!(frames.ask(&bounds(b"", b"FF", 3)).await.body.contains("[5]"));
    assert!(frames.ask(&bounds(b"", &[0xff], 2)).await.body.contains("[5]"));
    assert_eq!(frames.ask(&bounds(b"", b"\xff\xfe", 3)).await.status, 400);
    let mut feed = item(ReadFeed, "").with(RequestToken::AIm, b"Incremental Feed");
    let changes = frames.ask(&feed).await;
    assert_eq!(changes.number(AnswerToken::ItemCount), Some(5), "{changes:?}");
    feed = feed.with(RequestToken::Match, changes.text(AnswerToken::ETag).as_bytes());
    let nothing = frames.ask(&feed).await;
    assert_eq!((nothing.status, nothing.number(AnswerToken::ItemCount)), (304, Some(0)));
    assert!(nothing.token(AnswerToken::ETag).is_some());
    let operations =
        r#"[{"operationType":"Read","id":"1"},{"operationType":"Delete","id":"none"}]"#;
    let batch = item(Batch, "").with(RequestToken::IsBatchAtomic, &[1]).body(operations);
    let failed = frames.ask(&batch).await;
    assert_eq!((failed.status, failed.body.matches("404").count()), (207, 1), "{failed:?}");
}

#[tokio::test]
async fn items_expire_at_their_second_on_every_path() {
    let mut client = Client::with_container(r#","defaultTtl":-1"#).await;
    let mut frames = FrameClient::beside(&mut client).await;
    let ages = [999, 1];
    for (round, ms) in ages.into_iter().enumerate() {
        let body = format!(r#"{{"id":"x{round}","pk":"a","ttl":1}}"#);
        if round == 0 {
            assert_eq!(frames.ask(&item(Create, "").body(&body)).await.status, 201);
        }
        client.kit.move_to(client.kit.now_ms() + ms);
        let lives = round == 0;
        let counted = |answer: &FrameAnswer| answer.number(AnswerToken::ItemCount).unwrap();
        let read = frames.ask(&item(Read, "x0")).await;
        assert_eq!(read.status, if lives { 200 } else { 404 }, "{read:?}");
        let query = item(Query, "").body(r#"{"query":"SELECT * FROM c"}"#);
        assert_eq!(counted(&frames.ask(&query).await), i64::from(lives));
        assert_eq!(counted(&frames.ask(&item(ReadFeed, "")).await), i64::from(lives));
        let feed = item(ReadFeed, "").with(RequestToken::AIm, b"Incremental Feed");
        assert_eq!(counted(&frames.ask(&feed).await), i64::from(lives));
        if lives {
            continue;
        }
        let operations = r#"[{"operationType":"Read","id":"x0"}]"#;
        let batch = item(Batch, "").with(RequestToken::IsBatchAtomic, &[1]).body(operations);
        assert!(frames.ask(&batch).await.body.contains("404"));
        let patch = r#"{"operations":[{"op":"set","path":"/n","value":4}]}"#;
        assert_eq!(frames.ask(&item(Patch, "x0").body(patch)).await.status, 404);
        let body = r#"{"id":"x0","pk":"a"}"#;
        assert_eq!(frames.ask(&item(Replace, "x0").body(body)).await.status, 404);
        assert_eq!(frames.ask(&item(Delete, "x0")).await.status, 404);
        assert_eq!(frames.ask(&item(Create, "").body(body)).await.status, 201, "the id is free");
    }
}

#[tokio::test]
async fn senders_have_the_rights_that_they_have_in_http() {
    let keys = Keys::new(&[(WELL_KNOWN_KEY, Right::Write), (READ_KEY, Right::Read)]).unwrap();
    let mut client = Client::with_keys(keys).await;
    let path = r#"{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}"#;
    assert_eq!(client.ask("POST", "/dbs", &[], r#"{"id":"d"}"#).await.status, 201);
    assert_eq!(client.ask("POST", "/dbs/d/colls", &[], path).await.status, 201);
    let mut frames = FrameClient::beside(&mut client).await;
    let body = r#"{"id":"p%20","pk":"a"}"#;
    assert_eq!(frames.ask(&item(Create, "").body(body)).await.status, 201);
    let now = date(0);
    let other = item(Read, "other").sign(WELL_KNOWN_KEY, &now);
    let decoded = item(Read, "p ").sign(WELL_KNOWN_KEY, &now);
    let verb = item(Delete, "p%20").sign(WELL_KNOWN_KEY, &now);
    let kind = sign(WELL_KNOWN_KEY, "get", "colls", "dbs/d/colls/c/docs/p%20", &now);
    let old = item(Read, "p%20").sign(WELL_KNOWN_KEY, &date(-3_600_000));
    for authorization in [other, decoded, verb, kind, old, String::new(), "x".to_owned()] {
        let frame = item(Read, "p%20").authorized(authorization);
        let answer = frames.ask(&frame).await;
        assert!(matches!(answer.status, 401 | 403), "{frame:?} {answer:?}");
        assert!(answer.body.starts_with(r#"{"code":"#), "{answer:?}");
        check_tokens(&answer);
    }
    let body = r#"{"id":"new","pk":"a"}"#;
    for (frame, want) in [
        (item(Read, "p%20"), 200),
        (item(Query, "").body(r#"{"query":"SELECT * FROM c"}"#), 200),
        (item(Create, "").body(body), 403),
        (item(Upsert, "").body(body), 403),
        (item(Replace, "p%20").body(body), 403),
        (item(Patch, "p%20").body(body), 403),
        (item(Delete, "p%20"), 403),
        (item(Batch, "").body("[]"), 403),
    ] {
        let signed = frame.sign(READ_KEY, &date(0));
        let answer = frames.ask(&frame.clone().authorized(signed)).await;
        assert_eq!(answer.status, want, "{frame:?} {answer:?}");
    }
    assert_eq!(frames.ask(&item(Read, "new")).await.status, 404, "nothing was written");
}

#[tokio::test]
async fn stale_caches_are_told() {
    let mut client = Client::with_container("").await;
    let mut frames = FrameClient::beside(&mut client).await;
    let stale = item(Read, "1").with(RequestToken::CollectionRid, b"AAAAAIAAAAA=");
    let answer = frames.ask(&stale).await;
    assert_eq!(answer.code(), (410, 1000), "{answer:?}");
    assert!(answer.body.starts_with(r#"{"code":"Gone""#), "{answer:?}");
    check_tokens(&answer);
    let write = item(Create, "")
        .with(RequestToken::IntendedCollectionRid, b"AAAAAIAAAAA=")
        .body(r#"{"id":"1","pk":"a"}"#);
    assert_eq!(frames.ask(&write).await.code(), (410, 1000));
    assert_eq!(frames.ask(&item(Read, "1")).await.status, 404, "nothing was written");
    let rid = client.ask("GET", "/dbs/d/colls/c", &[], "").await.text("_rid");
    let current = item(Read, "1").with(RequestToken::CollectionRid, rid.as_bytes());
    assert_eq!(frames.ask(&current).await.code(), (404, 0));
    let range = item(Query, "")
        .with(RequestToken::PartitionKeyRangeId, b"7")
        .body(r#"{"query":"SELECT * FROM c"}"#);
    assert_eq!(frames.ask(&range).await.code(), (410, 1007));
}

#[tokio::test]
async fn resources_other_than_items_are_read() {
    let mut client = Client::with_container("").await;
    let mut frames = FrameClient::beside(&mut client).await;
    let strong = |frame: Frame| frame.with(RequestToken::ConsistencyLevel, &[0]);
    let database = |operation| Frame::new(ResourceType::Database, operation);
    let named =
        |operation, name: &str| strong(database(operation).named(RequestToken::DatabaseName, name));
    let containers = Frame::new(ResourceType::Collection, ReadFeed);
    let containers = containers.named(RequestToken::DatabaseName, "d");
    let container = Frame::new(ResourceType::Collection, Head)
        .named(RequestToken::DatabaseName, "d")
        .named(RequestToken::CollectionName, "c");
    let script = Frame::new(ResourceType::StoredProcedure, OperationType::ExecuteJavaScript)
        .named(RequestToken::DatabaseName, "d")
        .named(RequestToken::CollectionName, "c")
        .named(RequestToken::StoredProcedureName, "s");
    let query = r#"{"query":"SELECT * FROM c WHERE c.id = 'd'"}"#;
    for (frame, want, part) in [
        (named(Read, "d"), 200, r#""id":"d""#),
        (named(Read, "none"), 404, "NotFound"),
        (strong(database(ReadFeed)), 200, r#""Databases":[{"#),
        (strong(database(Query)).body(query), 200, r#""_count":1"#),
        (strong(containers), 200, r#""DocumentCollections":[{"#),
        (strong(container.clone()), 200, ""),
        (strong(script).body("[]"), 501, "stored procedures"),
        // An item's level may not exceed the account's, as in HTTP.
        (strong(item(Read, "1")), 400, "ConsistencyLevel Strong"),
        (item(Read, "1").with(RequestToken::ConsistencyLevel, &[9]), 400, "Invalid value '9'"),
        (item(Read, "1\n"), 404, "NotFound"),
        (item(Read, "1").with(RequestToken::SessionToken, b"0:\n1"), 400, "control character"),
        (Frame::new(ResourceType::Database, Batch).body("[]"), 405, "not supported"),
        (Frame::new(ResourceType::Database, Read), 400, "names"),
    ] {
        let answer = frames.ask(&frame).await;
        assert_eq!(answer.status, want, "{frame:?} {answer:?}");
        assert!(answer.body.contains(part), "{frame:?} {answer:?}");
        assert_eq!(answer.body.is_empty(), part.is_empty(), "{answer:?}");
        check_tokens(&answer);
    }
}

#[tokio::test]
async fn resource_ids_denote_resources_without_names() {
    let mut client = Client::with_container("").await;
    let mut frames = FrameClient::beside(&mut client).await;
    assert_eq!(frames.ask(&item(Create, "").body(r#"{"id":"1","pk":"a"}"#)).await.status, 201);
    let read = frames.ask(&item(Read, "1")).await.document();
    let rid = read.get("_rid").and_then(|rid| rid.as_ref().as_str()).unwrap().to_owned();
    let bytes =
        base64::Engine::decode(&base64::engine::general_purpose::STANDARD, rid.replace('-', "/"));
    let now = date(0);
    let frame = Frame::new(ResourceType::Document, Read)
        .with(RequestToken::ResourceId, &bytes.unwrap())
        .with(RequestToken::PartitionKey, b"[\"a\"]");
    let signed = sign(WELL_KNOWN_KEY, "get", "docs", &rid.to_ascii_lowercase(), &now);
    let answer = frames.ask(&frame.authorized(signed)).await;
    assert_eq!(answer.document().get("id"), Some(&Value::from("1")), "{answer:?}");
}

#[tokio::test]
async fn a_hundred_requests_are_answered_in_any_order() {
    let mut client = Client::with_container("").await;
    let mut frames = FrameClient::beside(&mut client).await;
    let mut all = Vec::new();
    for number in 1..=300 {
        let body = format!(r#"{{"id":"{number}","pk":"a","text":"{}"}}"#, "x".repeat(500));
        all.extend(item(Upsert, "").body(body).bytes(number));
    }
    let (mut reader, mut writer) = tokio::io::split(&mut frames.stream);
    let written = async {
        writer.write_all(&all).await.unwrap();
        writer.flush().await.unwrap();
    };
    let mut bytes = Vec::new();
    let read = async {
        let mut found = std::collections::BTreeSet::new();
        while found.len() < 300 {
            reader.read_buf(&mut bytes).await.unwrap();
            while let Some(head) = bytes.first_chunk() {
                let head = rntbd::AnswerHead::read(head, 1 << 20).unwrap();
                let end = rntbd::HEAD_BYTES + head.tokens_len;
                let Some(len) = bytes.get(end..end + 4) else { break };
                let whole = end + 4 + u32::from_le_bytes(len.try_into().unwrap()) as usize;
                if bytes.len() < whole {
                    break;
                }
                let mut tokens = rntbd::Tokens::new(&bytes[rntbd::HEAD_BYTES..end]);
                let id = tokens.find_map(|token| {
                    let token = token.unwrap();
                    (token.id == 0x35).then(|| token.ulong().unwrap())
                });
                assert_eq!(head.status, 201);
                assert!(found.insert(id.unwrap()), "{id:?} is answered twice");
                bytes.drain(..whole);
            }
        }
        found
    };
    let (_, found) = tokio::join!(written, read);
    assert_eq!(found.into_iter().collect::<Vec<_>>(), (1..=300).collect::<Vec<_>>());
}

#[tokio::test]
async fn bodies_are_bounded_and_refused_ones_are_skipped() {
    let mut client = Client::with_settings(|settings| cosmos::Settings {
        max_body_bytes: 64 * 1024,
        ..settings
    })
    .await;
    assert_eq!(client.ask("POST", "/dbs", &[], r#"{"id":"d"}"#).await.status, 201);
    let definition = r#"{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}"#;
    assert_eq!(client.ask("POST", "/dbs/d/colls", &[], definition).await.status, 201);
    let mut frames = FrameClient::beside(&mut client).await;
    let text = |len: usize| format!(r#"{{"id":"1","pk":"a","text":"{}"}}"#, "x".repeat(len));
    let large = item(Create, "").body(text(70_000));
    let answer = frames.ask(&large).await;
    assert_eq!(answer.status, 413, "{answer:?}");
    let denied = large.clone().authorized("type=master&ver=1.0&sig=eA==".to_owned());
    assert_eq!(frames.ask(&denied).await.status, 401);
    assert_eq!(frames.ask(&item(Create, "").body(text(60_000))).await.status, 201);
    assert_eq!(frames.ask(&item(Read, "1")).await.status, 200);
}

#[tokio::test]
async fn what_breaks_the_protocol_closes_the_connection() {
    let mut client = Client::with_container("").await;
    let good = item(Create, "").body(r#"{"id":"1","pk":"a"}"#).bytes(1);
    let length = |len: u32| {
        let mut bytes = good.clone();
        bytes[..4].copy_from_slice(&len.to_le_bytes());
        bytes
    };
    let twice = item(Create, "")
        .with(RequestToken::DatabaseName, b"d")
        .body(r#"{"id":"1","pk":"a"}"#)
        .bytes(1);
    let two_leaves = item(Read, "1").with(RequestToken::TriggerName, b"t").bytes(1);
    let mut kind = good.clone();
    let at = kind.windows(3).position(|token| token == [0x15, 0, 8]).unwrap();
    kind[at + 2] = 7;
    let mut incomplete = Vec::new();
    let mut frame = rntbd::FrameWriter::request(&mut incomplete, 3, 3, [0; 16]);
    assert!(frame.push(2, Kind::Byte, &[0]));
    frame.finish(None);
    for (what, bytes) in [
        ("length 0", length(0)),
        ("length 23", length(23)),
        ("length 2^31", length(1 << 31)),
        ("too long", length(200_000)),
        ("a token twice", twice),
        ("names of two kinds", two_leaves),
        ("a token of another kind", kind),
        ("required tokens missing", incomplete),
        ("a second context", context_bytes()),
        ("http", b"GET / HTTP/1.1\r\nHost: test\r\n\r\n".to_vec()),
    ] {
        let mut frames = FrameClient::beside(&mut client).await;
        assert!(frames.breaks(&bytes).await, "{what}");
    }
    for len in 0..good.len() {
        let mut frames = FrameClient::beside(&mut client).await;
        frames.stream.write_all(&good[..len]).await.unwrap();
        frames.stream.shutdown().await.unwrap();
        let mut rest = Vec::new();
        let _ = frames.stream.read_to_end(&mut rest).await;
        assert!(rest.is_empty(), "{len}");
    }
    // Requests before a context, and contexts that are refused.
    let mut stream = tls(&mut client).await;
    stream.write_all(&good).await.unwrap();
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest).await;
    assert!(rest.is_empty());
    let mut stream = tls(&mut client).await;
    let mut context = context_bytes();
    let at = context.windows(4).position(|bytes| bytes == [0, 0, 2, 1]).unwrap();
    context[at + 3] = 9;
    stream.write_all(&context).await.unwrap();
    let _ = stream.read_to_end(&mut rest).await;
    let refusal = String::from_utf8_lossy(&rest);
    assert!(refusal.contains("protocol version"), "{refusal}");
    let mut frames = FrameClient::beside(&mut client).await;
    assert_eq!(frames.ask(&item(Read, "1")).await.status, 404, "nothing was written");
}

#[tokio::test]
async fn http_is_served_at_the_same_port() {
    let mut client = Client::with_container("").await;
    let mut stream = tls(&mut client).await;
    // The first bytes arrive one by one.
    for byte in b"GET /_explorer/emulator.pem HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n" {
        stream.write_all(&[*byte]).await.unwrap();
        stream.flush().await.unwrap();
    }
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    let off = |settings| cosmos::Settings { direct: None, ..settings };
    let mut client = Client::with_settings(off).await;
    let mut stream = tls(&mut client).await;
    stream.write_all(&context_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    assert!(!answer.starts_with(&[0, 0]) && !answer.windows(3).any(|part| part == b"ebb"));
}

#[tokio::test]
async fn requests_end_before_their_connection_when_the_server_stops() {
    let mut client = Client::with_container("").await;
    let mut frames = FrameClient::beside(&mut client).await;
    let body = r#"{"id":"1","pk":"a"}"#;
    assert_eq!(frames.ask(&item(Create, "").body(body)).await.status, 201);
    client.stop.send_replace(true);
    assert!(frames.answer().await.is_none(), "an idle connection is closed");
}

#[tokio::test]
async fn addresses_name_the_port_that_the_client_reached() {
    let mut client = Client::with_container("").await;
    let rid = client.ask("GET", "/dbs/d/colls/c", &[], "").await.text("_rid");
    let database = client.ask("GET", "/dbs/d", &[], "").await.text("_rid");
    let encoded = |text: &str| text.replace('=', "%3d").replace('+', "%2b");
    let of_range = |range: &str| {
        format!(
            "//addresses/?$resolveFor=dbs%2f{}%2fcolls%2f{}%2fdocs&$filter=protocol%20eq%20rntbd&\
             $partitionKeyRangeIds={range}",
            encoded(&database),
            encoded(&rid)
        )
    };
    let account = "//addresses/?$resolveFor=dbs&$filter=protocol%20eq%20rntbd";
    let now = date(0);
    let signed = |kind: &str, link: &str| sign(WELL_KNOWN_KEY, "get", kind, link, &now);
    let of_docs = signed("docs", &rid.to_lowercase());
    let of_dbs = signed("dbs", "");
    for (path, authorization, want, part) in [
        (account.to_owned(), &of_dbs, 200, "rntbd://test:1/apps/ebb/"),
        (of_range("0"), &of_docs, 200, "rntbd://test:1/apps/ebb/"),
        (of_range("7"), &of_docs, 410, "no partition key range '7'"),
        (of_range("0"), &of_dbs, 401, "Unauthorized"),
        (account.to_owned(), &of_docs, 401, "Unauthorized"),
        (of_range("0"), &String::new(), 401, "Unauthorized"),
        ("//addresses/?$resolveFor=x".to_owned(), &of_dbs, 400, "$resolveFor"),
    ] {
        let headers = [("x-ms-date", now.as_str()), ("authorization", authorization)];
        let answer = client.send("GET", &path, &headers, "").await;
        assert_eq!(answer.status, want, "{path} {answer:?}");
        assert!(answer.body.contains(part), "{path} {answer:?}");
        if want == 200 {
            assert_eq!(answer.body.matches("physcialUri").count(), 2, "{answer:?}");
            assert_eq!(answer.body.matches(r#""isPrimary":true"#).count(), 1, "{answer:?}");
            let range = if path == account { "M" } else { "0" };
            let range = format!(r#""partitionKeyRangeId":"{range}""#);
            assert_eq!(answer.body.matches(&range).count(), 2, "{answer:?}");
        }
    }
    for (direct, want, part) in [
        (None, 400, "ConnectionMode.Gateway"),
        (
            Some(DirectMode { advertise: Some("db.example:5000".to_owned()) }),
            200,
            "rntbd://db.example:5000/apps/ebb/services/owner/",
        ),
    ] {
        let change = |settings| cosmos::Settings { direct, ..settings };
        let mut client = Client::with_settings(change).await;
        let headers = [("x-ms-date", now.as_str()), ("authorization", of_dbs.as_str())];
        let answer = client.send("GET", account, &headers, "").await;
        assert_eq!(answer.status, want, "{answer:?}");
        assert!(answer.body.contains(part), "{answer:?}");
    }
}
