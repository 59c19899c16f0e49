//! A whole server for tests, asked over its sockets as anybody asks it. Nothing reaches into it, so
//! what a test finds is what a client finds. Everything here panics where something is not as it has
//! to be: that is a failed test.

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

/// A running server, of the configuration that a test gave. It has to be stopped by the test.
#[derive(Debug)]
pub(crate) struct Server(pub(crate) Running);

/// What a request was answered with.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The status of the first line.
    pub(crate) status: u16,
    /// All lines before the empty one, the first too.
    pub(crate) head: String,
    /// The rest, as text.
    pub(crate) body: String,
}

impl Answer {
    /// Returns the body as JSON, which it has to be.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Returns the first header of this name, in any case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (held, value) = line.split_once(": ")?;
            held.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}

impl Server {
    /// Starts a server; it accepts when this returns.
    pub(crate) async fn new(config: &Config) -> Self {
        Self(start(config).await.unwrap())
    }

    /// Starts one that keeps its data in a folder, so that a later one can find them there.
    pub(crate) async fn start_keeping(folder: &Path, per_document_ttl: Option<bool>) -> Self {
        let data_dir = Some(folder.join("data"));
        Self::new(&Config { data_dir, per_document_ttl, ..Config::for_tests() }).await
    }

    /// Stops it; an unclean end fails the test.
    pub(crate) async fn stop(self) {
        self.0.stop().await.unwrap();
    }

    /// Sends a request to the admin address. A change in the portal's own paths needs the token of a
    /// session, which is asked for first, as the web pages do.
    pub(crate) async fn ask_admin(&self, method: &str, path: &str, body: &str) -> Answer {
        self.ask_admin_with(method, path, &[], body).await
    }

    /// The same with further headers.
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

    /// The same; the answer has to be 200 with JSON, which is returned.
    pub(crate) async fn ask_well(&self, method: &str, path: &str, body: &str) -> Value {
        let answer = self.ask_admin(method, path, body).await;
        assert_eq!(answer.status, 200, "{method} {path} {body}: {answer:?}");
        answer.json()
    }

    /// Moves the manual clock; documents that expire by it are gone when this returns.
    pub(crate) async fn move_forward(&self, seconds: f64) {
        let body = format!("{{\"advance_seconds\": {seconds}}}");
        self.ask_well("POST", "/_ebb/clock", &body).await;
    }

    /// Runs a command, which names its database in `$db`, in the MongoDB API; it has to succeed. Returns
    /// the reply. Each call has a connection of its own.
    pub(crate) async fn run_command(&self, command: Document) -> Document {
        self.connect().await.run_command(command).await
    }

    /// A client of the MongoDB API.
    pub(crate) async fn connect(&self) -> MongoClient {
        MongoClient::over(Box::new(TcpStream::connect(self.0.mongo().unwrap()).await.unwrap()))
    }
}

/// A connection to the MongoDB API.
pub(crate) struct MongoClient(Box<dyn Duplex>);

impl MongoClient {
    /// A connection over a stream.
    pub(crate) fn over(stream: Box<dyn Duplex>) -> Self {
        Self(stream)
    }

    /// Whether a command is answered, and the connection not closed instead.
    pub(crate) async fn answers(&mut self, command: Document) -> bool {
        self.exchange(&command).await.is_ok()
    }

    /// Runs a command, which has to succeed.
    pub(crate) async fn run_command(&mut self, command: Document) -> Document {
        let reply = self.try_command(command.clone()).await;
        let ok = reply.get("ok").map(|ok| ok.as_ref().is_truthy());
        assert_eq!(ok, Some(true), "{command:?}: {reply:?}");
        reply
    }

    /// Runs a command, which may fail.
    pub(crate) async fn try_command(&mut self, command: Document) -> Document {
        self.exchange(&command).await.unwrap()
    }

    /// A command as a message.
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

/// Sends one HTTP/1.1 request on a connection of its own and reads the answer to the end. The host is
/// the address unless the headers have one.
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

/// The same over a stream that is there already; `None`: it is closed without an answer.
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
    // Inside TLS an end without a word is an error behind an answer.
    let _ = stream.read_to_end(&mut answer).await;
    let answer = String::from_utf8_lossy(&answer);
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Some(Answer { status, head: head.to_owned(), body: body.to_owned() })
}
