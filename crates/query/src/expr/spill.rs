//! Where an operation puts what its stages cannot hold in memory.

use spill::Area;

use crate::{Error, Kind, limits::MAX_STAGE_BYTES};

/// Where an operation puts what its stages cannot hold in memory.
#[derive(Clone, Debug, Default)]
pub enum Spill {
    /// Into temporary files.
    To(Area),
    /// Nowhere: the request does not allow it.
    Refused,
    /// Nowhere: the server keeps its data in memory and writes no files.
    #[default]
    Nowhere,
}

impl Spill {
    /// The place for temporary files, if there is one.
    pub(crate) fn area(&self) -> Option<&Area> {
        match self {
            Self::To(area) => Some(area),
            Self::Refused | Self::Nowhere => None,
        }
    }

    /// A stage holds more than it may. The number and the texts of a refused one are MongoDB's.
    pub(crate) fn exceeded(&self, stage: &str) -> Error {
        let text = match (self, stage) {
            (Self::Refused, "$sort") => format!(
                "Sort exceeded memory limit of {MAX_STAGE_BYTES} bytes, but did not opt in to \
                 external sorting."
            ),
            (Self::Refused, stage) => format!(
                "Exceeded memory limit for {stage}, but didn't allow external spilling. Pass \
                 allowDiskUse:true to opt in."
            ),
            (Self::Nowhere, stage) => format!(
                "{stage} exceeded its memory limit of {MAX_STAGE_BYTES} bytes, and a server that \
                 keeps its data in memory has no temporary files for it"
            ),
            (Self::To(_), stage) => format!(
                "{stage} exceeded its memory limit of {MAX_STAGE_BYTES} bytes by something that \
                 cannot be put into a temporary file"
            ),
        };
        Error::new(Kind::TooLarge, 292, text)
    }
}
