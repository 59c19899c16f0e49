//! What one stage holds: no more than a stage may, and no more than is left for all operations. The
//! two are different failures: the first is the request's fault and has the stage's name, the
//! second may go well later.

use evaluation::{Error, Holding, Kind, Spill};
use memory::Share;

use super::spilling::stage_exceeded;
use crate::limits::MAX_STAGE_BYTES;

/// Counts what a stage holds.
#[derive(Debug)]
pub(super) struct Meter {
    /// The name of the stage, for messages.
    stage: &'static str,
    /// What the operation may hold.
    holding: Holding,
    /// What the stage holds of that.
    share: Share,
}

impl Meter {
    /// A stage of this name that holds nothing yet.
    pub(super) fn new(stage: &'static str, holding: &Holding) -> Self {
        Self { stage, holding: holding.clone(), share: holding.share() }
    }

    /// So much more is held.
    pub(super) fn add_bytes(&mut self, bytes: usize) -> Result<(), Error> {
        self.set_held(self.share.held_bytes().saturating_add(bytes))
    }

    /// Says that `held` bytes are held.
    /// Nothing changes when it fails.
    pub(super) fn set_held(&mut self, held: usize) -> Result<(), Error> {
        // The stage's own limit comes first: it holds however much memory there is.
        if MAX_STAGE_BYTES < held {
            return Err(self.limit_exceeded());
        }
        let bytes = held.saturating_sub(self.share.held_bytes());
        self.share.set(held).map_err(|short| match self.holding.is_beyond(bytes) {
            // The parts of a `$facet` hold as much together as one stage may.
            true => self.limit_exceeded(),
            false => short.into(),
        })
    }

    /// What the operation may hold.
    pub(super) fn holding(&self) -> &Holding {
        &self.holding
    }

    /// Whether little is left for others.
    /// A stage that can write to disk does so then, before it is refused anything.
    pub(super) fn is_scarce(&self) -> bool {
        self.holding.is_scarce()
    }

    /// Says that `bytes` are held no longer.
    /// More than are held frees all.
    pub(super) fn free_bytes(&mut self, bytes: usize) {
        self.share.shrink(bytes);
    }

    /// Nothing is held any longer.
    pub(super) fn clear_held(&mut self) {
        self.share.shrink(usize::MAX);
    }

    /// The error of a stage that could not hold more because of `error`, and cannot write what it
    /// holds.
    /// A failure that may go well later stays what it is; the limit of the stage gets the text that
    /// says whether writing to disk was allowed.
    pub(super) fn refusal_of(&self, error: Error, spill: &Spill) -> Error {
        match error.kind {
            Kind::TooLarge => stage_exceeded(spill, self.stage),
            _ => error,
        }
    }

    /// The error of a stage that has no way to write what it holds.
    fn limit_exceeded(&self) -> Error {
        let text = format!("Exceeded memory limit of {MAX_STAGE_BYTES} bytes for {}", self.stage);
        Error::new(Kind::TooLarge, 292, text)
    }
}
