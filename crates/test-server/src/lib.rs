//! A complete server for tests, used over its sockets like by a client. Never shipped. Helpers
//! panic on failures.

#![allow(clippy::unwrap_used, reason = "a failed assumption fails the test")]

pub mod nosql;
pub mod tls;

use std::path::Path;

use cosmos::Duplex;
use document::{DocRef, Document};
use serde_json::Value;
use server::{Running, start};
use server_base::config::Config;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// A running server with a test's configuration. The test has to stop it.
#[derive(Debug)]
pub struct Server(pub Running);

/// A response of the admin address.
#[derive(Debug)]
pub struct Answer {
    /// Status code of the response.
    pub status: u16,
    /// Status line and headers, without the empty line.
    pub head: String,
    /// Body of the response as text.
    pub body: String,
}

impl Answer {
    /// Parses the body as JSON; panics if the body is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Returns the first header of this name, ignoring case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (held, value) = line.split_once(": ")?;
            held.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}

impl Server {
    /// Starts a server, which accepts connections on return.
    pub async fn new(config: &Config) -> Self {
        Self(start(config).await.unwrap())
    }

    /// Starts a server with its data in a folder, so that a server started later can open the data.
    pub async fn start_keeping(folder: &Path, per_document_ttl: Option<bool>) -> Self {
        let data_dir = Some(folder.join("data"));
        Self::new(&Config { data_dir, per_document_ttl, ..Config::for_tests() }).await
    }

    /// Stops the server; panics on an unclean shutdown.
    pub async fn stop(self) {
        self.0.stop().await.unwrap();
    }

    /// Sends a request to the admin address. A change under the portal's own paths needs a session
    /// token, which is requested first, as the web pages do.
    pub async fn ask_admin(&self, method: &str, path: &str, body: &str) -> Answer {
        self.ask_admin_with(method, path, &[], body).await
    }

    /// Same as `ask_admin`, with additional headers.
    pub async fn ask_admin_with(
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
    pub async fn ask_well(&self, method: &str, path: &str, body: &str) -> Value {
        let answer = self.ask_admin(method, path, body).await;
        assert_eq!(answer.status, 200, "{method} {path} {body}: {answer:?}");
        answer.json()
    }

    /// Advances the manual clock; on return, the documents that have expired by then are invisible.
    pub async fn move_forward(&self, seconds: f64) {
        let body = format!("{{\"advance_seconds\": {seconds}}}");
        self.ask_well("POST", "/_ebb/clock", &body).await;
    }

    /// Runs a command on the MongoDB API over a new connection; panics if it fails. The command
    /// names its database in `$db`.
    pub async fn run_command(&self, command: Document) -> Document {
        self.connect().await.run_command(command).await
    }

    /// Connects to the MongoDB API.
    pub async fn connect(&self) -> MongoClient {
        MongoClient::over(Box::new(TcpStream::connect(self.0.mongo().unwrap()).await.unwrap()))
    }
}

/// A connection to the MongoDB API.
pub struct MongoClient(Box<dyn Duplex>);

impl std::fmt::Debug for MongoClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MongoClient").finish_non_exhaustive()
    }
}

impl MongoClient {
    /// Creates a client over a stream.
    pub fn over(stream: Box<dyn Duplex>) -> Self {
        Self(stream)
    }

    /// Returns whether a command gets a reply, rather than a closed connection.
    pub async fn answers(&mut self, command: Document) -> bool {
        self.exchange(&command).await.is_ok()
    }

    /// Runs a command; panics if it fails.
    pub async fn run_command(&mut self, command: Document) -> Document {
        let reply = self.try_command(command.clone()).await;
        let ok = reply.get("ok").map(|ok| ok.as_ref().is_truthy());
        assert_eq!(ok, Some(true), "{command:?}: {reply:?}");
        reply
    }

    /// Runs a command and returns its reply, even if it failed.
    pub async fn try_command(&mut self, command: Document) -> Document {
        self.exchange(&command).await.unwrap()
    }

    /// Encodes a command as a message.
    pub fn message_of(command: &Document) -> Vec<u8> {
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
pub async fn send_request(
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
pub async fn ask_stream(
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

/// Runs a command through the portal; returns status, head and reply.
pub async fn run_portal_command(
    server: &Server,
    headers: &[(&str, &str)],
    database: &str,
    body: &[u8],
) -> (u16, String, Vec<u8>) {
    let address = server.0.admin().unwrap();
    let mut request = format!(
        "POST /_portal/api/mongo/{database} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
         content-type: application/bson\r\ncontent-length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    request.push_str("\r\n");
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    // A refused client's body may not be read completely.
    let _ = stream.write_all(body).await;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let head = String::from_utf8(answer[..end].to_vec()).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, head, answer[end + 4..].to_vec())
}
