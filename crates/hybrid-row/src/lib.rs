//! HybridRow, the binary row format of the NoSQL API, as far as batches use it: requests and
//! responses of the .NET SDK's transactional batches and bulk operations.
//!
//! A body is a stream of records (`record_io`). Each record contains one row, preceded by its
//! length and a checksum. A row has a presence bit for each column that may be absent, fixed and
//! variable columns in schema order, and sparse columns with their names (`row`). Only two schemas
//! occur, [`Operation`] and [`OperationResult`] (`schema`, `batch`).
//!
//! Decoding borrows from the body and copies nothing. Every length is checked against the remaining
//! bytes, so the work is linear in the length of the body. Nested types are refused, because no
//! column of a batch has one.

mod batch;
mod cursor;
mod record_io;
mod row;
mod schema;
mod types;

pub use batch::{
    Operation, OperationResult, ResultWriter, count_records, read_operations, read_results,
    write_operations,
};

use std::fmt;

/// Reason why a byte stream cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// Description of the mistake, for the error message.
    pub what: &'static str,
    /// Offset of the invalid byte in the stream.
    pub at: usize,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.what, self.at)
    }
}

impl std::error::Error for Invalid {}

pub(crate) type Result<T> = std::result::Result<T, Invalid>;

/// Returns whether a body is in this format. JSON text never starts with the version byte of a row.
pub fn is_hybrid_row(body: &[u8]) -> bool {
    body.first() == Some(&row::VERSION)
}
