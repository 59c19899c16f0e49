//! Listeners: accepting connections, one task each, with a limit on their number and a bounded
//! shutdown. The function passed to [`accept_connections`] serves a connection.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{
    net::{TcpListener, TcpSocket, TcpStream, lookup_host},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    task::JoinSet,
};

use crate::sleep;

/// Time for which requests in progress may continue after the stop. It is shorter than the limit of
/// the whole process in `server/src/process.rs`.
const DRAIN: Duration = Duration::from_secs(8);

/// Listen backlog; the system caps it (`net.core.somaxconn`). A client rejected by a full backlog
/// retries only after a second, so bursts of connections need a long backlog.
const BACKLOG: u32 = 4096;

/// A bound address that is not listened on yet: no other program can bind it, and the system
/// refuses clients.
#[derive(Debug)]
pub struct BoundSocket {
    socket: TcpSocket,
    /// The bound address, with its actual port.
    pub address: SocketAddr,
}

impl BoundSocket {
    /// Starts to listen on the bound address: clients can connect and wait to be accepted.
    pub fn listen(self) -> io::Result<TcpListener> {
        self.socket.listen(BACKLOG)
    }
}

/// Binds an address `host:port`. If the name resolves to several addresses, the first that can be
/// bound is used; if none can, this fails with the last error. Port 0 binds a free port. Must run
/// inside the runtime, which polls the socket.
pub(crate) async fn bind_address(address: &str) -> io::Result<BoundSocket> {
    let mut failed =
        io::Error::new(io::ErrorKind::InvalidInput, "the name does not resolve to an address");
    for address in lookup_host(address).await? {
        match bind_socket(address) {
            Ok(taken) => return Ok(taken),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

/// Returns whether only this machine can reach an address: its name resolves to loopback only. An
/// unresolvable name counts as loopback, since binding it fails with a better error.
pub async fn is_loopback(address: &str) -> bool {
    match lookup_host(address).await {
        Ok(mut found) => found.all(|address| address.ip().is_loopback()),
        Err(_) => true,
    }
}

fn bind_socket(address: SocketAddr) -> io::Result<BoundSocket> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // Lets a restarted server bind its port while old connections linger. On other systems the
    // option would let two servers share a port.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    let address = socket.local_addr()?;
    Ok(BoundSocket { socket, address })
}

/// Descriptors reserved for the store's files, or half of all if there are fewer than 512.
const RESERVED_DESCRIPTORS: u64 = 256;

/// Maximum connections of the admin address, at most an eighth of all descriptors. They come from
/// the reserve, so that an operator can connect when all other permits are taken.
const ADMIN_CONNECTIONS: u64 = 64;

/// Connection limits of the API listeners. A client takes a client permit, and each connection a
/// descriptor permit: the client's own and, in a cluster, one to the node it is forwarded to.
/// Excess connections are closed at once, which leaves the store descriptors for its files.
#[derive(Clone, Debug)]
pub struct ConnectionLimits {
    clients: Arc<Semaphore>,
    descriptors: Arc<Semaphore>,
    /// Whether the last connection to another node failed for lack of descriptors, so that this is
    /// logged once.
    out_of_descriptors: Arc<AtomicBool>,
}

/// The connection and descriptor permits of a client, released on drop.
pub(crate) struct ConnectionPermit {
    _client: OwnedSemaphorePermit,
    _descriptor: OwnedSemaphorePermit,
}

impl ConnectionLimits {
    fn of(clients: usize, descriptors: usize) -> Self {
        Self {
            clients: Arc::new(Semaphore::new(clients)),
            descriptors: Arc::new(Semaphore::new(descriptors)),
            out_of_descriptors: Arc::default(),
        }
    }

    /// Returns the limits for `limit` descriptors (`None`: unlimited): all but the reserve, at
    /// least half.
    pub(crate) fn of_descriptors(limit: Option<u64>) -> Self {
        let connection_limits = limit.map_or(Semaphore::MAX_PERMITS, |limit| {
            let connection_limits = limit.saturating_sub(RESERVED_DESCRIPTORS).max(limit / 2);
            usize::try_from(connection_limits).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS)
        });
        Self::of(Semaphore::MAX_PERMITS, connection_limits)
    }

    /// Returns the limits of this process's APIs: by its descriptors, and at most `most` clients.
    pub fn of_apis(most: Option<usize>) -> Self {
        let connection_limits = Self::of_descriptors(descriptor_limit());
        let clients = most.unwrap_or(Semaphore::MAX_PERMITS).min(Semaphore::MAX_PERMITS);
        Self { clients: Arc::new(Semaphore::new(clients)), ..connection_limits }
    }

    /// Returns the limits for connections from other nodes of a cluster. They take descriptor
    /// permits only, since each carries a client that has a permit on the node it connected to.
    pub fn of_link(&self) -> Self {
        Self { clients: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)), ..self.clone() }
    }

    /// Takes permits for a client until the result is dropped; `None` if none are free.
    pub(crate) fn take(&self) -> Option<ConnectionPermit> {
        let client = Arc::clone(&self.clients).try_acquire_owned().ok()?;
        let descriptor = Arc::clone(&self.descriptors).try_acquire_owned().ok()?;
        Some(ConnectionPermit { _client: client, _descriptor: descriptor })
    }

    /// Takes a descriptor permit for a connection to another node, in addition to the client's
    /// permits; `None` if none is free.
    pub fn take_descriptor(&self) -> Option<OwnedSemaphorePermit> {
        let taken = Arc::clone(&self.descriptors).try_acquire_owned().ok();
        if !self.out_of_descriptors.swap(taken.is_none(), Ordering::Relaxed) && taken.is_none() {
            tracing::warn!(
                "out of file descriptors to forward clients to other nodes; they are closed: raise \
                 the descriptor limit (LimitNOFILE, ulimit -n)"
            );
        }
        taken
    }

    /// Returns the limits of the admin address, which are separate from those of the APIs.
    pub fn of_admin(limit: Option<u64>) -> Self {
        let connection_limits =
            limit.map_or(ADMIN_CONNECTIONS, |limit| (limit / 8).min(ADMIN_CONNECTIONS));
        Self::of(usize::try_from(connection_limits).unwrap_or(usize::MAX), Semaphore::MAX_PERMITS)
    }
}

/// Returns the process's descriptor limit; `None` if unlimited.
pub fn descriptor_limit() -> Option<u64> {
    use rustix::process::{Resource, getrlimit};
    getrlimit(Resource::Nofile).current
}

/// Accepts clients until `stop` changes, then closes the listener and waits up to [`DRAIN`] for the
/// connections. Each runs in its own task; `serve` also gets `stop` and has to return soon after it
/// changes. Tasks still running after that are aborted.
pub async fn accept_connections<F: Future<Output = ()> + Send + 'static>(
    listener: TcpListener,
    mut stop: watch::Receiver<bool>,
    connection_limits: ConnectionLimits,
    serve: impl Fn(TcpStream, SocketAddr, watch::Receiver<bool>) -> F,
) {
    let mut clients = JoinSet::new();
    // Whether the last client found no permit: logged once, not for every client.
    let mut full = false;
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            // Stops also if the sender of the signal was dropped.
            _ = stop.changed() => break,
            // Removes finished tasks, or the set would only grow.
            Some(_) = clients.join_next(), if !clients.is_empty() => continue,
        };
        match accepted {
            Ok((stream, peer)) => {
                let place = connection_limits.take();
                if place.is_none() && !full {
                    tracing::warn!("the connection limit is reached; new connections are closed");
                }
                full = place.is_none();
                let Some(place) = place else { continue };
                // Replies are written whole; Nagle's algorithm would only delay them.
                let _ = stream.set_nodelay(true);
                let served = serve(stream, peer, stop.clone());
                // Release the permits only after the connection has ended.
                clients.spawn(async move {
                    served.await;
                    drop(place);
                });
            }
            Err(error) => {
                // No descriptor is free, or the client has disconnected. Other clients are
                // unaffected; the pause prevents a busy loop while no descriptor is free.
                tracing::warn!(%error, "cannot accept a connection");
                sleep::wait_for(Duration::from_millis(20)).await;
            }
        }
    }
    // New clients are refused by the system from here on, instead of waiting.
    drop(listener);
    let drained = async { while clients.join_next().await.is_some() {} };
    if tokio::time::timeout(DRAIN, drained).await.is_err() {
        tracing::warn!("requests were still running at shutdown");
    }
}
