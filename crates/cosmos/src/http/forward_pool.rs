//! Connections to other servers, over which the requests of one client are forwarded. Each carries
//! one request at a time; idle connections are pooled for the client's next request. The caller
//! chooses the server.

use std::{fmt, pin::Pin};

use bytes::Bytes;
use http::Version;
use http_body_util::{BodyExt, Full};
use hyper::{
    Response,
    body::{Body as _, Incoming},
    client::conn::http1,
};
use hyper_util::rt::TokioIo;
use memory::Account;
use tokio::sync::OwnedSemaphorePermit;

use super::{
    answer::refuse,
    forward::{Duplex, MOVED},
    idle_connections::IdleConnections,
    replay::{Outgoing, Replay, remove_hop_by_hop},
    service::OutcomeUnknown,
};
use crate::{exchange::count_bytes, failure::Failure, headers::asks_query, limits::TRUSTED_BYTES};

/// A connection to another server, on behalf of one client.
pub struct ForwardConnection {
    /// The byte stream to the other server.
    pub stream: Box<dyn Duplex>,
    /// Resolves when the server no longer owns the shard.
    pub over: Pin<Box<dyn Future<Output = ()> + Send>>,
    /// Permit that limits the number of connections to other servers.
    pub permit: OwnedSemaphorePermit,
}

impl fmt::Debug for ForwardConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ForwardConnection")
    }
}

/// Handle that sends requests on a forwarded connection.
pub(super) type Sender = http1::SendRequest<Replay>;

/// The pooled connections of one client.
#[derive(Default)]
pub(super) struct ForwardPool(IdleConnections<Sender>);

impl ForwardPool {
    /// Takes a connection to the owner of a shard from the pool; `None` if the pool has none.
    pub(super) fn take(&self, shard: u32) -> Option<Sender> {
        self.0.take(shard, |sender| !sender.is_closed())
    }

    /// Forwards a request; memory for the response is reserved from `memory`. Returns `None` if the
    /// server did not execute the request, because it was unreachable or no longer owns the data.
    pub(super) async fn send(
        &self,
        (shard, mut sender): (u32, Sender),
        request: &Outgoing,
        memory: &Account,
    ) -> Result<Option<Response<Full<Bytes>>>, OutcomeUnknown> {
        let head = request.parts();
        let only_reads = head.method.is_safe() || asks_query(&head.headers);
        if sender.ready().await.is_err() {
            return Ok(None);
        }
        let Some(request) = request.begin() else { return Ok(None) };
        let response = match sender.try_send_request(request).await {
            Ok(response) => response,
            Err(mut failed) => {
                let unsent = failed.take_message().is_some();
                return if unsent { Ok(None) } else { Err(OutcomeUnknown) };
            }
        };
        if response.headers().contains_key(MOVED) {
            return Ok(None);
        }
        let response = collect(response, only_reads, memory).await?;
        self.0.keep(shard, sender);
        Ok(Some(response))
    }
}

/// Starts HTTP on a connection.
pub(super) async fn open(forward: ForwardConnection) -> Option<Sender> {
    let ForwardConnection { stream, over, permit } = forward;
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.ok()?;
    // The task also ends when the sender is dropped, which closes the connection.
    tokio::spawn(async move {
        tokio::select! {
            // An error of the connection is reported by the request that runs on it.
            _ = connection => {}
            () = over => {}
        }
        drop(permit);
    });
    Some(sender)
}

async fn collect(
    response: Response<Incoming>,
    only_reads: bool,
    memory: &Account,
) -> Result<Response<Full<Bytes>>, OutcomeUnknown> {
    let (mut parts, mut body) = response.into_parts();
    remove_hop_by_hop(&mut parts.headers);
    parts.version = Version::default();
    let mut held = memory.share();
    let expected = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    let mut whole = Vec::with_capacity(expected.min(TRUSTED_BYTES));
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| OutcomeUnknown)?.into_data() else { continue };
        whole.extend_from_slice(&data);
        // Only a read fails if memory is exhausted. A write has been executed, and a client that
        // got an error would retry it and write twice.
        if held.set(whole.capacity()).is_err() && only_reads {
            return Ok(refuse(&Failure::out_of_memory()));
        }
    }
    Ok(Response::from_parts(parts, Full::new(count_bytes(whole, held))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn so_many_are_kept_whatever_a_client_asks_for() {
        let (forward_pool, mut ends) = (ForwardPool::default(), Vec::new());
        for shard in 0..64 {
            let (near, far) = tokio::io::duplex(1_000);
            let (sender, connection) = http1::handshake(TokioIo::new(near)).await.unwrap();
            ends.push((far, tokio::spawn(connection)));
            forward_pool.0.keep(shard, sender);
        }
        let found: Vec<_> = (0..64).filter(|shard| forward_pool.take(*shard).is_some()).collect();
        assert_eq!(found, (56..64).collect::<Vec<_>>());
    }
}
