//! Connections to other servers, over which the frames of one client are forwarded. Each carries one
//! request at a time; idle connections are pooled for the client's next request.

use std::pin::Pin;

use futures_util::FutureExt;
use memory::Account;
use tokio::sync::OwnedSemaphorePermit;

use super::{forward::Duplex, forward_pool::ForwardConnection, idle_connections::IdleConnections};
use crate::direct::{FrameLink, Outcome, OutgoingFrame, Unanswered};

/// A connection to the owner of a shard.
pub(super) struct FrameConnection {
    link: FrameLink<Box<dyn Duplex>>,
    /// Resolves when the server no longer owns the shard.
    over: Pin<Box<dyn Future<Output = ()> + Send>>,
    _permit: OwnedSemaphorePermit,
}

/// The pooled connections of one client.
#[derive(Default)]
pub(super) struct FramePool(IdleConnections<FrameConnection>);

/// Starts direct mode on a connection, with the context of a request's client.
pub(super) async fn open(
    forward: ForwardConnection,
    frame: &OutgoingFrame,
) -> Option<FrameConnection> {
    let ForwardConnection { stream, mut over, permit } = forward;
    let link = tokio::select! {
        link = FrameLink::open(stream, frame) => link?,
        () = &mut over => return None,
    };
    Some(FrameConnection { link, over, _permit: permit })
}

impl FramePool {
    /// Takes a connection to the owner of a shard from the pool; `None` if the pool has none.
    pub(super) fn take(&self, shard: u32) -> Option<FrameConnection> {
        self.0.take(shard, |connection| {
            let is_over = (&mut connection.over).now_or_never().is_some();
            !is_over && !connection.link.is_closed()
        })
    }

    /// Forwards a request; memory for the answer is reserved from `memory`.
    pub(super) async fn send(
        &self,
        (shard, mut connection): (u32, FrameConnection),
        frame: &OutgoingFrame,
        memory: &Account,
    ) -> Result<Outcome, Unanswered> {
        let FrameConnection { link, over, .. } = &mut connection;
        let answered = tokio::select! {
            answered = link.exchange(frame, memory) => answered,
            () = over => Err(frame.unanswered()),
        };
        // After any other outcome bytes of an answer may still arrive.
        if let Ok(Outcome::Answered { .. }) = &answered {
            self.0.keep(shard, connection);
        }
        answered
    }
}
