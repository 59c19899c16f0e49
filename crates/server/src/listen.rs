//! Listeners: connections in, one task each, and a bounded end.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use tokio::{
    net::{TcpListener, TcpSocket, TcpStream, lookup_host},
    sync::{Semaphore, watch},
    task::JoinSet,
};

use crate::background;

/// How long running requests may take after the end was asked for.
const DRAIN: Duration = Duration::from_secs(8);

/// Clients that may wait to be accepted; the system allows no more than it is set to. One that
/// finds no place tries again only after a second.
const BACKLOG: u32 = 4096;

/// Binds an address; port 0 is a free one.
pub(crate) async fn bind_address(address: &str) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = bind_resolved(address).await?;
    let bound = listener.local_addr()?;
    Ok((listener, bound))
}

/// Whether only this machine can reach an address. One that cannot be found cannot be listened on.
pub(crate) async fn is_loopback(address: &str) -> bool {
    match lookup_host(address).await {
        Ok(mut found) => found.all(|address| address.ip().is_loopback()),
        Err(_) => true,
    }
}

/// Listens on the first address of a name that can be listened on.
async fn bind_resolved(address: &str) -> io::Result<TcpListener> {
    let mut failed = io::Error::new(io::ErrorKind::InvalidInput, "no address of that name");
    for address in lookup_host(address).await? {
        match listen_at(address) {
            Ok(listener) => return Ok(listener),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

fn listen_at(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // Elsewhere it would let two servers share a port.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Descriptors that are kept back from connections, for the store's files; of few half of them.
const KEPT_DESCRIPTORS: u64 = 256;

/// Connections of the admin address, at most an eighth of all descriptors.
const ADMIN_PLACES: u64 = 64;

/// How many connections the API listeners may hold together. One beyond is closed at once, as one
/// that found no descriptor would be, but the store has its files.
#[derive(Clone)]
pub(crate) struct Places(Arc<Semaphore>);

impl Places {
    /// As many as a process with so many descriptors can serve.
    pub(crate) fn of_descriptors(limit: Option<u64>) -> Self {
        let places = limit.map_or(Semaphore::MAX_PERMITS, |limit| {
            let places = limit.saturating_sub(KEPT_DESCRIPTORS).max(limit / 2);
            usize::try_from(places).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS)
        });
        Self(Arc::new(Semaphore::new(places)))
    }

    /// Some of those kept back, for people who look what is wrong.
    pub(crate) fn of_admin(limit: Option<u64>) -> Self {
        let places = limit.map_or(ADMIN_PLACES, |limit| (limit / 8).min(ADMIN_PLACES));
        Self(Arc::new(Semaphore::new(usize::try_from(places).unwrap_or(usize::MAX))))
    }
}

/// How many descriptors the process may have; `None` where nothing bounds them.
pub(crate) fn descriptor_limit() -> Option<u64> {
    use rustix::process::{Resource, getrlimit};
    getrlimit(Resource::Nofile).current
}

/// Accepts clients until `stop`, then lets what runs finish.
pub(crate) async fn accept_connections<F: Future<Output = ()> + Send + 'static>(
    listener: TcpListener,
    mut stop: watch::Receiver<bool>,
    places: Places,
    serve: impl Fn(TcpStream, SocketAddr, watch::Receiver<bool>) -> F,
) {
    let mut clients = JoinSet::new();
    let mut full = false;
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.changed() => break,
            Some(_) = clients.join_next(), if !clients.is_empty() => continue,
        };
        match accepted {
            Ok((stream, peer)) => {
                let place = Arc::clone(&places.0).try_acquire_owned();
                if place.is_err() && !full {
                    tracing::warn!("all places for connections are taken; new ones are closed");
                }
                full = place.is_err();
                let Ok(place) = place else { continue };
                let _ = stream.set_nodelay(true);
                let served = serve(stream, peer, stop.clone());
                clients.spawn(async move {
                    served.await;
                    drop(place);
                });
            }
            Err(error) => {
                // Out of descriptors, or the client is gone already: others go on.
                tracing::warn!(%error, "accept a connection");
                background::wait_for(Duration::from_millis(20)).await;
            }
        }
    }
    drop(listener);
    let drained = async { while clients.join_next().await.is_some() {} };
    if tokio::time::timeout(DRAIN, drained).await.is_err() {
        tracing::warn!("requests were still running at the end");
    }
}
