//! The answer to a batch: an array with what became of each operation.

use std::{
    io::Write,
    sync::atomic::{AtomicUsize, Ordering},
};

use document::json;

use crate::{charge, etag, failure::Failure, limits::MAX_BATCH_ANSWER_BYTES};

/// The room that is left for items in an answer.
#[derive(Debug)]
pub(crate) struct Room(AtomicUsize);

impl Room {
    pub(crate) fn new() -> Self {
        Self(AtomicUsize::new(MAX_BATCH_ANSWER_BYTES))
    }

    /// For what is limited elsewhere.
    pub(crate) fn any() -> Self {
        Self(AtomicUsize::new(usize::MAX))
    }

    /// Whether there was room for so many bytes more, which they have now.
    pub(crate) fn take(&self, bytes: usize) -> bool {
        let less = |left: usize| left.checked_sub(bytes);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }
}

/// What became of an operation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) status: u16,
    pub(crate) sub_status: u32,
    /// Hundredths of a request unit.
    pub(crate) charge: u64,
    /// Stamp of the version.
    pub(crate) version: Option<u64>,
    /// The item as text; empty: none.
    pub(crate) body: Vec<u8>,
    /// What went wrong, for people.
    pub(crate) message: Option<String>,
}

impl Outcome {
    /// A failed operation.
    pub(crate) fn failed(failure: &Failure) -> Self {
        Self {
            status: failure.fault.status(),
            sub_status: failure.fault.sub_status(),
            message: Some(failure.text.to_string()).filter(|text| !text.is_empty()),
            ..Self::default()
        }
    }
}

/// The body of the answer.
pub(crate) fn write(outcomes: &[Outcome]) -> Vec<u8> {
    let mut out = Vec::with_capacity(outcomes.len() * 128);
    out.push(b'[');
    for (at, outcome) in outcomes.iter().enumerate() {
        if 0 < at {
            out.push(b',');
        }
        // Writing to memory does not fail.
        let _ = write!(
            out,
            "{{\"statusCode\":{},\"subStatusCode\":{},\"requestCharge\":{}",
            outcome.status,
            outcome.sub_status,
            charge::text(outcome.charge)
        );
        if let Some(version) = outcome.version {
            out.extend_from_slice(b",\"eTag\":\"\\\"");
            out.extend_from_slice(&etag::text(version));
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
        let room = Room::new();
        assert!(room.take(MAX_BATCH_ANSWER_BYTES - 1));
        assert!(!room.take(2));
        assert!(room.take(1));
        assert!(!room.take(usize::MAX));
    }

    #[test]
    fn answers() {
        let made = Outcome {
            status: 201,
            charge: 650,
            version: Some(7),
            body: b"{\"id\":\"a\"}".to_vec(),
            ..Outcome::default()
        };
        let failed = Outcome::failed(&Failure::mismatch_of_item());
        let want = concat!(
            r#"[{"statusCode":201,"subStatusCode":0,"requestCharge":6.5,"#,
            r#""eTag":"\"00000007-0000-0000-0000-000000000000\"","resourceBody":{"id":"a"}},"#,
            r#"{"statusCode":400,"subStatusCode":1001,"requestCharge":0,"#,
            r#""message":"PartitionKey extracted from document doesn't match the one specified in the header."}]"#,
        );
        assert_eq!(String::from_utf8(write(&[made, failed])).unwrap(), want);
    }
}
