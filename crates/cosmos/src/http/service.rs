//! The interface between connections and the code that executes their requests: the API in this
//! process, or the endpoint of a cluster node that forwards them.

use std::{
    fmt,
    sync::{Arc, atomic::AtomicI64},
};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Request, Response};
use memory::Account;

use super::{answer::answer_request, body::Body};
use crate::{
    api::NoSqlApi,
    direct::{Executor, Executors, ForwardLimits, Forwarding, OutgoingFrame, Unanswered},
    homes::Home,
    interrupt::Client,
    sender::Sender,
    tls::CurrentCertificate,
};

/// Scheduling of a request. An HTTP/2 client may send a hundred requests at once. If all ran
/// immediately, they would delay the requests of other clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Schedule {
    /// The request runs immediately. If it takes long, it moves to the queue of long operations.
    Now,
    /// The request waits in the queue of long operations, because its client has many concurrent
    /// requests.
    Queued,
}

/// The outcome of a request is unknown. The connection to the client is closed, as if the server
/// had failed during the request.
#[derive(Debug)]
pub(super) struct OutcomeUnknown;

impl fmt::Display for OutcomeUnknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the outcome of the request is unknown")
    }
}

impl std::error::Error for OutcomeUnknown {}

/// Executes the requests of a connection and provides the connection's settings.
pub(super) trait RequestService: Send + Sync + 'static {
    /// Returns whether clients may connect in direct mode.
    fn accepts_frames(&self) -> bool;

    /// Returns the API in this process that executes requests of direct mode with this home; `None`
    /// if another process does.
    fn find_executor(self: &Arc<Self>, home: &Home) -> Option<Executor>;

    /// Returns how the senders of requests in direct mode are authenticated.
    fn frame_sender(&self) -> Sender {
        Sender::Signs
    }

    /// Returns the limits of requests in direct mode that are forwarded; `None` if none are.
    fn forward_limits(&self) -> Option<ForwardLimits> {
        None
    }

    /// Forwards a request in direct mode, if any are forwarded.
    fn forward_frame(self: Arc<Self>, frame: OutgoingFrame) -> Forwarding {
        Box::pin(async move { frame.end(Err(Unanswered::Repeatable)) })
    }

    /// Returns the TLS certificate; `None` disables TLS.
    fn certificate(&self) -> Option<&CurrentCertificate>;

    /// Returns the memory account of clients that have not completed a request head.
    fn unknown_clients(&self) -> &Account;

    /// Returns the gauge of open connections.
    fn opened(&self) -> &AtomicI64;

    /// Executes a request and returns its response.
    fn answer(
        self: Arc<Self>,
        client: Arc<Client>,
        schedule: Schedule,
        scheme: &'static str,
        request: Request<Body>,
    ) -> impl Future<Output = Result<Response<Full<Bytes>>, OutcomeUnknown>> + Send;
}

/// The executors of requests in direct mode that a service has.
pub(super) struct FrameService<'a, A>(pub(super) &'a Arc<A>);

impl<A: RequestService> Executors for FrameService<'_, A> {
    fn sender(&self) -> Sender {
        self.0.frame_sender()
    }

    fn find_executor(&self, home: &Home) -> Option<Executor> {
        self.0.find_executor(home)
    }

    fn forward_limits(&self) -> Option<ForwardLimits> {
        self.0.forward_limits()
    }

    fn forward(&self, frame: OutgoingFrame) -> Forwarding {
        Arc::clone(self.0).forward_frame(frame)
    }
}

impl RequestService for NoSqlApi {
    fn accepts_frames(&self) -> bool {
        self.settings.direct.is_some()
    }

    fn find_executor(self: &Arc<Self>, _: &Home) -> Option<Executor> {
        Some(Executor { api: Arc::clone(self), stopping: None })
    }

    fn certificate(&self) -> Option<&CurrentCertificate> {
        self.settings.certificate.as_ref()
    }

    fn unknown_clients(&self) -> &Account {
        &self.settings.unknown_clients
    }

    fn opened(&self) -> &AtomicI64 {
        &self.settings.opened
    }

    async fn answer(
        self: Arc<Self>,
        client: Arc<Client>,
        schedule: Schedule,
        scheme: &'static str,
        request: Request<Body>,
    ) -> Result<Response<Full<Bytes>>, OutcomeUnknown> {
        Ok(answer_request(&self, client, (Sender::Signs, schedule), scheme, request).await)
    }
}
