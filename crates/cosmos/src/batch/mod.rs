//! Batches and bulks: what a request asks for, and what became of it. Running the operations is the
//! routes' part.
//!
//! A batch is all or nothing; the operations of a bulk are independent of each other. Both have the
//! same form, in one of two encodings: JSON, which most official SDKs send, and HybridRow, which the
//! SDK for .NET sends. The first byte of a request tells them apart, since .NET sends no content
//! type, and the response has the encoding of the request.

mod hybrid;
mod operation;
mod read;
mod response;

pub(crate) use operation::{BatchAction, BatchOperation};
pub(crate) use response::{Outcome, ResponseBudget};

use crate::failure::Result;

/// The encoding of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// JSON, as text or in its binary form.
    Json,
    /// HybridRow.
    HybridRow,
}

impl Encoding {
    /// Returns the encoding of a request's body.
    pub(crate) fn of_body(body: &[u8]) -> Self {
        match hybrid_row::is_hybrid_row(body) {
            true => Self::HybridRow,
            false => Self::Json,
        }
    }

    /// Returns the number of operations in a body of HybridRow that cannot be done as a whole, if it
    /// can be told: its response has to have as many rows. JSON says what is wrong without rows.
    pub(crate) fn count_rows(self, body: &[u8]) -> Option<usize> {
        match self {
            Self::Json => None,
            Self::HybridRow => hybrid::count_operations(body),
        }
    }

    /// Returns whether a response with an operation of this status is 207. HybridRow follows the
    /// service, where an item that is not modified counts, too.
    pub(crate) fn is_mixed(self, status: u16) -> bool {
        400 <= status || (self == Self::HybridRow && status == 304)
    }

    /// Writes the body of a response.
    fn write_outcomes(self, outcomes: Vec<Outcome>) -> Vec<u8> {
        match self {
            Self::Json => response::write_outcomes(outcomes),
            Self::HybridRow => hybrid::write_outcomes(outcomes),
        }
    }

    /// Returns the content type of a response; `None` for that of JSON.
    fn content_type(self) -> Option<&'static str> {
        match self {
            Self::Json => None,
            Self::HybridRow => Some("application/octet-stream"),
        }
    }
}

/// Reads a request's body. The outer result is about the whole batch. An operation that is wrong in
/// itself fails alone, as the inner result: in a bulk the others are done all the same, and in a
/// batch the response says which one was at fault.
pub(crate) fn read_operations(body: &[u8]) -> Result<Vec<Result<BatchOperation>>> {
    match Encoding::of_body(body) {
        Encoding::Json => read::read_operations(body),
        Encoding::HybridRow => hybrid::read_operations(body),
    }
}
