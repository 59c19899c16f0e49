//! Connections to other servers on which one client's requests are passed on, one at a time on each. They
//! are kept for the client's next request. Which server is asked is not decided here.

use std::{collections::HashMap, fmt, pin::Pin};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Uri, Version, header};
use http_body_util::{BodyExt, Either, Full};
use hyper::{
    Request, Response,
    body::{Body as _, Incoming},
    client::conn::http1,
};
use hyper_util::rt::TokioIo;
use memory::Account;
use parking_lot::Mutex;
use tokio::sync::OwnedSemaphorePermit;

use super::{
    answer::refuse, answers::Lost, body::Body, counted_bytes::count_bytes, forward::Duplex,
};
use crate::{failure::Failure, headers::asks_query, limits::TRUSTED_BYTES};

/// Connections to one server that are kept for one client while it asks nothing on them.
const KEPT: usize = 4;

/// Headers that are about one connection and not about the request or response.
const OF_CONNECTION: [HeaderName; 7] = [
    header::CONNECTION,
    header::EXPECT,
    header::TE,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
];

/// A connection to a server, for one client.
pub struct Passage {
    /// What is said on it.
    pub stream: Box<dyn Duplex>,
    /// Ready when the server does not answer for the shard any more.
    pub over: Pin<Box<dyn Future<Output = ()> + Send>>,
    /// Its place among all connections.
    pub place: OwnedSemaphorePermit,
}

impl fmt::Debug for Passage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Passage")
    }
}

type Sent = Either<Incoming, Full<Bytes>>;

/// What became of a request that was passed on.
pub(super) enum Passed {
    /// It was answered.
    Answered(Response<Full<Bytes>>),
    /// The server was gone before it heard anything of it.
    Unsent(Request<Body>),
}

/// The connections of one client, by shard.
#[derive(Default)]
pub(super) struct Passages(Mutex<HashMap<u32, Vec<http1::SendRequest<Sent>>>>);

impl Passages {
    /// A connection that was kept.
    pub(super) fn take(&self, shard: u32) -> Option<http1::SendRequest<Sent>> {
        let mut kept = self.0.lock();
        let kept = kept.get_mut(&shard)?;
        std::iter::from_fn(|| kept.pop()).find(|sender| !sender.is_closed())
    }

    fn keep(&self, shard: u32, sender: http1::SendRequest<Sent>) {
        let mut all = self.0.lock();
        let kept = all.entry(shard).or_default();
        if kept.len() < KEPT && !sender.is_closed() {
            kept.push(sender);
        }
    }

    /// Passes a request on. What the answer holds is taken from `memory`.
    pub(super) async fn send(
        &self,
        (shard, mut sender): (u32, http1::SendRequest<Sent>),
        request: Request<Body>,
        memory: &Account,
    ) -> Result<Passed, Lost> {
        if sender.ready().await.is_err() {
            return Ok(Passed::Unsent(request));
        }
        let only_reads = request.method().is_safe() || asks_query(request.headers());
        let request = outgoing(request);
        let response = match sender.try_send_request(request).await {
            Ok(response) => response,
            Err(mut failed) => {
                let request = failed.take_message().ok_or(Lost)?;
                return Ok(Passed::Unsent(request.map(|body| match body {
                    Either::Left(body) => Body::Arriving(body),
                    // It is one frame, which nobody has taken.
                    Either::Right(body) => Body::Whole(super::response_body::take_whole(body)),
                })));
            }
        };
        let response = collect(response, only_reads, memory).await?;
        self.keep(shard, sender);
        Ok(Passed::Answered(response))
    }
}

/// Begins to speak on a connection.
pub(super) async fn open(passage: Passage) -> Option<http1::SendRequest<Sent>> {
    let Passage { stream, over, place } = passage;
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.ok()?;
    // It ends when the sender is dropped, too.
    tokio::spawn(async move {
        tokio::select! {
            // However it ended, the request under way sees it.
            _ = connection => {}
            () = over => {}
        }
        drop(place);
    });
    Some(sender)
}

/// A request as another server gets it: in HTTP/1.1, for the host that the client named.
fn outgoing(request: Request<Body>) -> Request<Sent> {
    let (mut parts, body) = request.into_parts();
    let authority = parts.uri.authority().map(|authority| authority.as_str().to_owned());
    if let Some(host) = authority.and_then(|host| HeaderValue::try_from(host).ok()) {
        parts.headers.insert(header::HOST, host);
    }
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    parts.uri = Uri::try_from(path).unwrap_or_default();
    parts.version = Version::HTTP_11;
    remove_of_connection(&mut parts.headers);
    let body = match body {
        Body::Arriving(body) => Either::Left(body),
        Body::Whole(bytes) => Either::Right(Full::new(bytes)),
    };
    Request::from_parts(parts, body)
}

fn remove_of_connection(headers: &mut HeaderMap) {
    for name in &OF_CONNECTION {
        headers.remove(name);
    }
}

/// An answer, whole.
async fn collect(
    response: Response<Incoming>,
    only_reads: bool,
    memory: &Account,
) -> Result<Response<Full<Bytes>>, Lost> {
    let (mut parts, mut body) = response.into_parts();
    remove_of_connection(&mut parts.headers);
    parts.version = Version::default();
    let mut held = memory.share();
    let expected = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    let mut whole = Vec::with_capacity(expected.min(TRUSTED_BYTES));
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| Lost)?.into_data() else { continue };
        whole.extend_from_slice(&data);
        // What was written is told in any case: a client that is told to come again would write it twice.
        if held.set(whole.capacity()).is_err() && only_reads {
            return Ok(refuse(&Failure::out_of_memory()));
        }
    }
    Ok(Response::from_parts(parts, Full::new(count_bytes(whole, held))))
}
