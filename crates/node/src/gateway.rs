//! Dispatches the connections of a cluster node: each client is served here or forwarded to the
//! owner. Clients that another node forwards over the link are dispatched here too.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use admin::serve_stream::serve_stream;
use auth::Right;
use axum::Router;
use cosmos::{Duplex, Forwarded, SharedFeed};
use mongo::{ClientStream, ForwardAccounts, ServeEnd};
use server::ServingTerm;
use server_base::{
    entrance::Entrance,
    tls::{Opened, Socket},
};
use tokio::{net::TcpStream, sync::watch};

use super::{
    link::{
        Call, CallReply, ForwardedClient, ForwardedLogin, IncomingCall, LinkTls, Purpose,
        accept_handshake, keep_alive,
    },
    progress_reports,
    route::{Destination, Route},
    routes::Routes,
    shard_relay, siblings, users,
};

/// Time limit for the handshake of a call on the link.
const PATIENCE: Duration = Duration::from_secs(3);
/// Time for which a node leaves a free shard to other nodes on request: long enough for a few reads
/// of the shard and a claim.
const HELD_BACK: Duration = Duration::from_secs(3);

/// Accepts clients and calls of other nodes, and serves or forwards them.
pub(super) struct Gateway {
    pub(super) routes: Routes,
    /// Routes of the admin address; `None` if it is off.
    pub(super) admin: Option<Router>,
    /// Accepts connections of the NoSQL API; `None` if the API is off.
    pub(super) nosql: Option<Arc<cosmos::RoutingEndpoint>>,
    /// TLS configuration of the link between nodes.
    pub(super) tls: Option<LinkTls>,
    /// Whether clients of the MongoDB API have to log in.
    pub(super) asks_for_login: bool,
    /// Memory accounts of forwarded messages.
    pub(super) forward_accounts: ForwardAccounts,
    /// Becomes true when the process stops.
    pub(super) stopped: watch::Receiver<bool>,
}

impl Entrance for Gateway {
    /// Returns a guard that counts nothing, since the term (engine and APIs) that serves a client
    /// counts it.
    fn count_silent(&self) -> impl Send + 'static {}

    /// Serves a client of the MongoDB API. The client stays connected when another node takes over
    /// its requests.
    async fn mongo(self: Arc<Self>, client: Opened, peer: SocketAddr) {
        let who = mongo::Peer { has_to_log_in: self.asks_for_login, ..client.peer(peer) };
        let mut client = ClientStream::movable_where(client.socket, self.asks_for_login);
        let mut shard = self.routes.any_shard();
        // The owner is looked up once the client has sent something.
        while self.until_stop(client.has_begun()).await == Some(true) {
            let ended =
                match self.find_for(shard, peer, ForwardedLogin::of(&who, client.user())).await {
                    Some(Destination::Here(term)) => {
                        Some(term.serve_movable(&mut client, who.clone()).await)
                    }
                    Some(Destination::There(passage)) => {
                        self.until_stop(passage.pass_messages(&mut client, &self.forward_accounts))
                            .await
                    }
                    None => {
                        client.refuse_login(&self.forward_accounts.unknown_clients).await;
                        return;
                    }
                };
            match ended {
                Some(ServeEnd::Moves) => {}
                Some(ServeEnd::Elsewhere(database)) => shard = self.routes.home(&database),
                Some(ServeEnd::Closed) | None => return,
            }
        }
    }

    async fn nosql(self: Arc<Self>, stream: TcpStream, peer: SocketAddr) {
        let Some(entrance) = self.nosql.clone() else { return };
        entrance.serve(stream, peer, self.stopped.clone()).await;
    }

    async fn admin(self: Arc<Self>, stream: Socket, peer: SocketAddr, stop: watch::Receiver<bool>) {
        let Some(routes) = self.admin.clone() else { return };
        serve_stream(routes, stream, peer, stop).await;
    }
}

impl Gateway {
    /// Finds the server that owns the shard, for a client of the MongoDB API.
    async fn find_for(
        &self,
        shard: u32,
        client: SocketAddr,
        guest: ForwardedLogin,
    ) -> Option<Destination> {
        let passed = ForwardedClient { client, secure: false, guest: Some(guest) };
        let found = self.routes.shard(shard)?.find_for(Purpose::Mongo, &passed);
        self.until_stop(found).await.flatten()
    }

    /// Returns the result of a future; `None` if the process stops first.
    async fn until_stop<T>(&self, something: impl Future<Output = T>) -> Option<T> {
        let mut stop = self.stopped.clone();
        tokio::select! {
            done = something => Some(done),
            _ = stop.wait_for(|stop| *stop) => None,
        }
    }

    /// Serves a call from another node on the link.
    pub(super) async fn called(self: Arc<Self>, stream: TcpStream, peer: SocketAddr) {
        let greeted = async {
            keep_alive(&stream)?;
            let stream: Box<dyn Duplex> = match &self.tls {
                Some(tls) => tls.accept(stream).await?,
                None => Box::new(stream),
            };
            let key = self.routes.first().dialer.key.clone();
            accept_handshake(stream, key, &self.forward_accounts.unknown_clients).await
        };
        let called = match tokio::time::timeout(PATIENCE, greeted).await {
            Ok(Ok(called)) => called,
            Ok(Err(error)) => return tracing::debug!(%error, %peer, "a call on the link"),
            Err(_) => return tracing::debug!(%peer, "unfinished call on the link"),
        };
        let Some(route) = self.routes.shard(called.call.shard) else {
            let _ = called.answer(CallReply::NotOwner).await;
            return;
        };
        if called.call.purpose.is_control_message() {
            handle_control_message(route, called.call.purpose);
            let _ = called.answer(CallReply::Served).await;
            return;
        }
        if called.call.purpose == Purpose::Standing {
            if let Ok(stream) = called.answer(CallReply::Served).await {
                progress_reports::send(&self.routes, stream).await;
            }
            return;
        }
        match self.accepted(route, &called.call) {
            Ok(term) => self.serve(called, (route, term), peer).await,
            Err(verdict) => {
                let _ = called.answer(verdict).await;
            }
        }
    }

    /// Returns the term that serves a call, or the reason for refusing it.
    fn accepted(&self, route: &Route, call: &Call) -> Result<Arc<ServingTerm>, CallReply> {
        if call.cluster != route.dialer.cluster {
            return Err(CallReply::OtherCluster);
        }
        let term = route.here().ok_or(CallReply::NotOwner)?;
        let is_on = match call.purpose {
            Purpose::Mongo | Purpose::Command | Purpose::Users | Purpose::UsersLater => {
                term.shared.apis.mongo.is_some()
            }
            Purpose::Nosql
            | Purpose::NosqlReader
            | Purpose::NosqlWriter
            | Purpose::Databases
            | Purpose::Offers => term.shared.apis.cosmos.is_some(),
            Purpose::Admin => self.admin.is_some(),
            Purpose::KnownAdmin
            | Purpose::HoldBack
            | Purpose::GoFirst
            | Purpose::Look
            | Purpose::Keep
            | Purpose::Standing => true,
        };
        if !is_on {
            return Err(CallReply::Off);
        }
        // An address without authentication treats every client as local. A client that another
        // node forwards is not local if other machines can reach that node's admin address.
        if call.purpose == Purpose::Admin && route.dialer.open && !call.open {
            return Err(CallReply::OtherAccess);
        }
        Ok(term)
    }

    async fn serve(
        &self,
        called: IncomingCall,
        (route, term): (&Route, Arc<ServingTerm>),
        peer: SocketAddr,
    ) {
        let counts = &route.cluster_state.counts;
        counts.received.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let Call { purpose, client, secure, guest, .. } = called.call.clone();
        let client = client.unwrap_or(peer);
        let Ok(stream) = called.answer(CallReply::Served).await else { return };
        match purpose {
            Purpose::Mongo => {
                // The forwarding node finds the owner for messages that are not answered here.
                let (peer, user) = guest.unwrap_or_default().into_peer(client);
                let asks = self.asks_for_login || peer.has_to_log_in;
                let mut stream = ClientStream::passed_on(stream, user, asks);
                match term.serve_movable(&mut stream, peer).await {
                    // Tells the forwarding node that the message was not executed. It then finds
                    // the node or the shard that has to execute it.
                    ServeEnd::Moves | ServeEnd::Elsewhere(_) => stream.send_not_started().await,
                    ServeEnd::Closed => {}
                }
            }
            Purpose::Nosql => serve_nosql(term, stream, (client, secure, None)).await,
            Purpose::NosqlReader => {
                serve_nosql(term, stream, (client, secure, Some(Right::Read))).await;
            }
            Purpose::NosqlWriter => {
                serve_nosql(term, stream, (client, secure, Some(Right::Write))).await;
            }
            Purpose::Admin => {
                let Some(routes) = self.admin.clone() else { return };
                // The connection must not keep the term alive: the response to a hand-over is sent
                // after another node has taken over.
                drop(term);
                serve_stream(routes, stream, client, self.stopped.clone()).await;
            }
            Purpose::KnownAdmin => {
                let routes = term.known_routes();
                drop(term);
                serve_stream(routes, stream, client, self.stopped.clone()).await;
            }
            Purpose::Command => shard_relay::run_command(&term, stream).await,
            Purpose::Databases => siblings::show(&term, SharedFeed::Databases, stream).await,
            Purpose::Offers => siblings::show(&term, SharedFeed::Offers, stream).await,
            Purpose::Users => users::send_users(&term, stream, false).await,
            Purpose::UsersLater => users::send_users(&term, stream, true).await,
            // Control messages were already answered, before a term was looked up.
            Purpose::HoldBack
            | Purpose::GoFirst
            | Purpose::Look
            | Purpose::Keep
            | Purpose::Standing => {}
        }
    }
}

/// Serves a client of the NoSQL API. `right` is the access that the calling node has granted to the
/// client; `None` for a client that signs its requests.
async fn serve_nosql(
    term: Arc<ServingTerm>,
    stream: Box<dyn Duplex>,
    (client, secure, right): (SocketAddr, bool, Option<Right>),
) {
    let Some(here) = term.nosql_endpoint() else { return };
    // The connection may outlive the term briefly, and must not keep the term alive.
    drop(term);
    let scheme = if secure { "https" } else { "http" };
    let about = Forwarded { peer: Some(client.ip()), scheme, right };
    cosmos::serve_forwarded(here, stream, about).await;
}

/// Handles a control message that another node has sent about a shard.
fn handle_control_message(route: &Route, message: Purpose) {
    let shard = &route.cluster_state.shard;
    progress_reports::record_assignment(route, message);
    match message {
        Purpose::HoldBack => shard.defer_claim(HELD_BACK),
        // A node with a deviating wall clock continues to leave free shards to other nodes.
        Purpose::GoFirst | Purpose::Keep if route.cluster_state.has_clock_skew() => {}
        Purpose::GoFirst | Purpose::Keep => shard.claim_first(),
        Purpose::Look => shard.refresh(),
        // All other purposes are not control messages.
        _ => {}
    }
}
