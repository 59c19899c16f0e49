//! The server of a cluster's first shard, which keeps the users of all. How it is reached is not known here.

use std::{fmt, io, pin::Pin, sync::Arc};

/// What the first shard says of its users; `None`: nobody owns it, so that nobody can change any. An error:
/// it is not reached.
pub type Heard<'a> = Pin<Box<dyn Future<Output = io::Result<Option<Vec<u8>>>> + Send + 'a>>;

/// The way to it.
pub trait AskFirstShard: Send + Sync {
    /// Asks for users and roles, unless they are as they were with this mark, which an answer has brought.
    /// One that waits is answered when they change, or after a while.
    fn ask(&self, seen: Vec<u8>, waits: bool) -> Heard<'_>;
}

/// The server of the first shard.
#[derive(Clone)]
pub struct FirstShard(Arc<dyn AskFirstShard>);

impl FirstShard {
    /// Reached so.
    pub fn new(ask: impl AskFirstShard + 'static) -> Self {
        Self(Arc::new(ask))
    }

    /// [`AskFirstShard::ask`].
    pub(crate) fn ask(&self, seen: Vec<u8>, waits: bool) -> Heard<'_> {
        self.0.ask(seen, waits)
    }
}

impl fmt::Debug for FirstShard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FirstShard")
    }
}
