//! Sends the requests with values of the current run filled in, and formats responses without
//! values that differ between runs.

use std::{collections::HashMap, fs, path::PathBuf};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use cosmos::WELL_KNOWN_KEY;
use document::{Value, json};
use hybrid_row::{ResultWriter, is_hybrid_row, read_operations, read_results, write_operations};

use super::script::Request;
use crate::client::{Answer, Client, date, sign};

/// The activity id of all requests, so that error texts are the same in each run.
const ACTIVITY_ID: &str = "11111111-2222-3333-4444-555555555555";

/// Headers that the SDK sends with every request; the files omit them.
const ALWAYS: [(&str, &str); 8] = [
    ("x-ms-cosmos-sdk-supportedcapabilities", "9"),
    ("x-ms-noretry-449", "True"),
    ("x-ms-activity-id", ACTIVITY_ID),
    ("Cache-Control", "no-cache"),
    ("User-Agent", "cosmos-netstandard-sdk/3.64.0|N|X64|Linux|.NET 10|"),
    ("x-ms-version", "2020-07-15"),
    ("Accept", "application/json"),
    ("x-ms-client-id", "00000000-0000-0000-0000-000000000000"),
];

/// The response headers that are compared, each with whether its value is compared, too. Each is
/// read by some client.
const SHOWN: [(&str, bool); 14] = [
    ("content-type", true),
    ("x-ms-substatus", true),
    ("x-ms-item-count", true),
    ("x-ms-cosmos-min-throughput", true),
    ("x-ms-documentdb-collection-index-transformation-progress", true),
    ("x-ms-cosmos-index-utilization", true),
    ("x-ms-documentdb-partitionkeyrangeid", true),
    ("x-ms-alt-content-path", true),
    ("etag", false),
    ("x-ms-continuation", false),
    ("x-ms-item-lsn", false),
    ("x-ms-content-path", false),
    ("x-ms-documentdb-query-metrics", false),
    ("x-ms-retry-after-ms", false),
];

/// Properties whose values differ between runs.
const MASKED: [&str; 9] = [
    "_etag",
    "_token",
    "databaseAccountEndpoint",
    "eTag",
    "_ts",
    "_lsn",
    "lsn",
    "previousImageLSN",
    "crts",
];

/// A client with the responses received so far.
pub(super) struct Player {
    pub(super) client: Client,
    answers: HashMap<String, Answer>,
    /// Session token of the last response.
    session: String,
}

impl Player {
    pub(super) async fn new() -> Self {
        let client = Client::new().await;
        Self { client, answers: HashMap::new(), session: "0:-1#0".to_owned() }
    }

    /// Creates a resource that a request needs.
    pub(super) async fn make(&mut self, path: &str, headers: &[(String, String)], body: &str) {
        let mut headers = headers.to_vec();
        headers.extend(
            path.ends_with("/docs")
                .then(|| ("x-ms-documentdb-is-upsert".to_owned(), "True".to_owned())),
        );
        let made = self.send(("POST", path), &headers, body.as_bytes()).await;
        assert!([200, 201].contains(&made.status), "{path} {body}: {made:?}");
    }

    pub(super) async fn remove(&mut self, path: &str, key: &str) {
        let headers = [("x-ms-documentdb-partitionkey".to_owned(), key.to_owned())];
        let headers = if key.is_empty() { &headers[..0] } else { &headers };
        assert_eq!(self.send(("DELETE", path), headers, b"").await.status, 204, "{path}");
    }

    /// Sends a request and returns its response as lines.
    pub(super) async fn exchange(&mut self, request: &Request) -> Vec<String> {
        let path = self.fill(&request.path).await;
        let mut headers = Vec::new();
        for (name, value) in &request.headers {
            headers.push((name.clone(), self.fill(value).await));
        }
        let body = self.body(request.body.as_deref().unwrap_or_default()).await;
        let answer = self.send((&request.verb, &path), &headers, &body).await;
        assert_eq!(answer.header("x-ms-activity-id"), Some(ACTIVITY_ID), "{}", request.name);
        for header in ["x-ms-request-charge", "x-ms-gatewayversion", "x-ms-serviceversion", "date"]
        {
            assert!(answer.header(header).is_some(), "{} lacks {header}", request.name);
        }
        let lines = shown(&answer);
        self.answers.insert(request.name.clone(), answer);
        lines
    }

    /// Returns the bytes of a body. A body `=TEXT` is base64. A body `@NAME` is a captured batch;
    /// `@NAME OLD NEW` replaces the etag `OLD` in it (`*`: all etags) by `NEW`.
    async fn body(&mut self, body: &str) -> Vec<u8> {
        if let Some(bytes) = body.strip_prefix('=') {
            return STANDARD.decode(bytes).unwrap();
        }
        let Some(captured) = body.strip_prefix('@') else {
            return self.fill(body).await.into_bytes();
        };
        let (name, etags) = captured.split_once(' ').unwrap_or((captured, ""));
        let (old, new) = etags.split_once(' ').unwrap_or_default();
        let new = self.fill(new).await;
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../hybrid-row/tests/captured");
        let bytes = fs::read(PathBuf::from(folder).join(format!("{name}.request"))).unwrap();
        let mut operations = read_operations(&bytes).unwrap();
        assert!(write_operations(&operations) == bytes, "{name}");
        let mut replaced = 0;
        for operation in &mut operations {
            for etag in [&mut operation.if_match, &mut operation.if_none_match] {
                if etag.is_some_and(|held| old == "*" || held.trim_matches('"') == old) {
                    *etag = Some(&new);
                    replaced += 1;
                }
            }
        }
        assert_eq!(replaced == 0, old.is_empty(), "{name}");
        write_operations(&operations)
    }

    /// Sends a request, signed unless it has a token.
    async fn send(
        &mut self,
        (verb, path): (&str, &str),
        headers: &[(String, String)],
        body: &[u8],
    ) -> Answer {
        let mut head = format!("{verb} {path} HTTP/1.1\r\nhost: test:1\r\n");
        for (name, value) in ALWAYS {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let date = date(0);
        head.push_str(&format!("x-ms-date: {date}\r\n"));
        if !headers.iter().any(|(name, _)| name == "authorization") {
            let (kind, link) = signed(path);
            let authorization = sign(WELL_KNOWN_KEY, verb, &kind, &link, &date);
            head.push_str(&format!("authorization: {authorization}\r\n"));
        }
        for (name, value) in headers {
            let value = if name == "authorization" { encoded(value) } else { value.clone() };
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
        let answer = self.client.raw(&[head.as_bytes(), body].concat()).await;
        if let Some(session) = answer.header("x-ms-session-token") {
            self.session = session.to_owned();
        }
        answer
    }

    /// Returns a text with the names between `{{` and `}}` replaced by their values.
    async fn fill(&mut self, text: &str) -> String {
        let (mut out, mut rest) = (String::new(), text.to_owned());
        while let Some((before, found)) = rest.split_once("{{") {
            let (name, after) = found.split_once("}}").unwrap();
            out.push_str(before);
            out.push_str(&self.value(name).await);
            rest = after.to_owned();
        }
        out + &rest
    }

    /// Returns the value of a name: `session`, `rid PATH`, `etag PATH KEY`, or an earlier exchange
    /// with a response header or a path into its body.
    async fn value(&mut self, name: &str) -> String {
        if name == "session" {
            return self.session.clone();
        }
        let (first, rest) = name.split_once(' ').unwrap();
        let (path, key) = rest.split_once(' ').unwrap_or((rest, ""));
        match first {
            "rid" => self.send(("GET", path), &[], b"").await.text("_rid"),
            "etag" => {
                let key = [("x-ms-documentdb-partitionkey".to_owned(), key.to_owned())];
                let answer = self.send(("GET", path), &key, b"").await;
                answer.header("etag").unwrap().to_owned()
            }
            _ => {
                let answer = self.answers.get(first).unwrap();
                match rest.strip_prefix('/') {
                    Some(place) => at_place(&answer.body, place),
                    None => answer.header(rest).unwrap().to_owned(),
                }
            }
        }
    }
}

/// Returns the text at a path of names and indexes in a body.
fn at_place(body: &str, place: &str) -> String {
    let mut value = json::parse(body.as_bytes(), 128).unwrap();
    for step in place.split('/') {
        value = match value {
            Value::Document(fields) => fields.get(step).unwrap().clone(),
            Value::Array(values) => values.get(step.parse::<usize>().unwrap()).unwrap().clone(),
            other => panic!("{step} of {other:?}"),
        };
    }
    match value {
        Value::String(text) => text,
        other => panic!("{other:?} is no text"),
    }
}

/// Returns the kind and link that the SDK signs for a path: a resource id is signed alone and in
/// lower case.
fn signed(path: &str) -> (String, String) {
    if let Some(query) = path.strip_prefix("//addresses/?$resolveFor=") {
        let about = query.split('&').next().unwrap().replace("%2f", "/");
        let mut parts = about.rsplit('/');
        let kind = parts.next().unwrap().to_owned();
        return (kind, parts.next().unwrap_or_default().to_ascii_lowercase());
    }
    let link = path.trim_matches('/');
    if let Some(container) = link.strip_suffix("/operations/partitionkeydelete") {
        return ("partitionkey".to_owned(), container.to_owned());
    }
    let parts: Vec<&str> = link.split('/').filter(|part| !part.is_empty()).collect();
    let (kind, owner) = match parts.as_slice() {
        [owner @ .., kind] if parts.len() % 2 == 1 => (*kind, owner),
        [.., kind, _] => (*kind, parts.as_slice()),
        _ => ("", parts.as_slice()),
    };
    let link = match owner.last() {
        Some(id) if id.ends_with('=') => id.to_ascii_lowercase(),
        _ => owner.join("/"),
    };
    (kind.to_owned(), link)
}

/// Returns a resource token in header encoding.
fn encoded(token: &str) -> String {
    let mut out = String::new();
    for sign in token.chars() {
        match sign {
            '=' | '&' | '+' | '/' | ';' => out.push_str(&format!("%{:02x}", u32::from(sign))),
            _ => out.push(sign),
        }
    }
    out
}

/// Returns a response as lines: its status, headers and body. A HybridRow body has a line per row.
fn shown(answer: &Answer) -> Vec<String> {
    let mut lines = vec![answer.status.to_string()];
    for (name, compared) in SHOWN {
        if let Some(value) = answer.header(name) {
            lines.push(format!("{name}: {}", if compared { value } else { "*" }));
        }
    }
    if is_hybrid_row(&answer.bytes) {
        lines.extend(rows(&answer.bytes));
    } else if !answer.body.is_empty() {
        lines.push(masked(answer.body.as_bytes()));
    }
    lines
}

/// Returns the rows of a HybridRow response, whose bytes must equal this crate's encoding.
fn rows(bytes: &[u8]) -> Vec<String> {
    let rows = read_results(bytes).unwrap();
    let mut writer = ResultWriter::with_capacity(bytes.len());
    rows.iter().for_each(|row| writer.push(row));
    assert!(writer.finish() == bytes, "{rows:?}");
    let line = |row: &hybrid_row::OperationResult<'_>| {
        let code = format!("{}/{}", row.status_code.unwrap(), row.sub_status_code.unwrap());
        let etag = row.etag.map(|_| " etag").unwrap_or_default();
        let charge = row.request_charge.map(|_| " charge").unwrap_or_default();
        let retry = row.retry_after_milliseconds.map(|_| " retry").unwrap_or_default();
        let body = row.resource_body.map(|body| format!(" {}", masked(body))).unwrap_or_default();
        format!("{code}{etag}{charge}{retry}{body}")
    };
    rows.iter().map(line).collect()
}

/// Returns a body as text, with stars for values that differ between runs.
fn masked(body: &[u8]) -> String {
    let mut value = json::parse(body, 128).unwrap();
    mask("", &mut value);
    json::to_string(value.as_ref())
}

/// Replaces a value by a star if it differs between runs, as its name `name` or its form shows;
/// otherwise does this for the values in it.
fn mask(name: &str, value: &mut Value) {
    // A base64 text with padding is a resource id or ends with one.
    let is_id = |text: &str| text.ends_with('=') || text.ends_with("=/");
    match value {
        Value::Document(fields) => fields.iter_mut().for_each(|(name, value)| mask(name, value)),
        Value::Array(values) => values.iter_mut().for_each(|value| mask("", value)),
        Value::String(text) if is_id(text) => *text = "*".to_owned(),
        other if MASKED.contains(&name) => *other = Value::from("*"),
        _ => {}
    }
}
