//! Whoever answers the requests of connections, as those see it: the door of this process, or an entrance
//! that finds the door. How HTTP is spoken is not its business.

use std::{
    fmt,
    sync::{Arc, atomic::AtomicI64},
};

use bytes::Bytes;
use engine::Store;
use http_body_util::Full;
use hyper::{Request, Response};
use memory::Account;

use super::{answer::answer_request, body::Body};
use crate::{door::Door, interrupt::Client, sender::Sender, tls::CurrentCertificate};

/// Whether a request is computed at once. A client of HTTP/2 may ask a hundred things at a time,
/// and would take the server from all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    /// It is, until it turns out to be long.
    Free,
    /// It waits for its turn with what is long: its client asks much at the same time.
    InTurn,
}

/// A request of which nobody here knows what became. Its client hears of that by the end of its connection,
/// as from any server that went away while it was asked.
#[derive(Debug)]
pub(super) struct Lost;

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nobody knows what became of the request")
    }
}

impl std::error::Error for Lost {}

/// What a connection needs.
pub(super) trait Answers: Send + Sync + 'static {
    /// What TLS is spoken with; `None` where it is not.
    fn certificate(&self) -> Option<&CurrentCertificate>;

    /// Where memory comes from for clients that have not asked anything yet.
    fn strangers(&self) -> &Account;

    /// Counts connections that are open.
    fn opened(&self) -> &AtomicI64;

    /// The response to a request.
    fn answer(
        self: Arc<Self>,
        client: Arc<Client>,
        pace: Pace,
        scheme: &'static str,
        request: Request<Body>,
    ) -> impl Future<Output = Result<Response<Full<Bytes>>, Lost>> + Send;
}

impl<S: Store> Answers for Door<S> {
    fn certificate(&self) -> Option<&CurrentCertificate> {
        self.settings.certificate.as_ref()
    }

    fn strangers(&self) -> &Account {
        &self.settings.strangers
    }

    fn opened(&self) -> &AtomicI64 {
        &self.settings.opened
    }

    async fn answer(
        self: Arc<Self>,
        client: Arc<Client>,
        pace: Pace,
        scheme: &'static str,
        request: Request<Body>,
    ) -> Result<Response<Full<Bytes>>, Lost> {
        Ok(answer_request(&self, client, (Sender::Signs, pace), scheme, request).await)
    }
}
