//! One client in direct mode, from its context to its end.
//!
//! A single future reads frames, runs their requests side by side and writes the answers, so that a
//! request costs no task. Queries and changes of resources run in tasks of their own, as in HTTP.

use std::{
    fmt,
    net::IpAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures_util::{StreamExt, stream::FuturesUnordered};
use http::{HeaderValue, Method};
use rntbd::{ClientContext, RequestHead, ServerContext, is_context};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    sync::watch,
};

use super::{
    BrokenFrame,
    frame_request::{ClientInfo, read_frame},
    input::{Input, Part},
    output::Output,
    reply_frame::ReturnAddress,
    running::{Running, Waiting, elsewhere},
};
use crate::{
    api::NoSqlApi,
    exchange::{Activity, Exchange, failure_reply},
    failure::Failure,
    homes::Home,
    interrupt::{Client, StopOnDrop, StopReason},
    limits::{
        BODY_TIMEOUT, CONNECTION_CHECK, DIRECT_IDLE_TIME, FREE_STREAMS, HANDSHAKE_TIMEOUT,
        HEAD_TIMEOUT, MAX_DISCARDED_BYTES, MAX_STREAMS, MAX_UNSENT_BYTES, STOP_TIME,
    },
    request::Request,
    sender::Sender,
    transport::Transport,
};

/// Finds the API in this process that executes requests with a home; `None` if another process does.
pub(crate) type FindApi<'a> = &'a (dyn Fn(&Home) -> Option<Arc<NoSqlApi>> + Send + Sync);

/// Name of the server in its context.
const AGENT: &str = "ebb";
/// Version of the service whose protocol this is; clients report it with each answer.
const SERVICE_VERSION: &str = "version=2.14.0.0";

/// A connection and its requests.
struct Connection<'a, T> {
    find_api: FindApi<'a>,
    io: T,
    client: Arc<Client>,
    /// Called once a request of a known sender has arrived.
    on_known: &'a (dyn Fn() + Send + Sync),
    input: Input,
    output: Output,
    running: FuturesUnordered<Running>,
    /// What the client's context says; `None` until it has arrived.
    context: Option<ClientInfo>,
    /// The request whose body comes next; `None` if it was refused.
    waiting: Option<Box<Waiting>>,
    /// Whether a sender was identified.
    known: bool,
    /// Whether no further frame is read.
    closing: bool,
    /// Whether written bytes have to be flushed.
    unflushed: bool,
    /// Time at which the last frame began or ended, on the monotonic clock.
    last: Duration,
    opened: Duration,
}

impl<T> fmt::Debug for Connection<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("context", &self.context).finish_non_exhaustive()
    }
}

/// Serves a client until it disconnects, breaks the protocol, is idle for long, or `stop` is set.
/// Calls `on_known` once a sender is identified.
pub(crate) async fn serve_direct(
    find_api: FindApi<'_>,
    peer: Option<IpAddr>,
    io: impl AsyncRead + AsyncWrite + Unpin + Send,
    on_known: &(dyn Fn() + Send + Sync),
    mut stop: watch::Receiver<bool>,
) {
    let client = Arc::new(Client::from_peer(peer));
    // When this future ends or is dropped, the computations of the client's requests are cancelled.
    let _presence = StopOnDrop(Arc::clone(&client));
    let now = clock::monotonic_time();
    let mut connection = Connection {
        find_api,
        io,
        client,
        on_known,
        input: Input::new(),
        output: Output::default(),
        running: FuturesUnordered::new(),
        context: None,
        waiting: None,
        known: false,
        closing: false,
        unflushed: false,
        last: now,
        opened: now,
    };
    loop {
        let progress = std::future::poll_fn(|context| connection.poll_progress(context));
        tokio::select! {
            ended = tokio::time::timeout(CONNECTION_CHECK, progress) => match ended {
                Ok(()) => break,
                Err(_) if connection.is_late(clock::monotonic_time()) => return,
                Err(_) => {}
            },
            _ = stop.changed() => {
                connection.closing = true;
                if !connection.drain().await {
                    connection.client.stop_requests(StopReason::Stopping);
                    connection.drain().await;
                }
                break;
            }
        }
    }
    let _ = tokio::time::timeout(STOP_TIME, connection.io.shutdown()).await;
}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Connection<'_, T> {
    /// Waits until all requests are answered. Returns false if that takes too long.
    async fn drain(&mut self) -> bool {
        let progress = std::future::poll_fn(|context| self.poll_progress(context));
        tokio::time::timeout(STOP_TIME, progress).await.is_ok()
    }

    /// Returns whether the client has been silent for longer than its state permits.
    fn is_late(&self, now: Duration) -> bool {
        let since = |at: Duration| now.saturating_sub(at);
        match &self.context {
            None => HANDSHAKE_TIMEOUT <= since(self.opened),
            Some(_) if !self.known && HEAD_TIMEOUT <= since(self.opened) => true,
            Some(_) if !self.running.is_empty() || 0 < self.output.unsent() => false,
            Some(_) if self.input.is_in_frame() => BODY_TIMEOUT <= since(self.last),
            Some(_) => DIRECT_IDLE_TIME <= since(self.last),
        }
    }

    /// Returns whether another frame may be read: the client's requests and its unread answers are
    /// bounded.
    fn may_read(&self) -> bool {
        !self.closing
            && self.running.len() < MAX_STREAMS as usize
            && self.output.unsent() < MAX_UNSENT_BYTES
    }

    /// Runs requests, writes answers and reads frames until nothing can proceed. Ready once the
    /// connection has ended.
    fn poll_progress(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            while let Poll::Ready(Some((answer, to))) = self.running.poll_next_unpin(context) {
                self.output.push(answer, to);
            }
            // Answers to all frames that have arrived are sent together.
            let has_more = self.take_parts(context).unwrap_or_else(|BrokenFrame| {
                self.closing = true;
                false
            });
            if self.poll_write(context).is_err() {
                return Poll::Ready(());
            }
            let answered = self.running.is_empty() && self.output.unsent() == 0 && !self.unflushed;
            if self.closing && answered {
                return Poll::Ready(());
            }
            if !self.may_read() {
                return Poll::Pending;
            }
            if has_more || !self.reserve_body() {
                continue;
            }
            match self.poll_read(context) {
                Poll::Ready(Ok(1..)) => {}
                // The client has left, or a read failed.
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => {
                    if self.running.is_empty() {
                        self.input.release();
                    }
                    return Poll::Pending;
                }
            }
        }
    }

    /// Writes as much as the client takes.
    fn poll_write(&mut self, context: &mut Context<'_>) -> std::io::Result<()> {
        loop {
            let bytes = self.output.front();
            if bytes.is_empty() {
                break;
            }
            match Pin::new(&mut self.io).poll_write(context, bytes) {
                Poll::Ready(Ok(0)) => return Err(std::io::ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(sent)) => self.output.advance(sent),
                Poll::Ready(Err(error)) => return Err(error),
                Poll::Pending => return Ok(()),
            }
            self.unflushed = true;
        }
        if self.unflushed
            && let Poll::Ready(flushed) = Pin::new(&mut self.io).poll_flush(context)
        {
            flushed?;
            self.unflushed = false;
        }
        Ok(())
    }

    /// Reserves memory for the body that arrives. Returns false if there is not enough: the request
    /// is refused and the rest of its body is discarded.
    fn reserve_body(&mut self) -> bool {
        let capacity = self.input.wanted_capacity();
        let Some(waiting) = self.waiting.as_mut().filter(|_| self.input.is_in_body()) else {
            return true;
        };
        if waiting.exchange.held().set(capacity).is_ok() {
            return true;
        }
        self.input.discard_body();
        self.refuse_waiting(&Failure::out_of_memory());
        false
    }

    /// Answers the request whose body is not received.
    fn refuse_waiting(&mut self, failure: &Failure) {
        if let Some(waiting) = self.waiting.take() {
            let (answer, to) = waiting.refuse(failure);
            self.output.push(answer, to);
        }
    }

    fn poll_read(&mut self, context: &mut Context<'_>) -> Poll<std::io::Result<usize>> {
        let buffer = self.input.buffer(self.input.wanted_capacity());
        std::pin::pin!(self.io.read_buf(buffer)).poll(context)
    }

    /// Takes the complete parts of the input as far as the client's limits permit. Returns whether
    /// there may be more.
    fn take_parts(&mut self, context: &mut Context<'_>) -> Result<bool, BrokenFrame> {
        while self.may_read() {
            match self.input.next_part()? {
                Some(part) => self.take_part(part, context)?,
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    fn take_part(&mut self, part: Part, context: &mut Context<'_>) -> Result<(), BrokenFrame> {
        self.last = clock::monotonic_time();
        match part {
            Part::Frame(head, tokens) if self.context.is_none() => {
                self.take_context(&head, &tokens)
            }
            Part::Frame(head, tokens) => self.take_request(&head, &tokens, context),
            Part::BodyLength(len) => {
                self.take_body_length(len);
                Ok(())
            }
            Part::Body(body) => {
                if let Some(waiting) = self.waiting.take() {
                    self.start(*waiting, body, context);
                }
                Ok(())
            }
            Part::Discarded => Ok(()),
        }
    }

    /// Answers the client's context, which is its first frame.
    fn take_context(&mut self, head: &RequestHead, tokens: &[u8]) -> Result<(), BrokenFrame> {
        if !is_context(head) {
            return Err(BrokenFrame);
        }
        let seconds = |time: Duration| u32::try_from(time.as_secs()).unwrap_or(u32::MAX);
        let server = ServerContext {
            agent: AGENT,
            version: SERVICE_VERSION,
            idle_s: seconds(DIRECT_IDLE_TIME),
            unauthenticated_s: seconds(HEAD_TIMEOUT),
        };
        let read = ClientContext::read(tokens).map(|read| {
            let version = HeaderValue::from_str(read.client_version).ok()?;
            let agent = HeaderValue::from_str(read.user_agent).ok()?;
            Some((ClientInfo { version, agent }, read.client_version))
        });
        match read {
            Ok(Some((info, version))) => {
                self.output.write(|out| {
                    server.write(out, head.activity, version);
                    Bytes::new()
                });
                self.context = Some(info);
            }
            refused => {
                let why = refused.map_or_else(
                    |invalid| invalid.to_string(),
                    |_| "a text has a control character".to_owned(),
                );
                let failure = Failure::bad_request(format!("The context is refused: {why}."));
                let activity = Activity::Guid(head.activity).to_string();
                let reply = failure_reply(&failure, Transport::Direct, &activity, "");
                self.output.write(|out| {
                    server.write_refusal(out, head.activity, reply.status.into(), &reply.body);
                    Bytes::new()
                });
                self.closing = true;
            }
        }
        Ok(())
    }

    /// Authorizes a request, and runs it unless its body comes next.
    fn take_request(
        &mut self,
        head: &RequestHead,
        tokens: &Bytes,
        context: &mut Context<'_>,
    ) -> Result<(), BrokenFrame> {
        let info = self.context.as_ref().filter(|_| !is_context(head)).ok_or(BrokenFrame)?;
        let frame = read_frame(head, tokens, info)?;
        let omits_body = frame.parts.as_ref().is_ok_and(|(method, ..)| method == Method::HEAD);
        let to = ReturnAddress { id: frame.id, activity: head.activity, omits_body };
        if frame.has_body {
            self.input.expect_body_length();
        }
        let home = frame.parts.as_ref().map_or(Home::Any, |(_, link, _)| Home::of(link));
        let Some(api) = (self.find_api)(&home) else {
            self.output.push(elsewhere(head), to);
            return Ok(());
        };
        let client = Arc::clone(&self.client);
        let mut exchange = Exchange::begin(&api, Arc::clone(&client), Sender::Signs, frame.head);
        let request = frame.parts.map(|(method, link, headers)| {
            Request::new(Transport::Direct, method, link, headers, client)
        });
        match exchange.admit(&api, request) {
            Ok(request) => {
                if !self.known {
                    self.known = true;
                    (self.on_known)();
                }
                let waiting = Waiting { api, exchange, request, to };
                match frame.has_body {
                    true => self.waiting = Some(Box::new(waiting)),
                    false => self.start(waiting, Bytes::new(), context),
                }
            }
            Err(failure) => {
                let reply = exchange.refuse(&api, &failure);
                self.output.push(exchange.finish(&api, reply), to);
            }
        }
        Ok(())
    }

    /// Expects the body of an admitted request, and discards that of a refused one.
    fn take_body_length(&mut self, len: usize) {
        match &self.waiting {
            Some(waiting) if len <= waiting.api.settings.max_body_bytes => {
                self.input.expect_body(len);
            }
            _ => {
                self.refuse_waiting(&Failure::too_large());
                if MAX_DISCARDED_BYTES < len {
                    self.closing = true;
                }
                self.input.discard(len);
            }
        }
    }

    /// Runs a request. Most are answered at once.
    fn start(&mut self, waiting: Waiting, body: Bytes, context: &mut Context<'_>) {
        let queued = FREE_STREAMS <= self.running.len();
        let mut running: Running = Box::pin(waiting.run(body, queued));
        match running.as_mut().poll(context) {
            Poll::Ready((answer, to)) => self.output.push(answer, to),
            Poll::Pending => self.running.push(running),
        }
    }
}
