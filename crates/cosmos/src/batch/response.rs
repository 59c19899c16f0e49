//! The response to a batch: an array with what became of each operation.
//!
//! Its items could have a hundred times two megabytes together. So the response has a budget: what
//! is beyond it is left out of the response to a bulk, operation by operation, and refused as a
//! whole in a transactional batch that reads.

use std::{
    io::Write,
    sync::atomic::{AtomicUsize, Ordering},
};

use document::json;
use memory::{Account, Share, Short};
use parking_lot::Mutex;

use super::Encoding;
use crate::{etag, failure::Failure, limits::MAX_BATCH_ANSWER_BYTES, reply::Reply, request_units};

/// About how many bytes an outcome takes in the response besides its item; an estimate for the
/// buffer.
pub(super) const OUTCOME_BYTES: usize = 128;

/// The bytes that are left for items in a response, and the memory that they take in it. Operations
/// of a bulk run at the same time and share it.
#[derive(Debug)]
pub(crate) struct ResponseBudget {
    /// Bytes of text that further items may take.
    left: AtomicUsize,
    /// Stored bytes of the smallest item for which there was no room. It never grows, so an item of
    /// that size or more is not even written as text.
    refused: AtomicUsize,
    /// What the texts written so far take of the door's memory.
    held: Mutex<Share>,
}

impl ResponseBudget {
    /// The budget of a response, with the memory of this account.
    pub(crate) fn new(account: &Account) -> Self {
        Self::with_bytes(MAX_BATCH_ANSWER_BYTES, account)
    }

    /// A budget without limits, for items whose total was limited and paid for before they were
    /// read.
    pub(crate) fn unlimited() -> Self {
        Self::with_bytes(usize::MAX, &Account::default())
    }

    /// Takes the memory that the response may hold at most. A transactional batch that reads does
    /// so before it writes anything: once its writes are done it is too late to refuse it for want
    /// of memory.
    pub(crate) fn reserve_all(&self) -> Result<(), Short> {
        self.held.lock().grow(MAX_BATCH_ANSWER_BYTES)
    }

    /// A budget of this many bytes of text.
    fn with_bytes(bytes: usize, account: &Account) -> Self {
        let (left, refused) = (AtomicUsize::new(bytes), AtomicUsize::new(usize::MAX));
        Self { left, refused, held: Mutex::new(account.share()) }
    }

    /// Whether it is worth writing an item of this many stored bytes as text: not when there was no
    /// room for one that is no larger, so that a response costs no more time than it holds bytes.
    pub(crate) fn may_hold(&self, stored: usize) -> bool {
        // An answer that is out of date costs one text that does not fit.
        stored < self.refused.load(Ordering::Relaxed)
    }

    /// Takes room for the text of an item of this many stored bytes, or returns why there is none.
    /// An empty text is one that was not written because `may_hold` said no.
    pub(crate) fn take_room(&self, text: &Vec<u8>, stored: usize) -> Result<(), Failure> {
        // The subtraction fails where too little is left, and then nothing is taken.
        let less = |left: usize| left.checked_sub(text.len());
        let taken = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        if text.is_empty() || taken.is_err() {
            self.refused.fetch_min(stored, Ordering::Relaxed);
            return Err(Failure::answer_too_large());
        }
        Ok(self.held.lock().grow(text.capacity())?)
    }

    /// The response with the outcomes. Its memory is that of its body, held until the body has been
    /// sent.
    pub(crate) fn build_reply(
        &self,
        encoding: Encoding,
        status: u16,
        outcomes: Vec<Outcome>,
    ) -> Reply {
        let body = encoding.write_outcomes(outcomes);
        let mut held = std::mem::take(&mut *self.held.lock());
        // What was done is told in any case: a client that is not told would do it again.
        let _ = held.set(body.capacity());
        Reply { held, content_type: encoding.content_type(), ..Reply::json(status, body) }
    }
}

/// What became of one operation. All zero and empty is an operation without a result.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    /// The HTTP status that the operation alone would have had.
    pub(crate) status: u16,
    /// The sub-status that tells failures of one status apart, as in `x-ms-substatus`.
    pub(crate) sub_status: u32,
    /// Hundredths of a request unit.
    pub(crate) request_units: u64,
    /// The commit that made the version of the item; its etag is made of it.
    pub(crate) version: Option<u64>,
    /// The item as JSON text; empty where the response has none.
    pub(crate) body: Vec<u8>,
    /// What went wrong, for people.
    pub(crate) message: Option<String>,
    /// After how many milliseconds the operation may go well. JSON has no place for it.
    pub(crate) retry_ms: Option<u64>,
}

impl Outcome {
    /// The outcome of an operation that failed. It costs nothing by itself.
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

/// The body of the response. It consumes the outcomes, so that the text of each item is freed as
/// soon as it is copied and the two never lie in memory whole side by side.
pub(super) fn write_outcomes(outcomes: Vec<Outcome>) -> Vec<u8> {
    let bytes = outcomes.iter().map(|outcome| outcome.body.len() + OUTCOME_BYTES).sum();
    let mut out = Vec::with_capacity(bytes);
    out.push(b'[');
    for (at, outcome) in outcomes.into_iter().enumerate() {
        if 0 < at {
            out.push(b',');
        }
        // Writing to memory does not fail.
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
