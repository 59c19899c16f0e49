//! The event of each finished operation, for tracers: names, times and counts, but no values.
//! Exporting events is not part of this crate. `slow.rs` keeps the slow operations in memory.

mod slow;

use std::{fmt::Debug, sync::Arc, time::Duration};

pub use slow::{MAX_QUERY_BYTES, MOST_SLOW, SlowOperation, SlowOperations};

/// Maximum length of a client's text in an event, in bytes: that of the longest collection name.
const MAX_TOLD_BYTES: usize = 255;

/// Truncates a text for an event: a client may send a name of megabytes.
pub fn told(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_TOLD_BYTES)).unwrap_or_default()
}

/// A finished operation of an API. Texts are as clients sent them, truncated by [`told`].
#[derive(Clone, Copy, Debug)]
pub struct Operation<'a> {
    /// The API, named as in OpenTelemetry's database conventions.
    pub system: &'static str,
    /// The operation's name in the API's documentation.
    pub name: &'a str,
    /// Name of the database; empty if the operation has none.
    pub database: &'a str,
    /// Name of the collection; empty if the operation has none.
    pub collection: &'a str,
    /// The duration of the operation so far.
    pub took: Duration,
    /// The result in the API's codes: an error number or a status.
    pub code: i64,
    /// Whether the operation returned an error.
    pub failed: bool,
    /// The number of documents examined.
    pub examined: u64,
    /// The number of documents returned.
    pub returned: u64,
    /// The access path; empty if it was not recorded.
    pub plan: &'a str,
    /// The charge in the API's units; `None` for an API without charges.
    pub charge: Option<f64>,
    /// The client program's name, as sent by the client.
    pub client: &'a str,
    /// The number or id of the request, as in the log of slow operations.
    pub request: &'a str,
    /// The protocol of the connection, named as in OpenTelemetry's network conventions; empty for an
    /// API with a single protocol.
    pub protocol: &'static str,
    /// Whether the operation came through the admin address, like the portal's requests.
    pub relayed: bool,
    /// The client's span that the operation belongs to, in the form of a `traceparent` header.
    pub parent: Option<&'a str>,
}

/// A tracer of operations. It must not block, because a client is waiting.
pub trait Trace: Debug + Send + Sync {
    /// Records an operation that has finished.
    fn note(&self, operation: &Operation<'_>);
}

/// A tracer, if tracing is on.
pub type Tracer = Option<Arc<dyn Trace>>;

#[cfg(test)]
mod tests {
    use super::told;

    #[test]
    fn texts_are_told_up_to_a_bound() {
        assert_eq!(told("orders"), "orders");
        assert_eq!(told(&"ü".repeat(1 << 20)), "ü".repeat(127));
    }
}
