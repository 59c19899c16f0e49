//! Connections to other servers, over which the frames of one client are forwarded. Each carries one
//! request at a time; idle connections are pooled for the client's next request.

use std::{collections::VecDeque, pin::Pin};

use futures_util::FutureExt;
use memory::Account;
use parking_lot::Mutex;
use tokio::sync::OwnedSemaphorePermit;

use super::{forward::Duplex, forward_pool::ForwardConnection};
use crate::direct::{FrameLink, Outcome, OutgoingFrame, Unanswered};

/// Largest number of idle connections pooled for one client.
const KEPT: usize = 8;

/// A connection to the owner of a shard.
pub(super) struct FrameConnection {
    link: FrameLink<Box<dyn Duplex>>,
    /// Resolves when the server no longer owns the shard.
    over: Pin<Box<dyn Future<Output = ()> + Send>>,
    _permit: OwnedSemaphorePermit,
}

/// The pooled connections of one client with their shards, most recently used last.
#[derive(Default)]
pub(super) struct FramePool(Mutex<VecDeque<(u32, FrameConnection)>>);

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
        let mut kept = self.0.lock();
        while let Some(at) = kept.iter().rposition(|(of, _)| *of == shard) {
            let (_, mut connection) = kept.remove(at)?;
            let is_over = (&mut connection.over).now_or_never().is_some();
            if !is_over && !connection.link.is_closed() {
                return Some(connection);
            }
        }
        None
    }

    fn keep(&self, shard: u32, connection: FrameConnection) {
        let mut kept = self.0.lock();
        kept.push_back((shard, connection));
        if KEPT < kept.len() {
            kept.pop_front();
        }
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
            self.keep(shard, connection);
        }
        answered
    }
}
