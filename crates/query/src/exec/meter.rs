//! What one stage holds: no more than a stage may, and no more than is left for all operations.

use memory::Share;

use crate::{Error, Kind, expr::Holding, limits::MAX_STAGE_BYTES};

/// Counts what a stage holds.
#[derive(Debug)]
pub(super) struct Meter {
    stage: &'static str,
    holding: Holding,
    share: Share,
}

impl Meter {
    /// A stage of this name that holds nothing yet.
    pub(super) fn new(stage: &'static str, holding: &Holding) -> Self {
        Self { stage, holding: holding.clone(), share: holding.share() }
    }

    /// So much more is held.
    pub(super) fn add(&mut self, bytes: usize) -> Result<(), Error> {
        let held = self.share.held().saturating_add(bytes);
        if MAX_STAGE_BYTES < held {
            return Err(self.exceeded());
        }
        self.share.set(held).map_err(|short| match self.holding.is_beyond(bytes) {
            // The parts of a `$facet` hold as much together as one stage may.
            true => self.exceeded(),
            false => short.into(),
        })
    }

    /// So much is held no longer.
    pub(super) fn free(&mut self, bytes: usize) {
        self.share.shrink(bytes);
    }

    /// Nothing is held any longer.
    pub(super) fn clear(&mut self) {
        self.share.shrink(usize::MAX);
    }

    fn exceeded(&self) -> Error {
        let text = match self.stage {
            "$sort" => format!(
                "Sort exceeded memory limit of {MAX_STAGE_BYTES} bytes, but did not opt in to external sorting."
            ),
            stage => format!(
                "Exceeded memory limit for {stage}, but didn't allow external spilling. Pass allowDiskUse:true to opt in."
            ),
        };
        Error::new(Kind::TooLarge, 292, text)
    }
}
