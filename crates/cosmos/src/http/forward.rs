//! Clients that came in somewhere else: to another node of a cluster, or to the portal of one. They are
//! served here as if they had come to this door, but for what was looked at where they came in. How their
//! bytes get here is not known.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use auth::Right;
use bytes::Bytes;
use engine::Store;
use http_body_util::Full;
use hyper::{Request, Response};
use memory::Account;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::watch,
};

use super::{
    answer::answer_request,
    answers::{Answers, Lost, Pace},
    body::Body,
    connection::serve_slow_start,
    stream::{FirstHead, Stream},
};
use crate::{
    door::Door,
    interrupt::Client,
    limits::{MAX_FIRST_BYTES, WINDOW_BYTES},
    sender::Sender,
    tls::Certificate,
};

/// Both directions of a connection, whatever it is made of.
pub trait Duplex: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Duplex for T {}

/// A client that came in somewhere else.
#[derive(Clone, Copy, Debug)]
pub struct Forwarded {
    /// Where it comes from.
    pub peer: Option<IpAddr>,
    /// The scheme of the addresses that it knows: `http` or `https`.
    pub scheme: &'static str,
    /// What it may do, where that was found out there; `None`: it signs its requests.
    pub right: Option<Right>,
}

/// Serves a client that came in somewhere else, until it leaves or `stop` says so.
pub async fn serve_forwarded<S: Store>(
    door: Arc<Door<S>>,
    stream: Box<dyn Duplex>,
    about: Forwarded,
    stop: watch::Receiver<bool>,
) {
    door.opened.fetch_add(1, Ordering::Relaxed);
    let first_head = FirstHead::default();
    let most = MAX_FIRST_BYTES + WINDOW_BYTES as usize;
    let share = door.settings.strangers.share();
    let stream = Stream::of_stranger(stream, share, &first_head, most);
    let sender = about.right.map_or(Sender::Forwarded, Sender::Known);
    let answers = Arc::new(AtDoor { door, sender });
    let Forwarded { peer, scheme, .. } = about;
    Box::pin(serve_slow_start(&answers, peer, stream, scheme, &first_head, stop)).await;
    answers.opened().fetch_sub(1, Ordering::Relaxed);
}

/// The door, for senders of this kind.
struct AtDoor<S: Store> {
    door: Arc<Door<S>>,
    sender: Sender,
}

impl<S: Store> Answers for AtDoor<S> {
    fn certificate(&self) -> Option<&Certificate> {
        None
    }

    fn strangers(&self) -> &Account {
        self.door.strangers()
    }

    fn opened(&self) -> &AtomicI64 {
        self.door.opened()
    }

    async fn answer(
        self: Arc<Self>,
        client: Arc<Client>,
        pace: Pace,
        scheme: &'static str,
        request: Request<Body>,
    ) -> Result<Response<Full<Bytes>>, Lost> {
        Ok(answer_request(&self.door, client, (self.sender, pace), scheme, request).await)
    }
}
