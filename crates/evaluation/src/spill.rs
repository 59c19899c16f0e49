//! Whether and where stages of an operation write data that exceeds their memory.

use spill::Area;

/// Where stages of an operation spill data that exceeds their memory.
#[derive(Clone, Debug, Default)]
pub enum Spill {
    /// Stages spill to temporary files in this area.
    To(Area),
    /// Spilling fails, since the request does not allow it.
    Refused,
    /// Spilling fails, since an in-memory server writes no files.
    #[default]
    Nowhere,
}

impl Spill {
    /// Returns the area for temporary files, if spilling is possible.
    pub fn temporary_area(&self) -> Option<&Area> {
        match self {
            Self::To(area) => Some(area),
            Self::Refused | Self::Nowhere => None,
        }
    }
}
