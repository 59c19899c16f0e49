//! What whoever traces operations is told of each, once it has been answered: names, times and counts, and no
//! values. How that leaves the process is not known here. The slow ones are kept in memory too (`slow.rs`).

mod slow;

use std::{fmt::Debug, sync::Arc, time::Duration};

pub use slow::{MAX_QUERY_BYTES, MOST_SLOW, SlowOperation, SlowOperations};

/// Bytes of a text of a client's that are told at most: those of the longest name of a collection.
const MAX_TOLD_BYTES: usize = 255;

/// As much of a text as is told: a client may name what cannot be there, in megabytes.
pub fn told(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_TOLD_BYTES)).unwrap_or_default()
}

/// An operation of an API that has been answered. Texts are as clients chose them, and no longer than what
/// [`told`] leaves.
#[derive(Clone, Copy, Debug)]
pub struct Operation<'a> {
    /// The API, as OpenTelemetry's conventions name database systems.
    pub system: &'static str,
    /// What was asked for, as the API's documentation calls it.
    pub name: &'a str,
    /// The database; empty: none.
    pub database: &'a str,
    /// The collection; empty: none.
    pub collection: &'a str,
    /// How long it took until now.
    pub took: Duration,
    /// The API's code of what came of it: an error's number or a status.
    pub code: i64,
    /// Whether it failed.
    pub failed: bool,
    /// Documents that were examined.
    pub examined: u64,
    /// Documents that were returned.
    pub returned: u64,
    /// How they were found; empty: that was not noted.
    pub plan: &'a str,
    /// What it is charged with, in the units of the API; `None`: the API has none.
    pub charge: Option<f64>,
    /// The client's program, as it calls itself.
    pub client: &'a str,
    /// The number or id of the request, as the log of slow operations has it.
    pub request: &'a str,
    /// Whether it came through the admin address, as the portal's do.
    pub relayed: bool,
    /// The operation of the client that it is a part of, in the form of a header `traceparent`.
    pub parent: Option<&'a str>,
}

/// Whoever traces operations. It must not wait: a client waits for it.
pub trait Trace: Debug + Send + Sync {
    /// Takes note of an operation.
    fn note(&self, operation: &Operation<'_>);
}

/// One of them; `None`: nobody.
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
