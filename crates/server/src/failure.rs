//! Why a server did not start or ended, by the exit code that it ends with. `ebb` prints the text and
//! chooses the code by the variant.

use std::fmt;

use crate::data_dir::Refused;

/// Why a server did not start or ended.
#[derive(Debug)]
pub enum Failure {
    /// The settings do not go together or cannot be used here; other settings would work.
    Usage(String),
    /// The data directory was refused; see there for what to do.
    Refused(Refused),
    /// It could not start or go on, for a reason outside: the system, the disk, a port.
    Failed(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refused) => refused.fmt(f),
            Self::Usage(message) | Self::Failed(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Failure {}

/// Returns [`Failure::Failed`] with an error's text, for `map_err`.
pub(crate) fn failed(error: impl fmt::Display) -> Failure {
    Failure::Failed(error.to_string())
}
