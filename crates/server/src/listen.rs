//! Listeners: connections in, one task each, how many there may be, and a bounded end. What is said
//! on a connection is decided by the function that [`accept_connections`] is given.

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

use crate::background;

/// How long requests under way may go on after the server was told to stop: shorter than the limit
/// of the whole process in `process.rs`.
const DRAIN: Duration = Duration::from_secs(8);

/// Clients that may wait to be accepted; the system caps it (`net.core.somaxconn`). A client that
/// finds no place there tries again only after a second, so a burst of connections needs room.
const BACKLOG: u32 = 4096;

/// An address that is taken, so that no other program gets it, and not listened on yet: the system refuses
/// clients.
#[derive(Debug)]
pub(crate) struct Taken {
    socket: TcpSocket,
    /// With the port that it really has.
    pub(crate) address: SocketAddr,
}

impl Taken {
    /// Listens on it: from here on clients may connect, and wait until they are accepted.
    pub(crate) fn listen(self) -> io::Result<TcpListener> {
        self.socket.listen(BACKLOG)
    }
}

/// Takes an address `host:port`: the first one of a name that can be taken, or the failure of the last one.
/// Port 0 takes a free one. Must run inside the runtime, which watches the socket.
pub(crate) async fn take_address(address: &str) -> io::Result<Taken> {
    let mut failed = io::Error::new(io::ErrorKind::InvalidInput, "no address of that name");
    for address in lookup_host(address).await? {
        match take_socket(address) {
            Ok(taken) => return Ok(taken),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

/// Returns whether only this machine can reach an address: all that its name resolves to is
/// loopback. A name that cannot be resolved counts as loopback, since binding it fails anyway and
/// then says why.
pub(crate) async fn is_loopback(address: &str) -> bool {
    match lookup_host(address).await {
        Ok(mut found) => found.all(|address| address.ip().is_loopback()),
        Err(_) => true,
    }
}

fn take_socket(address: SocketAddr) -> io::Result<Taken> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A restarted server gets its port although connections of the old one linger. On other
    // systems the option would let two servers share a port.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    let address = socket.local_addr()?;
    Ok(Taken { socket, address })
}

/// Descriptors kept back from connections for the store's files, or half of all where there are
/// fewer than twice as many.
const KEPT_DESCRIPTORS: u64 = 256;

/// Connections of the admin address, at most an eighth of all descriptors. They come out of those
/// kept back, so that an operator can look what is wrong when all other places are taken.
const ADMIN_PLACES: u64 = 64;

/// How many connections the API listeners may hold together. A client takes a place, and each connection
/// a descriptor: that of the client, and one to the node of a cluster to which it is passed on. A
/// connection beyond is closed at once, as if there had been no descriptor for it; but the store can still
/// open its files.
#[derive(Clone)]
pub(crate) struct Places {
    clients: Arc<Semaphore>,
    descriptors: Arc<Semaphore>,
    /// Whether the last connection to another node found no descriptor: the log says it once.
    out_of_descriptors: Arc<AtomicBool>,
}

/// A client's place, until it is dropped.
pub(crate) struct Place {
    _client: OwnedSemaphorePermit,
    _descriptor: OwnedSemaphorePermit,
}

impl Places {
    fn of(clients: usize, descriptors: usize) -> Self {
        Self {
            clients: Arc::new(Semaphore::new(clients)),
            descriptors: Arc::new(Semaphore::new(descriptors)),
            out_of_descriptors: Arc::default(),
        }
    }

    /// Returns the places of a process with `limit` descriptors (`None`: unlimited): all but those kept
    /// back, at least half.
    pub(crate) fn of_descriptors(limit: Option<u64>) -> Self {
        let places = limit.map_or(Semaphore::MAX_PERMITS, |limit| {
            let places = limit.saturating_sub(KEPT_DESCRIPTORS).max(limit / 2);
            usize::try_from(places).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS)
        });
        Self::of(Semaphore::MAX_PERMITS, places)
    }

    /// Returns the places of the APIs in this process: as its descriptors allow, and no more than this.
    pub(crate) fn of_apis(most: Option<usize>) -> Self {
        let places = Self::of_descriptors(descriptor_limit());
        let clients = most.unwrap_or(Semaphore::MAX_PERMITS).min(Semaphore::MAX_PERMITS);
        Self { clients: Arc::new(Semaphore::new(clients)), ..places }
    }

    /// Returns places for other nodes of a cluster, which are no clients: they take descriptors only, as
    /// each brings a client that has a place where it came in.
    pub(crate) fn of_link(&self) -> Self {
        Self { clients: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)), ..self.clone() }
    }

    /// Takes one, until what is returned is dropped; `None`: all are taken.
    pub(crate) fn take(&self) -> Option<Place> {
        let client = Arc::clone(&self.clients).try_acquire_owned().ok()?;
        let descriptor = Arc::clone(&self.descriptors).try_acquire_owned().ok()?;
        Some(Place { _client: client, _descriptor: descriptor })
    }

    /// Takes a descriptor for a connection to another node, beside its client's place; `None`: all are taken.
    pub(crate) fn take_descriptor(&self) -> Option<OwnedSemaphorePermit> {
        let taken = Arc::clone(&self.descriptors).try_acquire_owned().ok();
        if !self.out_of_descriptors.swap(taken.is_none(), Ordering::Relaxed) && taken.is_none() {
            tracing::warn!(
                "no descriptor is left to pass clients on to other nodes; they are closed: raise the \
                 limit of descriptors (LimitNOFILE, ulimit -n)"
            );
        }
        taken
    }

    /// Returns the places of the admin address, which are separate from those of the APIs.
    pub(crate) fn of_admin(limit: Option<u64>) -> Self {
        let places = limit.map_or(ADMIN_PLACES, |limit| (limit / 8).min(ADMIN_PLACES));
        Self::of(usize::try_from(places).unwrap_or(usize::MAX), Semaphore::MAX_PERMITS)
    }
}

/// How many descriptors the process may have; `None` where nothing bounds them.
pub(crate) fn descriptor_limit() -> Option<u64> {
    use rustix::process::{Resource, getrlimit};
    getrlimit(Resource::Nofile).current
}

/// Accepts clients until `stop` changes, then closes the listener and waits up to [`DRAIN`] for the
/// connections. Each is served by a task of its own; `serve` gets `stop` too and has to end soon
/// after it changed. Tasks still running after that time are aborted when this returns.
pub(crate) async fn accept_connections<F: Future<Output = ()> + Send + 'static>(
    listener: TcpListener,
    mut stop: watch::Receiver<bool>,
    places: Places,
    serve: impl Fn(TcpStream, SocketAddr, watch::Receiver<bool>) -> F,
) {
    let mut clients = JoinSet::new();
    // Whether the last client found no place: the log says it once, not for every client.
    let mut full = false;
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            // Also when the sender is gone.
            _ = stop.changed() => break,
            // Takes finished tasks away while the server runs, or the set would only grow.
            Some(_) = clients.join_next(), if !clients.is_empty() => continue,
        };
        match accepted {
            Ok((stream, peer)) => {
                let place = places.take();
                if place.is_none() && !full {
                    tracing::warn!("all places for connections are taken; new ones are closed");
                }
                full = place.is_none();
                let Some(place) = place else { continue };
                // Replies are written whole; waiting for more to send only delays them.
                let _ = stream.set_nodelay(true);
                let served = serve(stream, peer, stop.clone());
                // The place is free again only after the connection has been served.
                clients.spawn(async move {
                    served.await;
                    drop(place);
                });
            }
            Err(error) => {
                // Out of descriptors, or the client has left already. The others go on; the pause
                // keeps the loop from spinning while there is no descriptor.
                tracing::warn!(%error, "accept a connection");
                background::wait_for(Duration::from_millis(20)).await;
            }
        }
    }
    // New clients are refused by the system from here on, not kept waiting.
    drop(listener);
    let drained = async { while clients.join_next().await.is_some() {} };
    if tokio::time::timeout(DRAIN, drained).await.is_err() {
        tracing::warn!("requests were still running at the end");
    }
}
