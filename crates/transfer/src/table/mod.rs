//! Documents as lines of a table: CSV by RFC 4180.
//!
//! ```text
//! _id,name,address.city      a header with dots for nested fields
//! 1,"Ann ""A.""",Oslo
//! ```

mod column;
mod write;

pub(crate) use column::Columns;
pub(crate) use write::{record, row};
