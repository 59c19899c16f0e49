//! Access control at the admin address, and the headers of every response, tested over sockets.

use std::{
    fs::Permissions,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use document::{DocRef, Document, array, doc};
use serde_json::Value;
use server_base::config::Config;
use test_server::{Answer, Server, run_portal_command, send_request};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

pub(crate) const WRITER: &str = "MDEyMzQ1Njc4OWFiY2RlZg==";
pub(crate) const READER: &str = "ZmVkY2JhOTg3NjU0MzIxMA==";
const SESSION: &str = "/_portal/api/session";

/// Writes a file of keys readable by its owner only.
fn key_file(folder: &Path, keys: &str) -> PathBuf {
    let file = folder.join("keys");
    std::fs::write(&file, keys).unwrap();
    std::fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    file
}

/// Starts a server with a key file in this folder.
async fn keyed(folder: &Path, keys: &str) -> Server {
    let file = key_file(folder, keys);
    let config = Config { key_file: Some(file), mongo_no_auth: true, ..Config::for_tests() };
    Server::new(&config).await
}

pub(crate) async fn with_keys(folder: &Path) -> Server {
    keyed(folder, &format!("primary = {WRITER}\nprimary-readonly = {READER}\n")).await
}

/// Cookie and token of a browser session.
struct Browser {
    cookie: String,
    token: String,
}

impl Browser {
    async fn new(server: &Server, key: &str) -> Self {
        let token = server.ask_well("GET", SESSION, "").await["csrf"].as_str().unwrap().to_owned();
        let body = format!("{{\"key\":\"{key}\"}}");
        let answer = of(server, "POST", SESSION, &[("x-ebb-csrf", &token)], &body).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let set = answer.header("set-cookie").unwrap();
        for part in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43200"] {
            assert!(set.split("; ").any(|held| held == part), "{set}");
        }
        let cookie = set.split(';').next().unwrap().to_owned();
        Self { cookie, token: answer.json()["csrf"].as_str().unwrap().to_owned() }
    }

    /// Headers sent with every request.
    fn lines(&self) -> Vec<(&'static str, String)> {
        vec![("cookie", self.cookie.clone()), ("x-ebb-csrf", self.token.clone())]
    }

    async fn ask(&self, server: &Server, method: &str, path: &str, body: &str) -> Answer {
        let headers = [("cookie", self.cookie.as_str()), ("x-ebb-csrf", &self.token)];
        of(server, method, path, &headers, body).await
    }
}

async fn of(
    server: &Server,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Answer {
    send_request(server.0.admin().unwrap(), method, path, headers, body).await
}

/// Returns the error code of a response; empty on success.
fn code(answer: &Answer) -> String {
    let body: Value = serde_json::from_str(&answer.body).unwrap_or_default();
    body["error"]["code"].as_str().unwrap_or_default().to_owned()
}

async fn run(server: &Server, headers: &[(&str, &str)], it: Document) -> Document {
    let (status, head, reply) =
        run_portal_command(server, headers, "db", it.to_buf().bytes()).await;
    assert_eq!(status, 200, "{it:?}: {head}");
    assert!(head.contains("content-type: application/bson"), "{head}");
    assert!(head.contains("x-ms-activity-id: "), "{head}");
    DocRef::Raw(&reply).to_tree()
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_and_sites() {
    let config = Config { admin_hosts: vec!["db.example".to_owned()], ..Config::for_tests() };
    let server = Server::new(&config).await;
    let own = server.0.admin().unwrap().to_owned();
    let node = server_base::machine::node_name();
    let origin = format!("http://{own}");
    for (method, path, headers, status, want) in [
        ("GET", "/livez", &[("host", "localhost")][..], 200, ""),
        ("GET", "/livez", &[("host", "x.localhost:1")], 200, ""),
        ("GET", "/livez", &[("host", "[::1]:8080")], 200, ""),
        ("GET", "/livez", &[("host", "DB.example:8080")], 200, ""),
        ("GET", "/livez", &[("host", &node)], 200, ""),
        ("GET", "/livez", &[("host", "evil.example")], 421, "HostNotAllowed"),
        ("GET", "/", &[("host", "db.example.evil.example")], 421, "HostNotAllowed"),
        ("GET", "/metrics", &[("host", "")], 421, "HostNotAllowed"),
        ("POST", "/_ebb/clock/accept", &[("host", "evil.example")], 421, "HostNotAllowed"),
        ("GET", "/livez", &[("host", "localhost"), ("host", "localhost")], 421, "HostNotAllowed"),
        ("GET", "http://evil.example/livez", &[("host", "localhost")], 421, "HostNotAllowed"),
        ("GET", "/livez", &[("origin", "http://evil.example")], 200, ""),
        ("GET", "/livez", &[("sec-fetch-site", "cross-site")], 200, ""),
        ("POST", "/_ebb/clock/accept", &[], 200, ""),
        ("POST", "/_ebb/clock/accept", &[("origin", &origin)], 200, ""),
        ("POST", "/_ebb/clock/accept", &[("origin", "http://localhost:1")], 403, "CrossSite"),
        ("POST", "/_ebb/clock/accept", &[("origin", "null")], 403, "CrossSite"),
        ("POST", "/_ebb/clock/accept", &[("sec-fetch-site", "cross-site")], 403, "CrossSite"),
        ("PUT", "/_ebb/features", &[("origin", "http://evil.example")], 403, "CrossSite"),
        ("OPTIONS", "/", &[("origin", "http://evil.example")], 403, "CrossSite"),
        ("DELETE", SESSION, &[("origin", "http://evil.example")], 403, "CrossSite"),
    ] {
        let answer = of(&server, method, path, headers, "").await;
        let found = (answer.status, code(&answer));
        assert_eq!(found, (status, want.to_owned()), "{method} {path} {headers:?}");
    }
    let mut stream = TcpStream::connect(&own).await.unwrap();
    stream.write_all(b"GET /livez HTTP/1.0\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.contains(" 421 "), "{answer}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_has_the_headers_of_safety() {
    let folder = tempfile::tempdir().unwrap();
    let server = with_keys(folder.path()).await;
    for (method, path, host) in [
        ("GET", "/", "localhost"),
        ("GET", "/nosql/d/c/items", "localhost"),
        ("GET", "/assets/nothing.js", "localhost"),
        ("GET", "/livez", "localhost"),
        ("GET", "/metrics", "localhost"),
        ("GET", "/_ebb/clock", "localhost"),
        ("GET", SESSION, "localhost"),
        ("POST", SESSION, "localhost"),
        ("PUT", SESSION, "localhost"),
        ("GET", "/_portal/api/nosql/dbs", "localhost"),
        ("GET", "/", "evil.example"),
    ] {
        let answer = of(&server, method, path, &[("host", host)], "").await;
        for (name, want) in [
            (
                "content-security-policy",
                "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; \
                 object-src 'none'; img-src 'self' data:",
            ),
            ("x-frame-options", "DENY"),
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(answer.header(name), Some(want), "{method} {path}: {answer:?}");
        }
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_open_and_links_lead_to_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let server = with_keys(folder.path()).await;
    let first = of(&server, "GET", "/", &[], "").await;
    assert_eq!(first.header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(first.header("cache-control"), Some("no-cache"));
    let tag = first.header("etag").unwrap();
    let same = of(&server, "GET", "/features", &[("if-none-match", tag)], "").await;
    assert_eq!((same.status, same.body.as_str()), (304, ""));
    assert_eq!(same.header("etag"), Some(tag));
    let packed = of(&server, "GET", "/", &[("accept-encoding", "gzip, br")], "").await;
    assert_eq!(packed.header("content-encoding"), Some("br"));
    assert_ne!(packed.header("etag"), Some(tag));
    assert_ne!(packed.body, first.body);
    for (method, path, status) in [
        ("GET", "/index.html", 200),
        ("HEAD", "/", 200),
        ("GET", "/mongo/d/c.d/query?filter=x", 200),
        ("GET", "/nosql/v1.2", 200),
        ("GET", "/assets/gone-123.js", 404),
        ("GET", "/favicon.ico", 404),
        ("GET", "/_ebb", 401),
        ("GET", "/_nothing", 401),
        ("POST", "/", 404),
        ("DELETE", "/metrics", 405),
    ] {
        let answer = of(&server, method, path, &[], "").await;
        assert_eq!(answer.status, status, "{method} {path}: {answer:?}");
        if status == 200 && method == "GET" {
            assert_eq!(answer.body, first.body, "{path}");
        }
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_address_asks_for_nothing_but_a_token() {
    let server = Server::new(&Config::for_tests()).await;
    let session = server.ask_well("GET", SESSION, "").await;
    assert_eq!((&session["login"], &session["right"]), (&"open".into(), &"write".into()));
    assert_eq!(session["key"], cosmos::WELL_KNOWN_KEY);
    assert_eq!(session["doors"]["mongo"], server.0.mongo().unwrap());
    assert_eq!(session["doors"]["cosmos"], server.0.cosmos().unwrap());
    assert_eq!(session["needsTls"], serde_json::json!({ "mongo": false, "cosmos": false }));
    assert_eq!(session["openToAll"], serde_json::json!({ "mongo": true, "cosmos": true }));
    assert_eq!(session["version"], env!("CARGO_PKG_VERSION"));
    let token = [("x-ebb-csrf", session["csrf"].as_str().unwrap())];
    let dbs = "/_portal/api/nosql/dbs";
    for (method, path, headers, body, status, want) in [
        ("POST", dbs, &token[..], r#"{"id":"d"}"#, 201, ""),
        ("POST", dbs, &[], r#"{"id":"e"}"#, 403, "Csrf"),
        ("POST", dbs, &[("x-ebb-csrf", "x")], r#"{"id":"e"}"#, 403, "Csrf"),
        ("GET", dbs, &[], "", 200, ""),
        ("GET", "/_portal/api/nosql", &[], "", 200, ""),
        ("GET", "/_portal/api/nosql/dbs/d", &[("cookie", "ebb_session=old")], "", 200, ""),
        ("DELETE", "/_portal/api/nosql/dbs/d", &[], "", 403, "Csrf"),
        ("POST", "/_portal/api/mongo/db", &[], "", 403, "Csrf"),
        ("POST", "/_portal/api/mongo/db", &token, "no bson", 400, "BadRequest"),
        ("GET", "/_portal/api/mongo/db", &[], "", 405, "MethodNotAllowed"),
        ("GET", "/_portal/api/nothing", &[], "", 404, "NotFound"),
        ("POST", "/_ebb/clock", &[], r#"{"advance_seconds":1}"#, 200, ""),
        ("POST", SESSION, &token, r#"{"key":"wrong"}"#, 401, "WrongKey"),
        ("POST", SESSION, &[], r#"{"key":"wrong"}"#, 403, "Csrf"),
        ("POST", SESSION, &token, "[", 400, "BadRequest"),
        ("POST", SESSION, &token, "{}", 400, "BadRequest"),
        ("DELETE", SESSION, &[], "", 403, "Csrf"),
    ] {
        let answer = of(&server, method, path, headers, body).await;
        let found = (answer.status, code(&answer));
        assert_eq!(found, (status, want.to_owned()), "{method} {path} {headers:?}: {answer:?}");
    }
    let large = "x".repeat(5000);
    let answer = of(&server, "POST", SESSION, &token, &large).await;
    assert_eq!((answer.status, code(&answer).as_str()), (413, "TooLarge"));
    let pong = run(&server, &token, doc! { "ping": 1 }).await;
    assert_eq!(pong.get("ok"), Some(&1.0.into()));
    let large = vec![0; 17 << 20];
    assert_eq!(run_portal_command(&server, &token, "db", &large).await.0, 413);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_opens_a_session() {
    let folder = tempfile::tempdir().unwrap();
    let server = with_keys(folder.path()).await;
    let session = server.ask_well("GET", SESSION, "").await;
    assert_eq!((&session["login"], &session["right"]), (&"required".into(), &Value::Null));
    assert_eq!(session["key"], Value::Null);
    for (key, right, shown_key) in
        [(WRITER, "write", Value::from(WRITER)), (READER, "read", Value::Null)]
    {
        let browser = Browser::new(&server, key).await;
        let shown = browser.ask(&server, "GET", SESSION, "").await.json();
        assert_eq!((&shown["right"], &shown["key"]), (&right.into(), &shown_key));
        assert_eq!(shown["csrf"], browser.token.as_str());
        let ended = browser.ask(&server, "DELETE", SESSION, "").await;
        assert_eq!(ended.status, 204);
        assert!(ended.header("set-cookie").unwrap().contains("Max-Age=0"), "{ended:?}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cookie_is_no_good_after_a_logout() {
    let folder = tempfile::tempdir().unwrap();
    let server = with_keys(folder.path()).await;
    let (one, other) = (Browser::new(&server, WRITER).await, Browser::new(&server, WRITER).await);
    assert_ne!(one.cookie, other.cookie);
    for (logged_out, status) in [(false, 200), (true, 401)] {
        if logged_out {
            assert_eq!(one.ask(&server, "DELETE", SESSION, "").await.status, 204);
        }
        for (browser, status) in [(&one, status), (&other, 200)] {
            let read = browser.ask(&server, "GET", "/_portal/api/nosql/dbs", "").await;
            assert_eq!(read.status, status, "{logged_out}: {read:?}");
        }
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_ask_for_what() {
    let folder = tempfile::tempdir().unwrap();
    let server = with_keys(folder.path()).await;
    let writer = Browser::new(&server, WRITER).await;
    let reader = Browser::new(&server, READER).await;
    let key = |key: &str| vec![("authorization", format!("Bearer {key}"))];
    let (w, r) = (writer.lines(), reader.lines());
    let (key_w, key_r, nobody) = (key(WRITER), key(READER), Vec::new());
    let no_token = vec![("cookie", writer.cookie.clone())];
    let crossed = [no_token.clone(), vec![("x-ebb-csrf", reader.token.clone())]].concat();
    let both = [r.clone(), key_w.clone()].concat();
    let forged = vec![("cookie", "ebb_session=9999999999.w.AAAA".to_owned())];
    let basic = vec![("authorization", "Basic x".to_owned())];
    let (clock, dbs, db) = ("/_ebb/clock", "/_portal/api/nosql/dbs", "/_portal/api/nosql/dbs/d");
    let (move_it, make) = (r#"{"advance_seconds":1}"#, r#"{"id":"d"}"#);
    let preview = "/_ebb/databases/d/collections/c/expiry/preview";
    for (method, path, lines, body, status, want) in [
        ("GET", clock, &nobody, "", 401, "NotSignedIn"),
        ("GET", dbs, &nobody, "", 401, "NotSignedIn"),
        ("POST", dbs, &nobody, make, 401, "NotSignedIn"),
        ("GET", clock, &forged, "", 401, "NotSignedIn"),
        ("GET", clock, &basic, "", 401, "NotSignedIn"),
        ("GET", clock, &key("x"), "", 401, "WrongKey"),
        ("GET", clock, &key_r, "", 200, ""),
        ("POST", clock, &key_r, move_it, 403, "ReadOnly"),
        ("POST", clock, &key_w, move_it, 200, ""),
        ("POST", clock, &both, move_it, 200, ""),
        ("GET", clock, &r, "", 200, ""),
        ("POST", clock, &r, move_it, 403, "ReadOnly"),
        ("POST", "/_ebb/clock/accept", &r, "", 403, "ReadOnly"),
        ("PUT", "/_ebb/features", &r, "{}", 403, "ReadOnly"),
        ("GET", "/_ebb/ttl", &r, "", 200, ""),
        ("POST", "/_ebb/ttl/pause", &r, "", 403, "ReadOnly"),
        ("POST", "/_ebb/ttl/resume", &key_r, "", 403, "ReadOnly"),
        ("POST", "/_ebb/quickstart", &r, "", 403, "ReadOnly"),
        ("POST", preview, &r, r#"{"default":1}"#, 404, "NotFound"),
        ("POST", clock, &w, move_it, 200, ""),
        ("POST", clock, &no_token, move_it, 403, "Csrf"),
        ("POST", clock, &crossed, move_it, 403, "Csrf"),
        ("POST", preview, &no_token, r#"{"default":1}"#, 403, "Csrf"),
        ("POST", dbs, &crossed, make, 403, "Csrf"),
        ("POST", dbs, &r, make, 403, ""),
        ("GET", dbs, &r, "", 200, ""),
        ("POST", dbs, &w, make, 201, ""),
        ("POST", dbs, &key_w, make, 409, ""),
        ("DELETE", db, &r, "", 403, ""),
        ("GET", "/livez", &nobody, "", 200, ""),
        ("GET", "/status", &nobody, "", 200, ""),
        ("GET", "/metrics", &nobody, "", 200, ""),
    ] {
        let given: Vec<(&str, &str)> =
            lines.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let answer = of(&server, method, path, &given, body).await;
        let found = (answer.status, code(&answer));
        assert_eq!(found, (status, want.to_owned()), "{method} {path} {lines:?}: {answer:?}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_of_who_may_only_read() {
    let folder = tempfile::tempdir().unwrap();
    let server = with_keys(folder.path()).await;
    let writer = Browser::new(&server, WRITER).await;
    let reader = Browser::new(&server, READER).await;
    let (w, r) = (writer.lines(), reader.lines());
    let insert = doc! { "insert": "c", "documents": array![doc! { "_id": 1 }] };
    for (lines, it, name, want) in [
        (&r, insert.clone(), "code", 13),
        (&w, insert, "n", 1),
        (&r, doc! { "count": "c" }, "n", 1),
        (&r, doc! { "drop": "c" }, "code", 13),
    ] {
        let given: Vec<(&str, &str)> =
            lines.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let reply = run(&server, &given, it).await;
        assert_eq!(reply.get(name), Some(&want.into()), "{reply:?}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_outlives_the_server_and_not_its_key() {
    let folder = tempfile::tempdir().unwrap();
    let server = with_keys(folder.path()).await;
    let (writer, reader) =
        (Browser::new(&server, WRITER).await, Browser::new(&server, READER).await);
    server.stop().await;
    let other = "Zm9vYmFyYmF6cXV4cXV1eA==";
    let server = keyed(folder.path(), &format!("{other}\nprimary-readonly={READER}")).await;
    let clock = "/_ebb/clock";
    assert_eq!(writer.ask(&server, "GET", clock, "").await.status, 401);
    assert_eq!(reader.ask(&server, "GET", clock, "").await.status, 200);
    let shown = writer.ask(&server, "GET", SESSION, "").await.json();
    assert_eq!(shown["right"], Value::Null);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_guesses_keys_has_to_wait() {
    let folder = tempfile::tempdir().unwrap();
    let server = with_keys(folder.path()).await;
    let reader = Browser::new(&server, READER).await;
    let token = server.ask_well("GET", SESSION, "").await["csrf"].as_str().unwrap().to_owned();
    let mut answers = Vec::new();
    for at in 0..11 {
        let answer = match at % 2 {
            0 => {
                let token = [("x-ebb-csrf", token.as_str())];
                of(&server, "POST", SESSION, &token, r#"{"key":"guess"}"#).await
            }
            _ => of(&server, "GET", "/_ebb/clock", &[("authorization", "Bearer guess")], "").await,
        };
        answers.push(answer.status);
    }
    assert_eq!(answers, [[401; 10].as_slice(), &[429]].concat());
    let [wrong, right] = ["guess", WRITER].map(|key| format!("{{\"key\":\"{key}\"}}"));
    let answer = of(&server, "POST", SESSION, &[("x-ebb-csrf", &token)], &wrong).await;
    assert_eq!((answer.status, code(&answer).as_str()), (429, "TooManyAttempts"));
    assert!(answer.header("retry-after").unwrap().parse::<u64>().unwrap() <= 61);
    // A client with a valid key is not locked out by the failures of other clients.
    let answer = of(&server, "POST", SESSION, &[("x-ebb-csrf", &token)], &right).await;
    assert_eq!(answer.status, 200);
    let key = [("authorization", format!("Bearer {WRITER}"))];
    let key = key.each_ref().map(|(name, text)| (*name, text.as_str()));
    assert_eq!(of(&server, "GET", "/_ebb/clock", &key, "").await.status, 200);
    assert_eq!(reader.ask(&server, "GET", "/_ebb/clock", "").await.status, 200);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_key_that_everybody_knows_lets_nobody_in_from_elsewhere() {
    let everywhere = || {
        let admin_addr = Some("0.0.0.0:0".to_owned());
        Config { admin_addr, mongo_no_auth: true, ..Config::for_tests() }
    };
    for cosmos_addr in [everywhere().cosmos_addr, None] {
        let server = Server::new(&Config { cosmos_addr, ..everywhere() }).await;
        for (method, path, status, want) in [
            ("GET", "/livez", 200, ""),
            ("GET", "/readyz", 200, ""),
            ("GET", "/status", 200, ""),
            ("GET", "/metrics", 200, ""),
            ("GET", "/", 403, "KeyIsKnown"),
            ("GET", SESSION, 403, "KeyIsKnown"),
            ("POST", SESSION, 403, "KeyIsKnown"),
            ("GET", "/_ebb/clock", 403, "KeyIsKnown"),
            ("GET", "/_portal/api/nosql/dbs", 403, "KeyIsKnown"),
        ] {
            let answer = of(&server, method, path, &[], "").await;
            assert_eq!((answer.status, code(&answer).as_str()), (status, want), "{method} {path}");
        }
        server.stop().await;
    }
    let folder = tempfile::tempdir().unwrap();
    let key_file = Some(key_file(folder.path(), WRITER));
    for (config, login) in [
        (Config { key_file: key_file.clone(), ..everywhere() }, "required"),
        (Config { key_file: key_file.clone(), cosmos_addr: None, ..everywhere() }, "required"),
        (
            Config { key_file, cosmos_addr: None, mongo_no_auth: true, ..Config::for_tests() },
            "open",
        ),
        (Config { cosmos_addr: None, ..Config::for_tests() }, "open"),
    ] {
        let server = Server::new(&config).await;
        assert_eq!(server.ask_well("GET", SESSION, "").await["login"], login, "{config:?}");
        server.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_door_that_is_off_is_closed() {
    let off = Config { mongo_addr: None, cosmos_addr: None, ..Config::for_tests() };
    let server = Server::new(&off).await;
    let session = server.ask_well("GET", SESSION, "").await;
    assert_eq!(session["doors"], serde_json::json!({ "mongo": null, "cosmos": null }));
    let token = [("x-ebb-csrf", session["csrf"].as_str().unwrap())];
    for path in ["/_portal/api/nosql/dbs", "/_portal/api/mongo/db"] {
        let answer = of(&server, "POST", path, &token, "").await;
        assert_eq!((answer.status, code(&answer).as_str()), (404, "DoorClosed"), "{path}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relayed_query_ends_when_its_client_leaves() {
    let server = Server::new(&Config::for_tests()).await;
    let documents = (0..1000).map(|id| doc! { "_id": id, "v": 0 }.into()).collect();
    let documents = document::Value::Array(documents);
    server.run_command(doc! { "insert": "c", "documents": documents, "$db": "db" }).await;
    let token = server.ask_well("GET", SESSION, "").await["csrf"].as_str().unwrap().to_owned();
    let sum = doc! { "$sum": doc! { "$range": array![0, 200_000] } };
    let slow = doc! { "$expr": doc! { "$lt": array![sum, "$v"] } };
    let find = doc! { "find": "c", "filter": slow }.to_buf();
    let address = server.0.admin().unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /_portal/api/mongo/db HTTP/1.1\r\nhost: {address}\r\nx-ebb-csrf: {token}\r\n\
         content-length: {}\r\n\r\n",
        find.bytes().len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(find.bytes()).await.unwrap();
    let queries = async || {
        let shown =
            server.run_command(doc! { "currentOp": 1, "op": "query", "$db": "admin" }).await;
        match shown.get("inprog") {
            Some(document::Value::Array(shown)) => shown.len(),
            other => panic!("{other:?}"),
        }
    };
    while queries().await == 0 {}
    drop(stream);
    // Without the cancellation the query would take minutes.
    while queries().await == 1 {}
    server.stop().await;
}
