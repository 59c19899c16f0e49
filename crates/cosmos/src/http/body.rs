//! Reads request bodies completely, within size and time limits.
//!
//! Memory is reserved as bytes arrive, not by the declared length: a client that declares two
//! megabytes and sends nothing holds no memory. The body of a refused request is still read, since
//! a client whose connection is closed while it sends does not receive the response.

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body as _, Incoming};
use memory::Share;

use crate::{
    failure::{Failure, Fault, Result},
    limits::{BODY_TIMEOUT, MAX_DISCARDED_BYTES, QUIET_TIME, TRUSTED_BYTES},
};

#[derive(Debug)]
pub(super) enum Body {
    /// The body arrives over a socket.
    Arriving(Incoming),
    /// The body is already in memory: the portal passes requests that it has read itself.
    Whole(Bytes),
}

/// Reads a body of at most `limit` bytes, and reserves memory in `held` as it arrives. Fails with
/// 408 if the body arrives too slowly, and with 413 if it is longer than `limit`.
pub(super) async fn read_body(body: &mut Body, limit: usize, held: &mut Share) -> Result<Bytes> {
    let body = match body {
        Body::Arriving(body) => body,
        Body::Whole(bytes) if limit < bytes.len() => return Err(Failure::too_large()),
        Body::Whole(bytes) => {
            held.set(bytes.len())?;
            return Ok(std::mem::take(bytes));
        }
    };
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    let slow = |_| Failure::new(Fault::Timeout, "Timed out reading the request body.");
    tokio::time::timeout(BODY_TIMEOUT, collect_frames(body, limit, held)).await.map_err(slow)?
}

/// Reads and discards the rest of a refused request. Many clients read the response only after they
/// have sent everything; if the body were not read, they would get a connection reset instead.
/// Stops if the client sends nothing for a while. Returns whether the body was received completely.
pub(super) async fn discard_body(body: &mut Body) -> bool {
    let Body::Arriving(body) = body else { return true };
    let all = async {
        let mut discarded = 0;
        while let Ok(Some(Ok(frame))) = tokio::time::timeout(QUIET_TIME, body.frame()).await {
            discarded += frame.data_ref().map_or(0, Bytes::len);
            if MAX_DISCARDED_BYTES < discarded {
                return;
            }
        }
    };
    // After the timeout the client gets its response anyway.
    let _ = tokio::time::timeout(BODY_TIMEOUT, all).await;
    body.is_end_stream()
}

/// Returns the length that the client declared for a body; 0 if it declared none.
fn claimed_bytes(body: &Incoming) -> usize {
    usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX)
}

/// Refuses a body whose declared length is too large, before it is read.
pub(super) fn check_length(body: &Body, limit: usize) -> Result<()> {
    match body {
        Body::Arriving(body) if limit < claimed_bytes(body) => Err(Failure::too_large()),
        _ => Ok(()),
    }
}

/// Collects the frames of a body. A body of a single frame, which is the most common case, is not
/// copied; otherwise all frames are copied into one buffer.
async fn collect_frames(body: &mut Incoming, limit: usize, held: &mut Share) -> Result<Bytes> {
    // The maximum length of the body: the declared length, or `limit` if none is declared.
    let most = body.size_hint().upper().and_then(|most| usize::try_from(most).ok());
    let most = most.map_or(limit, |most| most.min(limit));
    let mut first = Bytes::new();
    let mut whole: Option<Vec<u8>> = None;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Failure::bad_request("The request body ended early."))?;
        // Trailers are ignored.
        let Ok(data) = frame.into_data() else { continue };
        let len = whole.as_ref().map_or(first.len(), Vec::len) + data.len();
        if limit < len {
            return Err(Failure::too_large());
        }
        match &mut whole {
            // The first frame is not copied. An empty frame before it is replaced.
            None if first.is_empty() => {
                held.set(len)?;
                first = data;
                continue;
            }
            None => whole = Some(Vec::new()),
            Some(_) => {}
        }
        let Some(whole) = &mut whole else { continue };
        if whole.capacity() < len {
            let capacity = capacity_for(len, most);
            held.set(capacity)?;
            whole.reserve_exact(capacity - whole.len());
        }
        if whole.is_empty() {
            whole.extend_from_slice(&std::mem::take(&mut first));
        }
        whole.extend_from_slice(&data);
    }
    Ok(whole.map_or(first, Bytes::from))
}

/// Returns the buffer capacity for a body of which `len` bytes have arrived. It is twice that
/// length, so that the body is seldom moved, but at most `most`, the largest possible length of the
/// body. The first `TRUSTED_BYTES` are allocated at once, since many small steps would cost more
/// than they save.
fn capacity_for(len: usize, most: usize) -> usize {
    (2 * len).max(TRUSTED_BYTES).min(most).max(len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::MAX_BODY_BYTES;

    #[test]
    fn room_is_made_for_what_came_and_not_for_what_is_claimed() {
        for (len, most, want) in [
            (100, 1_000, 1_000),
            (100, 1_000_000, TRUSTED_BYTES),
            (500_000, 2_000_000, 1_000_000),
            (1_500_000, 2_000_000, 2_000_000),
            (MAX_BODY_BYTES - 1, MAX_BODY_BYTES, MAX_BODY_BYTES),
            (100, 0, 100),
        ] {
            assert_eq!(capacity_for(len, most), want, "{len} {most}");
        }
    }
}
