//! A parsed request head: its link, its headers, and the operation that they determine. Parsing
//! reads only the head. `authorize` checks the sender's rights, and the routes look up the
//! resources.

use std::sync::Arc;

use evaluation::ExecutionStats;
use http::{Method, request::Parts, uri::Authority};

use crate::{
    catalog::Container,
    failure::{Failure, Fault, Result},
    headers::Headers,
    interrupt::Client,
    link::Link,
    operation::{Access, Operation},
    transport::Transport,
};

/// A request without its body. It owns its data, so that it can be moved to another task.
#[derive(Debug)]
pub(crate) struct Request {
    /// HTTP method. The operation is already determined; only texts and signatures use the method.
    pub(crate) method: Method,
    /// The resource that the path denotes.
    pub(crate) link: Link,
    pub(crate) headers: Headers,
    /// The requested operation. All later steps use the operation's row in the table of operations,
    /// so that no two steps can interpret a request differently.
    pub(crate) operation: Operation,
    /// The transport by which the request arrived.
    pub(crate) transport: Transport,
    /// `http` or `https`, for URLs in responses.
    pub(crate) scheme: &'static str,
    /// The newest commit that the client's session has seen. Set once the sender is authorized.
    pub(crate) seen: u64,
    /// Whether the sender of a change feed request may also write items. Set once the sender is
    /// authorized.
    pub(crate) may_write: bool,
    /// Whether large items in a list are truncated (`item/cut`). Set once the sender is authorized.
    pub(crate) cuts: bool,
    /// The client connection that waits for the response.
    pub(crate) client: Arc<Client>,
    /// Rows examined and access path of the request, for the log.
    pub(crate) stats: Arc<ExecutionStats>,
    /// The host of an HTTP/2 request, which has no host header.
    authority: Option<Authority>,
    /// Result of the lookup of the operation's container; `None` if the resource is not in a
    /// container.
    container: Option<Result<Arc<Container>>>,
}

impl Request {
    /// Parses the head of a request.
    pub(crate) fn parse(
        parts: Parts,
        link: Link,
        scheme: &'static str,
        client: Arc<Client>,
    ) -> Result<Self> {
        let headers = Headers::read(parts.headers)?;
        check_encoding(&headers)?;
        let authority = parts.uri.into_parts().authority;
        let request = Self::new(Transport::Http, parts.method, link, headers, client);
        Ok(Self { scheme, authority, ..request })
    }

    /// Creates a request from its parts. The operation is determined here for all transports.
    pub(crate) fn new(
        transport: Transport,
        method: Method,
        link: Link,
        headers: Headers,
        client: Arc<Client>,
    ) -> Self {
        let operation = Operation::decide(&method, &link, &headers);
        Self {
            transport,
            method,
            link,
            headers,
            operation,
            scheme: "https",
            seen: 0,
            may_write: false,
            cuts: false,
            client,
            stats: Arc::default(),
            authority: None,
            container: None,
        }
    }

    /// Returns the host that the client addressed, with its port if it gave one.
    pub(crate) fn host(&self) -> Option<&str> {
        self.headers.host().or(self.authority.as_ref().map(Authority::as_str))
    }

    /// Returns the name at the end of the resource path; empty for the path of a feed.
    pub(crate) fn name(&self) -> &str {
        self.link.name.as_deref().unwrap_or_default()
    }

    /// Returns whether the operation is read-only.
    pub(crate) fn only_reads(&self) -> bool {
        self.operation.row().access == Access::Reads
    }

    /// Stores the result of the container lookup, including a failure: operations that do not need
    /// the container still run, and all others return this failure.
    pub(crate) fn keep_container(&mut self, found: Result<Arc<Container>>) {
        self.container = Some(found);
    }

    /// Returns the container that was found. It may be a newer container of the same name than the
    /// client expects; see `container`.
    pub(crate) fn found_container(&self) -> Option<&Arc<Container>> {
        self.container.as_ref()?.as_ref().ok()
    }

    /// Returns the container of the operation's resource.
    ///
    /// SDKs cache the resource id of a container and send it with requests. If the name now belongs
    /// to another container, the failure has the sub-status on which SDKs read the definition again:
    /// 1024, in direct mode 1000.
    pub(crate) fn container(&self) -> Result<&Arc<Container>> {
        let found = match &self.container {
            Some(Ok(found)) => found,
            Some(Err(failure)) => return Err(failure.clone()),
            None => return Err(Failure::no_resource()),
        };
        match self.headers.intended_container() {
            Some(intended) if intended != found.rid => Err(Failure::new(
                Fault::Recreated,
                "CollectionRid does not match: the container was recreated since the client read \
                 it.",
            )),
            _ => Ok(found),
        }
    }
}

/// Refuses a compressed body with a specific failure; parsing it would fail with a misleading JSON
/// error.
fn check_encoding(headers: &Headers) -> Result<()> {
    match headers.content_encoding().map(str::trim) {
        Some(encoding) if !encoding.is_empty() && !encoding.eq_ignore_ascii_case("identity") => {
            let text = format!("The content encoding '{encoding}' is not supported.");
            Err(Failure::new(Fault::UnsupportedMediaType, text))
        }
        _ => Ok(()),
    }
}
