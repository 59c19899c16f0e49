//! Where clients come in: the three addresses, taken at the start, and what is done with a client of
//! each. Whether it is served here or somewhere else is decided by the [`Entrance`]. Clients of the admin
//! address are accepted earlier than the others, in `early_admin.rs`.

use std::{net::SocketAddr, sync::Arc};

use memory::Account;
use tokio::{net::TcpStream, sync::watch, task::JoinHandle};

use crate::{
    addresses,
    config::Config,
    failure::Failure,
    listen::{self, Places, Taken},
    misdirected::PortalAddress,
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

/// The addresses of the settings, taken; `None`: it is off. Clients are refused until they are listened on.
pub(crate) struct Bound {
    pub(crate) mongo: Option<Taken>,
    pub(crate) nosql: Option<Taken>,
    pub(crate) admin: Option<Taken>,
    /// How clients of the MongoDB API are let in.
    mongo_opener: Opener,
    /// How those of the admin address are.
    pub(crate) admin_opener: Opener,
}

/// The settings of the addresses.
const MONGO: &str = "mongo-addr";
const NOSQL: &str = "cosmos-addr";
pub(crate) const ADMIN: &str = "admin-addr";

impl Bound {
    /// Takes them. `strangers` has memory for clients who have not finished a handshake.
    pub(crate) async fn bind(
        config: &Config,
        tls: Option<&Arc<Tls>>,
        strangers: &Account,
    ) -> Result<Self, Failure> {
        let mongo = take(MONGO, config.mongo_addr.as_deref(), config).await?;
        let nosql = take(NOSQL, config.cosmos_addr.as_deref(), config).await?;
        let admin = take(ADMIN, config.admin_addr.as_deref(), config).await?;
        let scheme = config.admin_tls.http_scheme();
        let portal = admin.as_ref().map(|taken| PortalAddress { bound: taken.address, scheme });
        let opener =
            |listener, mode| Opener::new(listener, mode, tls.cloned(), strangers.clone(), portal);
        Ok(Self {
            mongo,
            nosql,
            admin,
            mongo_opener: opener(Listener::Mongo, config.mongo_tls),
            admin_opener: opener(Listener::Admin, config.admin_tls),
        })
    }

    /// Listens on the addresses of the APIs and accepts clients until `stopped`; a task for each address. The
    /// two share `places`.
    pub(crate) fn accept<E: Entrance>(
        self,
        entrance: &Arc<E>,
        stopped: &watch::Receiver<bool>,
        places: &Places,
    ) -> Result<Vec<JoinHandle<()>>, Failure> {
        let mut tasks = Vec::new();
        if let Some(taken) = self.mongo {
            let listener = addresses::listen_on(MONGO, taken)?;
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
        if let Some(taken) = self.nosql {
            let listener = addresses::listen_on(NOSQL, taken)?;
            let (entrance, stop, places) = (Arc::clone(entrance), stopped.clone(), places.clone());
            tasks.push(tokio::spawn(listen::accept_connections(
                listener,
                stop,
                places,
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
) -> Result<Option<Taken>, Failure> {
    match address {
        Some(address) => addresses::take_setting(setting, address, config).await.map(Some),
        None => Ok(None),
    }
}
