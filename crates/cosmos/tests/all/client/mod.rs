//! A test client, which starts its own API: it sends raw bytes over a socket and signs requests as
//! SDKs do.

use std::{
    sync::{Arc, Weak},
    time::{Duration, UNIX_EPOCH},
};

use auth::Key;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use cosmos::{
    Certificate, CurrentCertificate, DirectMode, Keys, NoSqlApi, Settings, Shard, WELL_KNOWN_KEY,
};
use document::{Document, Value, json};
use test_kit::Kit;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

pub(crate) mod frames;

/// A client, and the API that it is connected to.
pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    pub(crate) kit: Kit,
    pub(crate) stop: tokio::sync::watch::Sender<bool>,
    /// The API; the reference is weak, so that tests can observe when the last connection releases
    /// the API.
    pub(crate) api: Weak<NoSqlApi>,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
    /// The body as bytes, for bodies that are not text.
    pub(crate) bytes: Vec<u8>,
}

impl Answer {
    pub(crate) fn code(&self) -> (u16, u32) {
        let sub = self.header("x-ms-substatus").map_or(0, |sub| sub.parse().unwrap());
        (self.status, sub)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let line = |line: &'_ str| {
            let (held, value) = line.split_once(": ")?;
            held.eq_ignore_ascii_case(name).then_some(value.len())
        };
        self.head.lines().find_map(|text| {
            let len = line(text)?;
            text.get(text.len() - len..)
        })
    }

    /// Returns the query metrics without the times, which differ between runs.
    pub(crate) fn counts_of_metrics(&self) -> String {
        let metrics = self.header("x-ms-documentdb-query-metrics").unwrap_or_default();
        let counts = metrics.split(';').filter(|figure| !figure.contains("InMs="));
        counts.collect::<Vec<_>>().join(";")
    }

    pub(crate) fn document(&self) -> Document {
        json::parse_document(self.body.as_bytes(), 128).unwrap()
    }

    pub(crate) fn text(&self, name: &str) -> String {
        match self.document().get(name) {
            Some(Value::String(text)) => text.clone(),
            other => panic!("{name} is {other:?} in {self:?}"),
        }
    }
}

/// Returns the settings of an API for tests.
pub(crate) fn given() -> Settings {
    Settings {
        memory: memory::Account::default(),
        unknown_clients: memory::Account::default(),
        account: "test".to_owned(),
        endpoint: None,
        shard: Shard::default(),
        other_shards: None,
        opened: std::sync::Arc::default(),
        hosts: None,
        keys: Keys::well_known().unwrap().into(),
        tokens: Arc::default(),
        secret: auth::Secret::from_bytes(vec![7; 32]),
        certificate: Some(CurrentCertificate::new(Certificate::make_self_signed("test").unwrap())),
        needs_tls: false,
        direct: Some(DirectMode::default()),
        give_way: || {},
        block_in_place: |work| work(),
        audit: None,
        enforce_throughput: false,
        slow: None,
        max_time: None,
        tracer: None,
        max_body_bytes: *cosmos::BODY_BYTES.end(),
        pages: None,
    }
}

/// Returns a date header of the wall-clock time, shifted by this much.
pub(crate) fn date(moved_ms: i64) -> String {
    let ms = u64::try_from(clock::wall_ms() + moved_ms).unwrap();
    httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_millis(ms))
}

/// Returns the authorization header for a request signed with this key.
pub(crate) fn sign(key: &str, verb: &str, kind: &str, link: &str, date: &str) -> String {
    let (verb, date) = (verb.to_lowercase(), date.to_lowercase());
    let text = format!("{verb}\n{kind}\n{link}\n{date}\n\n");
    let signature = STANDARD.encode(Key::parse(key).unwrap().sign(&[text.as_bytes()]));
    format!("type%3Dmaster%26ver%3D1.0%26sig%3D{}", signature.replace('+', "%2B"))
}

impl Client {
    pub(crate) async fn new() -> Self {
        Self::of(given()).await
    }

    pub(crate) async fn with_settings(change: impl FnOnce(Settings) -> Settings) -> Self {
        Self::of(change(given())).await
    }

    pub(crate) async fn with_keys(keys: Keys) -> Self {
        Self::of(Settings { keys: keys.into(), ..given() }).await
    }

    /// Returns a client of an API that enforces throughput.
    pub(crate) async fn limited() -> Self {
        Self::of(Settings { enforce_throughput: true, ..given() }).await
    }

    /// Returns a client of an API with this memory account, and a container.
    pub(crate) async fn with_memory(memory: memory::Account) -> Self {
        let mut client = Self::of(Settings { memory, ..given() }).await;
        client.make_container("").await;
        client
    }

    /// Returns another client of the same API.
    pub(crate) async fn beside(&self) -> Self {
        Self::at(self.api.upgrade().unwrap(), Kit::default()).await
    }

    /// Sends bytes without waiting for a response.
    pub(crate) async fn begin_raw(&mut self, bytes: &[u8]) {
        // The connection may be closed before all bytes are sent.
        let _ = self.stream.write_all(bytes).await;
    }

    /// Returns a client of an API that calls this function every few milliseconds of a long
    /// evaluation.
    pub(crate) async fn with_give_way(give_way: fn()) -> Self {
        let mut client = Self::of(Settings { give_way, ..given() }).await;
        client.make_container("").await;
        client
    }

    async fn of(settings: Settings) -> Self {
        let kit = Kit::default();
        let api: Arc<NoSqlApi> = NoSqlApi::new(kit.engine.clone(), settings).unwrap();
        Self::at(api, kit).await
    }

    async fn at(api: Arc<NoSqlApi>, kit: Kit) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (far, _) = listener.accept().await.unwrap();
        let (stop, stopped) = tokio::sync::watch::channel(false);
        let held = Arc::downgrade(&api);
        tokio::spawn(cosmos::serve(api, far, stopped));
        Self { stream, kit, stop, api: held }
    }

    /// Returns a client with a database `d` and a container `c` with the partition key `/pk` and
    /// the further definition `more`.
    pub(crate) async fn with_container(more: &str) -> Self {
        let mut client = Self::new().await;
        client.make_container(more).await;
        client
    }

    async fn make_container(&mut self, more: &str) {
        assert_eq!(self.ask("POST", "/dbs", &[], r#"{"id":"d"}"#).await.status, 201);
        let body = format!(
            r#"{{"id":"c","partitionKey":{{"paths":["/pk"],"kind":"Hash","version":2}}{more}}}"#
        );
        let made = self.ask("POST", "/dbs/d/colls", &[], &body).await;
        assert_eq!(made.status, 201, "{made:?}");
    }

    /// Sends raw bytes and reads one response.
    pub(crate) async fn raw(&mut self, bytes: &[u8]) -> Answer {
        self.stream.write_all(bytes).await.unwrap();
        self.answer().await.unwrap()
    }

    /// Reads the next response; `None` if the connection was closed.
    pub(crate) async fn answer(&mut self) -> Option<Answer> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(self.stream.read_u8().await.ok()?);
        }
        let head = String::from_utf8(head).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut answer = Answer { status, head, body: String::new(), bytes: Vec::new() };
        let len = answer.header("content-length").map_or(0, |len| len.parse().unwrap());
        let mut body = vec![0; len];
        self.stream.read_exact(&mut body).await.unwrap();
        answer.body = match hybrid_row::is_hybrid_row(&body) {
            true => String::new(),
            false => String::from_utf8(body.clone()).unwrap(),
        };
        answer.bytes = body;
        Some(answer)
    }

    /// Sends a request signed with the well-known key.
    pub(crate) async fn ask(
        &mut self,
        verb: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        self.ask_with(WELL_KNOWN_KEY, verb, path, headers, body).await
    }

    /// Sends a request whose body need not be text.
    pub(crate) async fn post_bytes(
        &mut self,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        let request = signed_request(WELL_KNOWN_KEY, ("POST", path), headers, "");
        let head = request.strip_suffix("content-length: 0\r\n\r\n").unwrap();
        let head = format!("{head}content-length: {}\r\n\r\n", body.len());
        self.raw(&[head.as_bytes(), body].concat()).await
    }

    pub(crate) async fn ask_with(
        &mut self,
        key: &str,
        verb: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let request = signed_request(key, (verb, path), headers, body);
        self.raw(request.as_bytes()).await
    }

    /// Sends a request with exactly these headers.
    pub(crate) async fn send(
        &mut self,
        verb: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        self.raw(request(verb, path, headers, body).as_bytes()).await
    }

    /// Sends a query without waiting for its response.
    pub(crate) async fn begin(&mut self, text: &str) {
        let body = format!("{{\"query\":\"{text}\"}}");
        let about = ("POST", "/dbs/d/colls/c/docs");
        let request = signed_request(WELL_KNOWN_KEY, about, &QUERY, &body);
        self.stream.write_all(request.as_bytes()).await.unwrap();
    }

    /// Sends a request about an item of partition `a` of the container.
    pub(crate) async fn item(&mut self, verb: &str, id: &str, body: &str) -> Answer {
        let path = match id {
            "" => "/dbs/d/colls/c/docs".to_owned(),
            id => format!("/dbs/d/colls/c/docs/{id}"),
        };
        self.ask(verb, &path, &[PARTITION], body).await
    }

    pub(crate) async fn upsert(&mut self, body: &str) -> Answer {
        let headers = [PARTITION, ("x-ms-documentdb-is-upsert", "True")];
        self.ask("POST", "/dbs/d/colls/c/docs", &headers, body).await
    }

    pub(crate) async fn query(&mut self, text: &str) -> Answer {
        let body = format!("{{\"query\":\"{text}\"}}");
        self.ask("POST", "/dbs/d/colls/c/docs", &QUERY, &body).await
    }

    /// Returns all databases, offers, and the containers and items of `d` and `c` as text.
    pub(crate) async fn everything(&mut self) -> String {
        let mut all = String::new();
        for path in ["/dbs", "/dbs/d/colls", "/dbs/d/colls/c/docs", "/offers"] {
            all.push_str(&self.ask("GET", path, &[], "").await.body);
        }
        all
    }

    pub(crate) fn advance(&self, seconds: i64) {
        self.kit.move_to(self.kit.now_ms() + seconds * 1000);
    }
}

fn request(verb: &str, path: &str, headers: &[(&str, &str)], body: &str) -> String {
    let mut text = format!("{verb} {path} HTTP/1.1\r\nhost: test:1\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len()));
    text
}

fn signed_request(
    key: &str,
    (verb, path): (&str, &str),
    headers: &[(&str, &str)],
    body: &str,
) -> String {
    let (kind, link) = signed(path);
    let date = date(0);
    let authorization = sign(key, verb, kind, link, &date);
    let more = [("x-ms-date", date.as_str()), ("authorization", &authorization)];
    let headers: Vec<(&str, &str)> = headers.iter().copied().chain(more).collect();
    request(verb, path, &headers, body)
}

/// Headers of a cross-partition query.
pub(crate) const QUERY: [(&str, &str); 3] = [
    ("content-type", "application/query+json"),
    ("x-ms-documentdb-isquery", "true"),
    ("x-ms-documentdb-query-enablecrosspartition", "True"),
];

/// The header for partition `a`.
pub(crate) const PARTITION: (&str, &str) = ("x-ms-documentdb-partitionkey", "[\"a\"]");

/// Returns the kind and link that are signed for a path.
fn signed(path: &str) -> (&str, &str) {
    let link = path.trim_matches('/');
    if let Some(container) = link.strip_suffix("/operations/partitionkeydelete") {
        return ("partitionkey", container);
    }
    let count = link.split('/').filter(|part| !part.is_empty()).count();
    let last = |back: usize| link.rsplit('/').nth(back).unwrap_or_default();
    if count % 2 == 0 && (link.starts_with("dbs") || link.starts_with("offers")) {
        return (last(1), link);
    }
    let kind = last(0);
    (kind, link.strip_suffix(kind).unwrap_or_default().trim_end_matches('/'))
}
