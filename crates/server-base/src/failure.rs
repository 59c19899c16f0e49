//! The reasons for which a server does not start or stops. `ebb` prints the text; the variant sets
//! the exit code.

use std::fmt;

use crate::data_dir::Refused;

/// Reason why a server did not start or stopped.
#[derive(Debug)]
pub enum Failure {
    /// Settings contradict each other or cannot be used on this machine; startup with other
    /// settings succeeds.
    Usage(String),
    /// The data directory was refused.
    Refused(Refused),
    /// An external failure of the system, the disk or a port.
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

/// Converts an error to [`Failure::Failed`], for `map_err`.
pub fn failed(error: impl fmt::Display) -> Failure {
    Failure::Failed(error.to_string())
}
