//! The client endpoint of a cluster node: it passes each request to the server of the shard that
//! owns the request's database, in this process or on another node. Clients stay connected when
//! ownership changes. `ShardRouter` finds the owners and connects to them.

use std::{
    fmt,
    net::SocketAddr,
    pin::Pin,
    sync::{Arc, atomic::AtomicI64},
};

use bytes::Bytes;
use http::{Method, request::Parts};
use http_body_util::Full;
use hyper::{Request, Response};
use memory::{Account, Share};
use tokio::{net::TcpStream, sync::watch};

use super::{
    answer::{find_page, refuse},
    body::{Body, discard_body, read_body},
    connection,
    forward_pool::{self, ForwardConnection, ForwardPool},
    frame_pool::{self, FramePool},
    head,
    local_endpoint::LocalEndpoint,
    replay::Outgoing,
    respond::build_response,
    service::{OutcomeUnknown, RequestService, Schedule},
};
use crate::{
    api::Settings,
    direct::{Executor, ForwardLimits, Forwarding, Outcome, OutgoingFrame, Unanswered},
    exchange::{Answer, failure_reply},
    failure::{Failure, Fault},
    homes::Home,
    interrupt::Client,
    link::{Link, Resource},
    reply::Reply,
    routes::account,
    sender::Sender,
    tls::CurrentCertificate,
    transport::Transport,
};

/// Maximum number of servers to which a request is sent, if none of them has started to process it.
const MAX_FORWARD_ATTEMPTS: usize = 4;

/// The server that owns a shard.
#[derive(Debug)]
pub enum ShardOwner {
    /// The server is in this process.
    Local(LocalEndpoint),
    /// The server is on another node.
    Remote(ForwardConnection),
}

/// A pending lookup of a shard's owner; it yields `None` if the shard has no reachable owner now.
pub type OwnerLookup<'a> = Pin<Box<dyn Future<Output = Option<ShardOwner>> + Send + 'a>>;

/// Maps databases to shards and finds the owners of shards.
pub trait ShardRouter: Send + Sync + 'static {
    /// Returns the shard that owns a database.
    fn shard_of(&self, home: &Home) -> u32;

    /// Returns the shard's server in this process, if this process owns the shard.
    fn local_endpoint(&self, shard: u32) -> Option<LocalEndpoint>;

    /// Finds the shard's current owner, local or remote; `secure` is true if the client uses TLS.
    fn find_owner(&self, shard: u32, client: SocketAddr, secure: bool) -> OwnerLookup<'_>;
}

/// State shared by all clients of the endpoint.
pub struct RoutingEndpoint {
    settings: Settings,
    router: Box<dyn ShardRouter>,
}

impl RoutingEndpoint {
    /// Creates an endpoint that forwards requests to the owners of shards; all shards share the
    /// settings.
    pub fn new(settings: Settings, router: impl ShardRouter) -> Self {
        Self { settings, router: Box::new(router) }
    }

    /// Serves a client until it disconnects or `stop` is set.
    pub async fn serve(
        self: Arc<Self>,
        stream: TcpStream,
        peer: SocketAddr,
        stop: watch::Receiver<bool>,
    ) {
        let (forward_pool, frame_pool) = (ForwardPool::default(), FramePool::default());
        let client = RoutedService { endpoint: self, peer, forward_pool, frame_pool };
        connection::serve_answers(Arc::new(client), stream, stop).await;
    }
}

impl fmt::Debug for RoutingEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RoutingEndpoint")
            .field("opened", &self.settings.opened)
            .finish_non_exhaustive()
    }
}

struct RoutedService {
    endpoint: Arc<RoutingEndpoint>,
    peer: SocketAddr,
    forward_pool: ForwardPool,
    frame_pool: FramePool,
}

impl RequestService for RoutedService {
    fn accepts_frames(&self) -> bool {
        self.endpoint.settings.direct.is_some()
    }

    fn find_executor(self: &Arc<Self>, home: &Home) -> Option<Executor> {
        let router = &self.endpoint.router;
        router.local_endpoint(router.shard_of(home))?.into_executor()
    }

    fn forward_limits(&self) -> Option<ForwardLimits> {
        let settings = &self.endpoint.settings;
        let held = settings.unknown_clients.share();
        Some(ForwardLimits { held, max_body_bytes: settings.max_body_bytes })
    }

    fn forward_frame(self: Arc<Self>, frame: OutgoingFrame) -> Forwarding {
        Box::pin(async move {
            let answered = self.ask_owner(&frame).await;
            frame.end(answered)
        })
    }

    fn certificate(&self) -> Option<&CurrentCertificate> {
        self.endpoint.settings.certificate.as_ref()
    }

    fn unknown_clients(&self) -> &Account {
        &self.endpoint.settings.unknown_clients
    }

    fn opened(&self) -> &AtomicI64 {
        &self.endpoint.settings.opened
    }

    async fn answer(
        self: Arc<Self>,
        client: Arc<Client>,
        schedule: Schedule,
        scheme: &'static str,
        request: Request<Body>,
    ) -> Result<Response<Full<Bytes>>, OutcomeUnknown> {
        let settings = &self.endpoint.settings;
        let (parts, mut body) = request.into_parts();
        if let Some(page) = find_page(settings, scheme, &parts) {
            return Ok(page.await.map(Full::new));
        }
        // This server and the owner of the shard could parse an ambiguous head differently.
        if let Err(failure) = head::check_head(&parts) {
            let reply = failure_reply(&failure, Transport::Http, "", parts.uri.path());
            let reply = reply.with_header("connection", "close");
            return Ok(respond(reply));
        }
        // Memory for the body is charged to the account of unauthenticated clients, since the
        // request's signature has not been checked yet.
        let mut held = settings.unknown_clients.share();
        let home = match head::check_arrival(&parts, scheme, settings) {
            Err(failure) => Err(failure),
            Ok(()) => match Link::of_target(&parts.uri) {
                // Not forwarded, because a client must trust the certificate of the node to which
                // it connected.
                Ok(Link { kind: Resource::Certificate, .. }) if parts.method == Method::GET => {
                    let certificate = account::read_certificate(settings);
                    return Ok(certificate.map_or_else(|failure| refuse(&failure), respond));
                }
                Ok(link) => self.home_of(&parts, &link, &mut body, &mut held).await,
                // Any shard can report the error of an invalid link.
                Err(_) => Ok(Home::Any),
            },
        };
        match home {
            Ok(home) => {
                let shard = self.endpoint.router.shard_of(&home);
                let request = Request::from_parts(parts, body);
                self.answer_at(shard, (client, schedule, scheme), request, held).await
            }
            Err(failure) => {
                if !discard_body(&mut body).await {
                    client.sends_on();
                }
                Ok(refuse(&failure))
            }
        }
    }
}

impl RoutedService {
    /// Returns which shard, or all shards, a request concerns. For a request that creates a
    /// database it reads the body, which has the name; the memory of the body is reserved in
    /// `held`.
    async fn home_of(
        &self,
        parts: &Parts,
        link: &Link,
        body: &mut Body,
        held: &mut Share,
    ) -> Result<Home, Failure> {
        if !Home::is_in_body(&parts.method, &parts.headers, link) {
            return Ok(Home::of(link));
        }
        let read = read_body(body, self.endpoint.settings.max_body_bytes, held).await?;
        let home = Home::of_body(&read);
        *body = Body::Whole(read);
        Ok(home)
    }

    /// Sends a request in direct mode to the owner of its shard.
    async fn ask_owner(&self, frame: &OutgoingFrame) -> Result<Outcome, Unanswered> {
        let RoutingEndpoint { settings, router } = &*self.endpoint;
        let shard = router.shard_of(frame.home());
        for _ in 0..MAX_FORWARD_ATTEMPTS {
            let connection = match self.frame_pool.take(shard) {
                Some(connection) => Some(connection),
                // If this process has become the owner, the client sends the request again.
                None => match router.find_owner(shard, self.peer, true).await {
                    None | Some(ShardOwner::Local(_)) => break,
                    Some(ShardOwner::Remote(forward)) => frame_pool::open(forward, frame).await,
                },
            };
            let Some(connection) = connection else { continue };
            match self.frame_pool.send((shard, connection), frame, &settings.memory).await {
                Err(Unanswered::Repeatable) => {}
                answered => return answered,
            }
        }
        Err(Unanswered::Repeatable)
    }

    async fn answer_at(
        &self,
        shard: u32,
        (client, schedule, scheme): (Arc<Client>, Schedule, &'static str),
        request: Request<Body>,
        held: Share,
    ) -> Result<Response<Full<Bytes>>, OutcomeUnknown> {
        let RoutingEndpoint { settings, router } = &*self.endpoint;
        if let Some(here) = router.local_endpoint(shard) {
            return Ok(here.answer((client, schedule, scheme, Sender::Forwarded), request).await);
        }
        let (parts, body) = request.into_parts();
        let request = Outgoing::new(parts, body, held);
        for _ in 0..MAX_FORWARD_ATTEMPTS {
            let sender = match self.forward_pool.take(shard) {
                Some(sender) => Some(sender),
                None => match router.find_owner(shard, self.peer, scheme == "https").await {
                    None => break,
                    Some(ShardOwner::Local(here)) => {
                        let Some(request) = request.into_request().await else {
                            return Ok(unreached());
                        };
                        let about = (client, schedule, scheme, Sender::Forwarded);
                        return Ok(here.answer(about, request).await);
                    }
                    Some(ShardOwner::Remote(forward)) => forward_pool::open(forward).await,
                },
            };
            let Some(sender) = sender else { continue };
            let sent = self.forward_pool.send((shard, sender), &request, &settings.memory).await?;
            if let Some(response) = sent {
                return Ok(response);
            }
        }
        if !discard_body(&mut request.into_rest()).await {
            client.sends_on();
        }
        Ok(unreached())
    }
}

/// Returns the response to a request that was not executed because no owner was reached.
fn unreached() -> Response<Full<Bytes>> {
    let text = "Cannot reach a node that owns the data of this database.";
    refuse(&Failure::new(Fault::Unavailable, text))
}

fn respond(reply: Reply) -> Response<Full<Bytes>> {
    build_response(Answer::of_reply(reply), None)
}
