//! HybridRow, the binary row format of the NoSQL API, as far as batches use it: the requests and
//! responses of .NET's transactional batches and bulk operations.
//!
//! A body is a stream of records (`record_io`). Each record holds one row, preceded by its length
//! and a checksum. A row has a bit for each column that may be absent, fixed and variable columns
//! in the order of its schema, and sparse columns that name themselves (`row`). Only two schemas
//! occur, [`Operation`] and [`OperationResult`] (`schema`, `batch`).
//!
//! Reading borrows from the body and copies nothing. Every length is checked against the bytes that
//! are left, so the work is proportional to the length of the body. Types that nest are refused,
//! because no column of a batch has one.

mod batch;
mod cursor;
mod error;
mod record_io;
mod row;
mod schema;
mod types;

pub use batch::{
    Operation, OperationResult, ResultWriter, count_records, read_operations, read_results,
    write_operations,
};
pub use error::Invalid;

/// Returns whether a body is in this format. No JSON text begins with the version of a row.
pub fn is_hybrid_row(body: &[u8]) -> bool {
    body.first() == Some(&row::VERSION)
}
