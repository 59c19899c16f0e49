//! A client of the NoSQL API for tests, which signs its requests with the emulator's well-known key
//! over a persistent connection. Helpers panic on failures.

use std::time::{Duration, UNIX_EPOCH};

use auth::Key;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use cosmos::WELL_KNOWN_KEY;
use http_body_util::{BodyExt, Full};
use hyper::{HeaderMap, Request, client::conn::http1};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

use crate::Server;

/// A connection to the NoSQL API.
pub struct NosqlClient {
    host: String,
    sender: http1::SendRequest<Full<Bytes>>,
}

/// A response of the NoSQL API.
#[derive(Debug)]
pub struct NosqlAnswer {
    /// Status code of the response.
    pub status: u16,
    /// All headers of the response.
    pub headers: HeaderMap,
    /// The body as JSON; null if it is empty.
    pub body: Value,
}

impl Server {
    /// Connects to the NoSQL API.
    pub async fn connect_nosql(&self) -> NosqlClient {
        let host = self.0.cosmos().unwrap().to_owned();
        let stream = TcpStream::connect(&host).await.unwrap();
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        NosqlClient { host, sender }
    }
}

/// Returns resource type and link of a path, as they enter the signature.
fn signed_parts(path: &str) -> (&str, &str) {
    let link = path.trim_matches('/');
    let count = link.split('/').count();
    match link.rsplit_once('/') {
        None => (link, ""),
        Some((before, _)) if count.is_multiple_of(2) => {
            (before.rsplit('/').next().unwrap_or_default(), link)
        }
        Some((before, kind)) => (kind, before),
    }
}

impl std::fmt::Debug for NosqlClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NosqlClient").field("host", &self.host).finish_non_exhaustive()
    }
}

impl NosqlClient {
    /// Sends a signed request with additional headers.
    pub async fn ask(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> NosqlAnswer {
        let now = Duration::from_millis(u64::try_from(clock::wall_ms()).unwrap());
        let date = httpdate::fmt_http_date(UNIX_EPOCH + now);
        let (kind, link) = signed_parts(path);
        let text =
            format!("{}\n{kind}\n{link}\n{}\n\n", method.to_lowercase(), date.to_lowercase());
        let signature = Key::parse(WELL_KNOWN_KEY).unwrap().sign(&[text.as_bytes()]);
        let signature = STANDARD.encode(signature).replace('+', "%2B");
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", &self.host)
            .header("x-ms-version", "2020-07-15")
            .header("x-ms-date", date)
            .header("authorization", format!("type%3Dmaster%26ver%3D1.0%26sig%3D{signature}"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(Bytes::copy_from_slice(body.as_bytes()))).unwrap();
        self.sender.ready().await.unwrap();
        let response = self.sender.send_request(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let body =
            if body.is_empty() { Value::Null } else { serde_json::from_slice(&body).unwrap() };
        NosqlAnswer { status: parts.status.as_u16(), headers: parts.headers, body }
    }

    /// Sends a request without additional headers and returns the body; panics if the response does
    /// not have this status.
    pub async fn expect(&mut self, status: u16, (method, path): (&str, &str), body: &str) -> Value {
        let answer = self.ask(method, path, &[], body).await;
        assert_eq!(answer.status, status, "{method} {path} {body}: {answer:?}");
        answer.body
    }
}
