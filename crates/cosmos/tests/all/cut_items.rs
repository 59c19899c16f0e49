//! Large items in the portal's lists are truncated on request; other clients always get whole
//! items.

use auth::Right;
use cosmos::{Forwarded, LocalEndpoint};
use document::{Document, Value, json};
use test_kit::Kit;
use tokio::net::{TcpListener, TcpStream};

use crate::{
    client::{Client, PARTITION, QUERY},
    relay::relay,
};

const DOCS: &str = "/dbs/d/colls/c/docs";
const CUT: (&str, &str) = ("x-ebb-cut", "true");
const CHANGES: (&str, &str) = ("a-im", "Incremental Feed");

/// Returns a client with a small item, an item of 20 KB and one of 1 MB, all of one partition.
async fn with_items() -> Client {
    let mut client = Client::with_container("").await;
    for (id, bytes) in [("small", 100), ("medium", 20_000), ("large", 1_000_000)] {
        let text = "x".repeat(bytes);
        let body = format!(r#"{{"id":"{id}","pk":"a","n":{bytes},"text":"{text}"}}"#);
        assert_eq!(client.item("POST", "", &body).await.status, 201);
    }
    client
}

/// Returns the items of a feed, and its property `_cut`: the positions of truncated items.
fn items(body: &str) -> (Vec<Document>, Option<Value>) {
    let mut feed = json::parse_document(body.as_bytes(), 128).unwrap();
    let Some(Value::Array(items)) = feed.remove("Documents") else { panic!("{body}") };
    let item = |item| match item {
        Value::Document(item) => item,
        other => panic!("{other:?}"),
    };
    (items.into_iter().map(item).collect(), feed.remove("_cut"))
}

/// Returns the length of each item's property `text`.
fn lengths(items: &[Document]) -> Vec<usize> {
    let text = |item: &Document| match item.get("text") {
        Some(Value::String(text)) => text.len(),
        other => panic!("{other:?}"),
    };
    items.iter().map(text).collect()
}

fn positions(all: &[i64]) -> Option<Value> {
    Some(Value::Array(all.iter().copied().map(Value::Int64).collect()))
}

#[tokio::test]
async fn the_portal_gets_the_start_of_large_items() {
    let client = with_items().await;
    let list = [QUERY.as_slice(), &[CUT]].concat();
    for (query, sizes, cut) in [
        ("SELECT * FROM c ORDER BY c.n", &[100, 400, 400][..], &[1, 2][..]),
        ("SELECT * FROM c WHERE LENGTH(c.text) > 20000", &[400], &[0]),
        ("SELECT * FROM c ORDER BY c._ts DESC", &[400, 400, 100], &[0, 1]),
        ("SELECT c.id, c.text FROM c ORDER BY c.n DESC", &[400, 400, 100], &[0, 1]),
    ] {
        let body = format!(r#"{{"query":"{query}"}}"#);
        let (status, body) = relay(&client, Right::Read, "POST", DOCS, &list, &body).await;
        assert_eq!(status, 200, "{body}");
        let (items, found) = items(&body);
        assert_eq!((lengths(&items).as_slice(), found), (sizes, positions(cut)), "{query}");
    }
    let feed = [PARTITION, CHANGES, CUT];
    let (status, body) = relay(&client, Right::Read, "GET", DOCS, &feed, "").await;
    assert_eq!(status, 200, "{body}");
    let (changed, found) = items(&body);
    assert_eq!((lengths(&changed), found), (vec![100, 400, 400], positions(&[1, 2])));
    let item = format!("{DOCS}/large");
    let (_, whole) = relay(&client, Right::Read, "GET", &item, &[PARTITION, CUT], "").await;
    assert!(1_000_000 < whole.len());
    let whole = json::parse_document(whole.as_bytes(), 128).unwrap();
    for name in ["id", "pk", "n", "_rid", "_self", "_etag", "_attachments", "_ts"] {
        assert_eq!(changed.last().unwrap().get(name), whole.get(name), "{name}");
    }
}

#[tokio::test]
async fn without_the_header_the_portal_gets_whole_items() {
    let client = with_items().await;
    let query = r#"{"query":"SELECT * FROM c ORDER BY c.n"}"#;
    for header in [None, Some(("x-ebb-cut", "false"))] {
        let headers: Vec<_> = QUERY.into_iter().chain(header).collect();
        let (status, body) = relay(&client, Right::Read, "POST", DOCS, &headers, query).await;
        assert_eq!(status, 200, "{body}");
        let (items, cut) = items(&body);
        assert_eq!((lengths(&items), cut), (vec![100, 20_000, 1_000_000], None), "{header:?}");
    }
}

#[tokio::test]
async fn other_values_of_the_header_are_refused() {
    let client = with_items().await;
    for value in ["", "True", "1", "16384"] {
        let headers: Vec<_> = QUERY.into_iter().chain([("x-ebb-cut", value)]).collect();
        let query = r#"{"query":"SELECT * FROM c"}"#;
        let (status, body) = relay(&client, Right::Read, "POST", DOCS, &headers, query).await;
        assert_eq!(status, 400, "{value}: {body}");
        assert!(body.contains("specified for header x-ebb-cut."), "{body}");
        let (status, _) =
            relay(&client, Right::Write, "DELETE", "/dbs/d", &[("x-ebb-cut", value)], "").await;
        assert_eq!(status, 400, "{value}");
    }
    let (_, body) = relay(&client, Right::Read, "GET", DOCS, &[PARTITION], "").await;
    assert_eq!(items(&body).0.len(), 3);
}

/// Returns another client of the same API, which has connected to another node.
async fn forwarded(of: &Client) -> Client {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (far, _) = listener.accept().await.unwrap();
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let here = LocalEndpoint::new(of.api.upgrade().unwrap(), stopped);
    let about = Forwarded { peer: None, scheme: "http", right: None };
    tokio::spawn(cosmos::serve_forwarded(here, Box::new(far), about));
    Client { stream, kit: Kit::default(), stop, api: of.api.clone() }
}

#[tokio::test]
async fn clients_that_sign_get_whole_items_whatever_they_send() {
    let mut client = with_items().await;
    let mut passed = forwarded(&client).await;
    let whole = vec![100, 20_000, 1_000_000];
    let query = r#"{"query":"SELECT * FROM c ORDER BY c.n"}"#;
    for value in ["true", "false", "", "16384"] {
        let header = ("x-ebb-cut", value);
        let list: Vec<_> = QUERY.into_iter().chain([header]).collect();
        for client in [&mut client, &mut passed] {
            let found = client.ask("POST", DOCS, &list, query).await;
            assert_eq!(found.status, 200, "{found:?}");
            assert_eq!(lengths(&items(&found.body).0), whole, "{value}");
            assert!(!found.body.contains("_cut"), "{value}");
            for feed in [&[PARTITION, header][..], &[PARTITION, CHANGES, header]] {
                let found = client.ask("GET", DOCS, feed, "").await;
                assert_eq!(found.status, 200, "{found:?}");
                assert_eq!(lengths(&items(&found.body).0), whole, "{value} {feed:?}");
                assert!(!found.body.contains("_cut"), "{value}");
            }
        }
    }
}

#[tokio::test]
async fn later_pages_are_cut_as_well() {
    let client = with_items().await;
    let list = [QUERY.as_slice(), &[CUT, ("x-ms-max-item-count", "1")]].concat();
    let query = r#"{"query":"SELECT * FROM c ORDER BY c.text DESC"}"#;
    let api = client.api.upgrade().unwrap();
    let mut continuation: Option<String> = None;
    let mut pages = Vec::new();
    loop {
        let token = continuation.as_deref().map(|token| ("x-ms-continuation", token));
        let headers: Vec<_> = list.iter().copied().chain(token).collect();
        let request = crate::relay::request("POST", DOCS, &headers, query);
        let response = api.relay(Right::Read, request).await;
        assert_eq!(response.status().as_u16(), 200);
        let next = response.headers().get("x-ms-continuation");
        continuation = next.map(|token| token.to_str().unwrap().to_owned());
        let body = http_body_util::BodyExt::collect(response.into_body()).await.unwrap();
        let (items, cut) = items(std::str::from_utf8(&body.to_bytes()).unwrap());
        pages.push((lengths(&items), cut.is_some()));
        if continuation.is_none() {
            break;
        }
    }
    let want = [(vec![400], true), (vec![400], true), (vec![100], false)];
    assert_eq!(pages[..3], want);
}
