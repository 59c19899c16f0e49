//! Heads, bodies, successive requests, and invalid input on a connection.

use cosmos::Settings;
use tokio::io::AsyncWriteExt;

use crate::client::{Client, PARTITION, date};

#[tokio::test]
async fn the_account_says_where_the_client_came_from() {
    let mut client = Client::new().await;
    for path in ["/", ""] {
        let path = if path.is_empty() { "/?x=1" } else { path };
        let answer = client.ask("GET", path.split('?').next().unwrap(), &[], "").await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(answer.body.contains("\"databaseAccountEndpoint\":\"http://test:1/\""));
    }
}

#[tokio::test]
async fn the_account_may_be_elsewhere() {
    let endpoint = Some("https://db.example/".to_owned());
    let mut client = Client::with_settings(|settings| Settings { endpoint, ..settings }).await;
    let answer = client.ask("GET", "/", &[], "").await;
    assert!(answer.body.contains("\"databaseAccountEndpoint\":\"https://db.example/\""));
    assert!(!answer.body.contains("test:1"), "{}", answer.body);
    let answer = client.ask("GET", "/dbs", &[], "").await;
    assert_eq!(answer.header("content-location"), Some("https://db.example/dbs"));
}

#[tokio::test]
async fn tools_get_the_certificate_without_a_key() {
    let mut client = Client::new().await;
    let answer = client.send("GET", "/_explorer/emulator.pem", &[], "").await;
    assert_eq!(answer.status, 200);
    assert!(answer.body.starts_with("-----BEGIN CERTIFICATE-----"), "{}", answer.body);
}

#[tokio::test]
async fn paths_end_with_a_slash_or_not_and_connections_stay() {
    let mut client = Client::with_container("").await;
    for path in ["/dbs/d", "/dbs/d/", "/dbs/d/colls/c", "/dbs/d/colls/c/", "/dbs/d/colls/c/docs/"] {
        assert_eq!(client.ask("GET", path, &[], "").await.status, 200, "{path}");
    }
    for (path, status) in [("/nothing", 404), ("/dbs/d/colls/c/docs/1/2/3", 404)] {
        assert_eq!(client.ask("GET", path, &[], "").await.status, status, "{path}");
    }
    assert_eq!(client.ask("PATCH", "/dbs", &[], "").await.status, 405);
    assert_eq!(client.ask("PUT", "/dbs/d", &[], "{}").await.status, 405);
}

#[tokio::test]
async fn a_body_has_a_limit_however_it_comes() {
    let mut client = Client::with_container("").await;
    let large = format!(r#"{{"id":"1","pk":"a","x":"{}"}}"#, "y".repeat(3 << 20));
    let answer = client.item("POST", "", &large).await;
    assert_eq!(answer.status, 413, "{answer:?}");
    let mut client = Client::with_container("").await;
    let just = format!(r#"{{"id":"1","pk":"a","x":"{}"}}"#, "y".repeat((2 << 20) - 26));
    assert_eq!(client.item("POST", "", &just).await.status, 201);
    let over = format!(r#"{{"id":"1","pk":"a","x":"{}"}}"#, "y".repeat(2 << 20));
    assert_eq!(client.item("POST", "", &over).await.status, 413);
}

#[tokio::test]
async fn a_body_in_chunks_has_the_same_limit() {
    let mut client = Client::with_container("").await;
    let date = date(0);
    let key = cosmos::WELL_KNOWN_KEY;
    let authorization = crate::client::sign(key, "POST", "docs", "dbs/d/colls/c", &date);
    let (name, partition) = PARTITION;
    let head = format!(
        "POST /dbs/d/colls/c/docs HTTP/1.1\r\nhost: test\r\nx-ms-date: {date}\r\n\
         authorization: {authorization}\r\n{name}: {partition}\r\n\
         transfer-encoding: chunked\r\n\r\n"
    );
    let parts = [r#"{"id":"1","#, r#""pk":"a"}"#];
    let chunks: String =
        parts.iter().map(|part| format!("{:x}\r\n{part}\r\n", part.len())).collect();
    let answer = client.raw(format!("{head}{chunks}0\r\n\r\n").as_bytes()).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    let chunk = format!("{:x}\r\n{}\r\n", 1 << 20, " ".repeat(1 << 20));
    let answer = client.raw(format!("{head}{}", chunk.repeat(3)).as_bytes()).await;
    assert_eq!(answer.status, 413, "{answer:?}");
}

#[tokio::test]
async fn what_is_no_request_ends_the_connection() {
    for bytes in [&b"\x00\x01\x02\x03\r\n\r\n"[..], b"GET\r\n\r\n", b"\x16\x03\x01\x00\x00"] {
        let mut client = Client::new().await;
        client.stream.write_all(bytes).await.unwrap();
        client.stream.shutdown().await.unwrap();
        let answer = client.answer().await;
        assert!(answer.is_none_or(|answer| answer.status == 400), "{bytes:?}");
    }
}

#[tokio::test]
async fn a_head_with_two_meanings_ends_the_connection() {
    let hidden = "DELETE /dbs/d HTTP/1.1\r\nhost: test\r\n\r\n";
    for lines in [
        "",
        "host: a\r\nhost: a\r\n",
        "host: a\r\ntransfer-encoding: identity, chunked\r\n",
        "host: a\r\ntransfer-encoding: chunked, chunked\r\n",
        "host: a\r\ntransfer-encoding: gzip, chunked\r\n",
        "host: a\r\ntransfer-encoding: identity\r\ntransfer-encoding: chunked\r\n",
    ] {
        let mut client = Client::with_container("").await;
        let bytes = format!("POST /dbs/d/colls/c/docs HTTP/1.1\r\n{lines}\r\n0\r\n\r\n{hidden}");
        let answer = client.raw(bytes.as_bytes()).await;
        assert_eq!((answer.status, answer.header("connection")), (400, Some("close")), "{lines}");
        assert!(client.answer().await.is_none(), "{lines}");
    }
}
