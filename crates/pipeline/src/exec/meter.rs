//! The memory of one stage, limited by the maximum of a stage and by the available memory of all
//! operations. The two failures differ: the first is the request's fault and names the stage, the
//! second may be retried later.

use evaluation::{Error, Kind, OperationMemory, Spill};
use memory::Share;

use super::spilling::stage_exceeded;

/// Maximum memory of one blocking stage (sort, group, ...), in bytes (MongoDB: 100 MB). Beyond it a
/// stage spills to temporary files, if it can and the request allows it.
pub(super) const MAX_STAGE_BYTES: usize = 100 * 1024 * 1024;

/// The memory reservation of one stage.
#[derive(Debug)]
pub(super) struct Meter {
    /// Name of the stage in error messages.
    stage: &'static str,
    operation_memory: OperationMemory,
    share: Share,
}

impl Meter {
    /// Creates the meter of a stage, with nothing reserved.
    pub(super) fn new(stage: &'static str, operation_memory: &OperationMemory) -> Self {
        Self { stage, operation_memory: operation_memory.clone(), share: operation_memory.share() }
    }

    pub(super) fn add_bytes(&mut self, bytes: usize) -> Result<(), Error> {
        self.set_held(self.share.held_bytes().saturating_add(bytes))
    }

    /// Sets the reservation to `held` bytes. If it fails, nothing changes.
    pub(super) fn set_held(&mut self, held: usize) -> Result<(), Error> {
        // Checked first, since it does not depend on the available memory.
        if MAX_STAGE_BYTES < held {
            return Err(self.limit_exceeded());
        }
        let bytes = held.saturating_sub(self.share.held_bytes());
        self.share.set(held).map_err(|short| match self.operation_memory.is_beyond(bytes) {
            // The parts of a `$facet` share the limit of one stage.
            true => self.limit_exceeded(),
            false => short.into(),
        })
    }

    pub(super) fn operation_memory(&self) -> &OperationMemory {
        &self.operation_memory
    }

    /// Returns whether little memory is available to other operations. A stage that can spill does
    /// so then, before a reservation fails.
    pub(super) fn is_scarce(&self) -> bool {
        self.operation_memory.is_scarce()
    }

    /// Releases `bytes`, or all if fewer are reserved.
    pub(super) fn free_bytes(&mut self, bytes: usize) {
        self.share.shrink(bytes);
    }

    pub(super) fn clear_held(&mut self) {
        self.share.shrink(usize::MAX);
    }

    /// Returns the error of a stage that could not reserve memory because of `error` and cannot
    /// spill. An error that may be retried is returned unchanged. If the stage has reached its own
    /// limit, the text states whether spilling was allowed.
    pub(super) fn refusal_of(&self, error: Error, spill: &Spill) -> Error {
        match error.kind {
            Kind::TooLarge => stage_exceeded(spill, self.stage),
            _ => error,
        }
    }

    /// Returns the error of a stage that exceeds its memory and cannot spill.
    fn limit_exceeded(&self) -> Error {
        let text = format!("Exceeded memory limit of {MAX_STAGE_BYTES} bytes for {}", self.stage);
        Error::new(Kind::TooLarge, 292, text)
    }
}
