//! The driver's retry policy: repeats requests that were certainly not started, and idempotent
//! ones. A lightweight transaction that may have been applied is not repeated here: the repeat
//! could be refused because of it.

use scylla::{
    errors::{DbError, RequestAttemptError},
    policies::retry::{RequestInfo, RetryDecision, RetryPolicy, RetrySession},
};

/// Maximum number of times that the driver repeats a request.
const REPEATS: u32 = 2;

#[derive(Debug)]
pub(crate) struct LedgerRetryPolicy;

impl RetryPolicy for LedgerRetryPolicy {
    fn new_session(&self) -> Box<dyn RetrySession> {
        Box::new(LedgerRetrySession { left: REPEATS })
    }
}

/// Number of repeats that a request may still have.
struct LedgerRetrySession {
    left: u32,
}

impl RetrySession for LedgerRetrySession {
    fn decide_should_retry(&mut self, request: RequestInfo<'_>) -> RetryDecision {
        self.decide(request.error, request.is_idempotent)
    }

    fn reset(&mut self) {
        self.left = REPEATS;
    }
}

impl LedgerRetrySession {
    fn decide(&mut self, error: &RequestAttemptError, is_idempotent: bool) -> RetryDecision {
        let again = was_not_begun(error) || (is_idempotent && may_do_elsewhere(error));
        if !again || self.left == 0 {
            return RetryDecision::DontRetry;
        }
        self.left -= 1;
        RetryDecision::RetryNextTarget(None)
    }
}

/// Returns whether the request was certainly not started.
fn was_not_begun(error: &RequestAttemptError) -> bool {
    matches!(
        error,
        RequestAttemptError::UnableToAllocStreamId
            | RequestAttemptError::DbError(DbError::IsBootstrapping, _)
    )
}

/// Returns whether another node may execute a request that this node did not execute, or executed
/// without a reply.
fn may_do_elsewhere(error: &RequestAttemptError) -> bool {
    match error {
        RequestAttemptError::BrokenConnectionError(_) => true,
        RequestAttemptError::DbError(error, _) => matches!(
            error,
            DbError::Unavailable { .. }
                | DbError::Overloaded
                | DbError::ServerError
                | DbError::ReadTimeout { .. }
                | DbError::ReadFailure { .. }
                | DbError::WriteTimeout { .. }
                | DbError::WriteFailure { .. }
        ),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use scylla::{errors::WriteType, statement::Consistency};

    use super::*;

    fn of(error: DbError) -> RequestAttemptError {
        RequestAttemptError::DbError(error, String::new())
    }

    fn timeout(write_type: WriteType) -> RequestAttemptError {
        let consistency = Consistency::Quorum;
        of(DbError::WriteTimeout { consistency, received: 1, required: 2, write_type })
    }

    /// Errors, with whether an idempotent request and whether a transaction is repeated after them.
    fn rows() -> Vec<(RequestAttemptError, bool, bool)> {
        let consistency = Consistency::Quorum;
        vec![
            (timeout(WriteType::Simple), true, false),
            (timeout(WriteType::Cas), true, false),
            (of(DbError::Unavailable { consistency, required: 2, alive: 1 }), true, false),
            (of(DbError::Overloaded), true, false),
            (of(DbError::ServerError), true, false),
            (of(DbError::IsBootstrapping), true, true),
            (RequestAttemptError::UnableToAllocStreamId, true, true),
            (of(DbError::Invalid), false, false),
            (of(DbError::Unauthorized), false, false),
            (of(DbError::SyntaxError), false, false),
        ]
    }

    #[test]
    fn only_what_a_repeat_cannot_harm_is_sent_again() {
        for (error, idempotent, transaction) in rows() {
            for (is_idempotent, expected) in [(true, idempotent), (false, transaction)] {
                let mut tries = LedgerRetrySession { left: REPEATS };
                let mut sent_again = 0;
                while tries.decide(&error, is_idempotent) == RetryDecision::RetryNextTarget(None) {
                    sent_again += 1;
                }
                assert_eq!(sent_again, if expected { REPEATS } else { 0 }, "{error}");
            }
        }
    }
}
