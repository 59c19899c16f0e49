//! The attempts of one operation, of which there is a bound: every loop that looks again counts here.

use crate::{
    error::{Error, Kind},
    limits::MAX_ATTEMPTS,
};

/// Counts the attempts of one operation.
#[derive(Debug)]
pub(crate) struct Attempts {
    left: usize,
    /// What there is too much of, for the error.
    contention: &'static str,
}

impl Attempts {
    /// None made yet. `contention` says what there is too much of when they are used up.
    pub(crate) fn new(contention: &'static str) -> Self {
        Self { left: MAX_ATTEMPTS, contention }
    }

    /// Begins another one.
    ///
    /// # Errors
    ///
    /// [`Kind::Conflict`] when there were [`MAX_ATTEMPTS`].
    pub(crate) fn begin(&mut self) -> Result<(), Error> {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(Error::new(Kind::Conflict, self.contention)),
        }
    }
}
