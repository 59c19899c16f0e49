//! Where an operation puts what its stages cannot hold in memory.

use spill::Area;

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
    pub fn temporary_area(&self) -> Option<&Area> {
        match self {
            Self::To(area) => Some(area),
            Self::Refused | Self::Nowhere => None,
        }
    }
}
