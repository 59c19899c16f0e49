//! Serves clients that connected elsewhere: to another node of a cluster, or to a node's portal.
//! They are served like clients of this endpoint, except for checks that the node at which they
//! arrived has already made. The caller provides the transport.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use auth::Right;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, header::CONNECTION};
use http_body_util::Full;
use hyper::{Request, Response};
use memory::Account;
use parking_lot::Mutex;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::watch,
};

use super::{
    answer::refuse,
    body::Body,
    connection::{serve_frames_or_http1, serve_slow_start},
    local_endpoint::LocalEndpoint,
    service::{OutcomeUnknown, RequestService, Schedule},
    stream::{FirstHead, Stream},
};
use crate::{
    direct::Executor,
    failure::{Failure, Fault},
    homes::Home,
    interrupt::Client,
    limits::{MAX_FIRST_BYTES, MOVED_TIME, WINDOW_BYTES},
    sender::Sender,
    tls::CurrentCertificate,
};

/// Header by which a server reports that it did not execute a request because another node owns the
/// data.
pub(super) const MOVED: HeaderName = HeaderName::from_static("x-ebb-moved");

/// A byte stream in both directions.
pub trait Duplex: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Duplex for T {}

/// A client that connected to another node or to the portal.
#[derive(Clone, Copy, Debug)]
pub struct Forwarded {
    /// IP address of the client; `None` if unknown.
    pub peer: Option<IpAddr>,
    /// Scheme of the client's URLs: `http` or `https`.
    pub scheme: &'static str,
    /// The client's access right if the node to which it connected has authenticated it; `None` if
    /// it signs its requests.
    pub right: Option<Right>,
}

/// Serves a forwarded client until it disconnects or the API stops. For a while after the stop,
/// requests get the response that they were not executed, so that the forwarding node retries them
/// on another node.
pub async fn serve_forwarded(here: LocalEndpoint, stream: Box<dyn Duplex>, about: Forwarded) {
    let opened = Arc::clone(&here.api.settings.opened);
    opened.fetch_add(1, Ordering::Relaxed);
    let first_head = FirstHead::default();
    let max_bytes = MAX_FIRST_BYTES + WINDOW_BYTES as usize;
    let share = here.api.settings.unknown_clients.share();
    let stream = Stream::of_unknown_client(stream, share, &first_head, max_bytes);
    let Forwarded { peer, scheme, right } = about;
    let mut stopping = here.stopping.clone();
    let service = Arc::new(ForwardedService {
        unknown_clients: here.api.settings.unknown_clients.clone(),
        sender: right.map_or(Sender::Forwarded, Sender::Known),
        here: Mutex::new(Some(here)),
        opened: Arc::clone(&opened),
    });
    let (end, ended) = watch::channel(false);
    let serving = Box::pin(async {
        match service.accepts_frames() {
            true => {
                serve_frames_or_http1(&service, peer, stream, scheme, &first_head, ended).await;
            }
            false => serve_slow_start(&service, peer, stream, scheme, &first_head, ended).await,
        }
    });
    let ending = async {
        // An error means that the channel is closed: the API has stopped already.
        let _ = stopping.wait_for(|stopping| *stopping).await;
        // Releases the engine, so that an idle connection does not keep it alive.
        drop(service.here.lock().take());
        let _ = tokio::time::timeout(MOVED_TIME, std::future::pending::<()>()).await;
        end.send_replace(true);
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = serving => {}
        () = ending => {}
    }
    opened.fetch_sub(1, Ordering::Relaxed);
}

/// Serves the requests of a forwarded client with the API in this process, until the API stops.
struct ForwardedService {
    here: Mutex<Option<LocalEndpoint>>,
    unknown_clients: Account,
    sender: Sender,
    opened: Arc<AtomicI64>,
}

impl RequestService for ForwardedService {
    /// Other nodes forward the frames of clients that sign their requests.
    fn accepts_frames(&self) -> bool {
        self.sender == Sender::Forwarded
    }

    fn find_executor(self: &Arc<Self>, _: &Home) -> Option<Executor> {
        self.here.lock().clone().and_then(LocalEndpoint::into_executor)
    }

    fn frame_sender(&self) -> Sender {
        self.sender
    }

    fn certificate(&self) -> Option<&CurrentCertificate> {
        None
    }

    fn unknown_clients(&self) -> &Account {
        &self.unknown_clients
    }

    fn opened(&self) -> &AtomicI64 {
        &self.opened
    }

    async fn answer(
        self: Arc<Self>,
        client: Arc<Client>,
        schedule: Schedule,
        scheme: &'static str,
        request: Request<Body>,
    ) -> Result<Response<Full<Bytes>>, OutcomeUnknown> {
        let here = self.here.lock().clone();
        match here.filter(|here| !*here.stopping.borrow()) {
            Some(here) => Ok(here.answer((client, schedule, scheme, self.sender), request).await),
            None => Ok(moved()),
        }
    }
}

/// Returns the response to a request that was not executed because its shard has moved.
fn moved() -> Response<Full<Bytes>> {
    let text = "Another node owns the data.";
    let mut response = refuse(&Failure::new(Fault::Unavailable, text));
    response.headers_mut().insert(MOVED, HeaderValue::from_static("1"));
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}
