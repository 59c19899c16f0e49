//! A client of the NoSQL API for tests, which signs its requests with the key that everybody knows and keeps
//! its connection. Everything here panics where something is not as it has to be.

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

use crate::testing::Server;

/// A connection to the NoSQL API.
pub(crate) struct NosqlClient {
    host: String,
    sender: http1::SendRequest<Full<Bytes>>,
}

/// What a request was answered with.
#[derive(Debug)]
pub(crate) struct NosqlAnswer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    /// Null where there is none.
    pub(crate) body: Value,
}

impl Server {
    /// A client of the NoSQL API.
    pub(crate) async fn connect_nosql(&self) -> NosqlClient {
        let host = self.0.cosmos().unwrap().to_owned();
        let stream = TcpStream::connect(&host).await.unwrap();
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        NosqlClient { host, sender }
    }
}

/// Kind and link of what a path means, as they are signed.
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

impl NosqlClient {
    /// Sends a request, with these headers beside its signature.
    pub(crate) async fn ask(
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

    /// The same without headers; the answer has to have this status. Returns its body.
    pub(crate) async fn expect(
        &mut self,
        status: u16,
        (method, path): (&str, &str),
        body: &str,
    ) -> Value {
        let answer = self.ask(method, path, &[], body).await;
        assert_eq!(answer.status, status, "{method} {path} {body}: {answer:?}");
        answer.body
    }
}
