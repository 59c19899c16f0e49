//! The entrance of a node of a cluster: each request of a client is answered by the server of the shard
//! in which its database lives, in this process or elsewhere. The client stays connected while those
//! servers change. Which shard that is and how its server is reached are not known here.

use std::{
    fmt,
    net::SocketAddr,
    pin::Pin,
    sync::{Arc, atomic::AtomicI64},
};

use bytes::Bytes;
use engine::Store;
use http::{Method, request::Parts};
use http_body_util::Full;
use hyper::{Request, Response};
use memory::{Account, Share};
use tokio::{net::TcpStream, sync::watch};

use super::{
    answer::{failure_reply, find_page, refuse},
    answers::{Answers, Lost, Pace},
    body::{Body, discard_body, read_body},
    connection, head,
    here::Here,
    passages::{self, Passage, Passages},
    replay::Outgoing,
    respond::{RequestSummary, build_response},
};
use crate::{
    door::Settings,
    failure::{Failure, Fault},
    homes::Home,
    interrupt::Client,
    link::{Link, Resource},
    reply::Reply,
    routes::account,
    sender::Sender,
    tls::CurrentCertificate,
};

/// How often a request is sent again that no server has heard of.
const MAX_WAYS: usize = 4;

/// Whoever answers for a shard.
#[derive(Debug)]
pub enum Way<S: Store> {
    /// This process.
    Here(Here<S>),
    /// Another.
    There(Passage),
}

/// A way that is looked for; `None`: nobody answers for the shard now.
pub type Finding<'a, S> = Pin<Box<dyn Future<Output = Option<Way<S>>> + Send + 'a>>;

/// Knows homes, and the ways to them.
pub trait Ways<S: Store>: Send + Sync + 'static {
    /// The shard that answers.
    fn shard_of(&self, home: &Home) -> u32;

    /// Who answers for a shard in this process, if it does.
    fn here(&self, shard: u32) -> Option<Here<S>>;

    /// Who answers for a shard, wherever; `secure`: the client speaks TLS.
    fn find(&self, shard: u32, client: SocketAddr, secure: bool) -> Finding<'_, S>;
}

/// What all clients of the entrance share.
pub struct Entrance<S: Store> {
    settings: Settings,
    ways: Box<dyn Ways<S>>,
}

impl<S: Store> Entrance<S> {
    /// The entrance to doors that are opened with the same settings.
    pub fn new(settings: Settings, ways: impl Ways<S>) -> Self {
        Self { settings, ways: Box::new(ways) }
    }

    /// Serves a client until it leaves or `stop` says so.
    pub async fn serve(
        self: Arc<Self>,
        stream: TcpStream,
        peer: SocketAddr,
        stop: watch::Receiver<bool>,
    ) {
        let client = Routed { entrance: self, peer, passages: Passages::default() };
        connection::serve_answers(Arc::new(client), stream, stop).await;
    }
}

impl<S: Store> fmt::Debug for Entrance<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entrance").field("opened", &self.settings.opened).finish_non_exhaustive()
    }
}

/// One client's connection.
struct Routed<S: Store> {
    entrance: Arc<Entrance<S>>,
    peer: SocketAddr,
    passages: Passages,
}

impl<S: Store> Answers for Routed<S> {
    fn certificate(&self) -> Option<&CurrentCertificate> {
        self.entrance.settings.certificate.as_ref()
    }

    fn strangers(&self) -> &Account {
        &self.entrance.settings.strangers
    }

    fn opened(&self) -> &AtomicI64 {
        &self.entrance.settings.opened
    }

    async fn answer(
        self: Arc<Self>,
        client: Arc<Client>,
        pace: Pace,
        scheme: &'static str,
        request: Request<Body>,
    ) -> Result<Response<Full<Bytes>>, Lost> {
        let settings = &self.entrance.settings;
        let (parts, mut body) = request.into_parts();
        if let Some(page) = find_page(settings, scheme, &parts) {
            return Ok(page.await.map(Full::new));
        }
        // A head that can be read in two ways is not passed on to another reader.
        if let Err(failure) = head::check_head(&parts) {
            let reply = failure_reply(&failure, "", parts.uri.path());
            let reply = reply.with_header("connection", "close");
            return Ok(respond(reply));
        }
        // Of a stranger: nobody has looked yet who sends it.
        let mut held = settings.strangers.share();
        let home = match head::check_arrival(&parts, scheme, settings) {
            Err(failure) => Err(failure),
            Ok(()) => match Link::of_target(&parts.uri) {
                // The client trusts the certificate of the node that it came to.
                Ok(Link { kind: Resource::Certificate, .. }) if parts.method == Method::GET => {
                    let certificate = account::read_certificate(settings);
                    return Ok(certificate.map_or_else(|failure| refuse(&failure), respond));
                }
                Ok(link) => self.home_of(&parts, &link, &mut body, &mut held).await,
                // Whoever answers says so.
                Err(_) => Ok(Home::Any),
            },
        };
        match home {
            Ok(home) => {
                let shard = self.entrance.ways.shard_of(&home);
                let request = Request::from_parts(parts, body);
                self.answer_at(shard, (client, pace, scheme), request, held).await
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

impl<S: Store> Routed<S> {
    /// The home of a request. Where a database is to be made its name is in the body, which is read then,
    /// and held in this share.
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
        let read = read_body(body, self.entrance.settings.max_body_bytes, held).await?;
        let home = Home::of_body(&read);
        *body = Body::Whole(read);
        Ok(home)
    }

    async fn answer_at(
        &self,
        shard: u32,
        (client, pace, scheme): (Arc<Client>, Pace, &'static str),
        request: Request<Body>,
        held: Share,
    ) -> Result<Response<Full<Bytes>>, Lost> {
        let Entrance { settings, ways } = &*self.entrance;
        if let Some(here) = ways.here(shard) {
            return Ok(here.answer((client, pace, scheme, Sender::Forwarded), request).await);
        }
        let (parts, body) = request.into_parts();
        let request = Outgoing::new(parts, body, held);
        for _ in 0..MAX_WAYS {
            let sender = match self.passages.take(shard) {
                Some(sender) => Some(sender),
                None => match ways.find(shard, self.peer, scheme == "https").await {
                    None => break,
                    Some(Way::Here(here)) => {
                        let Some(request) = request.into_request().await else {
                            return Ok(unreached());
                        };
                        let about = (client, pace, scheme, Sender::Forwarded);
                        return Ok(here.answer(about, request).await);
                    }
                    Some(Way::There(passage)) => passages::open(passage).await,
                },
            };
            let Some(sender) = sender else { continue };
            let sent = self.passages.send((shard, sender), &request, &settings.memory).await?;
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

/// The response to a request with which nothing was done.
fn unreached() -> Response<Full<Bytes>> {
    let text = "No node that owns the data of this database is reached.";
    refuse(&Failure::new(Fault::Unavailable, text))
}

/// The response to a request of which no more is known.
fn respond(reply: Reply) -> Response<Full<Bytes>> {
    build_response(reply, RequestSummary::default(), Share::default())
}
