//! A request that can be sent again to another server: its head and the part of its body that was
//! already sent. The caller decides whether it may be sent again.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Uri, Version, header, request::Parts};
use http_body_util::BodyExt;
use hyper::{
    Request,
    body::{Body as _, Frame, Incoming, SizeHint},
};
use memory::Share;
use parking_lot::Mutex;

use super::body::Body;
use crate::limits::BODY_TIMEOUT;

/// Maximum number of bytes of a body that are kept for sending it again. A request with a longer
/// body is sent only once.
const MAX_REPLAY_BYTES: usize = 64 * 1024;

/// Hop-by-hop headers, which concern a connection and not the request or response.
const HOP_BY_HOP: [HeaderName; 7] = [
    header::CONNECTION,
    header::EXPECT,
    header::TE,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
];

pub(super) fn remove_hop_by_hop(headers: &mut HeaderMap) {
    for name in &HOP_BY_HOP {
        headers.remove(name);
    }
}

/// A request to be forwarded.
pub(super) struct Outgoing {
    parts: Parts,
    kept: Arc<Mutex<ReplayableBody>>,
}

/// The body of a request to be forwarded.
struct ReplayableBody {
    /// The rest of the body, not read from the client yet; `None` for a body that was already in
    /// memory.
    rest: Option<Incoming>,
    /// The frames read so far, in order.
    frames: Vec<Bytes>,
    /// Declared length of the whole body.
    size: SizeHint,
    bytes: usize,
    held: Share,
    /// Whether the kept frames were discarded, because they exceeded the limit or memory was short.
    gone: bool,
}

impl Outgoing {
    /// Prepares a request for another server, as HTTP/1.1 and with the host that the client
    /// addressed. `held` reserves memory for the part of the body that is kept for another attempt,
    /// or already has the reservation of a body that is in memory.
    pub(super) fn new(mut parts: Parts, body: Body, held: Share) -> Self {
        let authority = parts.uri.authority().map(|authority| authority.as_str().to_owned());
        if let Some(host) = authority.and_then(|host| HeaderValue::try_from(host).ok()) {
            parts.headers.insert(header::HOST, host);
        }
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        parts.uri = Uri::try_from(path).unwrap_or_default();
        parts.version = Version::HTTP_11;
        remove_hop_by_hop(&mut parts.headers);
        let (rest, frames, size) = match body {
            Body::Arriving(body) => {
                let size = body.size_hint();
                (Some(body), Vec::new(), size)
            }
            Body::Whole(bytes) => {
                let size = SizeHint::with_exact(bytes.len() as u64);
                (None, vec![bytes], size)
            }
        };
        let kept = ReplayableBody { rest, frames, size, bytes: 0, held, gone: false };
        Self { parts, kept: Arc::new(Mutex::new(kept)) }
    }

    /// Returns the request from its start, or `None` if it cannot be sent again.
    pub(super) fn begin(&self) -> Option<Request<Replay>> {
        if self.kept.lock().gone {
            return None;
        }
        let body = Replay { kept: Arc::clone(&self.kept), at: 0 };
        Some(Request::from_parts(self.parts.clone(), body))
    }

    pub(super) fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Converts the request to one that a server in this process can execute, or `None` if it
    /// cannot be sent again or its body does not arrive in time.
    pub(super) async fn into_request(self) -> Option<Request<Body>> {
        let begun = {
            let kept = self.kept.lock();
            !kept.frames.is_empty() && kept.rest.is_some()
        };
        let body = if begun {
            // Never longer than `MAX_REPLAY_BYTES`: the frames of a longer body have been
            // discarded.
            let all = self.begin()?.into_body().collect();
            let all = tokio::time::timeout(BODY_TIMEOUT, all).await.ok()?.ok()?.to_bytes();
            Body::Whole(all)
        } else {
            let mut kept = self.kept.lock();
            match kept.rest.take() {
                Some(_) if kept.gone => return None,
                Some(rest) => Body::Arriving(rest),
                None => Body::Whole(kept.frames.pop().unwrap_or_default()),
            }
        };
        Some(Request::from_parts(self.parts, body))
    }

    /// Returns the unread rest of the body.
    pub(super) fn into_rest(self) -> Body {
        let rest = self.kept.lock().rest.take();
        rest.map_or_else(|| Body::Whole(Bytes::new()), Body::Arriving)
    }
}

/// A body that replays the kept frames and then reads the rest.
pub(super) struct Replay {
    kept: Arc<Mutex<ReplayableBody>>,
    /// Number of kept frames that the replay has returned so far.
    at: usize,
}

impl hyper::body::Body for Replay {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let kept = Arc::clone(&self.kept);
        let mut kept = kept.lock();
        if let Some(frame) = kept.frames.get(self.at) {
            let frame = frame.clone();
            drop(kept);
            self.at += 1;
            return Poll::Ready(Some(Ok(Frame::data(frame))));
        }
        let Some(rest) = &mut kept.rest else { return Poll::Ready(None) };
        let frame = ready!(Pin::new(rest).poll_frame(context));
        if let Some(Ok(frame)) = &frame
            && let Some(data) = frame.data_ref()
        {
            kept.keep(data);
        }
        drop(kept);
        self.at += 1;
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        let kept = self.kept.lock();
        let sent = kept.frames.len() <= self.at;
        sent && kept.rest.as_ref().is_none_or(|rest| rest.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        // hyper reads the hint only before the first frame, so only the value at that time must be
        // correct.
        if self.at == 0 { self.kept.lock().size } else { SizeHint::default() }
    }
}

impl ReplayableBody {
    fn keep(&mut self, data: &Bytes) {
        self.bytes += data.len();
        if self.gone || MAX_REPLAY_BYTES < self.bytes || self.held.set(self.bytes).is_err() {
            self.gone = true;
            self.frames.clear();
            let _ = self.held.set(0);
            return;
        }
        self.frames.push(data.clone());
    }
}

#[cfg(test)]
mod tests {
    use memory::Account;

    use super::*;

    #[tokio::test]
    async fn what_is_there_is_sent_as_often_as_it_has_to_be() {
        let account = Account::new(1 << 20);
        let request = Request::builder()
            .uri("http://host:1/dbs?a=1")
            .version(Version::HTTP_2)
            .header("te", "trailers")
            .body(())
            .unwrap();
        let (parts, ()) = request.into_parts();
        let body = Bytes::from_static(b"hello");
        let outgoing =
            Outgoing::new(parts, Body::Whole(body.clone()), account.share_of(300_000).unwrap());
        for _ in 0..3 {
            let request = outgoing.begin().unwrap();
            assert_eq!(
                (request.uri(), request.version()),
                (&"/dbs?a=1".parse().unwrap(), Version::HTTP_11)
            );
            assert_eq!(request.headers().get("host").unwrap(), "host:1");
            assert!(!request.headers().contains_key("te"));
            assert_eq!(request.size_hint().exact(), Some(5));
            assert_eq!(request.into_body().collect().await.unwrap().to_bytes(), body);
        }
        // The memory of the kept frames stays reserved until the request is dropped.
        assert!(300_000 <= account.used_bytes());
        drop(outgoing);
        assert_eq!(account.used_bytes(), 0);
    }

    #[test]
    fn what_is_long_is_not_kept() {
        let account = Account::new(1 << 20);
        let mut kept = ReplayableBody {
            rest: None,
            frames: Vec::new(),
            size: SizeHint::default(),
            bytes: 0,
            held: account.share(),
            gone: false,
        };
        kept.keep(&Bytes::from(vec![0; MAX_REPLAY_BYTES]));
        assert_eq!((kept.frames.len(), kept.gone), (1, false));
        assert!(MAX_REPLAY_BYTES <= account.used_bytes());
        kept.keep(&Bytes::from_static(b"x"));
        assert_eq!((kept.frames.len(), kept.gone, account.used_bytes()), (0, true, 0));
        // Once frames were discarded, later frames are not kept, even if they are short.
        kept.keep(&Bytes::from_static(b"x"));
        assert_eq!(kept.frames.len(), 0);
    }
}
