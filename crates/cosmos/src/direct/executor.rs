//! Where the requests of a connection in direct mode are executed: by an API in this process, or by
//! another node of a cluster.

use std::{pin::Pin, sync::Arc};

use memory::Share;
use tokio::sync::watch;

use super::forwarding::{ForwardedAnswer, OutgoingFrame};
use crate::{api::NoSqlApi, homes::Home, sender::Sender};

/// An API in this process that executes a request.
pub(crate) struct Executor {
    pub(crate) api: Arc<NoSqlApi>,
    /// Becomes true when the API stops before the connection ends; `None` if it does not.
    pub(crate) stopping: Option<watch::Receiver<bool>>,
}

/// A request on its way to another process, which yields its answer.
pub(crate) type Forwarding = Pin<Box<dyn Future<Output = ForwardedAnswer> + Send>>;

/// Limits of requests whose senders are not identified yet, since another process authorizes them.
pub(crate) struct ForwardLimits {
    /// Reservation for the bytes of one request.
    pub(crate) held: Share,
    pub(crate) max_body_bytes: usize,
}

/// Finds the executors of a connection's requests.
pub(crate) trait Executors: Send + Sync {
    /// Returns how the senders of requests are authenticated.
    fn sender(&self) -> Sender;

    /// Returns the executor of requests with a home; `None` if another process executes them.
    fn find_executor(&self, home: &Home) -> Option<Executor>;

    /// Returns the limits of requests that are forwarded; `None` if none are.
    fn forward_limits(&self) -> Option<ForwardLimits>;

    /// Sends a request to the process that executes requests with its home.
    fn forward(&self, frame: OutgoingFrame) -> Forwarding;
}
