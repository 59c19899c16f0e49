//! Errors of the server's own routes at the admin address. Their form is the portal's, which has the
//! same address.

use axum::{
    http::StatusCode,
    response::{IntoResponse, Response},
};

/// A failed request: the status, a short code for programs, a message for people.
#[derive(Debug)]
pub(crate) struct Error(portal::Error);

/// What routes return.
pub(crate) type Result<T> = std::result::Result<T, Error>;

impl Error {
    fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self(portal::Error::new(status, code, message))
    }

    /// Returns 400: the request itself is wrong.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BadRequest", message)
    }

    /// Returns 409: the request is fine, but not in this state of the server.
    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "Conflict", message)
    }

    /// Returns 500: the server could not do it.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "Failed", message)
    }

    /// Nobody can answer now; a later try may be answered.
    pub(crate) fn unavailable(message: impl Into<String>) -> Self {
        Self(portal::Error::new(StatusCode::SERVICE_UNAVAILABLE, "Unavailable", message))
    }

    /// Returns 404: what it names does not exist.
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "NotFound", message)
    }
}

/// The one place where engine errors get a status here.
impl From<engine::Error> for Error {
    fn from(error: engine::Error) -> Self {
        use engine::Kind;
        let (status, code) = match error.kind {
            Kind::Invalid
            | Kind::IndexRefused(_)
            | Kind::HintRefused(_)
            | Kind::ParallelArrays
            | Kind::Query(_) => (StatusCode::BAD_REQUEST, "BadRequest"),
            Kind::NotFound(_) | Kind::Gone => (StatusCode::NOT_FOUND, "NotFound"),
            Kind::Exists(_)
            | Kind::DuplicateKey { .. }
            | Kind::IndexConflict(_)
            | Kind::Precondition
            | Kind::Conflict => (StatusCode::CONFLICT, "Conflict"),
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
