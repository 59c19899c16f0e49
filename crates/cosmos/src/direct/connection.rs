//! One client in direct mode, from its context to its end.
//!
//! A single future reads frames, runs their requests side by side and writes the answers, so that a
//! request costs no task. Queries and changes of resources run in tasks of their own, as in HTTP.

use std::{
    fmt,
    net::IpAddr,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures_util::{StreamExt, stream::FuturesUnordered};
use http::Method;
use rntbd::{RequestHead, is_context};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    sync::watch,
};

use super::{
    BrokenFrame,
    context::answer_context,
    executor::{Executors, Forwarding},
    forwarding::{ForwardedAnswer, OutgoingFrame},
    frame_request::{ClientInfo, FrameRequest, read_frame},
    input::{Input, Part},
    output::Output,
    reply_frame::ReturnAddress,
    running::{Admitted, Running, Waiting, elsewhere, push_forwarded, refusal},
};
use crate::{
    exchange::Exchange,
    failure::Failure,
    homes::Home,
    interrupt::{Client, StopOnDrop, StopReason},
    limits::{
        BODY_TIMEOUT, CONNECTION_CHECK, DIRECT_IDLE_TIME, FREE_STREAMS, HANDSHAKE_TIMEOUT,
        HEAD_TIMEOUT, MAX_DISCARDED_BYTES, MAX_STREAMS, MAX_UNSENT_BYTES, STOP_TIME,
    },
    request::Request,
    transport::Transport,
};

/// A connection and its requests.
struct Connection<'a, T> {
    executors: &'a dyn Executors,
    io: T,
    client: Arc<Client>,
    /// Called once the first request is admitted or forwarded.
    on_known: &'a (dyn Fn() + Send + Sync),
    input: Input,
    output: Output,
    running: FuturesUnordered<Running>,
    /// Requests that other processes execute.
    forwarded: FuturesUnordered<Forwarding>,
    /// What the client's context says; `None` until it has arrived.
    context: Option<ClientInfo>,
    /// The request whose body comes next; `None` if it was refused.
    waiting: Option<Waiting>,
    /// Whether a sender was identified.
    known: bool,
    /// Whether no further frame is read.
    closing: bool,
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
/// Calls `on_known` once the first request is admitted or forwarded; memory for requests is then
/// reserved by each.
pub(crate) async fn serve_direct(
    executors: &dyn Executors,
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
        executors,
        io,
        client,
        on_known,
        input: Input::new(),
        output: Output::default(),
        running: FuturesUnordered::new(),
        forwarded: FuturesUnordered::new(),
        context: None,
        waiting: None,
        known: false,
        closing: false,
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
            Some(_) if 0 < self.running_count() || 0 < self.output.unsent() => false,
            Some(_) if self.input.is_in_frame() => BODY_TIMEOUT <= since(self.last),
            Some(_) => DIRECT_IDLE_TIME <= since(self.last),
        }
    }

    fn running_count(&self) -> usize {
        self.running.len() + self.forwarded.len()
    }

    /// Returns whether another frame may be read: the client's requests and its unread answers are
    /// bounded.
    fn may_read(&self) -> bool {
        !self.closing
            && self.running_count() < MAX_STREAMS as usize
            && self.output.unsent() < MAX_UNSENT_BYTES
    }

    /// Runs requests, writes answers and reads frames until nothing can proceed. Ready once the
    /// connection has ended.
    fn poll_progress(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            while let Poll::Ready(Some((answer, to))) = self.running.poll_next_unpin(context) {
                self.output.push(answer, to);
            }
            while let Poll::Ready(Some(answer)) = self.forwarded.poll_next_unpin(context) {
                self.push_forwarded(answer);
            }
            // Answers to all frames that have arrived are sent together.
            let has_more = self.take_parts(context).unwrap_or_else(|BrokenFrame| {
                self.closing = true;
                false
            });
            if self.output.send(&mut self.io, context).is_err() {
                return Poll::Ready(());
            }
            let answered = self.running_count() == 0 && self.output.is_sent();
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
                    if self.running_count() == 0 {
                        self.input.release();
                    }
                    return Poll::Pending;
                }
            }
        }
    }

    /// Reserves memory for the body that arrives. Returns false if there is not enough: the request
    /// is refused and the rest of its body is discarded.
    fn reserve_body(&mut self) -> bool {
        let capacity = self.input.wanted_capacity();
        let Some(waiting) = self.waiting.as_mut().filter(|_| self.input.is_in_body()) else {
            return true;
        };
        if waiting.reserve_body(capacity).is_ok() {
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
                match self.waiting.take() {
                    Some(Waiting::Here(admitted)) => self.start(*admitted, body, context),
                    Some(Waiting::Elsewhere(frame)) => {
                        self.start_forwarding(frame.with_body(body), context);
                    }
                    None => {}
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
        self.context = answer_context(head, tokens, &mut self.output);
        self.closing = self.context.is_none();
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
        if frame.has_body {
            self.input.expect_body_length();
        }
        let omits_body = frame.parts.as_ref().is_ok_and(|(method, ..)| method == Method::HEAD);
        let to = ReturnAddress { id: frame.id, activity: head.activity, omits_body };
        if frame.creates_database() && self.executors.forward_limits().is_some() {
            // Its owner depends on the body. SDKs send such requests to the gateway.
            let failure = Failure::bad_request(
                "Create databases of a cluster in gateway mode: direct mode does not.",
            );
            self.output.push(refusal(&failure, head.activity), to);
            return Ok(());
        }
        let home = frame.parts.as_ref().map_or(Home::Any, |(_, link, _)| Home::of(link));
        let Some(executor) = self.executors.find_executor(&home) else {
            let info = info.clone();
            let outgoing = OutgoingFrame::new(info, home, *head, tokens.clone(), to);
            self.take_forwarded(&frame, outgoing, context);
            return Ok(());
        };
        // An executor that may stop before the connection cancels only its own requests.
        let client = match executor.stopping {
            Some(_) => Arc::new(Client::from_peer(self.client.peer())),
            None => Arc::clone(&self.client),
        };
        let (api, sender) = (&executor.api, self.executors.sender());
        let mut exchange = Exchange::begin(api, Arc::clone(&client), sender, frame.head);
        let request = frame.parts.map(|(method, link, headers)| {
            Request::new(Transport::Direct, method, link, headers, Arc::clone(&client))
        });
        match exchange.admit(api, request) {
            Ok(request) => {
                if !self.known {
                    self.known = true;
                    (self.on_known)();
                }
                let admitted = Admitted { executor, client, exchange, request, to };
                match frame.has_body {
                    true => self.waiting = Some(Waiting::Here(Box::new(admitted))),
                    false => self.start(admitted, Bytes::new(), context),
                }
            }
            Err(failure) => {
                let reply = exchange.refuse(api, &failure);
                self.output.push(exchange.finish(api, reply), to);
            }
        }
        Ok(())
    }

    /// Forwards a request that another process executes. A client that took this server for the
    /// owner of a container gets 410 and reads the addresses again: the owner has changed.
    fn take_forwarded(
        &mut self,
        frame: &FrameRequest,
        outgoing: OutgoingFrame,
        context: &mut Context<'_>,
    ) {
        let is_stale = frame.names_owner && frame.head.about_items;
        let to = outgoing.to;
        let Some(limits) = self.executors.forward_limits().filter(|_| !is_stale) else {
            return self.output.push(elsewhere(to.activity), to);
        };
        match outgoing.limited(limits, frame) {
            Ok(outgoing) => {
                (self.on_known)();
                match frame.has_body {
                    true => self.waiting = Some(Waiting::Elsewhere(Box::new(outgoing))),
                    false => self.start_forwarding(outgoing, context),
                }
            }
            Err(failure) => self.output.push(refusal(&failure, to.activity), to),
        }
    }

    /// Forwards a request. Its future must be polled once, so that it makes progress.
    fn start_forwarding(&mut self, frame: OutgoingFrame, context: &mut Context<'_>) {
        let mut forwarding = self.executors.forward(frame);
        match forwarding.as_mut().poll(context) {
            Poll::Ready(answer) => self.push_forwarded(answer),
            Poll::Pending => self.forwarded.push(forwarding),
        }
    }

    fn push_forwarded(&mut self, answer: ForwardedAnswer) {
        self.known |= answer.shows_known_sender();
        push_forwarded(&mut self.output, answer);
    }

    /// Expects the body of an admitted request, and discards that of a refused one.
    fn take_body_length(&mut self, len: usize) {
        match &self.waiting {
            Some(waiting) if len <= waiting.max_body_bytes() => {
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
    fn start(&mut self, admitted: Admitted, body: Bytes, context: &mut Context<'_>) {
        let queued = FREE_STREAMS <= self.running_count();
        let mut running = admitted.run(body, queued);
        match running.as_mut().poll(context) {
            Poll::Ready((answer, to)) => self.output.push(answer, to),
            Poll::Pending => self.running.push(running),
        }
    }
}
