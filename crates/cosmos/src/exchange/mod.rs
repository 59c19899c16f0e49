//! One request and its answer, for all transports: checks the sender, runs the operation, counts and
//! reports it. A transport parses a request and reads its body in its own way, and encodes the
//! [`Answer`].

mod activity;
mod audited;
mod counted_bytes;
mod refusal;

use std::{
    borrow::Cow,
    pin::pin,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use bytes::Bytes;
use evaluation::ExecutionStats;
use http::{HeaderValue, Uri};
use memory::Share;
use traces::MAX_QUERY_BYTES;

use crate::{
    api::{Counters, NoSqlApi},
    authorize::{Principal, authorize},
    dispatch,
    failure::{Failure, Fault, Result},
    headers::Headers,
    interrupt::Client,
    limits::{LONG_BODY_BYTES, LONG_QUERY_BYTES, QUERY_BYTE_BYTES, SMALL_BODY_BYTES, VALUE_BYTES},
    link::SignedLink,
    operation::{Operation, Task},
    reply::Reply,
    request::Request,
    routes::batches,
    sender::Sender,
    session,
    slow::{FinishedRequest, report_end},
    transport::Transport,
};

pub(crate) use activity::Activity;
pub(crate) use counted_bytes::count_bytes;
pub(crate) use refusal::failure_reply;

/// The resource that a request names, for messages and logs.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    Uri(Uri),
    /// The link of a request that has no path.
    Link(SignedLink),
}

/// Data about a request that is recorded before the request is parsed, since even the answer to an
/// invalid request needs it.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) transport: Transport,
    pub(crate) activity: Activity,
    pub(crate) target: Target,
    /// Name of the client program.
    pub(crate) agent: Option<HeaderValue>,
    /// Trace context of the client (`traceparent`); `None` unless operations are traced.
    pub(crate) parent: Option<HeaderValue>,
    /// Whether the request is about items; also set for requests that are refused.
    pub(crate) about_items: bool,
}

/// An answer before a transport encodes it.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) reply: Reply,
    pub(crate) activity: Activity,
    /// The newest commit that is visible to readers.
    pub(crate) known: u64,
    /// The newest commit that the client's session has seen; 0 if the sender was refused.
    pub(crate) seen: u64,
    /// Whether the request is about items. Answers about items name the partition key range:
    /// without it, clients would reload the list of ranges before their next request.
    pub(crate) about_items: bool,
    pub(crate) took: Duration,
    /// Memory reserved for the body.
    pub(crate) held: Share,
}

impl Answer {
    /// Creates the answer to a request about which nothing else is known.
    pub(crate) fn of_reply(reply: Reply) -> Self {
        Self {
            reply,
            activity: Activity::default(),
            known: 0,
            seen: 0,
            about_items: false,
            took: Duration::ZERO,
            held: Share::default(),
        }
    }

    /// Returns the sequence number that the answer reports. Clients compare the numbers of the
    /// answers about a container with each other, and take a read with a smaller number for stale.
    /// An answer about items that has no number, because the request was refused before its
    /// container was looked up, repeats that of the client's session: the newest commit may exceed
    /// the last change of the container, which reads report.
    pub(crate) fn seq(&self) -> u64 {
        match self.reply.seq {
            0 if self.about_items => self.seen,
            0 => self.known,
            seq => seq,
        }
    }
}

/// A request from its head to its answer.
#[derive(Debug)]
pub(crate) struct Exchange {
    /// Time at which the head was complete, on the monotonic clock.
    pub(crate) began: Duration,
    head: Head,
    client: Arc<Client>,
    sender: Sender,
    /// The operation; `None` if the request could not be parsed.
    operation: Option<Operation>,
    only_reads: bool,
    /// The newest commit that the client's session has seen.
    seen: u64,
    /// Whether the request is a bulk whose body was not read, but is known to have one operation.
    unread_row: bool,
    /// Counts of the operation; `None` if it is neither traced nor logged.
    stats: Option<Arc<ExecutionStats>>,
    /// The sender once it is identified.
    who: Option<Principal>,
    /// The body of a query that is traced or logged.
    query: Option<Bytes>,
    /// Memory reserved for the body, later for the answer.
    held: Share,
}

impl Exchange {
    /// Begins an exchange, and counts its request.
    pub(crate) fn begin(api: &NoSqlApi, client: Arc<Client>, sender: Sender, head: Head) -> Self {
        api.counters.requests.fetch_add(1, Ordering::Relaxed);
        if head.transport == Transport::Direct {
            api.counters.direct_requests.fetch_add(1, Ordering::Relaxed);
        }
        Self {
            began: clock::monotonic_time(),
            head,
            client,
            sender,
            operation: None,
            only_reads: false,
            seen: 0,
            unread_row: false,
            stats: None,
            who: None,
            query: None,
            held: api.settings.memory.share(),
        }
    }

    /// Returns the path of the request without a query string.
    pub(crate) fn path(&self) -> Cow<'_, str> {
        match &self.head.target {
            Target::Uri(uri) => Cow::Borrowed(uri.path()),
            Target::Link(link) => Cow::Owned(link.to_path()),
        }
    }

    /// Checks the sender of a request and the values of its headers. This precedes the body, so that
    /// an unauthenticated client cannot make the server allocate memory for it.
    pub(crate) fn admit(&mut self, api: &NoSqlApi, request: Result<Request>) -> Result<Request> {
        let mut request = request?;
        self.operation = Some(request.operation);
        self.only_reads = request.only_reads();
        self.unread_row = batches::has_one_row_if_too_large(&request);
        let is_told = api.settings.slow.is_some() || api.settings.tracer.is_some();
        self.stats = is_told.then(|| Arc::clone(&request.stats));
        // A refused sender is answered with the number of its session, too: clients take a lower one
        // for a stale answer.
        let seen = session::parse_tokens(request.headers.session());
        self.seen = *seen.as_ref().unwrap_or(&0);
        authorize(api, &mut request, self.sender, &mut self.who)?;
        request.seen = seen?;
        check_values(&request)?;
        Ok(request)
    }

    /// Returns the reservation for the body, which the transport sets while it reads the body.
    pub(crate) fn held(&mut self) -> &mut Share {
        &mut self.held
    }

    /// Executes a request that was admitted and whose body is in memory.
    pub(crate) async fn run(
        &mut self,
        api: &Arc<NoSqlApi>,
        request: Request,
        body: Bytes,
    ) -> Result<Reply> {
        self.unread_row = false;
        let is_query = request.operation.row().task == Task::ForQuery;
        self.held.grow(parsed_bytes(is_query, &body))?;
        self.query = Some(body.clone())
            .filter(|it| self.stats.is_some() && is_query && it.len() <= MAX_QUERY_BYTES);
        let long = is_long(is_query, &body);
        api.counters.bytes_in.fetch_add(body.len() as u64, Ordering::Relaxed);
        let run = pin!(dispatch::run_request(api, request, body));
        let reply = match long {
            true => engine::poll_in_place(api.settings.block_in_place, run).await,
            false => run.await,
        };
        hold_reply(reply?, &mut self.held, self.only_reads)
    }

    /// Returns the reply of a refused or failed request, and counts the failure.
    pub(crate) fn refuse(&self, api: &NoSqlApi, failure: &Failure) -> Reply {
        count_failure(&api.counters, failure.fault);
        match failure.fault {
            Fault::TooLarge if self.unread_row => batches::refuse_row(failure),
            _ => {
                let (activity, path) = (self.head.activity.to_string(), self.path());
                failure_reply(failure, self.head.transport, &activity, &path)
            }
        }
    }

    /// Ends the exchange: counts, audits and reports it.
    pub(crate) fn finish(self, api: &NoSqlApi, reply: Reply) -> Answer {
        let counters = &api.counters;
        counters.bytes_out.fetch_add(reply.body.len() as u64, Ordering::Relaxed);
        counters.request_units.fetch_add(reply.request_units, Ordering::Relaxed);
        audited::record_request(api, &self, reply.status);
        let took = clock::monotonic_time().saturating_sub(self.began);
        if let Some(stats) = &self.stats {
            let ended = FinishedRequest {
                operation: self.operation,
                transport: self.head.transport,
                path: &self.path(),
                stats,
                agent: text_of(&self.head.agent).unwrap_or_default(),
                parent: text_of(&self.head.parent),
                activity: &self.head.activity.to_string(),
                relayed: matches!(self.sender, Sender::Known(_)),
                query: self.query.as_deref(),
                took,
                reply: &reply,
            };
            report_end(api, &ended);
        }
        Answer {
            reply,
            activity: self.head.activity,
            known: api.engine.store().published(),
            seen: self.seen,
            about_items: self.head.about_items,
            took,
            held: self.held,
        }
    }
}

/// Returns a header as text if it is valid text.
fn text_of(header: &Option<HeaderValue>) -> Option<&str> {
    header.as_ref()?.to_str().ok()
}

/// Replaces the memory reservation of the request by that of its response, which is held until the
/// response is sent.
fn hold_reply(mut reply: Reply, held: &mut Share, only_reads: bool) -> Result<Reply> {
    let text = std::mem::take(&mut reply.held);
    if 0 < text.held_bytes() {
        *held = text;
    }
    match held.set(reply.body.capacity()) {
        Err(_) if only_reads => Err(Failure::out_of_memory()),
        // The outcome of a write is reported in any case: a client that retried would write twice.
        _ => Ok(reply),
    }
}

/// Counts a failure; refused senders and exhausted throughput also have counters of their own.
fn count_failure(counters: &Counters, fault: Fault) {
    counters.failures.fetch_add(1, Ordering::Relaxed);
    match fault {
        Fault::Unauthorized | Fault::TooManyGuesses => {
            counters.denied.fetch_add(1, Ordering::Relaxed);
        }
        Fault::TooManyRequests => {
            counters.throttled.fetch_add(1, Ordering::Relaxed);
        }
        _ => {}
    }
}

/// Estimates the memory of a parsed body in the worst case: a value at each position in JSON where
/// one may start, and the syntax tree of a query. The memory is reserved before parsing, because
/// parsers cannot be interrupted.
fn parsed_bytes(is_query: bool, body: &[u8]) -> usize {
    if body.len() < SMALL_BODY_BYTES {
        return 0;
    }
    let places = body.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{' | b':')).count();
    let query = if is_query { body.len().saturating_mul(QUERY_BYTE_BYTES) } else { 0 };
    places.saturating_mul(VALUE_BYTES).saturating_add(query)
}

/// Refuses header values that Azure Cosmos DB refuses in every request.
fn check_values(request: &Request) -> Result<()> {
    let headers: &Headers = &request.headers;
    // Clients in direct mode demand strong reads of all resources but items, on an account
    // of any level. Every read here is of the newest state.
    if request.transport == Transport::Http || request.link.is_about_items() {
        session::check_level(headers.consistency())?;
    }
    headers.check_values()
}

/// Returns whether parsing the body would occupy the thread for so long that other requests are
/// delayed.
fn is_long(is_query: bool, body: &[u8]) -> bool {
    let long = if is_query { LONG_QUERY_BYTES } else { LONG_BODY_BYTES };
    long <= body.len()
}
