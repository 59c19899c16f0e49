//! Tests over sockets: HTTP/1 and HTTP/2, with and without TLS, items as text and binary JSON.

use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

use auth::{Key, Keys, WELL_KNOWN_KEY};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use test_kit::Kit;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinHandle,
};
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, ServerName, pem::PemObject},
    },
};

use super::{protocol::Protocol, serve};
use crate::{
    api::{NoSqlApi, Settings, Shard},
    limits::MAX_HEADERS,
    tls::{Certificate, CurrentCertificate},
};

type Body = Full<Bytes>;

struct Server {
    api: Arc<NoSqlApi>,
    address: SocketAddr,
    stop: watch::Sender<bool>,
}

fn settings() -> Settings {
    Settings {
        shard: Shard::default(),
        other_shards: None,
        opened: std::sync::Arc::default(),
        memory: memory::Account::default(),
        unknown_clients: memory::Account::default(),
        audit: None,
        enforce_throughput: false,
        slow: None,
        max_time: None,
        tracer: None,
        max_body_bytes: *crate::BODY_BYTES.end(),
        pages: None,
        account: "test".to_owned(),
        endpoint: None,
        hosts: None,
        keys: Keys::well_known().unwrap().into(),
        tokens: Arc::default(),
        secret: auth::Secret::from_bytes(vec![1; 32]),
        certificate: Some(CurrentCertificate::new(Certificate::make_self_signed("").unwrap())),
        needs_tls: false,
        direct: None,
        give_way: || {},
        block_in_place: |work| work(),
    }
}

#[test]
fn neither_keys_nor_the_secret_are_printed() {
    let settings = settings();
    let secret = format!("{:?}", [1_u8; 32]);
    let text = format!("{settings:?}");
    assert!(text.contains("Secret(..)") && text.contains("test"), "{text}");
    assert!(!text.contains(auth::WELL_KNOWN_KEY) && !text.contains("PRIVATE KEY"), "{text}");
    assert!(!text.contains(secret.trim_matches(['[', ']'])), "{text}");
}

impl Server {
    async fn start() -> Self {
        Self::start_with(settings()).await
    }

    async fn start_with(settings: Settings) -> Self {
        let api = NoSqlApi::new(Kit::default().engine, settings).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = watch::channel(false);
        let served = Arc::clone(&api);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(Arc::clone(&served), stream, stopped.clone()));
            }
        });
        Self { api, address, stop }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    async fn http1(&self) -> Client {
        Client::http1(self.connect().await).await
    }

    async fn http2(&self) -> Client {
        Client::http2(self.connect().await).await
    }

    /// Connects with TLS and offers these application protocols (ALPN).
    async fn tls(&self, offered: &[&[u8]]) -> std::io::Result<TlsStream<TcpStream>> {
        let certificate = self.api.settings.certificate.as_ref().unwrap().load();
        let certificate = certificate.certificate();
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()).unwrap();
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let builder = builder.with_safe_default_protocol_versions().unwrap();
        let mut config = builder.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = offered.iter().map(|name| name.to_vec()).collect();
        let name = ServerName::try_from("localhost").unwrap();
        TlsConnector::from(Arc::new(config)).connect(name, self.connect().await).await
    }
}

enum Sender {
    Http1(http1::SendRequest<Body>),
    Http2(http2::SendRequest<Body>),
}

struct Client {
    sender: Sender,
    connection: JoinHandle<bool>,
}

impl Client {
    async fn http1(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Self {
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        let connection = tokio::spawn(async move { connection.await.is_ok() });
        Self { sender: Sender::Http1(sender), connection }
    }

    async fn http2(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Self {
        let executor = TokioExecutor::new();
        let (sender, connection) = http2::handshake(executor, TokioIo::new(stream)).await.unwrap();
        let connection = tokio::spawn(async move { connection.await.is_ok() });
        Self { sender: Sender::Http2(sender), connection }
    }

    async fn send(&mut self, request: Request<Body>) -> (u16, String) {
        // The client's connection runs in another task, which may not have started yet: wait until
        // it can send.
        let response = match &mut self.sender {
            Sender::Http1(sender) => {
                sender.ready().await.unwrap();
                sender.send_request(request).await
            }
            Sender::Http2(sender) => {
                sender.ready().await.unwrap();
                sender.send_request(request).await
            }
        };
        let response = response.unwrap();
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    /// Sends a request signed with a full account key, and returns status and body.
    async fn ask(
        &mut self,
        (verb, path): (Method, &str),
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> (u16, String) {
        let mut request = signed(verb, path, headers, body);
        if let Sender::Http1(_) = self.sender {
            request.headers_mut().insert("host", "box:1".parse().unwrap());
            *request.uri_mut() = format!("/{path}").parse().unwrap();
        }
        self.send(request).await
    }
}

fn signed(verb: Method, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Request<Body> {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let (kind, link) = match parts.len() % 2 {
        0 => (parts.iter().nth_back(1).copied().unwrap_or_default(), parts.join("/")),
        _ => (parts[parts.len() - 1], parts[..parts.len() - 1].join("/")),
    };
    let now = Duration::from_millis(clock::wall_ms().unsigned_abs());
    let date = httpdate::fmt_http_date(UNIX_EPOCH + now);
    let text =
        format!("{}\n{kind}\n{link}\n{}\n\n", verb.as_str().to_lowercase(), date.to_lowercase());
    let signature = Key::parse(WELL_KNOWN_KEY).unwrap().sign(&[text.as_bytes()]);
    let authorization = format!("type=master&ver=1.0&sig={}", STANDARD.encode(signature));
    let request = Request::builder().method(verb).uri(format!("http://box:1/{path}"));
    let request = request.header("x-ms-date", date).header("authorization", authorization);
    let request =
        headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    request.body(Full::new(Bytes::copy_from_slice(body))).unwrap()
}

/// Binary JSON of `{"id":"<id>","n":<n>}`; the byte that encodes the type of `n` also contains its
/// value.
fn item(id: &str, n: u8) -> Vec<u8> {
    let name = [&[0x80 + id.len() as u8], id.as_bytes()].concat();
    let inside = [&[0x2c], &name[..], &[0x81, b'n', n]].concat();
    [&[0x80, 0xea, inside.len() as u8], &inside[..]].concat()
}

async fn make_container(client: &mut Client) {
    let (status, body) = client.ask((Method::POST, "dbs"), &[], br#"{"id":"db"}"#).await;
    assert_eq!(status, 201, "{body}");
    let container = br#"{"id":"c","partitionKey":{"paths":["/id"]}}"#;
    let (status, body) = client.ask((Method::POST, "dbs/db/colls"), &[], container).await;
    assert_eq!(status, 201, "{body}");
}

#[tokio::test]
async fn items_are_read_in_the_binary_form() {
    const KEY: (&str, &str) = ("x-ms-documentdb-partitionkey", "[\"a\"]");
    const UPSERT: (&str, &str) = ("x-ms-documentdb-is-upsert", "true");
    let server = Server::start().await;
    make_container(&mut server.http1().await).await;
    for mut client in [server.http1().await, server.http2().await] {
        let (docs, one) = ("dbs/db/colls/c/docs", "dbs/db/colls/c/docs/a");
        for (what, headers, body, want, n) in [
            ((Method::POST, docs), &[KEY][..], item("a", 1), 201, "\"n\":1,"),
            ((Method::POST, docs), &[KEY], item("a", 2), 409, "\"n\":1,"),
            ((Method::POST, docs), &[KEY, UPSERT], item("a", 3), 200, "\"n\":3,"),
            ((Method::PUT, one), &[KEY], item("a", 4), 200, "\"n\":4,"),
            ((Method::PUT, one), &[KEY], item("b", 5), 400, "\"n\":4,"),
            ((Method::PUT, one), &[KEY], item("a", 0xff), 400, "\"n\":4,"),
            ((Method::PUT, one), &[KEY], item("a", 6)[..8].to_vec(), 400, "\"n\":4,"),
            (
                (Method::POST, docs),
                &[KEY, UPSERT],
                br#"{"id":"a","n":7}"#.to_vec(),
                200,
                "\"n\":7,",
            ),
        ] {
            let (status, text) = client.ask(what, headers, &body).await;
            assert_eq!(status, want, "{n}: {text}");
            let (status, text) = client.ask((Method::GET, one), &[KEY], &[]).await;
            assert_eq!(status, 200);
            assert!(text.contains(n), "{text}");
        }
        let (status, _) = client.ask((Method::DELETE, one), &[KEY], &[]).await;
        assert_eq!(status, 204);
    }
}

/// Returns the binary JSON of `[{"operationType":"Upsert","resourceBody":<item>}]`.
fn batch(item: &[u8]) -> Vec<u8> {
    let inside = [b"\x8doperationType\x86Upsert\x8cresourceBody", item].concat();
    [&[0x80, 0xe1, 0xea, inside.len() as u8], &inside[..]].concat()
}

#[tokio::test]
async fn batches_are_read_in_the_binary_form() {
    let server = Server::start().await;
    let mut client = server.http2().await;
    make_container(&mut client).await;
    let headers = [
        ("x-ms-documentdb-partitionkey", "[\"a\"]"),
        ("x-ms-cosmos-is-batch-request", "true"),
        ("x-ms-cosmos-batch-atomic", "true"),
    ];
    let whole = batch(&item("a", 1)[1..]);
    for (body, want) in [
        (&whole[..], 200),
        (&whole[..whole.len() - 1], 400),
        (b"\x80\xe8", 400),
        (b"\x81\0", 400),
        (b"\x01", 400),
    ] {
        let docs = (Method::POST, "dbs/db/colls/c/docs");
        let (status, text) = client.ask(docs, &headers, body).await;
        assert_eq!(status, want, "{body:?}: {text}");
    }
}

#[tokio::test]
async fn large_bodies_are_refused_in_both_protocols() {
    let server = Server::start().await;
    make_container(&mut server.http1().await).await;
    let large = format!(r#"{{"id":"a","x":"{}"}}"#, "y".repeat(2_000_000));
    let too_large = format!(r#"{{"id":"a","x":"{}"}}"#, "y".repeat(2_500_000));
    for mut client in [server.http1().await, server.http2().await] {
        let key =
            [("x-ms-documentdb-partitionkey", "[\"a\"]"), ("x-ms-documentdb-is-upsert", "true")];
        let docs = (Method::POST, "dbs/db/colls/c/docs");
        let (status, text) = client.ask(docs.clone(), &key, large.as_bytes()).await;
        assert!(matches!(status, 200 | 201) && large.len() < text.len(), "{status}");
        let (status, _) = client.ask(docs, &key, too_large.as_bytes()).await;
        assert_eq!(status, 413);
    }
}

/// Sends a request with a body of this length as a client that reads the response only after it has
/// sent everything.
async fn send_all(stream: impl AsyncRead + AsyncWrite + Unpin, key: &str, len: usize) -> String {
    let mut stream = stream;
    let request = signed(Method::POST, "dbs/db/colls/c/docs", &[], &[]);
    let header = |name: &str| request.headers().get(name).unwrap().to_str().unwrap();
    let head = format!(
        "POST /dbs/db/colls/c/docs HTTP/1.1\r\nhost: box:1\r\nx-ms-date: {}\r\nauthorization: {}\r\n\
         x-ms-documentdb-partitionkey: {key}\r\ncontent-length: {len}\r\n\r\n",
        header("x-ms-date"),
        header("authorization"),
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let chunk = vec![b'y'; 50_000];
    for _ in 0..len / chunk.len() {
        stream.write_all(&chunk).await.unwrap();
    }
    stream.flush().await.unwrap();
    let mut status = [0; 12];
    stream.read_exact(&mut status).await.unwrap();
    String::from_utf8(status.to_vec()).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_sends_too_much_hears_so_after_it() {
    let server = Server::start().await;
    make_container(&mut server.http1().await).await;
    for len in [2_500_000, 5_000_000, 20_000_000] {
        for _ in 0..4 {
            let found = send_all(server.connect().await, "[\"a\"]", len).await;
            assert_eq!(found, "HTTP/1.1 413");
            let stream = server.tls(&[b"http/1.1"]).await.unwrap();
            assert_eq!(send_all(stream, "[\"a\"]", len).await, "HTTP/1.1 413");
            let mut client = server.http2().await;
            let docs = (Method::POST, "dbs/db/colls/c/docs");
            let (status, _) = client.ask(docs, &[], &vec![b'y'; len]).await;
            assert_eq!(status, 413);
        }
    }
    // A longer body than the server discards: the client still gets the response.
    let most = crate::limits::MAX_DISCARDED_BYTES + 20_000_000;
    let found = send_all(server.connect().await, "[\"a\"]", most.next_multiple_of(50_000)).await;
    assert_eq!(found, "HTTP/1.1 413");
}

#[tokio::test]
async fn whoever_is_refused_hears_so_after_it() {
    let server = Server::start().await;
    let request = "POST /dbs HTTP/1.1\r\nhost: a\r\ncontent-length: 5000000\r\n";
    let mut stream = server.connect().await;
    stream.write_all(format!("{request}\r\n").as_bytes()).await.unwrap();
    stream.write_all(&vec![b'y'; 5_000_000]).await.unwrap();
    let mut status = [0; 12];
    stream.read_exact(&mut status).await.unwrap();
    assert_eq!(&status, b"HTTP/1.1 401");
    // A client that waits for `100 Continue` gets the error and no `100 Continue`.
    let mut stream = server.connect().await;
    stream.write_all(format!("{request}expect: 100-continue\r\n\r\n").as_bytes()).await.unwrap();
    stream.read_exact(&mut status).await.unwrap();
    assert_eq!(&status, b"HTTP/1.1 401");
}

#[tokio::test]
async fn http2_is_spoken_to_who_begins_with_it() {
    let server = Server::start().await;
    let mut client = server.http2().await;
    let (status, body) = client.ask((Method::GET, ""), &[], &[]).await;
    assert_eq!(status, 200);
    assert!(body.contains("http://box:1/"), "{body}");
    let open = Request::get("http://box:1/_explorer/emulator.pem").body(Body::default());
    let (status, body) = client.send(open.unwrap()).await;
    assert_eq!(status, 200);
    assert!(body.starts_with("-----BEGIN"), "{body}");
    let (status, body) =
        client.send(Request::get("http://box:1/dbs").body(Body::default()).unwrap()).await;
    assert_eq!(status, 401);
    assert!(body.contains("Unauthorized"), "{body}");
    let (status, _) = client.ask((Method::GET, "dbs"), &[("x-y", &"y".repeat(131_072))], &[]).await;
    assert_eq!(status, 431, "a head that is too large");
    let (status, _) = client.ask((Method::GET, "dbs"), &[], &[]).await;
    assert_eq!(status, 200, "the connection goes on");
}

#[tokio::test]
async fn a_request_has_a_bounded_number_of_headers() {
    let server = Server::start().await;
    // The client adds a few headers, which count, too.
    for (count, want) in [(MAX_HEADERS - 10, 200), (MAX_HEADERS + 1, 431)] {
        let names: Vec<String> = (0..count).map(|at| format!("x-{at}")).collect();
        let headers: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
        for mut client in [server.http1().await, server.http2().await] {
            let (status, _) = client.ask((Method::GET, "dbs"), &headers, &[]).await;
            assert_eq!(status, want, "{count} headers");
        }
    }
}

#[tokio::test]
async fn many_requests_share_a_connection() {
    let server = Server::start().await;
    let client = server.http2().await;
    let Sender::Http2(sender) = client.sender else { panic!("not HTTP/2") };
    let requests = (0..250).map(|_| {
        let mut sender = sender.clone();
        async move { sender.send_request(signed(Method::GET, "dbs", &[], &[])).await.unwrap() }
    });
    for response in futures_util::future::join_all(requests).await {
        assert_eq!(response.status(), 200);
    }
    assert_eq!(server.api.open(), 1);
}

#[tokio::test]
async fn tls_agrees_on_the_protocol() {
    let server = Server::start().await;
    for (offered, want) in [
        (&[&b"h2"[..]][..], Some(&b"h2"[..])),
        (&[b"h2", b"http/1.1"], Some(b"h2")),
        (&[b"http/1.1"], Some(b"http/1.1")),
        (&[], None),
    ] {
        let stream = server.tls(offered).await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), want);
        let mut client = match want == Some(b"h2") {
            true => Client::http2(stream).await,
            false => Client::http1(stream).await,
        };
        let (status, body) = client.ask((Method::GET, ""), &[], &[]).await;
        assert_eq!(status, 200);
        assert!(body.contains("https://box:1/"), "{body}");
    }
    assert!(server.tls(&[b"h3"]).await.is_err());
}

#[tokio::test]
async fn plain_text_is_refused_where_tls_has_to_be_spoken() {
    let server = Server::start_with(Settings { needs_tls: true, ..settings() }).await;
    for path in ["", "dbs", "_explorer/emulator.pem"] {
        for mut plain in [server.http1().await, server.http2().await] {
            let (status, body) = plain.ask((Method::GET, path), &[], &[]).await;
            assert_eq!(status, 400, "{path}: {body}");
            assert!(body.contains("https only"), "{path}: {body}");
        }
    }
    for offered in [&[&b"h2"[..]][..], &[b"http/1.1"]] {
        let stream = server.tls(offered).await.unwrap();
        let mut client = match offered[0] == b"h2" {
            true => Client::http2(stream).await,
            false => Client::http1(stream).await,
        };
        assert_eq!(client.ask((Method::GET, "dbs"), &[], &[]).await.0, 200);
    }
}

#[tokio::test]
async fn a_stop_ends_connections_after_their_requests() {
    let server = Server::start().await;
    let (mut one, mut other, idle) =
        (server.http1().await, server.http2().await, server.connect().await);
    assert_eq!(one.ask((Method::GET, "dbs"), &[], &[]).await.0, 200);
    assert_eq!(other.ask((Method::GET, "dbs"), &[], &[]).await.0, 200);
    server.stop.send(true).unwrap();
    assert!(one.connection.await.unwrap());
    assert!(other.connection.await.unwrap());
    let mut idle = idle;
    assert_eq!(idle.read(&mut [0]).await.unwrap(), 0);
}

#[tokio::test]
async fn first_bytes_may_come_one_by_one() {
    let server = Server::start().await;
    for (text, want) in [
        ("POST /dbs HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n", &b"HTTP/1.1 401 "[..]),
        // The client's preface and settings, then the server's settings frame.
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0", &[0, 0, 24, 4, 0, 0, 0, 0, 0]),
    ] {
        let mut stream = server.connect().await;
        stream.set_nodelay(true).unwrap();
        for byte in text.as_bytes() {
            stream.write_all(&[*byte]).await.unwrap();
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
        }
        let mut first = vec![0; want.len()];
        stream.read_exact(&mut first).await.unwrap();
        assert_eq!(first, want, "{text:?}");
    }
}

#[tokio::test]
async fn what_is_looked_at_is_not_lost() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (mut stream, _) = listener.accept().await.unwrap();
    client.write_all(b"P").await.unwrap();
    assert_eq!(Protocol::peek_protocol(&stream).await, Some(Protocol::Unclear));
    client.write_all(b"U").await.unwrap();
    let (opening, mut first) = Protocol::read_protocol(&mut stream).await.unwrap();
    assert_eq!(opening, Protocol::Http1);
    client.write_all(b"T /").await.unwrap();
    client.shutdown().await.unwrap();
    stream.read_to_end(&mut first).await.unwrap();
    assert_eq!(first, b"PUT /");
    assert_eq!(Protocol::peek_protocol(&stream).await, None);
    assert_eq!(Protocol::read_protocol(&mut stream).await, None);
}
