//! Spilling of rows that exceed the memory of a stage: external merge sort, and partitioned groups.
//! The operation decides whether and where files are written (`evaluation::Spill`). This module
//! converts errors of files to errors of the operation.

pub(super) mod bytes;
mod merge;
pub(super) mod partitions;
mod sorter;

pub(super) use sorter::{Entry, Sorter};

use evaluation::{Context, Error, Kind, Spill, numbers::BUSY};

use super::meter::MAX_STAGE_BYTES;

/// Minimum number of bytes to spill. If other operations hold the memory, an operation with less is
/// refused instead: many operations that spill a little each would fill the disk without freeing
/// much.
const MIN_WRITTEN: usize = 4 * 1024 * 1024;

/// Returns whether spilling is possible and this number of bytes of the stage is worth it.
pub(super) fn can_write(bytes: usize, context: &Context) -> bool {
    MIN_WRITTEN <= bytes && context.spill.temporary_area().is_some()
}

/// MongoDB's error code for a device without free space.
const FULL: i32 = 14031;
/// MongoDB's error code for an operation that may be retried later.
const AGAIN: i32 = BUSY;

/// Converts the failure of a temporary file. The error kind determines the caller's reaction: retry
/// later, free space, or check the device.
pub(super) fn file_failed(error: spill::Error) -> Error {
    let text = error.to_string();
    match error {
        spill::Error::Busy => Error::new(Kind::Short, BUSY, text),
        spill::Error::Full => Error::new(Kind::Full, FULL, text),
        spill::Error::Device(_) | spill::Error::Damaged => Error::new(Kind::Device, AGAIN, text),
    }
}

/// Returns the error for a malformed record with a correct checksum.
pub(super) fn damaged_record() -> Error {
    file_failed(spill::Error::Damaged)
}

/// Returns the error of a stage that exceeds its memory limit. If spilling was refused by the
/// request, error code and text are MongoDB's.
pub(super) fn stage_exceeded(spill: &Spill, stage: &str) -> Error {
    let text = match (spill, stage) {
        (Spill::Refused, "$sort") => format!(
            "Sort exceeded memory limit of {MAX_STAGE_BYTES} bytes, but did not opt in to \
             external sorting."
        ),
        (Spill::Refused, stage) => format!(
            "Exceeded memory limit for {stage}, but didn't allow external spilling. Pass \
             allowDiskUse:true to opt in."
        ),
        (Spill::Nowhere, stage) => format!(
            "{stage} exceeded its memory limit of {MAX_STAGE_BYTES} bytes, and an in-memory \
             server has no temporary files to spill to"
        ),
        (Spill::To(_), stage) => format!(
            "{stage} exceeded its memory limit of {MAX_STAGE_BYTES} bytes with data that cannot \
             be spilled to a temporary file"
        ),
    };
    Error::new(Kind::TooLarge, 292, text)
}
