//! The attempts of one operation, of which there is a bound: every loop that looks again counts
//! here.
//!
//! A writer that always comes second, or a view that never can tell, ends with [`Kind::Conflict`]
//! instead of going on without end. The bound is far above what contention alone brings about.

use crate::{
    error::{Error, Kind},
    limits::MAX_ATTEMPTS,
};

/// Counts the attempts of one operation.
#[derive(Debug)]
pub(crate) struct Attempts {
    /// Attempts that are left.
    left: usize,
    /// What there is too much of, for the error.
    contention: &'static str,
}

impl Attempts {
    /// None made yet. `contention` says what there is too much of when they are used up.
    pub(crate) fn new(contention: &'static str) -> Self {
        Self { left: MAX_ATTEMPTS, contention }
    }

    /// Of a read.
    pub(crate) fn to_read() -> Self {
        Self::new("too many changes of what is read")
    }

    /// Of a write of documents.
    pub(crate) fn to_write() -> Self {
        Self::new("too many writers of the same document")
    }

    /// Of a change of a collection's record or name.
    pub(crate) fn to_change() -> Self {
        Self::new("too many changes of a collection at once")
    }

    /// Something was done: what comes next has all attempts again.
    pub(crate) fn start_over(&mut self) {
        self.left = MAX_ATTEMPTS;
    }

    /// Whether the attempt under way is the first.
    pub(crate) fn is_first(&self) -> bool {
        self.left + 1 == MAX_ATTEMPTS
    }

    /// Begins another one.
    ///
    /// # Errors
    ///
    /// [`Kind::Conflict`] when there were [`MAX_ATTEMPTS`].
    pub(crate) fn begin_next(&mut self) -> Result<(), Error> {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(Error::new(Kind::Conflict, self.contention)),
        }
    }
}
