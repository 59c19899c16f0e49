//! Where clients come in: the three addresses, bound at the start, and what is done with a client of
//! each. Whether it is served here or somewhere else is decided by the [`Entrance`].

use std::{net::SocketAddr, sync::Arc};

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
};

/// What is done with clients; each call ends with its connection.
pub(crate) trait Entrance: Send + Sync + 'static {
    /// A client of the MongoDB API.
    fn mongo(
        self: Arc<Self>,
        stream: TcpStream,
        peer: SocketAddr,
    ) -> impl Future<Output = ()> + Send;

    /// A client of the NoSQL API.
    fn nosql(
        self: Arc<Self>,
        stream: TcpStream,
        peer: SocketAddr,
    ) -> impl Future<Output = ()> + Send;

    /// A client of the admin address, until it leaves or the server stops.
    fn admin(
        self: Arc<Self>,
        stream: TcpStream,
        peer: SocketAddr,
        stop: watch::Receiver<bool>,
    ) -> impl Future<Output = ()> + Send;
}

/// The addresses of the settings, bound; `None`: it is off.
#[derive(Debug)]
pub(crate) struct Bound {
    pub(crate) mongo: Option<(TcpListener, SocketAddr)>,
    pub(crate) nosql: Option<(TcpListener, SocketAddr)>,
    pub(crate) admin: Option<(TcpListener, SocketAddr)>,
}

impl Bound {
    /// Binds them. From here on clients may connect; they wait until they are accepted.
    pub(crate) async fn bind(config: &Config) -> Result<Self, Failure> {
        Ok(Self {
            mongo: bind("mongo-addr", config.mongo_addr.as_deref()).await?,
            nosql: bind("cosmos-addr", config.cosmos_addr.as_deref()).await?,
            admin: bind("admin-addr", config.admin_addr.as_deref()).await?,
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
            tasks.push(tokio::spawn(listen::accept_connections(
                listener,
                stop,
                places,
                move |stream, peer, _| Arc::clone(&entrance).mongo(stream, peer),
            )));
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
            tasks.push(tokio::spawn(listen::accept_connections(
                listener,
                stop,
                places,
                move |stream, peer, stop| Arc::clone(&entrance).admin(stream, peer, stop),
            )));
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
