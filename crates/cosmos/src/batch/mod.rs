//! Batches and bulks: parsing of requests and writing of responses. The routes run the operations.
//!
//! A batch is atomic; the operations of a bulk are independent. Both have the same structure, in
//! one of two encodings: JSON, which most official SDKs send, and HybridRow, which the .NET SDK
//! sends. The first byte of a request identifies the encoding, since .NET sends no content type;
//! the response uses the encoding of the request.

mod hybrid;
mod operation;
mod read;
mod response;

pub(crate) use operation::{BatchAction, BatchOperation};
pub(crate) use response::{Outcome, ResponseBudget};

use crate::failure::Result;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// JSON, as text or binary.
    Json,
    HybridRow,
}

impl Encoding {
    /// Returns the encoding of a request body.
    pub(crate) fn of_body(body: &[u8]) -> Self {
        match hybrid_row::is_hybrid_row(body) {
            true => Self::HybridRow,
            false => Self::Json,
        }
    }

    /// Returns the number of operations in a body that is refused as a whole: a HybridRow response
    /// must have one row for each. Returns `None` if the number cannot be determined, and for JSON,
    /// where such a response has no rows.
    pub(crate) fn count_rows(self, body: &[u8]) -> Option<usize> {
        match self {
            Self::Json => None,
            Self::HybridRow => hybrid::count_operations(body),
        }
    }

    /// Returns whether an operation with this status makes the response 207. In HybridRow a status
    /// of 304 counts too, as in Azure Cosmos DB.
    pub(crate) fn is_mixed(self, status: u16) -> bool {
        400 <= status || (self == Self::HybridRow && status == 304)
    }

    fn write_outcomes(self, outcomes: Vec<Outcome>) -> Vec<u8> {
        match self {
            Self::Json => response::write_outcomes(outcomes),
            Self::HybridRow => hybrid::write_outcomes(outcomes),
        }
    }

    /// Returns the content type of a response; `None` for JSON.
    fn content_type(self) -> Option<&'static str> {
        match self {
            Self::Json => None,
            Self::HybridRow => Some("application/octet-stream"),
        }
    }
}

/// Parses a request body. The outer result concerns the whole request. An invalid operation fails
/// alone, as an inner result: a bulk runs the others, and the response to a batch names the invalid
/// operation.
pub(crate) fn read_operations(body: &[u8]) -> Result<Vec<Result<BatchOperation>>> {
    match Encoding::of_body(body) {
        Encoding::Json => read::read_operations(body),
        Encoding::HybridRow => hybrid::read_operations(body),
    }
}
