//! Where clients come in: the three addresses, bound at the start, and what is done with a client of
//! each. Whether it is served here or somewhere else is decided by the [`Entrance`].

use std::{net::SocketAddr, sync::Arc};

use memory::Account;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinHandle,
};

use crate::{
    addresses,
    config::Config,
    failure::Failure,
    listen::{self, Places},
    tls::{Listener, Opened, Opener, Socket, Tls},
};

/// What is done with clients; each call ends with its connection.
pub(crate) trait Entrance: Send + Sync + 'static {
    /// Counts a client of the MongoDB API that has not begun yet, until what is returned is dropped.
    fn count_silent(&self) -> impl Send + 'static;

    /// A client of the MongoDB API.
    fn mongo(self: Arc<Self>, client: Opened, peer: SocketAddr) -> impl Future<Output = ()> + Send;

    /// A client of the NoSQL API.
    fn nosql(
        self: Arc<Self>,
        stream: TcpStream,
        peer: SocketAddr,
    ) -> impl Future<Output = ()> + Send;

    /// A client of the admin address, until it leaves or the server stops.
    fn admin(
        self: Arc<Self>,
        stream: Socket,
        peer: SocketAddr,
        stop: watch::Receiver<bool>,
    ) -> impl Future<Output = ()> + Send;
}

/// The addresses of the settings, bound; `None`: it is off.
pub(crate) struct Bound {
    pub(crate) mongo: Option<(TcpListener, SocketAddr)>,
    pub(crate) nosql: Option<(TcpListener, SocketAddr)>,
    pub(crate) admin: Option<(TcpListener, SocketAddr)>,
    /// How clients of the MongoDB API are let in.
    mongo_opener: Opener,
    /// How those of the admin address are.
    admin_opener: Opener,
}

impl Bound {
    /// Binds them. From here on clients may connect; they wait until they are accepted. `strangers` has
    /// memory for those who have not finished a handshake.
    pub(crate) async fn bind(
        config: &Config,
        tls: Option<&Arc<Tls>>,
        strangers: &Account,
    ) -> Result<Self, Failure> {
        let opener = |listener, mode| Opener::new(listener, mode, tls.cloned(), strangers.clone());
        Ok(Self {
            mongo: bind("mongo-addr", config.mongo_addr.as_deref()).await?,
            nosql: bind("cosmos-addr", config.cosmos_addr.as_deref()).await?,
            admin: bind("admin-addr", config.admin_addr.as_deref()).await?,
            mongo_opener: opener(Listener::Mongo, config.mongo_tls),
            admin_opener: opener(Listener::Admin, config.admin_tls),
        })
    }

    /// Accepts clients until `stopped`; a task for each address. The two APIs share `places`; the admin
    /// address has places of its own.
    pub(crate) fn accept<E: Entrance>(
        self,
        entrance: &Arc<E>,
        stopped: &watch::Receiver<bool>,
        places: &Places,
    ) -> Vec<JoinHandle<()>> {
        let mut tasks = Vec::new();
        if let Some((listener, _)) = self.mongo {
            let (entrance, stop, places) = (Arc::clone(entrance), stopped.clone(), places.clone());
            let opener = self.mongo_opener;
            let serve = move |stream, peer, stop| {
                let (entrance, opener) = (Arc::clone(&entrance), opener.clone());
                async move {
                    // Each in a place of its own: the task keeps room for what it waits for twice. The
                    // first one is given up before the second is made.
                    let silent = entrance.count_silent();
                    let opened = Box::pin(opener.open(stream, peer, stop)).await;
                    // From here on it is counted by whoever serves it.
                    drop(silent);
                    if let Some(client) = opened {
                        Box::pin(entrance.mongo(client, peer)).await;
                    }
                }
            };
            tasks.push(tokio::spawn(listen::accept_connections(listener, stop, places, serve)));
        }
        if let Some((listener, _)) = self.nosql {
            let (entrance, stop, places) = (Arc::clone(entrance), stopped.clone(), places.clone());
            tasks.push(tokio::spawn(listen::accept_connections(
                listener,
                stop,
                places,
                move |stream, peer, _| Arc::clone(&entrance).nosql(stream, peer),
            )));
        }
        if let Some((listener, _)) = self.admin {
            let (entrance, stop) = (Arc::clone(entrance), stopped.clone());
            let places = Places::of_admin(listen::descriptor_limit());
            let opener = self.admin_opener;
            let serve = move |stream, peer, stop: watch::Receiver<bool>| {
                let (entrance, opener) = (Arc::clone(&entrance), opener.clone());
                async move {
                    let opened = Box::pin(opener.open(stream, peer, stop.clone())).await;
                    if let Some(client) = opened {
                        Box::pin(entrance.admin(client.socket, peer, stop)).await;
                    }
                }
            };
            tasks.push(tokio::spawn(listen::accept_connections(listener, stop, places, serve)));
        }
        tasks
    }
}

async fn bind(
    setting: &str,
    address: Option<&str>,
) -> Result<Option<(TcpListener, SocketAddr)>, Failure> {
    match address {
        Some(address) => addresses::bind_setting(setting, address).await.map(Some),
        None => Ok(None),
    }
}
