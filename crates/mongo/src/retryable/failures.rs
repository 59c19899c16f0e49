//! The fail point `onPrimaryTransactionalWrite`: a commit of a retryable write fails, or the
//! connection is closed after it without a reply. Tests of drivers' retries use it.

use evaluation::Kind;
use parking_lot::Mutex;

use crate::{fail_point::FailPoints, operation::Operation};

/// The fail points of the server, and the operation whose reply they may suppress.
#[derive(Clone, Copy)]
pub(crate) struct WriteFailures<'a> {
    pub(crate) points: &'a Mutex<FailPoints>,
    pub(crate) operation: &'a Operation,
}

impl WriteFailures<'_> {
    /// Fails a commit if the fail point for retryable writes triggers.
    pub(super) fn check_commit(self) -> std::result::Result<(), engine::Error> {
        let Some(failure) = self.points.lock().retryable_write.triggered().copied() else {
            return Ok(());
        };
        if failure.closes {
            self.operation.lose_reply();
        }
        if let Some(code) = failure.before_commit {
            let message = "Failing write due to failpoint. The write must not be reflected.";
            return Err(evaluation::Error::new(Kind::Invalid, code, message).into());
        }
        Ok(())
    }
}
