//! Conversion of driver errors: requests without a reply, and clusters that cannot be used.

use cluster::Unanswered;
use scylla::errors::{
    ConnectionError, ConnectionPoolError, ConnectionSetupRequestErrorKind, DbError, ExecutionError,
    MetadataError, NewSessionError, PrepareError, RequestAttemptError, SchemaAgreementError,
};
use store::{Error, Kind};

/// Converts any error of a request, after which the request may or may not have been applied.
pub(crate) fn unanswered(error: impl std::fmt::Display) -> Unanswered {
    Unanswered(format!("Cassandra: {error}"))
}

/// Converts an error while the ledger is opened; `doing` names the failed step.
pub(crate) fn at_connect(doing: &str, failure: impl Into<Failure>) -> Error {
    let Failure { refused, text } = failure.into();
    let kind = if refused { Kind::Refused } else { Kind::Unavailable };
    Error::new(kind, format!("{doing}: {text}"))
}

/// An error of the driver, and whether Cassandra refused, so that a retry is useless.
pub(crate) struct Failure {
    refused: bool,
    text: String,
}

impl From<NewSessionError> for Failure {
    fn from(error: NewSessionError) -> Self {
        let refused = match &error {
            NewSessionError::MetadataError(MetadataError::ConnectionPoolError(pool)) => {
                is_refused_by_pool(pool)
            }
            NewSessionError::EmptyKnownNodesList | NewSessionError::IllegalConfig(_) => true,
            _ => false,
        };
        Self { refused, text: error.to_string() }
    }
}

impl From<PrepareError> for Failure {
    fn from(error: PrepareError) -> Self {
        let refused = match &error {
            PrepareError::ConnectionPoolError(pool) => is_refused_by_pool(pool),
            PrepareError::AllAttemptsFailed { first_attempt } => is_refused_attempt(first_attempt),
            _ => false,
        };
        Self { refused, text: error.to_string() }
    }
}

impl From<SchemaAgreementError> for Failure {
    fn from(error: SchemaAgreementError) -> Self {
        let text = format!(
            "the Cassandra nodes do not agree on the schema ({error}); `nodetool describecluster` \
             shows the version of each"
        );
        Self { refused: false, text }
    }
}

impl From<ExecutionError> for Failure {
    fn from(error: ExecutionError) -> Self {
        let text = error.to_string();
        match error {
            ExecutionError::PrepareError(error) => error.into(),
            ExecutionError::LastAttemptError(error) => {
                Self { refused: is_refused_attempt(&error), text }
            }
            ExecutionError::ConnectionPoolError(error) => {
                Self { refused: is_refused_by_pool(&error), text }
            }
            ExecutionError::SchemaAgreementError(error) => error.into(),
            _ => Self { refused: false, text },
        }
    }
}

fn is_refused_by_pool(error: &ConnectionPoolError) -> bool {
    let ConnectionPoolError::Broken { last_connection_error } = error else { return false };
    let ConnectionError::ConnectionSetupRequestError(setup) = last_connection_error else {
        return false;
    };
    match setup.get_error() {
        ConnectionSetupRequestErrorKind::DbError(error, _) => is_refusal(error),
        ConnectionSetupRequestErrorKind::MissingAuthentication
        | ConnectionSetupRequestErrorKind::StartAuthSessionError(_)
        | ConnectionSetupRequestErrorKind::AuthChallengeEvaluationError(_)
        | ConnectionSetupRequestErrorKind::AuthFinishError(_) => true,
        _ => false,
    }
}

fn is_refused_attempt(error: &RequestAttemptError) -> bool {
    matches!(error, RequestAttemptError::DbError(error, _) if is_refusal(error))
}

/// Returns whether the request itself was refused: syntax, names, tables, authentication.
fn is_refusal(error: &DbError) -> bool {
    matches!(
        error,
        DbError::SyntaxError
            | DbError::Invalid
            | DbError::AlreadyExists { .. }
            | DbError::AuthenticationError
            | DbError::Unauthorized
            | DbError::ConfigError
            | DbError::ProtocolError
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn refusals_are_told_from_outages() {
        let kind = |error| {
            let attempt = RequestAttemptError::DbError(error, "why".to_owned());
            at_connect("asking", PrepareError::AllAttemptsFailed { first_attempt: attempt }).kind
        };
        assert_eq!(kind(DbError::Invalid), Kind::Refused);
        assert_eq!(kind(DbError::AuthenticationError), Kind::Refused);
        assert_eq!(kind(DbError::Overloaded), Kind::Unavailable);
        let none = at_connect("connecting", NewSessionError::EmptyKnownNodesList);
        assert_eq!(none.kind, Kind::Refused);
        assert!(none.message.starts_with("connecting: "), "{}", none.message);
        let disagreement = SchemaAgreementError::Timeout(Duration::from_secs(60));
        let disagreement = at_connect("making", ExecutionError::SchemaAgreementError(disagreement));
        assert_eq!(disagreement.kind, Kind::Unavailable);
        assert!(disagreement.message.contains("nodetool describecluster"), "{disagreement}");
    }
}
