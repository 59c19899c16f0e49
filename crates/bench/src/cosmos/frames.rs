//! Direct mode: requests about items as frames (rntbd), as the SDKs for .NET and Java send them by
//! default. A connection carries one request at a time.

use std::{borrow::Cow, ops::Range};

use base64::{Engine, prelude::BASE64_STANDARD};
use fastrand::Rng;
use rntbd::{
    AnswerHead, AnswerToken, ClientContext, FrameWriter, HEAD_BYTES, OperationType, RequestToken,
    ResourceType, Tokens,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{call::Call, date::Date, key::Key, link::Answer};
use crate::{
    address::Address,
    error::{Error, Result},
    stream::{Stream, open_stream},
};

/// Maximum size of the head and tokens of an answer.
const TOKENS_MAX: usize = 1024 * 1024;
/// Maximum size of a response body in bytes.
const BODY_MAX: usize = 256 * 1024 * 1024;
/// Path of the address, which clients repeat in each frame.
const REPLICA: &[u8] = b"/apps/ebb/services/nosql/partitions/0/replicas/1p";
/// The only partition key range of a container.
const RANGE: &[u8] = b"0";
/// Code of the consistency level Session.
const SESSION: u8 = 2;

/// A connection in direct mode, with the data to reopen it.
#[derive(Debug)]
pub(crate) struct FrameLink {
    address: Address,
    key: Key,
    /// The socket; `None` if a request has failed before its answer was complete.
    stream: Option<Stream>,
    activity: [u8; 16],
    /// Number of requests so far, which identifies an answer.
    number: u32,
    authorization: Vec<u8>,
    outgoing: Vec<u8>,
    incoming: Vec<u8>,
    /// The last answer, whose body is in `incoming`.
    parts: Parts,
}

/// The parts of a complete answer.
#[derive(Debug, Default, PartialEq, Eq)]
struct Parts {
    status: u16,
    number: Option<u32>,
    continuation: Option<String>,
    body: Range<usize>,
}

impl FrameLink {
    pub(crate) async fn open_connection(address: &Address, key: &Key) -> Result<Self> {
        let mut link = Self {
            address: address.clone(),
            key: key.clone(),
            stream: None,
            activity: Rng::new().u128(..).to_ne_bytes(),
            number: 0,
            authorization: Vec::new(),
            outgoing: Vec::new(),
            incoming: Vec::with_capacity(64 * 1024),
            parts: Parts::default(),
        };
        link.stream = Some(link.connect().await?);
        Ok(link)
    }

    /// Returns the answer to the last request.
    pub(crate) fn answer(&self) -> Answer<'_> {
        let Parts { status, continuation, body, .. } = &self.parts;
        let body = self.incoming.get(body.clone()).unwrap_or_default();
        Answer { status: *status, body, continuation: continuation.as_deref() }
    }

    /// Sends a request about items and reads its answer, which may have any status.
    pub(crate) async fn send_call(&mut self, call: &Call<'_>, date: &Date) -> Result<()> {
        self.number = self.number.wrapping_add(1);
        self.encode_request(call, date)?;
        // Taken out, so that the connection is dropped if the request fails midway.
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => self.connect().await?,
        };
        stream.write_all(&self.outgoing).await?;
        stream.flush().await?;
        self.parts = self.receive(&mut stream).await?;
        if self.parts.number != Some(self.number) {
            return Err(Error::Protocol("an answer to another request".to_owned()));
        }
        self.stream = Some(stream);
        Ok(())
    }

    /// Connects to the server and exchanges the contexts.
    async fn connect(&mut self) -> Result<Stream> {
        let mut stream = open_stream(&self.address).await?;
        let agent = format!("ebb-bench/{}", env!("CARGO_PKG_VERSION"));
        let context = ClientContext { client_version: "2020-07-15", user_agent: &agent };
        let mut out = Vec::new();
        context.write(&mut out, self.activity);
        stream.write_all(&out).await?;
        stream.flush().await?;
        match self.receive(&mut stream).await?.status {
            200 => Ok(stream),
            status => {
                let why = format!("the server refuses the context with {status}");
                Err(Error::Protocol(why))
            }
        }
    }

    /// Reads until an answer is complete.
    async fn receive(&mut self, stream: &mut Stream) -> Result<Parts> {
        self.incoming.clear();
        loop {
            if stream.read_buf(&mut self.incoming).await? == 0 {
                let source = std::io::ErrorKind::UnexpectedEof.into();
                return Err(Error::io_error("the server closed the connection")(source));
            }
            if let Some(parts) = parse_answer(&self.incoming)? {
                return Ok(parts);
            }
        }
    }

    /// Encodes a request into `outgoing`.
    fn encode_request(&mut self, call: &Call<'_>, date: &Date) -> Result<()> {
        let operation = match call.operation {
            "Read" => OperationType::Read,
            "Upsert" => OperationType::Upsert,
            "Batch" => OperationType::Batch,
            "SqlQuery" => OperationType::Query,
            other => return Err(Error::Usage(format!("no operation {other} in direct mode"))),
        };
        self.authorization.clear();
        let signed = &mut self.authorization;
        self.key.sign_request(call.verb.signed_name(), call.kind, call.link, &date.signed, signed);
        self.outgoing.clear();
        let resource = ResourceType::Document.code();
        let mut frame =
            FrameWriter::request(&mut self.outgoing, resource, operation.code(), self.activity);
        let mut is_complete = true;
        let mut push = |token: RequestToken, value: &[u8]| {
            is_complete &= frame.push(token.id(), token.kind(), value);
        };
        push(RequestToken::AuthorizationToken, &self.authorization);
        push(RequestToken::PayloadPresent, &[u8::from(!call.body.is_empty())]);
        push(RequestToken::Date, date.header.as_bytes());
        push(RequestToken::ConsistencyLevel, &[SESSION]);
        push(RequestToken::ReplicaPath, REPLICA);
        push(RequestToken::TransportRequestId, &self.number.to_le_bytes());
        let mut names = call.link.split('/').skip(1).step_by(2);
        let tokens =
            [RequestToken::DatabaseName, RequestToken::CollectionName, RequestToken::DocumentName];
        for (token, name) in tokens.into_iter().zip(names.by_ref()) {
            push(token, name.as_bytes());
        }
        for (name, value) in call.headers {
            for (token, value) in tokens_of_header(name, value)? {
                push(token, &value);
            }
        }
        frame.finish((!call.body.is_empty()).then_some(call.body.len()));
        self.outgoing.extend_from_slice(call.body);
        match is_complete {
            true => Ok(()),
            false => Err(Error::Usage("a value is too long for direct mode".to_owned())),
        }
    }
}

/// Returns the tokens that correspond to a header; none if the operation says the same.
fn tokens_of_header<'a>(name: &str, value: &'a str) -> Result<Vec<(RequestToken, Cow<'a, [u8]>)>> {
    let text = Cow::Borrowed(value.as_bytes());
    let flag = || Cow::Owned(vec![u8::from(value == "True")]);
    Ok(match name {
        "content-type"
        | "x-ms-documentdb-isquery"
        | "x-ms-documentdb-is-upsert"
        | "x-ms-cosmos-is-batch-request" => Vec::new(),
        // Clients send a query to each range.
        "x-ms-documentdb-query-enablecrosspartition" => {
            vec![(RequestToken::PartitionKeyRangeId, Cow::Borrowed(RANGE))]
        }
        "x-ms-documentdb-partitionkey" => vec![(RequestToken::PartitionKey, text)],
        "x-ms-continuation" => vec![(RequestToken::ContinuationToken, text)],
        "x-ms-cosmos-batch-atomic" => vec![(RequestToken::IsBatchAtomic, flag())],
        "x-ms-cosmos-batch-continue-on-error" => {
            vec![(RequestToken::ShouldBatchContinueOnError, flag())]
        }
        "x-ms-cosmos-intended-collection-rid" => {
            let bytes = BASE64_STANDARD.decode(value.replace('-', "/"));
            let bytes = bytes.map_err(|_| Error::Answer(format!("invalid _rid {value:?}")))?;
            vec![(RequestToken::CollectionRid, text), (RequestToken::ResourceId, bytes.into())]
        }
        other => return Err(Error::Usage(format!("no token for the header {other}"))),
    })
}

/// Parses an answer; `None` if it is not complete. Bytes after it are an error, because nothing else
/// was requested.
fn parse_answer(bytes: &[u8]) -> Result<Option<Parts>> {
    let invalid = |error: rntbd::Invalid| Error::Protocol(error.to_string());
    let Some(head) = bytes.first_chunk::<HEAD_BYTES>() else { return Ok(None) };
    let head = AnswerHead::read(head, TOKENS_MAX).map_err(invalid)?;
    let end = HEAD_BYTES + head.tokens_len;
    let Some(tokens) = bytes.get(HEAD_BYTES..end) else { return Ok(None) };
    let status = u16::try_from(head.status).unwrap_or(u16::MAX);
    let mut parts = Parts { status, number: None, continuation: None, body: end..end };
    let mut has_body = false;
    for token in Tokens::new(tokens) {
        let token = token.map_err(invalid)?;
        match AnswerToken::of_id(token.id) {
            // In the answer to a context the token with this id is the version of the protocol.
            Some(AnswerToken::PayloadPresent) => has_body = token.value == [1],
            Some(AnswerToken::TransportRequestId) => {
                parts.number = token.value.try_into().ok().map(u32::from_le_bytes);
            }
            Some(AnswerToken::ContinuationToken) if token.kind == rntbd::Kind::String => {
                parts.continuation = Some(token.text().map_err(invalid)?.to_owned());
            }
            _ => {}
        }
    }
    if has_body {
        let Some(len) = bytes.get(end..).and_then(|rest| rest.first_chunk()) else {
            return Ok(None);
        };
        let len = u32::from_le_bytes(*len) as usize;
        if BODY_MAX < len {
            return Err(Error::Protocol("the answer is too large".to_owned()));
        }
        parts.body = end + 4..end + 4 + len;
    }
    match bytes.len().cmp(&parts.body.end) {
        std::cmp::Ordering::Less => Ok(None),
        std::cmp::Ordering::Equal => Ok(Some(parts)),
        std::cmp::Ordering::Greater => Err(Error::Protocol("more than one answer".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::{TcpListener, TcpStream};

    use super::*;
    use crate::cosmos::{
        call::Verb,
        key::EMULATOR,
        load::{Batch, Encoding},
    };

    /// Returns an answer with a continuation token and this body.
    fn answer(number: u32, status: u32, body: &str) -> Vec<u8> {
        let mut out = Vec::new();
        let mut frame = FrameWriter::answer(&mut out, status, [0; 16]);
        frame.push_number(AnswerToken::PayloadPresent, u64::from(!body.is_empty()));
        frame.push_number(AnswerToken::TransportRequestId, number.into());
        frame.push_text(AnswerToken::ContinuationToken, b"next");
        frame.finish((!body.is_empty()).then_some(body.len()));
        out.extend_from_slice(body.as_bytes());
        out
    }

    #[test]
    fn answers_are_complete_or_not() {
        let whole = answer(7, 200, "body");
        for end in 0..whole.len() {
            assert_eq!(parse_answer(&whole[..end]).unwrap(), None, "{end}");
        }
        let parts = parse_answer(&whole).unwrap().unwrap();
        assert_eq!((parts.status, parts.number), (200, Some(7)));
        assert_eq!(parts.continuation.as_deref(), Some("next"));
        assert_eq!(&whole[parts.body], b"body");
        let empty = answer(8, 404, "");
        assert_eq!(parse_answer(&empty).unwrap().unwrap().body.len(), 0);
        assert!(parse_answer(&[whole, vec![0]].concat()).is_err());
        assert!(parse_answer(&[0; HEAD_BYTES]).is_err());
    }

    #[test]
    fn every_header_of_a_workload_has_its_tokens() {
        let rid = ("x-ms-cosmos-intended-collection-rid", "AAAAAYAA-AE=");
        let found = tokens_of_header(rid.0, rid.1).unwrap();
        assert_eq!(found[1].0, RequestToken::ResourceId);
        assert_eq!(&*found[1].1, [0, 0, 0, 1, 0x80, 0, 0xfc, 1]);
        let found = tokens_of_header("x-ms-cosmos-batch-atomic", "True").unwrap();
        assert_eq!(found, [(RequestToken::IsBatchAtomic, Cow::Owned(vec![1]))]);
        assert!(tokens_of_header("x-ms-documentdb-isquery", "true").unwrap().is_empty());
        assert!(tokens_of_header("x-ms-unknown", "1").is_err());
    }

    /// Reads one frame of a client.
    async fn read_frame(stream: &mut TcpStream) -> Vec<u8> {
        let len = stream.read_u32_le().await.unwrap();
        let mut bytes = vec![0; len as usize - 4];
        stream.read_exact(&mut bytes).await.unwrap();
        bytes
    }

    #[tokio::test]
    async fn requests_have_answers() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = Address::local(listener.local_addr().unwrap().port());
        let server = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            read_frame(&mut stream).await;
            let mut context = Vec::new();
            let server =
                rntbd::ServerContext { agent: "a", version: "v", idle_s: 1, unauthenticated_s: 1 };
            server.write(&mut context, [0; 16], "2020-07-15");
            stream.write_all(&context).await.unwrap();
            let read = read_frame(&mut stream).await;
            for part in [&b"user1"[..], b"[\"p0\"]", b"type%3Dmaster", b"Thu, 01 Jan 1970"] {
                assert!(read.windows(part.len()).any(|found| found == part));
            }
            stream.write_all(&answer(1, 200, "{}")).await.unwrap();
            let batch = read_frame(&mut stream).await;
            assert_eq!(batch[2..4], OperationType::Batch.code().to_le_bytes());
            let len = stream.read_u32_le().await.unwrap();
            let mut body = vec![0; len as usize];
            stream.read_exact(&mut body).await.unwrap();
            assert!(body.starts_with(b"[{"));
            stream.write_all(&answer(1, 200, "[]")).await.unwrap();
        };
        let client = async {
            let key = EMULATOR.parse().unwrap();
            let mut link = FrameLink::open_connection(&address, &key).await.unwrap();
            let date = Date::from_ms(0);
            let read = Call {
                kind: "docs",
                link: "dbs/D/colls/C/docs/user1",
                headers: &[("x-ms-documentdb-partitionkey", "[\"p0\"]")],
                ..Call::ROOT
            };
            link.send_call(&read, &date).await.unwrap();
            let got = link.answer();
            assert_eq!((got.status, got.body, got.continuation), (200, &b"{}"[..], Some("next")));
            let mut batch = Batch::new(Encoding::Json);
            batch.add_creation("1", "p0", None, &mut Rng::with_seed(1));
            let body = batch.take_body();
            let call = Call { verb: Verb::Post, operation: "Batch", body: &body, ..read };
            // The answer repeats the number of another request.
            let error = link.send_call(&call, &date).await.unwrap_err();
            assert!(error.to_string().contains("another request"), "{error}");
        };
        tokio::join!(server, client);
    }
}
