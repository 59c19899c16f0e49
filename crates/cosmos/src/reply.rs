//! The result of a route: a status, a body, and the headers that differ between responses. `http`
//! builds the response from it.

use http::HeaderValue;
use memory::Share;
use throughput::request_units::{self, Work};

/// A response before its headers are built. All fields but the status may have their default
/// values.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// The body; may be empty.
    pub(crate) body: Vec<u8>,
    /// Memory reserved for the body while it was written; empty for small bodies.
    pub(crate) held: Share,
    /// Charge in hundredths of a request unit.
    pub(crate) request_units: u64,
    /// The newest commit that the response reflects; 0 if the operation read no state. For a
    /// response about a container the dispatcher replaces it by the container's last change;
    /// `Answer::seq` decides what any other response reports.
    pub(crate) seq: u64,
    pub(crate) etag: Option<String>,
    /// Continuation token of the next page; `None` on the last page.
    pub(crate) continuation: Option<String>,
    /// Number of items if the body is a feed.
    pub(crate) count: Option<usize>,
    /// Media type; `None` for JSON.
    pub(crate) content_type: Option<&'static str>,
    /// Distinguishes failures with the same status; 0 for none.
    pub(crate) sub_status: u32,
    /// Milliseconds after which a retry may succeed.
    pub(crate) retry_ms: Option<u64>,
    /// The commit of an item's last change, for a response to a read of the item.
    pub(crate) item_seq: Option<u64>,
    /// Further headers. Answers of direct mode include each header that has a token.
    pub(crate) extra: Vec<(&'static str, String)>,
    /// Headers about the resource's parent; set by the dispatcher, not by routes.
    pub(crate) parent: Option<ParentHeaders>,
    /// Headers about the container of an item; set by the dispatcher, not by routes.
    pub(crate) stored: Option<StoredHeaders>,
}

/// Response headers that describe the container of the item that was read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredHeaders {
    /// Value of the header with the container's disk usage.
    pub(crate) usage: HeaderValue,
    /// Whether the request was a write; the response to a write also has headers about replicas.
    pub(crate) of_write: bool,
}

/// Path and id of a resource's parent for the response headers, since SDKs store session tokens by
/// them. They are kept as header values, because every response about an item has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParentHeaders {
    /// Path of names, without a leading or trailing slash.
    pub(crate) path: HeaderValue,
    pub(crate) rid: HeaderValue,
}

impl ParentHeaders {
    /// Creates the headers; `None` if the path or the id is not valid in a header.
    pub(crate) fn new(path: &str, rid: &str) -> Option<Self> {
        let value = |text: &str| HeaderValue::from_bytes(text.as_bytes()).ok();
        Some(Self { path: value(path)?, rid: value(rid)? })
    }
}

impl Reply {
    /// Creates a reply with a JSON body.
    pub(crate) fn json(status: u16, body: Vec<u8>) -> Self {
        Self { status, body, ..Self::default() }
    }

    /// Creates a reply without a body.
    pub(crate) fn empty(status: u16) -> Self {
        Self { status, ..Self::default() }
    }

    /// Sets the charge in request units, for this kind of work on `bytes` bytes.
    pub(crate) fn with_units(mut self, work: Work, bytes: usize) -> Self {
        self.request_units = request_units::hundredths(work, bytes);
        self
    }

    /// Sets the etag, which must include its quotes.
    pub(crate) fn with_etag(mut self, etag: String) -> Self {
        self.etag = Some(etag);
        self
    }

    pub(crate) fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.extra.push((name, value.into()));
        self
    }
}
