//! The admin address from the moment its port is bound: it serves health checks while the store is
//! opened, which takes long with a long journal, and everything once an [`Entrance`] is set.

use std::sync::Arc;

use server_base::{
    addresses,
    entrance::{ADMIN, Bound, Entrance},
    failure::Failure,
    listen::{self, ConnectionLimits},
};
use tokio::{sync::watch, task::JoinHandle};

use crate::{routes::opening::opening_routes, serve_stream::serve_stream};

/// Accepts clients of the admin address and passes them to the [`Entrance`] once it is set.
pub struct EarlyAdmin<E> {
    /// The [`Entrance`] that serves clients; `None` while the store is opened.
    entrance: watch::Sender<Option<Arc<E>>>,
    /// Set when the [`Entrance`] is set; ends earlier connections, whose clients reconnect.
    opened: watch::Sender<bool>,
    /// The task that accepts connections; `None` if the address is off.
    task: Option<JoinHandle<()>>,
}

impl<E> std::fmt::Debug for EarlyAdmin<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EarlyAdmin").finish_non_exhaustive()
    }
}

impl<E: Entrance> EarlyAdmin<E> {
    /// Listens on the address and accepts clients until `stopped`. Its connection permits are
    /// separate from those of the APIs.
    pub fn listen(bound: &mut Bound, stopped: &watch::Receiver<bool>) -> Result<Self, Failure> {
        let (entrance, current) = watch::channel(None::<Arc<E>>);
        let (opened, until_opened) = watch::channel(false);
        let routes = opening_routes(clock::monotonic_time());
        let Some(taken) = bound.admin.take() else {
            return Ok(Self { entrance, opened, task: None });
        };
        let listener = addresses::listen_on(ADMIN, taken)?;
        let opener = bound.admin_opener.clone();
        let serve = move |stream, peer, stop: watch::Receiver<bool>| {
            let (opener, current, routes) = (opener.clone(), current.clone(), routes.clone());
            let until_opened = until_opened.clone();
            async move {
                let opened = Box::pin(opener.open(stream, peer, stop.clone())).await;
                let Some(client) = opened else { return };
                // The `Entrance` may be set right after this read. `until_opened` was cloned before
                // and changes after that, so a client served without an entrance is then
                // disconnected at once.
                let entrance = current.borrow().clone();
                match entrance {
                    Some(entrance) => Box::pin(entrance.admin(client.socket, peer, stop)).await,
                    None => {
                        let served = serve_stream(routes, client.socket, peer, until_opened);
                        Box::pin(served).await;
                    }
                }
            }
        };
        let connection_limits = ConnectionLimits::of_admin(listen::descriptor_limit());
        let accepted =
            listen::accept_connections(listener, stopped.clone(), connection_limits, serve);
        Ok(Self { entrance, opened, task: Some(tokio::spawn(accepted)) })
    }

    /// Makes the [`Entrance`] serve all clients from now on; returns the task that accepts
    /// connections.
    pub fn hand_to(self, entrance: &Arc<E>) -> Option<JoinHandle<()>> {
        // The `Entrance` is set first, so that a client that is then disconnected finds it when it
        // reconnects.
        self.entrance.send_replace(Some(Arc::clone(entrance)));
        self.opened.send_replace(true);
        self.task
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use memory::Account;
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpStream,
    };

    use super::*;
    use server_base::{
        config::Config,
        tls::{Opened, Socket},
    };

    /// An [`Entrance`] of a started server, which replies 204 to every client.
    struct Open;

    impl Entrance for Open {
        fn count_silent(&self) -> impl Send + 'static {}

        async fn mongo(self: Arc<Self>, _: Opened, _: SocketAddr) {}

        async fn nosql(self: Arc<Self>, _: TcpStream, _: SocketAddr) {}

        async fn admin(
            self: Arc<Self>,
            mut stream: Socket,
            _: SocketAddr,
            _: watch::Receiver<bool>,
        ) {
            stream.write_all(b"HTTP/1.1 204 open\r\n\r\n").await.unwrap();
            stream.shutdown().await.unwrap();
        }
    }

    async fn ask(address: SocketAddr, path: &str) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn health_is_told_until_somebody_serves_and_the_apis_refuse_clients() {
        let config = Config::for_tests();
        let mut bound = Bound::bind(&config, None, &Account::default()).await.unwrap();
        let address = bound.admin.as_ref().unwrap().address;
        let mongo = bound.mongo.as_ref().unwrap().address;
        let (_stop, stopped) = watch::channel(false);
        let early = EarlyAdmin::<Open>::listen(&mut bound, &stopped).unwrap();

        for (path, status, has) in [
            ("/livez", "200", "ok"),
            ("/alive", "200", "ok"),
            ("/readyz", "503", "replay: the store is being opened, for 0 s so far"),
            ("/status", "503", r#""replay":"the store is being opened"#),
            ("/metrics", "200", "ebb_ready 0"),
            ("/_ebb/clock", "503", "retry-after: 1"),
            ("/", "503", "replay: "),
        ] {
            let answer = ask(address, path).await;
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{path}: {answer}");
            assert!(answer.contains(has), "{path}: {answer}");
        }
        assert!(TcpStream::connect(mongo).await.is_err(), "nobody is kept waiting");
        let mut kept = TcpStream::connect(address).await.unwrap();
        kept.write_all(b"GET /livez HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
        let mut part = [0; 12];
        kept.read_exact(&mut part).await.unwrap();
        assert_eq!(&part, b"HTTP/1.1 200");

        let open = Arc::new(Open);
        let task = early.hand_to(&open);
        assert!(task.is_some());
        assert!(ask(address, "/readyz").await.starts_with("HTTP/1.1 204 open"));
        let mut rest = Vec::new();
        kept.read_to_end(&mut rest).await.unwrap();
        let connection_limits = ConnectionLimits::of_apis(None);
        let apis = bound.accept(&open, &stopped, &connection_limits).unwrap();
        assert_eq!(apis.len(), 1 + usize::from(config.cosmos_addr.is_some()));
        TcpStream::connect(mongo).await.unwrap();
    }
}
