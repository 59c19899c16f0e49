//! The body of a response while it is sent. It is passed to the connection in parts, and memory for
//! the unsent rest stays reserved until the rest is sent or dropped.
//!
//! A part is requested when the connection can take it, which in HTTP/2 is when the client has read
//! the previous one. The time since the last part of a response was requested is therefore the time
//! in which the client has read nothing. It is counted in ticks, `TICKS` per write timeout, so that
//! one timer serves all responses of a connection.

use std::{
    collections::HashMap,
    convert::Infallible,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    Response,
    body::{Body, Frame, SizeHint},
};
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::limits::{ANSWER_PART_BYTES, WRITE_TIMEOUT};

/// Number of progress checks per write timeout.
const TICKS: u32 = 8;

/// The unsent responses of a connection. Clones share their state.
#[derive(Clone, Debug, Default)]
pub(super) struct UnsentResponses(Arc<Waiting>);

/// The shared state of `UnsentResponses`.
#[derive(Debug, Default)]
struct Waiting {
    /// For each unsent response, by its number, the tick at which it last made progress.
    answers: Mutex<HashMap<u64, u64>>,
    /// Number of the current tick.
    tick: AtomicU64,
    next: Mutex<u64>,
    /// Number of unsent responses. It is watched to wait for the first response, or for the end of
    /// the last.
    count: watch::Sender<usize>,
}

impl Waiting {
    /// Records that a part of a response was sent.
    fn record_progress(&self, id: u64) {
        self.answers.lock().insert(id, self.tick.load(Relaxed));
    }
}

impl UnsentResponses {
    /// Counts a response until the returned value is dropped.
    fn begin_response(&self) -> UnsentResponse {
        let mut next = self.0.next.lock();
        *next += 1;
        self.0.record_progress(*next);
        self.0.count.send_modify(|count| *count += 1);
        UnsentResponse { unsent: self.clone(), id: *next }
    }

    /// Waits until one of the responses has made no progress for the write timeout. While there are
    /// no responses, no timer runs.
    pub(super) async fn wait_until_stalled(&self) {
        let mut count = self.0.count.subscribe();
        loop {
            if count.wait_for(|count| 0 < *count).await.is_err() {
                // Unreachable, since the sender lives as long as `self`; waiting is correct in
                // either case.
                return std::future::pending().await;
            }
            let none = count.wait_for(|count| *count == 0);
            // All responses were sent within the tick.
            if tokio::time::timeout(WRITE_TIMEOUT / TICKS, none).await.is_ok() {
                continue;
            }
            let tick = self.0.tick.fetch_add(1, Relaxed) + 1;
            let oldest = self.0.answers.lock().values().min().copied();
            // One tick more than the timeout, since a part may have been sent just before the first
            // tick.
            if oldest.is_some_and(|at| at + u64::from(TICKS) < tick) {
                return;
            }
        }
    }
}

/// An unsent response; it is removed when dropped.
#[derive(Debug)]
struct UnsentResponse {
    unsent: UnsentResponses,
    id: u64,
}

impl Drop for UnsentResponse {
    fn drop(&mut self) {
        self.unsent.0.answers.lock().remove(&self.id);
        self.unsent.0.count.send_modify(|count| *count -= 1);
    }
}

/// A response body, and a value `with` that is dropped with it: the connection counts the request
/// as active until then.
#[derive(Debug)]
pub(super) struct ResponseBody<T> {
    /// The part of the body that has not been passed to the connection.
    rest: Bytes,
    /// The entry among the unsent responses; `None` if progress is not watched or the body is
    /// empty.
    sending: Option<UnsentResponse>,
    _with: T,
}

impl<T> ResponseBody<T> {
    /// Returns the response with a body that is sent in parts of `ANSWER_PART_BYTES`.
    pub(super) fn wrap_response(
        response: Response<Full<Bytes>>,
        unsent: Option<&UnsentResponses>,
        with: T,
    ) -> Response<Self> {
        let (parts, body) = response.into_parts();
        let rest = take_whole(body);
        let sending = unsent.filter(|_| !rest.is_empty()).map(UnsentResponses::begin_response);
        Response::from_parts(parts, Self { rest, sending, _with: with })
    }
}

/// Returns the bytes of a complete body, which are its only frame.
fn take_whole(mut body: Full<Bytes>) -> Bytes {
    let mut context = Context::from_waker(std::task::Waker::noop());
    match Pin::new(&mut body).poll_frame(&mut context) {
        Poll::Ready(Some(Ok(frame))) => frame.into_data().unwrap_or_default(),
        _ => Bytes::new(),
    }
}

impl<T: Unpin> Body for ResponseBody<T> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        // The connection requests a part only when it has capacity, so the client has read some
        // bytes.
        if let Some(sending) = &self.sending {
            sending.unsent.0.record_progress(sending.id);
        }
        let part = self.rest.len().min(ANSWER_PART_BYTES);
        let part = self.rest.split_to(part);
        Poll::Ready(Some(Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt;

    #[tokio::test(start_paused = true)]
    async fn an_answer_of_which_nothing_is_taken_stalls_its_connection() {
        let unsent = UnsentResponses::default();
        let response = || Response::new(Full::new(Bytes::from(vec![0; 4 * ANSWER_PART_BYTES])));
        let waits =
            |times: u32| tokio::time::timeout(WRITE_TIMEOUT * times, unsent.wait_until_stalled());
        assert!(waits(9).await.is_err(), "there is none");
        let mut slow = ResponseBody::wrap_response(response(), Some(&unsent), ()).into_body();
        for _ in 0..4 {
            let part = tokio::time::timeout(WRITE_TIMEOUT * 3 / 4, unsent.wait_until_stalled());
            assert!(part.await.is_err(), "it is taken slowly");
            slow.frame().await.unwrap().unwrap();
        }
        drop(slow);
        assert!(waits(9).await.is_err(), "it was sent");
        let _never = ResponseBody::wrap_response(response(), Some(&unsent), ()).into_body();
        assert!(waits(2).await.is_ok());
    }

    #[tokio::test]
    async fn an_answer_is_sent_in_parts() {
        let bytes: Vec<u8> = (0..300_000_u32).map(|at| at as u8).collect();
        let response = Response::new(Full::new(Bytes::from(bytes.clone())));
        let unsent = UnsentResponses::default();
        let mut body = ResponseBody::wrap_response(response, Some(&unsent), ()).into_body();
        assert_eq!(body.size_hint().exact(), Some(300_000));
        let mut sent = Vec::new();
        while let Some(frame) = body.frame().await {
            let part = frame.unwrap().into_data().unwrap();
            assert!(part.len() <= ANSWER_PART_BYTES);
            sent.extend_from_slice(&part);
        }
        assert_eq!((sent, *unsent.0.count.borrow()), (bytes, 1));
        drop(body);
        assert_eq!(*unsent.0.count.borrow(), 0);
    }
}
