//! Listeners: connections in, one task each, and a bounded end.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use mongo::Door;
use tokio::{net::TcpListener, sync::watch, task::JoinSet};

use crate::{any_store::AnyStore, background};

/// How long running requests may take after the end was asked for.
const DRAIN: Duration = Duration::from_secs(8);

/// Binds an address; port 0 is a free one.
pub(crate) async fn bind(address: &str) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(address)
        .await
        .map_err(|error| io::Error::new(error.kind(), format!("listen on {address}: {error}")))?;
    let bound = listener.local_addr()?;
    Ok((listener, bound))
}

/// Accepts MongoDB clients until `stop`, then lets what runs finish.
pub(crate) async fn mongo(
    listener: TcpListener,
    door: Arc<Door<AnyStore>>,
    mut stop: watch::Receiver<bool>,
) {
    let mut clients = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.changed() => break,
            Some(_) = clients.join_next(), if !clients.is_empty() => continue,
        };
        match accepted {
            Ok((stream, peer)) => {
                let _ = stream.set_nodelay(true);
                let (door, stop) = (Arc::clone(&door), stop.clone());
                clients.spawn(mongo::serve(door, stream, peer.to_string(), stop));
            }
            Err(error) => {
                // Out of descriptors, or the client is gone already: others go on.
                tracing::warn!(%error, "accept a connection");
                background::wait(Duration::from_millis(20)).await;
            }
        }
    }
    drop(listener);
    let drained = async { while clients.join_next().await.is_some() {} };
    if tokio::time::timeout(DRAIN, drained).await.is_err() {
        tracing::warn!("requests were still running at the end");
    }
}
