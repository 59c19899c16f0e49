//! A request without its body, parsed: what it is about, what its headers say, and which operation
//! that makes. Parsing looks at nothing but the head of the request; whether the sender may ask for
//! it is decided in `authorize`, and what it meets is found out by the routes.

use std::sync::Arc;

use evaluation::Looked;
use http::{Method, request::Parts, uri::Authority};

use crate::{
    catalog::Container,
    failure::{Failure, Fault, Result},
    headers::Headers,
    interrupt::Client,
    link::Link,
    operation::{Access, Operation},
};

/// A request without its body. It owns what it holds, so that it may be handed to a task of its own.
#[derive(Debug)]
pub(crate) struct Request {
    /// The HTTP method. The operation has been decided by it; only texts and signatures need it
    /// further on.
    pub(crate) method: Method,
    /// Which resource the path means.
    pub(crate) link: Link,
    /// What the headers say.
    pub(crate) headers: Headers,
    /// What it asks for. Everything that depends on this goes by the operation's row and by nothing
    /// else, so that no two steps can take one request for different things.
    pub(crate) operation: Operation,
    /// `http` or `https`, for addresses that clients go on with.
    pub(crate) scheme: &'static str,
    /// The newest commit that the client's session has seen. It is read once the sender is known.
    pub(crate) seen: u64,
    /// Whether the sender of a change feed may write items, too. It is set once the sender is known.
    pub(crate) may_write: bool,
    /// The client that waits for the response.
    pub(crate) client: Arc<Client>,
    /// What it has looked at, for the log.
    pub(crate) looked: Arc<Looked>,
    /// The host of a request in HTTP/2, which has no header for it.
    authority: Option<Authority>,
    /// What was found of the container that the operation's resource lies in; `None` where it lies in
    /// no container.
    container: Option<Result<Arc<Container>>>,
}

impl Request {
    /// Reads the head of a request.
    pub(crate) fn parse(
        parts: Parts,
        link: Link,
        scheme: &'static str,
        client: Arc<Client>,
    ) -> Result<Self> {
        let headers = Headers::read(parts.headers)?;
        check_encoding(&headers)?;
        let operation = Operation::decide(&parts.method, &link, &headers);
        let authority = parts.uri.into_parts().authority;
        let method = parts.method;
        Ok(Self {
            method,
            link,
            headers,
            operation,
            scheme,
            seen: 0,
            may_write: false,
            client,
            looked: Arc::default(),
            authority,
            container: None,
        })
    }

    /// The host that the client means, with its port where it gave one.
    pub(crate) fn host(&self) -> Option<&str> {
        self.headers.host().or(self.authority.as_ref().map(Authority::as_str))
    }

    /// The name at the end of the resource path; empty where the path is that of a feed.
    pub(crate) fn name(&self) -> &str {
        self.link.name.as_deref().unwrap_or_default()
    }

    /// Whether it changes nothing.
    pub(crate) fn only_reads(&self) -> bool {
        self.operation.row().access == Access::Reads
    }

    /// Keeps what a lookup of the container found, a failure too: operations that need none of it are
    /// not refused for it, and the others are refused with the failure as it was.
    pub(crate) fn keep_container(&mut self, found: Result<Arc<Container>>) {
        self.container = Some(found);
    }

    /// The container that was found, whether or not the client means this one.
    pub(crate) fn found_container(&self) -> Option<&Arc<Container>> {
        self.container.as_ref()?.as_ref().ok()
    }

    /// The container that the operation's resource lies in.
    ///
    /// SDKs cache the resource id of a container and send it along; they read the container anew when
    /// they are told with sub-status 1024 that another one has its name by now.
    pub(crate) fn container(&self) -> Result<&Arc<Container>> {
        let found = match &self.container {
            Some(Ok(found)) => found,
            Some(Err(failure)) => return Err(failure.clone()),
            None => return Err(Failure::no_resource()),
        };
        match self.headers.intended_container() {
            Some(intended) if intended != found.rid => Err(Failure::new(
                Fault::Recreated,
                "CollectionRid does not match: the container was made anew since the client read \
                 it.",
            )),
            _ => Ok(found),
        }
    }
}

/// Bodies are read as they come; a compressed one would be refused as damaged JSON, which tells
/// nobody what is wrong.
fn check_encoding(headers: &Headers) -> Result<()> {
    match headers.content_encoding().map(str::trim) {
        Some(encoding) if !encoding.is_empty() && !encoding.eq_ignore_ascii_case("identity") => {
            let text = format!("The content encoding '{encoding}' is not supported.");
            Err(Failure::new(Fault::UnsupportedMediaType, text))
        }
        _ => Ok(()),
    }
}
