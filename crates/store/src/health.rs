//! Whether a store takes commits, for whoever looks after it.

use crate::error::Error;

/// Whether a store takes commits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Health {
    /// It does.
    #[default]
    Good,
    /// It refuses them, for this reason, and takes them again by itself when the cause has gone.
    Refusing(Error),
    /// It was opened again after a failure. Commits whose outcome was unknown may have taken place;
    /// it takes new ones as soon as its user has read again what it keeps in memory and calls
    /// [`resume_commits`](crate::contract::Store::resume_commits).
    Anew,
}
