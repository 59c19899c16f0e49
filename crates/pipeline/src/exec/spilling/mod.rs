//! Spilling of rows that exceed the memory of a stage: external merge sort, and partitioned groups.
//! The operation decides whether and where files are written (`evaluation::Spill`).

pub(super) mod bytes;
mod errors;
mod merge;
pub(super) mod partitions;
mod sorter;

pub(super) use errors::{damaged_record, file_failed, stage_exceeded};
pub(super) use sorter::{Entry, Sorter};

use evaluation::Context;

/// Minimum number of bytes to spill. If other operations hold the memory, an operation with less is
/// refused instead: many operations that spill a little each would fill the disk without freeing
/// much.
const MIN_WRITTEN: usize = 4 * 1024 * 1024;

/// Returns whether spilling is possible and this number of bytes of the stage is worth it.
pub(super) fn can_write(bytes: usize, context: &Context) -> bool {
    MIN_WRITTEN <= bytes && context.spill.temporary_area().is_some()
}
