//! A test client in direct mode: it sends frames over TLS as SDKs do.

use std::sync::Arc;

use cosmos::WELL_KNOWN_KEY;
use document::{Document, json};
use rntbd::{
    AnswerHead, AnswerToken, FrameWriter, HEAD_BYTES, Kind, OperationType, RequestToken,
    ResourceType, Tokens,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
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

use super::{Client, date, sign};

/// A token of a request: its name and value.
pub(crate) type Given = (RequestToken, Vec<u8>);

/// A request before it is numbered and signed.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) resource: ResourceType,
    pub(crate) operation: OperationType,
    /// Names of the resource and its parents, from the database down.
    pub(crate) names: Vec<(RequestToken, String)>,
    pub(crate) tokens: Vec<Given>,
    pub(crate) body: Vec<u8>,
    /// The authorization; `None` for a signature with the well-known key.
    pub(crate) authorization: Option<String>,
    /// Path of the address to which the client sends the request.
    pub(crate) replica: &'static str,
}

impl Frame {
    pub(crate) fn new(resource: ResourceType, operation: OperationType) -> Self {
        let (names, tokens, body) = (Vec::new(), Vec::new(), Vec::new());
        let replica = "/apps/a/services/s/partitions/p/replicas/1p";
        Self { resource, operation, names, tokens, body, authorization: None, replica }
    }

    /// Returns a request about the container `c`, or the item in it if the id is not empty, in the
    /// partition `a`.
    pub(crate) fn of_item(operation: OperationType, id: &str) -> Self {
        let frame = Self::new(ResourceType::Document, operation)
            .named(RequestToken::DatabaseName, "d")
            .named(RequestToken::CollectionName, "c");
        let frame = if id.is_empty() { frame } else { frame.named(RequestToken::DocumentName, id) };
        frame.with(RequestToken::PartitionKey, b"[\"a\"]")
    }

    pub(crate) fn named(mut self, token: RequestToken, name: &str) -> Self {
        self.names.push((token, name.to_owned()));
        self
    }

    pub(crate) fn with(mut self, token: RequestToken, value: &[u8]) -> Self {
        self.tokens.push((token, value.to_vec()));
        self
    }

    pub(crate) fn without(mut self, token: RequestToken) -> Self {
        self.tokens.retain(|(name, _)| *name != token);
        self
    }

    pub(crate) fn body(self, body: impl AsRef<[u8]>) -> Self {
        Self { body: body.as_ref().to_vec(), ..self }
    }

    pub(crate) fn authorized(self, authorization: String) -> Self {
        Self { authorization: Some(authorization), ..self }
    }

    pub(crate) fn at(self, replica: &'static str) -> Self {
        Self { replica, ..self }
    }

    /// Returns the link that is signed.
    pub(crate) fn link(&self) -> String {
        let word = |token: &RequestToken| match token {
            RequestToken::DatabaseName => "dbs",
            RequestToken::CollectionName => "colls",
            RequestToken::DocumentName => "docs",
            RequestToken::UserName => "users",
            RequestToken::PermissionName => "permissions",
            RequestToken::StoredProcedureName => "sprocs",
            other => panic!("{other:?}"),
        };
        let parts = self.names.iter().map(|(token, name)| format!("{}/{name}", word(token)));
        parts.collect::<Vec<_>>().join("/")
    }

    fn verb(&self) -> &'static str {
        match self.operation {
            OperationType::Read | OperationType::ReadFeed => "get",
            OperationType::Replace => "put",
            OperationType::Patch => "patch",
            OperationType::Delete => "delete",
            OperationType::Head | OperationType::HeadFeed => "head",
            _ => "post",
        }
    }

    fn kind(&self) -> &'static str {
        match self.resource {
            ResourceType::Database => "dbs",
            ResourceType::Collection => "colls",
            ResourceType::User => "users",
            ResourceType::Permission => "permissions",
            ResourceType::StoredProcedure => "sprocs",
            ResourceType::Conflict => "conflicts",
            _ => "docs",
        }
    }

    /// Returns the signature with a key.
    pub(crate) fn sign(&self, key: &str, date: &str) -> String {
        sign(key, self.verb(), self.kind(), &self.link(), date)
    }

    /// Returns the bytes of the request with this number.
    pub(crate) fn bytes(&self, number: u32) -> Vec<u8> {
        let mut out = Vec::new();
        let (resource, operation) = (self.resource.code(), self.operation.code());
        let mut frame = FrameWriter::request(&mut out, resource, operation, [7; 16]);
        let mut push = |token: RequestToken, value: &[u8]| {
            assert!(frame.push(token.id(), token.kind(), value));
        };
        let date = date(0);
        let authorization =
            self.authorization.clone().unwrap_or_else(|| self.sign(WELL_KNOWN_KEY, &date));
        push(RequestToken::AuthorizationToken, authorization.as_bytes());
        push(RequestToken::Date, date.as_bytes());
        push(RequestToken::PayloadPresent, &[u8::from(!self.body.is_empty())]);
        push(RequestToken::ReplicaPath, self.replica.as_bytes());
        push(RequestToken::TransportRequestId, &number.to_le_bytes());
        for (token, name) in &self.names {
            push(*token, name.as_bytes());
        }
        for (token, value) in &self.tokens {
            push(*token, value);
        }
        let body = (!self.body.is_empty()).then_some(self.body.len());
        frame.finish(body);
        out.extend_from_slice(&self.body);
        out
    }
}

/// An answer to a frame.
#[derive(Debug)]
pub(crate) struct FrameAnswer {
    pub(crate) status: u32,
    pub(crate) tokens: Vec<(u16, Kind, Vec<u8>)>,
    pub(crate) body: String,
    /// The body as bytes, for bodies that are not text.
    pub(crate) bytes: Vec<u8>,
}

impl FrameAnswer {
    pub(crate) fn token(&self, token: AnswerToken) -> Option<&[u8]> {
        let (_, kind, value) = self.tokens.iter().find(|(id, ..)| *id == token.id())?;
        assert_eq!(*kind, token.kind(), "{token:?}");
        Some(value)
    }

    pub(crate) fn text(&self, token: AnswerToken) -> String {
        String::from_utf8(self.token(token).unwrap().to_vec()).unwrap()
    }

    pub(crate) fn number(&self, token: AnswerToken) -> Option<i64> {
        let mut number = [0; 8];
        let value = self.token(token)?;
        number[..value.len()].copy_from_slice(value);
        Some(i64::from_le_bytes(number))
    }

    pub(crate) fn code(&self) -> (u32, i64) {
        (self.status, self.number(AnswerToken::SubStatus).unwrap_or(0))
    }

    pub(crate) fn document(&self) -> Document {
        json::parse_document(&self.bytes, 128).unwrap()
    }
}

/// A connection in direct mode.
pub(crate) struct FrameClient {
    pub(crate) stream: TlsStream<TcpStream>,
    number: u32,
}

/// Returns the bytes of a context.
pub(crate) fn context_bytes() -> Vec<u8> {
    let mut out = Vec::new();
    let mut frame = FrameWriter::request(&mut out, 0, 0, [1; 16]);
    assert!(frame.push(0, Kind::ULong, &1_u32.to_le_bytes()));
    assert!(frame.push(1, Kind::SmallString, b"2020-07-15"));
    assert!(frame.push(2, Kind::SmallString, b"test"));
    frame.finish(None);
    out
}

impl FrameClient {
    /// Connects to the API of another client and sends a context.
    pub(crate) async fn beside(client: &mut Client) -> Self {
        Self::over(tls(client).await).await
    }

    /// Sends a context over a connection.
    pub(crate) async fn over(mut stream: TlsStream<TcpStream>) -> Self {
        stream.write_all(&context_bytes()).await.unwrap();
        let mut frames = Self { stream, number: 0 };
        let answer = frames.head().await.unwrap();
        assert_eq!(answer.status, 200);
        frames
    }

    /// Reads the head and tokens of an answer; `None` if the connection was closed.
    async fn head(&mut self) -> Option<FrameAnswer> {
        let mut head = [0; HEAD_BYTES];
        self.stream.read_exact(&mut head).await.ok()?;
        let read = AnswerHead::read(&head, 1 << 20).unwrap();
        let mut tokens = vec![0; read.tokens_len];
        self.stream.read_exact(&mut tokens).await.unwrap();
        let owned = |token: rntbd::Token<'_>| (token.id, token.kind, token.value.to_vec());
        let tokens = Tokens::new(&tokens).map(|token| owned(token.unwrap())).collect();
        Some(FrameAnswer { status: read.status, tokens, body: String::new(), bytes: Vec::new() })
    }

    /// Reads the next answer; `None` if the connection was closed.
    pub(crate) async fn answer(&mut self) -> Option<FrameAnswer> {
        let mut answer = self.head().await?;
        if answer.token(AnswerToken::PayloadPresent) == Some(&[1]) {
            let len = self.stream.read_u32_le().await.unwrap();
            answer.bytes = vec![0; len as usize];
            self.stream.read_exact(&mut answer.bytes).await.unwrap();
            answer.body = String::from_utf8_lossy(&answer.bytes).into_owned();
        }
        Some(answer)
    }

    pub(crate) async fn ask(&mut self, frame: &Frame) -> FrameAnswer {
        self.number += 1;
        self.stream.write_all(&frame.bytes(self.number)).await.unwrap();
        self.stream.flush().await.unwrap();
        let answer = self.answer().await.expect("an answer");
        assert_eq!(answer.number(AnswerToken::TransportRequestId), Some(self.number.into()));
        answer
    }

    /// Sends bytes and returns whether the server then closes the connection without an answer.
    pub(crate) async fn breaks(&mut self, bytes: &[u8]) -> bool {
        let _ = self.stream.write_all(bytes).await;
        let _ = self.stream.flush().await;
        self.head().await.is_none()
    }
}

/// Connects to the API of another client with TLS and without agreeing on a protocol.
pub(crate) async fn tls(client: &mut Client) -> TlsStream<TcpStream> {
    let (api, stop) = (client.api.upgrade().unwrap(), client.stop.subscribe());
    let serve = |far| drop(tokio::spawn(cosmos::serve(api, far, stop)));
    tls_with(client, serve).await
}

/// Connects to a server that has the certificate of a client's API.
pub(crate) async fn tls_with(
    client: &mut Client,
    serve: impl FnOnce(TcpStream),
) -> TlsStream<TcpStream> {
    let certificate = client.send("GET", "/_explorer/emulator.pem", &[], "").await.body;
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().unwrap();
    let config = builder.with_root_certificates(roots).with_no_client_auth();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (far, _) = listener.accept().await.unwrap();
    serve(far);
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap()
}
