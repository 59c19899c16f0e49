//! Access to the owners of a cluster's other shards, for commands whose reply covers all shards.
//! The server provides the transport.

use std::{fmt, io, pin::Pin, sync::Arc};

use document::{DocBuf, Document};
use memory::{Account, InsufficientMemory, Share};

use crate::{
    arguments::OF_SHARD,
    errors::{Error, Result, TemporarilyUnavailable},
};

/// The replies of other shards with their shard numbers. An error if one of the shards could not be
/// reached.
pub type ShardReplies<'a> =
    Pin<Box<dyn Future<Output = io::Result<Vec<(u32, DocBuf)>>> + Send + 'a>>;

/// The transport to the other shards.
pub trait OtherShardsTransport: Send + Sync {
    /// Runs a command on database `admin` of each other shard, or only of shard `only`. The replies
    /// are charged to `held` as they arrive; if memory is short, the error has kind `OutOfMemory`.
    fn ask<'a>(
        &'a self,
        command: Document,
        only: Option<u32>,
        held: &'a mut Share,
    ) -> ShardReplies<'a>;
}

/// Sends requests to the owners of the other shards.
#[derive(Clone)]
pub struct OtherShards(Arc<dyn OtherShardsTransport>);

impl OtherShards {
    /// Creates the access to the other shards over this transport.
    pub fn new(ask: impl OtherShardsTransport + 'static) -> Self {
        Self(Arc::new(ask))
    }

    /// Returns the replies of all other shards to a command, and their memory reservation. Fails if
    /// one reply is an error.
    pub(crate) async fn ask(
        &self,
        command: Document,
        memory: &Account,
    ) -> Result<(Vec<(u32, DocBuf)>, Share)> {
        let mut held = memory.share();
        let answers = self.ask_some(command, None, &mut held).await?;
        Ok((answers, held))
    }

    /// Runs a command on one shard.
    pub(crate) async fn ask_one(
        &self,
        command: Document,
        shard: u32,
        memory: &Account,
    ) -> Result<()> {
        self.ask_some(command, Some(shard), &mut memory.share()).await.map(drop)
    }

    async fn ask_some(
        &self,
        mut command: Document,
        only: Option<u32>,
        held: &mut Share,
    ) -> Result<Vec<(u32, DocBuf)>> {
        command.push(OF_SHARD, true);
        let answers =
            self.0.ask(command, only, held).await.map_err(|error| match error.kind() {
                io::ErrorKind::OutOfMemory => InsufficientMemory.into(),
                _ => {
                    let text = format!("cannot reach a shard of the cluster: {error}");
                    Error::new(TemporarilyUnavailable, text)
                }
            })?;
        for (_, answer) in &answers {
            if let Some(message) =
                answer.get("errmsg").and_then(|text| text.as_str().map(str::to_owned))
            {
                return Err(Error::new(
                    TemporarilyUnavailable,
                    format!("a shard of the cluster: {message}"),
                ));
            }
        }
        Ok(answers)
    }
}

impl fmt::Debug for OtherShards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OtherShards")
    }
}
