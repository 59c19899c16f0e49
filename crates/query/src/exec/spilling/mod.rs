//! What stages do with rows that they cannot hold in memory: sorted runs that are merged, and groups
//! in parts. Where the bytes go is said by the operation (`crate::expr::Spill`).

pub(super) mod bytes;
mod errors;
pub(super) mod partitions;
mod sorter;

pub(super) use errors::{damaged, failed};
pub(super) use sorter::{Entry, Sorter};
