//! Whether a store accepts commits, for monitoring.

use crate::error::Error;

/// Whether a store accepts commits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Health {
    /// The store works and accepts commits.
    #[default]
    Good,
    /// The store refuses commits for this reason, and accepts them again when the cause is removed.
    Refusing(Error),
    /// The store was reopened after a failure. Commits of unknown outcome may have been applied, so
    /// it accepts new ones only after its user has re-read its cached state and called
    /// [`resume_commits`](crate::contract::Store::resume_commits).
    Reopened,
}
