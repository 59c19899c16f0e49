//! Errors of the server's own routes at the admin address, in the same format as the portal's.

use axum::{
    http::StatusCode,
    response::{IntoResponse, Response},
};

/// A failed request: status, short code for programs, message for people.
#[derive(Debug)]
pub struct Error(portal::Error);

/// The result of a route of the admin API.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self(portal::Error::new(status, code, message))
    }

    /// Creates a 400: the request itself is wrong.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BadRequest", message)
    }

    /// Creates a 409: the request conflicts with the state of the server.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "Conflict", message)
    }

    /// Creates the error for a request that names a collection which exists in both APIs.
    pub fn in_both_apis() -> Self {
        Self::conflict("both APIs have a collection of this name: add ?door=mongo or ?door=nosql")
    }

    /// Creates a 500: the server failed to execute the request.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "Failed", message)
    }

    /// Creates a 503: no node that owns the data can answer now; the client may retry.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self(portal::Error::new(StatusCode::SERVICE_UNAVAILABLE, "Unavailable", message))
    }

    /// Creates a 404: the named object does not exist.
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "NotFound", message)
    }
}

/// Maps errors of the engine to HTTP statuses.
impl From<engine::Error> for Error {
    fn from(error: engine::Error) -> Self {
        use engine::Kind;
        let (status, code) = match error.kind {
            Kind::Invalid
            | Kind::IndexRefused(_)
            | Kind::HintRefused(_)
            | Kind::ParallelArrays
            | Kind::HashedArray
            | Kind::FailedRule { .. }
            | Kind::ExceedsCapped
            | Kind::Query(_) => (StatusCode::BAD_REQUEST, "BadRequest"),
            Kind::NotFound(_) | Kind::Gone | Kind::PositionLost => {
                (StatusCode::NOT_FOUND, "NotFound")
            }
            Kind::Exists(_)
            | Kind::DuplicateKey { .. }
            | Kind::IndexConflict(_)
            | Kind::Precondition
            | Kind::Conflict
            | Kind::SnapshotUnavailable
            | Kind::TransactionEnded
            | Kind::OutsideTransactions => (StatusCode::CONFLICT, "Conflict"),
            Kind::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "TooLarge"),
            Kind::Unsupported => (StatusCode::NOT_IMPLEMENTED, "Unsupported"),
            Kind::Stopped(_) => (StatusCode::REQUEST_TIMEOUT, "Stopped"),
            Kind::Busy => (StatusCode::SERVICE_UNAVAILABLE, "Busy"),
            Kind::Full => (StatusCode::INSUFFICIENT_STORAGE, "Full"),
            Kind::Unavailable | Kind::Reopened => (StatusCode::SERVICE_UNAVAILABLE, "Unavailable"),
            Kind::ViewEnded => (StatusCode::SERVICE_UNAVAILABLE, "ViewEnded"),
            Kind::Moved => (StatusCode::SERVICE_UNAVAILABLE, "Moved"),
            Kind::Corrupt => (StatusCode::INTERNAL_SERVER_ERROR, "Corrupt"),
        };
        Self::new(status, code, error.message)
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        self.0.into_response()
    }
}
