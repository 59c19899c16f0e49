//! A complete server for tests, used over its sockets like by a client. Helpers panic on failures.

use std::path::Path;

use cosmos::Duplex;
use document::{DocRef, Document};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{
    config::Config,
    serve::{Running, start},
};

/// A running server with a test's configuration. The test has to stop it.
#[derive(Debug)]
pub(crate) struct Server(pub(crate) Running);

/// A response of the admin address.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    /// Parses the body as JSON; panics if the body is not JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Returns the first header of this name, ignoring case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (held, value) = line.split_once(": ")?;
            held.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}

impl Server {
    /// Starts a server, which accepts connections on return.
    pub(crate) async fn new(config: &Config) -> Self {
        Self(start(config).await.unwrap())
    }

    /// Starts a server with its data in a folder, so that a server started later can open the data.
    pub(crate) async fn start_keeping(folder: &Path, per_document_ttl: Option<bool>) -> Self {
        let data_dir = Some(folder.join("data"));
        Self::new(&Config { data_dir, per_document_ttl, ..Config::for_tests() }).await
    }

    /// Stops the server; panics on an unclean shutdown.
    pub(crate) async fn stop(self) {
        self.0.stop().await.unwrap();
    }

    /// Sends a request to the admin address. A change under the portal's own paths needs a session
    /// token, which is requested first, as the web pages do.
    pub(crate) async fn ask_admin(&self, method: &str, path: &str, body: &str) -> Answer {
        self.ask_admin_with(method, path, &[], body).await
    }

    /// Same as `ask_admin`, with additional headers.
    pub(crate) async fn ask_admin_with(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let address = self.0.admin().unwrap();
        if method == "GET" || !path.starts_with("/_portal/") {
            return send_request(address, method, path, headers, body).await;
        }
        let session = send_request(address, "GET", "/_portal/api/session", &[], "").await.json();
        let token = session["csrf"].as_str().unwrap();
        let headers = [headers, &[("x-ebb-csrf", token)]].concat();
        send_request(address, method, path, &headers, body).await
    }

    /// Same as `ask_admin`; panics unless the response is 200 with JSON, which it returns.
    pub(crate) async fn ask_well(&self, method: &str, path: &str, body: &str) -> Value {
        let answer = self.ask_admin(method, path, body).await;
        assert_eq!(answer.status, 200, "{method} {path} {body}: {answer:?}");
        answer.json()
    }

    /// Advances the manual clock; on return, the documents that have expired by then are invisible.
    pub(crate) async fn move_forward(&self, seconds: f64) {
        let body = format!("{{\"advance_seconds\": {seconds}}}");
        self.ask_well("POST", "/_ebb/clock", &body).await;
    }

    /// Runs a command on the MongoDB API over a new connection; panics if it fails. The command
    /// names its database in `$db`.
    pub(crate) async fn run_command(&self, command: Document) -> Document {
        self.connect().await.run_command(command).await
    }

    /// Connects to the MongoDB API.
    pub(crate) async fn connect(&self) -> MongoClient {
        MongoClient::over(Box::new(TcpStream::connect(self.0.mongo().unwrap()).await.unwrap()))
    }
}

/// A connection to the MongoDB API.
pub(crate) struct MongoClient(Box<dyn Duplex>);

impl MongoClient {
    /// Creates a client over a stream.
    pub(crate) fn over(stream: Box<dyn Duplex>) -> Self {
        Self(stream)
    }

    /// Returns whether a command gets a reply, rather than a closed connection.
    pub(crate) async fn answers(&mut self, command: Document) -> bool {
        self.exchange(&command).await.is_ok()
    }

    /// Runs a command; panics if it fails.
    pub(crate) async fn run_command(&mut self, command: Document) -> Document {
        let reply = self.try_command(command.clone()).await;
        let ok = reply.get("ok").map(|ok| ok.as_ref().is_truthy());
        assert_eq!(ok, Some(true), "{command:?}: {reply:?}");
        reply
    }

    /// Runs a command and returns its reply, even if it failed.
    pub(crate) async fn try_command(&mut self, command: Document) -> Document {
        self.exchange(&command).await.unwrap()
    }

    /// Encodes a command as a message.
    pub(crate) fn message_of(command: &Document) -> Vec<u8> {
        let body = command.to_buf();
        let len = u32::try_from(body.bytes().len() + 21).unwrap();
        // OP_MSG: length, request id, reply to, opcode 2013, flags, and one section of kind 0.
        let mut message = len.to_le_bytes().to_vec();
        for number in [1_u32, 0, 2013, 0] {
            message.extend_from_slice(&number.to_le_bytes());
        }
        message.push(0);
        message.extend_from_slice(body.bytes());
        message
    }

    async fn exchange(&mut self, command: &Document) -> std::io::Result<Document> {
        self.0.write_all(&Self::message_of(command)).await?;
        self.0.flush().await?;
        let len = self.0.read_u32_le().await?;
        let mut reply = vec![0; usize::try_from(len).unwrap() - 4];
        self.0.read_exact(&mut reply).await?;
        Ok(DocRef::Raw(&reply[17..]).to_tree())
    }
}

/// Sends one HTTP/1.1 request over a new connection and reads the whole response. The host header
/// defaults to the address.
pub(crate) async fn send_request(
    address: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Answer {
    let stream = Box::new(TcpStream::connect(address).await.unwrap());
    ask_stream(stream, address, method, path, headers, body).await.unwrap()
}

/// Like `send_request` over an existing stream; `None` if it is closed without a response.
pub(crate) async fn ask_stream(
    mut stream: Box<dyn Duplex>,
    address: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Option<Answer> {
    let mut request = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "host") {
        request.push_str(&format!("host: {address}\r\n"));
    }
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    request.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len()));
    stream.write_all(request.as_bytes()).await.ok()?;
    stream.flush().await.ok()?;
    let mut answer = Vec::new();
    // Over TLS, a missing close_notify is reported as an error after the response.
    let _ = stream.read_to_end(&mut answer).await;
    let answer = String::from_utf8_lossy(&answer);
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Some(Answer { status, head: head.to_owned(), body: body.to_owned() })
}
