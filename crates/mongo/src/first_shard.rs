//! Access to the owner of a cluster's first shard, which stores the users of all shards. The server
//! provides the transport.

use std::{fmt, io, pin::Pin, sync::Arc};

/// The reply of the first shard about users. It is `None` if the first shard has no owner, so that
/// users cannot change. An error means that the first shard could not be reached.
pub type UsersReply<'a> = Pin<Box<dyn Future<Output = io::Result<Option<Vec<u8>>>> + Send + 'a>>;

/// The transport to the first shard.
pub trait FirstShardTransport: Send + Sync {
    /// Requests users and roles. `seen` is the version token of an earlier reply; if the version is
    /// still the same, the reply contains the token and no records. If `waits` is true, the reply
    /// is delayed until users or roles change, up to a timeout.
    fn ask(&self, seen: Vec<u8>, waits: bool) -> UsersReply<'_>;
}

/// Sends requests to the owner of the first shard.
#[derive(Clone)]
pub struct FirstShard(Arc<dyn FirstShardTransport>);

impl FirstShard {
    /// Creates the access to the first shard over this transport.
    pub fn new(ask: impl FirstShardTransport + 'static) -> Self {
        Self(Arc::new(ask))
    }

    /// Sends a request for users and roles, as [`FirstShardTransport::ask`] describes.
    pub(crate) fn ask(&self, seen: Vec<u8>, waits: bool) -> UsersReply<'_> {
        self.0.ask(seen, waits)
    }
}

impl fmt::Debug for FirstShard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FirstShard")
    }
}
