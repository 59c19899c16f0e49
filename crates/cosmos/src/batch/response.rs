//! The response to a batch: an array with the outcome of each operation.
//!
//! The items of a batch could total a hundred times two megabytes, so the response has a size
//! budget. In a bulk, items of writes beyond the budget are omitted, and reads beyond it fail
//! individually; a transactional batch with reads is refused as a whole.

use std::{
    io::Write,
    sync::atomic::{AtomicUsize, Ordering},
};

use document::json;
use memory::{Account, InsufficientMemory, Share};
use parking_lot::Mutex;
use throughput::request_units;

use super::Encoding;
use crate::{etag, failure::Failure, limits::MAX_BATCH_ANSWER_BYTES, reply::Reply};

/// Approximate size of an outcome in the response without its item, for the buffer capacity.
pub(super) const OUTCOME_BYTES: usize = 128;

/// The number of bytes that are left for items in a response, and the memory reservation for items.
/// Concurrent operations of a bulk share it.
#[derive(Debug)]
pub(crate) struct ResponseBudget {
    /// Remaining bytes of text that the response may have.
    left: AtomicUsize,
    /// Stored size of the smallest item that did not fit. It never grows. Items of this size or
    /// more are not rendered.
    refused: AtomicUsize,
    /// Memory reserved for the rendered items.
    held: Mutex<Share>,
}

impl ResponseBudget {
    /// Creates the budget of a response, with memory from this account.
    pub(crate) fn new(account: &Account) -> Self {
        Self::with_bytes(MAX_BATCH_ANSWER_BYTES, account)
    }

    /// Creates a budget without limits, for items whose total size was limited, and whose memory
    /// was reserved, before they were read.
    pub(crate) fn unlimited() -> Self {
        Self::with_bytes(usize::MAX, &Account::default())
    }

    /// Reserves the maximum memory of the response. A transactional batch with reads does so before
    /// it writes, because it cannot be refused for lack of memory after its commit.
    pub(crate) fn reserve_all(&self) -> Result<(), InsufficientMemory> {
        self.held.lock().grow(MAX_BATCH_ANSWER_BYTES)
    }

    fn with_bytes(bytes: usize, account: &Account) -> Self {
        let (left, refused) = (AtomicUsize::new(bytes), AtomicUsize::new(usize::MAX));
        Self { left, refused, held: Mutex::new(account.share()) }
    }

    /// Returns whether an item of this stored size may still fit. False if a smaller or equal item
    /// did not fit; the item is then not rendered, so that the time spent on a response is bounded
    /// by its size.
    pub(crate) fn may_hold(&self, stored: usize) -> bool {
        // A stale result only costs one rendering that is not used.
        stored < self.refused.load(Ordering::Relaxed)
    }

    /// Subtracts the length of an item's text from the bytes that the response may still have;
    /// `stored` is the stored size of the item, for `may_hold`. Fails if too few bytes are left,
    /// and for an empty text, which stands for an item that was not rendered.
    pub(crate) fn take_room(&self, text: &Vec<u8>, stored: usize) -> Result<(), Failure> {
        // If too little is left the subtraction fails and nothing is taken.
        let less = |left: usize| left.checked_sub(text.len());
        let taken = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        if text.is_empty() || taken.is_err() {
            self.refused.fetch_min(stored, Ordering::Relaxed);
            return Err(Failure::answer_too_large());
        }
        Ok(self.held.lock().grow(text.capacity())?)
    }

    /// Builds the response with the outcomes; its memory stays reserved until the body is sent.
    pub(crate) fn build_reply(
        &self,
        encoding: Encoding,
        status: u16,
        outcomes: Vec<Outcome>,
    ) -> Reply {
        let body = encoding.write_outcomes(outcomes);
        let mut held = std::mem::take(&mut *self.held.lock());
        // The outcome of a write is reported in any case: without it the client would write again.
        let _ = held.set(body.capacity());
        Reply { held, content_type: encoding.content_type(), ..Reply::json(status, body) }
    }
}

/// The outcome of one operation; the default is an operation without a result.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    /// HTTP status that a separate request for the operation would have returned.
    pub(crate) status: u16,
    /// Sub-status as in the header `x-ms-substatus`.
    pub(crate) sub_status: u32,
    /// Charge in hundredths of a request unit.
    pub(crate) request_units: u64,
    /// Commit that wrote the item's version, from which its etag is derived.
    pub(crate) version: Option<u64>,
    /// The item as JSON text; empty if the response has none.
    pub(crate) body: Vec<u8>,
    pub(crate) message: Option<String>,
    /// Milliseconds after which a retry may succeed; only HybridRow can report it.
    pub(crate) retry_ms: Option<u64>,
}

impl Outcome {
    /// Returns the outcome of a failed operation, which is not charged.
    pub(crate) fn of_failure(failure: &Failure) -> Self {
        Self {
            status: failure.fault.status(),
            sub_status: failure.fault.sub_status(),
            message: Some(failure.text.to_string()).filter(|text| !text.is_empty()),
            retry_ms: failure.retry_ms,
            ..Self::default()
        }
    }
}

/// Writes the body of the response. The outcomes are passed by value, so that each item's text is
/// freed once it is copied.
pub(super) fn write_outcomes(outcomes: Vec<Outcome>) -> Vec<u8> {
    let bytes = outcomes.iter().map(|outcome| outcome.body.len() + OUTCOME_BYTES).sum();
    let mut out = Vec::with_capacity(bytes);
    out.push(b'[');
    for (at, outcome) in outcomes.into_iter().enumerate() {
        if 0 < at {
            out.push(b',');
        }
        // Writing to a buffer in memory does not fail.
        let _ = write!(
            out,
            "{{\"statusCode\":{},\"subStatusCode\":{},\"requestCharge\":{}",
            outcome.status,
            outcome.sub_status,
            request_units::units_text(outcome.request_units)
        );
        if let Some(version) = outcome.version {
            out.extend_from_slice(b",\"eTag\":\"\\\"");
            out.extend_from_slice(&etag::etag_bytes(version));
            out.extend_from_slice(b"\\\"\"");
        }
        if !outcome.body.is_empty() {
            out.extend_from_slice(b",\"resourceBody\":");
            out.extend_from_slice(&outcome.body);
        }
        if let Some(message) = &outcome.message {
            out.extend_from_slice(b",\"message\":");
            json::write_string(message, &mut out);
        }
        out.push(b'}');
    }
    out.push(b']');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_taken_once() {
        let account = Account::new(usize::MAX);
        let room = ResponseBudget::new(&account);
        let take = |bytes: usize, stored: usize| room.take_room(&vec![0; bytes], stored).is_ok();
        assert!(take(MAX_BATCH_ANSWER_BYTES - 1, 90));
        assert!(!take(2, 70));
        assert!(room.may_hold(69) && !room.may_hold(70));
        assert!(take(1, 60));
        assert!(!take(1, 60) && !room.may_hold(60));
        assert!(MAX_BATCH_ANSWER_BYTES <= account.used_bytes());
        drop(room);
        assert_eq!(account.used_bytes(), 0);
    }

    #[test]
    fn there_is_no_room_without_memory() {
        let account = Account::new(100_000);
        let room = ResponseBudget::new(&account);
        room.take_room(&vec![0; 90_000], 1).unwrap();
        assert_eq!(room.take_room(&vec![0; 90_000], 1).unwrap_err().fault.status(), 503);
        let outcome = Outcome { status: 200, body: vec![b'1'; 90_000], ..Outcome::default() };
        let reply = room.build_reply(Encoding::Json, 200, vec![outcome]);
        assert!(90_000 <= reply.body.len() && 90_000 <= account.used_bytes());
        drop(reply);
        assert_eq!(account.used_bytes(), 0);
    }

    #[test]
    fn answers() {
        let made = Outcome {
            status: 201,
            request_units: 650,
            version: Some(7),
            body: b"{\"id\":\"a\"}".to_vec(),
            ..Outcome::default()
        };
        let failed = Outcome::of_failure(&Failure::mismatch_of_item());
        let want = concat!(
            r#"[{"statusCode":201,"subStatusCode":0,"requestCharge":6.5,"#,
            r#""eTag":"\"00000007-0000-0000-0000-000000000000\"","resourceBody":{"id":"a"}},"#,
            r#"{"statusCode":400,"subStatusCode":1001,"requestCharge":0,"#,
            r#""message":"PartitionKey extracted from document doesn't match the one specified in the header."}]"#,
        );
        assert_eq!(String::from_utf8(write_outcomes(vec![made, failed])).unwrap(), want);
    }
}
