//! The three listen addresses, bound at the start, and the [`Entrance`], which decides whether a
//! client is served here or on another node. Clients of the admin address are accepted earlier, in
//! `admin/src/early_admin.rs`.

use std::{net::SocketAddr, sync::Arc};

use memory::Account;
use tokio::{net::TcpStream, sync::watch, task::JoinHandle};

use crate::{
    addresses,
    config::Config,
    failure::Failure,
    listen::{self, BoundSocket, ConnectionLimits},
    misdirected::PortalAddress,
    tls::{ClientAcceptor, Listener, Opened, Socket, Tls},
};

/// Serves clients; each call returns when its connection has ended.
pub trait Entrance: Send + Sync + 'static {
    /// Counts a connection of the MongoDB API that is silent so far, until the guard is dropped.
    fn count_silent(&self) -> impl Send + 'static;

    /// Serves a client of the MongoDB API.
    fn mongo(self: Arc<Self>, client: Opened, peer: SocketAddr) -> impl Future<Output = ()> + Send;

    /// Serves a client of the NoSQL API.
    fn nosql(
        self: Arc<Self>,
        stream: TcpStream,
        peer: SocketAddr,
    ) -> impl Future<Output = ()> + Send;

    /// Serves a client of the admin address until it leaves or `stop` changes.
    fn admin(
        self: Arc<Self>,
        stream: Socket,
        peer: SocketAddr,
        stop: watch::Receiver<bool>,
    ) -> impl Future<Output = ()> + Send;
}

/// The configured addresses, bound but not listened on, so that clients are refused; `None` if off.
pub struct Bound {
    /// Address of the MongoDB API.
    pub mongo: Option<BoundSocket>,
    /// Address of the NoSQL API.
    pub nosql: Option<BoundSocket>,
    /// Admin address, which `EarlyAdmin` takes.
    pub admin: Option<BoundSocket>,
    /// Performs the TLS handshake of clients of the MongoDB API.
    mongo_opener: ClientAcceptor,
    /// Performs the TLS handshake of clients of the admin address.
    pub admin_opener: ClientAcceptor,
}

impl std::fmt::Debug for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bound").finish_non_exhaustive()
    }
}

/// Name of the setting, for error messages.
const MONGO: &str = "mongo-addr";
const NOSQL: &str = "cosmos-addr";
/// Name of the setting of the admin address.
pub const ADMIN: &str = "admin-addr";

impl Bound {
    /// Binds the addresses. `strangers` is the memory account for clients in their handshake.
    pub async fn bind(
        config: &Config,
        tls: Option<&Arc<Tls>>,
        strangers: &Account,
    ) -> Result<Self, Failure> {
        let mongo = take(MONGO, config.mongo_addr.as_deref(), config).await?;
        let nosql = take(NOSQL, config.cosmos_addr.as_deref(), config).await?;
        let admin = take(ADMIN, config.admin_addr.as_deref(), config).await?;
        let scheme = config.admin_tls.http_scheme();
        let portal = admin.as_ref().map(|taken| PortalAddress { bound: taken.address, scheme });
        let opener = |listener, mode| {
            ClientAcceptor::new(listener, mode, tls.cloned(), strangers.clone(), portal)
        };
        Ok(Self {
            mongo,
            nosql,
            admin,
            mongo_opener: opener(Listener::Mongo, config.mongo_tls),
            admin_opener: opener(Listener::Admin, config.admin_tls),
        })
    }

    /// Listens on the APIs' addresses and accepts clients until `stopped`, with one task per
    /// address. Both APIs share the connection permits in `connection_limits`.
    pub fn accept<E: Entrance>(
        self,
        entrance: &Arc<E>,
        stopped: &watch::Receiver<bool>,
        connection_limits: &ConnectionLimits,
    ) -> Result<Vec<JoinHandle<()>>, Failure> {
        let mut tasks = Vec::new();
        if let Some(taken) = self.mongo {
            let listener = addresses::listen_on(MONGO, taken)?;
            let (entrance, stop, connection_limits) =
                (Arc::clone(entrance), stopped.clone(), connection_limits.clone());
            let opener = self.mongo_opener;
            let serve = move |stream, peer, stop| {
                let (entrance, opener) = (Arc::clone(&entrance), opener.clone());
                async move {
                    // Boxed separately: a task reserves the memory of everything it awaits. The
                    // first future is dropped before the second is created.
                    let silent = entrance.count_silent();
                    let opened = Box::pin(opener.open(stream, peer, stop)).await;
                    // From here on the [`Entrance`] counts the client.
                    drop(silent);
                    if let Some(client) = opened {
                        Box::pin(entrance.mongo(client, peer)).await;
                    }
                }
            };
            tasks.push(tokio::spawn(listen::accept_connections(
                listener,
                stop,
                connection_limits,
                serve,
            )));
        }
        if let Some(taken) = self.nosql {
            let listener = addresses::listen_on(NOSQL, taken)?;
            let (entrance, stop, connection_limits) =
                (Arc::clone(entrance), stopped.clone(), connection_limits.clone());
            tasks.push(tokio::spawn(listen::accept_connections(
                listener,
                stop,
                connection_limits,
                move |stream, peer, _| Arc::clone(&entrance).nosql(stream, peer),
            )));
        }
        Ok(tasks)
    }
}

async fn take(
    setting: &str,
    address: Option<&str>,
    config: &Config,
) -> Result<Option<BoundSocket>, Failure> {
    match address {
        Some(address) => addresses::bind_setting(setting, address, config).await.map(Some),
        None => Ok(None),
    }
}
