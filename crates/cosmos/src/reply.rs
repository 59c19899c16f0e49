//! What a route returns: a status, a body and the few headers that are not the same for all. `http`
//! makes the response of it.

use http::HeaderValue;
use memory::Share;

use crate::request_units::{self, Work};

/// The response to a request, before it has headers. Everything but the status may be left at its
/// default.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    /// The HTTP status.
    pub(crate) status: u16,
    /// The body; empty where the response has none.
    pub(crate) body: Vec<u8>,
    /// What was taken of the door's memory for the body while it was written; nothing where it is
    /// small.
    pub(crate) held: Share,
    /// Hundredths of a request unit.
    pub(crate) request_units: u64,
    /// The newest commit that the response knows of; 0 where the operation read no state. The
    /// dispatcher makes of it the last change of the container; a response about no container names
    /// the newest commit of the server.
    pub(crate) seq: u64,
    /// Etag with its quotes.
    pub(crate) etag: Option<String>,
    /// Where the next page begins; `None` on the last page.
    pub(crate) continuation: Option<String>,
    /// Number of items in the body of a feed.
    pub(crate) count: Option<usize>,
    /// `None`: JSON.
    pub(crate) content_type: Option<&'static str>,
    /// Further headers.
    pub(crate) extra: Vec<(&'static str, String)>,
    /// What the resource lies in. The dispatcher sets it; routes do not.
    pub(crate) parent: Option<ParentHeaders>,
    /// What a response about one item says of its container. The dispatcher sets it, too.
    pub(crate) stored: Option<StoredHeaders>,
}

/// What headers of a response about one item say of where the item is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredHeaders {
    /// How much the container takes.
    pub(crate) usage: HeaderValue,
    /// Whether the request was a write, whose response names the replicas that have it.
    pub(crate) of_write: bool,
}

/// What a resource lies in, as headers name it: SDKs keep session tokens under its path and id.
/// They are header values already, because every response about an item has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParentHeaders {
    /// Names, without a slash at either end.
    pub(crate) path: HeaderValue,
    /// Its resource id.
    pub(crate) rid: HeaderValue,
}

impl ParentHeaders {
    /// `None` where the names cannot stand in a header.
    pub(crate) fn new(path: &str, rid: &str) -> Option<Self> {
        let value = |text: &str| HeaderValue::from_bytes(text.as_bytes()).ok();
        Some(Self { path: value(path)?, rid: value(rid)? })
    }
}

impl Reply {
    /// A JSON body.
    pub(crate) fn json(status: u16, body: Vec<u8>) -> Self {
        Self { status, body, ..Self::default() }
    }

    /// Nothing but a status.
    pub(crate) fn empty(status: u16) -> Self {
        Self { status, ..Self::default() }
    }

    /// The same with what it cost.
    pub(crate) fn with_units(mut self, work: Work, bytes: usize) -> Self {
        self.request_units = request_units::hundredths(work, bytes);
        self
    }

    /// The same with an etag, which has its quotes.
    pub(crate) fn with_etag(mut self, etag: String) -> Self {
        self.etag = Some(etag);
        self
    }

    /// The same with a further header.
    pub(crate) fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.extra.push((name, value.into()));
        self
    }
}
