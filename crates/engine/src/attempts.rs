//! Bounds the attempts of one operation. Every retry loop of the engine counts its attempts with
//! [`Attempts`].
//!
//! A writer whose commits are refused again and again, or a reader that cannot decide which
//! documents have expired, fails with [`Kind::Conflict`] instead of retrying forever. The bound is
//! far above the number of attempts that contention alone causes.

use crate::{
    error::{Error, Kind},
    limits::{MAX_ATTEMPTS, MAX_ENDED_VIEWS},
};

/// Counts the attempts of one operation.
#[derive(Debug)]
pub(crate) struct Attempts {
    left: usize,
    /// Number of further attempts permitted after views were ended for using too much disk space.
    ended_views_left: usize,
    /// Description of the conflict, for the error when attempts are exhausted.
    contention: &'static str,
}

impl Attempts {
    /// Creates a counter with all attempts left; `contention` is the error's message.
    pub(crate) fn new(contention: &'static str) -> Self {
        Self { left: MAX_ATTEMPTS, ended_views_left: MAX_ENDED_VIEWS, contention }
    }

    /// Creates a counter for the attempts of a read.
    pub(crate) fn to_read() -> Self {
        Self::new("too many concurrent changes to the data being read")
    }

    /// Creates a counter for attempts to write documents.
    pub(crate) fn to_write() -> Self {
        Self::new("too many concurrent writes to the same document")
    }

    /// Creates a counter for attempts to change a collection's record or name.
    pub(crate) fn to_change() -> Self {
        Self::new("too many concurrent changes to a collection's settings")
    }

    /// Starts counting from zero again, because the operation made progress.
    pub(crate) fn start_over(&mut self) {
        self.left = MAX_ATTEMPTS;
        self.ended_views_left = MAX_ENDED_VIEWS;
    }

    /// Returns whether the current attempt is the first.
    pub(crate) fn is_first(&self) -> bool {
        self.left + 1 == MAX_ATTEMPTS
    }

    /// Returns the number of attempts that were started since counting began.
    pub(crate) fn begun(&self) -> usize {
        MAX_ATTEMPTS - self.left
    }

    /// Counts a view that was ended because old versions kept for it used too much disk space.
    /// Returns whether the operation may try again: the views of a short operation are rarely ended
    /// twice, while those of a long one would be ended again and again.
    pub(crate) fn may_follow_ended_view(&mut self) -> bool {
        let left = self.ended_views_left.checked_sub(1);
        self.ended_views_left = left.unwrap_or_default();
        left.is_some()
    }

    /// Starts another attempt.
    ///
    /// # Errors
    ///
    /// [`Kind::Conflict`] after [`MAX_ATTEMPTS`] attempts.
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
