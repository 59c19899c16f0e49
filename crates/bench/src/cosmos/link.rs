//! An HTTP connection to a server, which carries one request at a time. It is reopened if the
//! server has closed it. In direct mode it has a second connection for requests about items.

use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{
    call::{Call, Envelope},
    date::Date,
    frames::FrameLink,
    key::Key,
    response::Parser,
    url::Url,
};
use crate::{
    address::Address,
    error::{Error, Result},
    stream::{Stream, open_stream},
};

/// Time for which a formatted date is reused. Formatting costs time, and servers tolerate dates
/// that are minutes old.
const DATE_LIFE: Duration = Duration::from_secs(2);
/// Idle time after which a connection is reopened, because the server may have closed it.
const IDLE: Duration = Duration::from_secs(2);
/// Resource type of the requests that clients in direct mode send as frames.
const ITEMS: &str = "docs";
/// Maximum number of characters of a server's message that an error contains.
const SHOWN: usize = 300;

/// A connection to a server, with the data to reopen it.
#[derive(Debug)]
pub(crate) struct Link {
    address: Address,
    envelope: Envelope,
    /// The socket; `None` if the server has closed the connection, or if a request has failed
    /// before its answer was complete.
    stream: Option<Stream>,
    /// Reading of the monotonic clock at the last request.
    used: Duration,
    /// Current date as request headers and signatures write it.
    date: Date,
    /// Reading of the monotonic clock when `date` was formatted.
    dated: Duration,
    /// Bytes of the last request.
    outgoing: Vec<u8>,
    /// The received part of the answer.
    incoming: Vec<u8>,
    parser: Parser,
    /// Sends requests about items in direct mode; `None` in gateway mode.
    frames: Option<FrameLink>,
}

/// An answer of the server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) status: u16,
    pub(crate) body: &'a [u8],
    /// Continuation token of a feed.
    pub(crate) continuation: Option<&'a str>,
}

impl Link {
    pub(crate) async fn open_connection(url: &Url, key: &Key) -> Result<Self> {
        let now = clock::monotonic_time();
        let mut link = Self {
            envelope: Envelope::new(&url.host_and_port(), key.clone(), &mut fastrand::Rng::new()),
            address: url.address().clone(),
            stream: None,
            used: now,
            date: Date::from_ms(clock::wall_ms()),
            dated: now,
            outgoing: Vec::new(),
            incoming: Vec::with_capacity(64 * 1024),
            parser: Parser::default(),
            frames: None,
        };
        if url.is_direct() {
            link.frames = Some(FrameLink::open_connection(url.address(), key).await?);
        }
        link.stream = Some(link.connect_socket().await?);
        Ok(link)
    }

    /// Sends a request and returns its answer with any status. If the server has closed the
    /// connection, it is reopened first; the time for this counts as the server's time.
    pub(crate) async fn send_call(&mut self, call: &Call<'_>) -> Result<Answer<'_>> {
        let now = clock::monotonic_time();
        if DATE_LIFE < now.saturating_sub(self.dated) {
            (self.date, self.dated) = (Date::from_ms(clock::wall_ms()), now);
        }
        match &mut self.frames {
            Some(frames) if call.kind == ITEMS => frames.send_call(call, &self.date).await?,
            _ => self.exchange(call, now).await?,
        }
        Ok(match &self.frames {
            Some(frames) if call.kind == ITEMS => frames.answer(),
            _ => {
                let head = self.parser.answer_head();
                let body = self.parser.answer_body(&self.incoming);
                let continuation = head.continuation.as_deref();
                Answer { status: head.status, body, continuation }
            }
        })
    }

    /// Sends a request over HTTP and reads its answer; `now` is the time on the monotonic clock.
    async fn exchange(&mut self, call: &Call<'_>, now: Duration) -> Result<()> {
        self.envelope.encode_request(call, &self.date, &mut self.outgoing);
        let idle = now.saturating_sub(self.used);
        // Taken out, so that the connection is dropped if the request fails midway.
        let kept = self.stream.take().filter(|_| idle < IDLE);
        let mut stream = match kept {
            Some(stream) => stream,
            None => self.connect_socket().await?,
        };
        stream.write_all(&self.outgoing).await?;
        self.receive_answer(&mut stream).await?;
        self.used = now;
        if !self.parser.answer_head().closes {
            self.stream = Some(stream);
        }
        Ok(())
    }

    /// Sends a request that has to succeed; any other status is an error.
    pub(crate) async fn call_accepted(&mut self, call: &Call<'_>) -> Result<Answer<'_>> {
        self.send_call(call).await?.require_success()
    }

    async fn connect_socket(&self) -> Result<Stream> {
        open_stream(&self.address).await
    }

    /// Reads until the answer is complete.
    async fn receive_answer(&mut self, stream: &mut Stream) -> Result<()> {
        self.incoming.clear();
        self.parser.clear_answer();
        loop {
            if stream.read_buf(&mut self.incoming).await? == 0 {
                return self.parser.end_stream(&self.incoming);
            }
            if self.parser.feed_bytes(&self.incoming)? {
                return Ok(());
            }
            self.incoming.reserve(self.parser.missing_bytes(&self.incoming));
        }
    }
}

impl<'a> Answer<'a> {
    /// Returns the answer if its status is a success, otherwise an error with the server's message.
    pub(crate) fn require_success(self) -> Result<Self> {
        if (200..300).contains(&self.status) {
            return Ok(self);
        }
        Err(Error::Server { code: i32::from(self.status), message: self.error_message() })
    }

    /// Returns the body as JSON.
    pub(crate) fn parse_json(&self) -> Result<Value> {
        serde_json::from_slice(self.body)
            .map_err(|error| Error::Answer(format!("the body is not JSON: {error}")))
    }

    /// Returns the server's error message on one line.
    fn error_message(&self) -> String {
        let body: Option<Value> = serde_json::from_slice(self.body).ok();
        let said = body.as_ref().and_then(|body| body.get("message")).and_then(Value::as_str);
        let text = said.map_or_else(|| String::from_utf8_lossy(self.body), Into::into);
        let words: Vec<&str> = text.split_whitespace().collect();
        words.join(" ").chars().take(SHOWN).collect()
    }
}

/// Returns the start of an unexpected value, for an error message.
pub(crate) fn brief_text(value: &Value) -> String {
    value.to_string().chars().take(SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;
    use crate::cosmos::key::EMULATOR;

    /// Sends two requests to a server and returns their results. `connections` has the answers that
    /// the server sends on each connection before it closes the connection; an answer is sent in
    /// the given pieces.
    fn exchange(connections: &[&[&[&str]]]) -> Vec<Result<(u16, String)>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let url: Url = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
            let server = async {
                for answers in connections {
                    let (mut stream, _) = listener.accept().await.unwrap();
                    for pieces in *answers {
                        let mut request = Vec::new();
                        while !request.ends_with(b"\r\n\r\n") {
                            assert_ne!(stream.read_buf(&mut request).await.unwrap(), 0);
                        }
                        for piece in *pieces {
                            stream.write_all(piece.as_bytes()).await.unwrap();
                            tokio::task::yield_now().await;
                        }
                    }
                }
            };
            let client = async {
                let mut link =
                    Link::open_connection(&url, &EMULATOR.parse().unwrap()).await.unwrap();
                let mut got = Vec::new();
                for _ in 0..2 {
                    got.push(link.call_accepted(&Call::ROOT).await.map(|answer| {
                        (answer.status, String::from_utf8(answer.body.to_vec()).unwrap())
                    }));
                }
                got
            };
            tokio::join!(server, client).1
        })
    }

    #[test]
    fn a_connection_is_kept_and_opened_again() {
        let one = "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\none";
        let two = "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\ntwo";
        let split = ["HTTP/1.1 200 OK\r\ntransfer-enc", "oding: chunked\r\n\r\n2\r\ntw"];
        let closing = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 3\r\n\r\none";
        let kept: &[&[&[&str]]] = &[&[&[one], &[two]]];
        let chunked: &[&[&[&str]]] = &[&[&[one], &[split[0], split[1], "\r\n1\r\no\r\n0\r\n\r\n"]]];
        let closed: &[&[&[&str]]] = &[&[&[closing]], &[&[two]]];
        for connections in [kept, chunked, closed] {
            let got: Vec<_> = exchange(connections).into_iter().map(Result::unwrap).collect();
            assert_eq!(got, [(200, "one".to_owned()), (200, "two".to_owned())]);
        }
    }

    #[test]
    fn refusals_are_told() {
        let body = r#"{"code":"x","message":"bad\r\n key"}"#;
        let said = format!("HTTP/1.1 401 No\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        let bare = "HTTP/1.1 500 No\r\ncontent-length: 4\r\n\r\noops";
        let got: Vec<String> = exchange(&[&[&[&said], &[bare]]])
            .into_iter()
            .map(|outcome| outcome.unwrap_err().to_string())
            .collect();
        assert_eq!(got, ["the server refused (401): bad key", "the server refused (500): oops"]);
    }
}
