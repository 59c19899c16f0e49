//! What stages do with rows that they cannot hold in memory: sorted runs that are merged, and groups
//! in parts. Where the bytes go is said by the operation (`evaluation::Spill`).

pub(super) mod bytes;
mod errors;
mod merge;
pub(super) mod partitions;
mod sorter;

pub(super) use errors::{damaged_record, file_failed, stage_exceeded};
pub(super) use sorter::{Entry, Sorter};

use evaluation::Context;

/// Fewer bytes are not written: where others hold the memory the operation is refused instead. Many
/// operations writing a little each would fill the disk with files and help nobody.
const LEAST_WRITTEN: usize = 4 * 1024 * 1024;

/// Whether so many bytes are worth being written, and there is a place for them.
/// Bytes are those of the stage that asks.
pub(super) fn can_write(bytes: usize, context: &Context) -> bool {
    // The operation says whether it may write at all.
    LEAST_WRITTEN <= bytes && context.spill.temporary_area().is_some()
}
