//! The error responses of the admin address, `{"error": {"code", "message"}}`, and the portal's
//! errors. The server's routes define their own errors with this type.

use axum::{
    Json,
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::json;

/// A failed request: its status, a code for programs, a message for people.
#[derive(Debug)]
pub struct Error {
    status: StatusCode,
    code: &'static str,
    message: String,
    /// An additional response header, such as `retry-after`.
    extra: Option<(HeaderName, HeaderValue)>,
}

pub(crate) type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Creates an error with this status. Clients decide by the code; the message is for people.
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), extra: None }
    }

    fn with_header(self, name: HeaderName, value: HeaderValue) -> Self {
        Self { extra: Some((name, value)), ..self }
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BadRequest", message)
    }

    pub(crate) fn not_kept(why: impl std::fmt::Display) -> Self {
        let message = format!("the session has ended, but only until the next restart: {why}");
        Self::new(StatusCode::INSUFFICIENT_STORAGE, "NotKept", message)
    }

    pub(crate) fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "NotFound", "page not found")
    }

    pub(crate) fn method_not_allowed() -> Self {
        let message = "method not allowed for this page";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message)
    }

    pub(crate) fn too_large() -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "TooLarge", "the body is too large")
    }

    pub(crate) fn api_disabled() -> Self {
        Self::new(StatusCode::NOT_FOUND, "DoorClosed", "this API is off on this server")
    }

    pub(crate) fn host_not_allowed() -> Self {
        let message = "unknown host name: allow it with --admin-host";
        Self::new(StatusCode::MISDIRECTED_REQUEST, "HostNotAllowed", message)
    }

    pub(crate) fn cross_site() -> Self {
        let message = "cross-site requests are not allowed";
        Self::new(StatusCode::FORBIDDEN, "CrossSite", message)
    }

    pub(crate) fn not_a_program() -> Self {
        let message = "send the header x-ebb-client with any value, as ebb backup does, or a key: \
                       pages of other sites can send neither";
        Self::new(StatusCode::FORBIDDEN, "CrossSite", message)
    }

    pub(crate) fn key_is_known() -> Self {
        let message = "this address is reachable from other machines and the default key is \
                       public: set --key-file";
        Self::new(StatusCode::FORBIDDEN, "KeyIsKnown", message)
    }

    pub(crate) fn not_signed_in() -> Self {
        let message = "sign in, or send an account key: authorization: Bearer KEY";
        Self::new(StatusCode::UNAUTHORIZED, "NotSignedIn", message)
            .with_header(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
    }

    pub(crate) fn wrong_key() -> Self {
        let message = "not a key of this account";
        Self::new(StatusCode::UNAUTHORIZED, "WrongKey", message)
            .with_header(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
    }

    pub(crate) fn too_many_attempts(seconds: u64) -> Self {
        let message = format!("too many wrong keys: try again in {seconds} seconds");
        Self::new(StatusCode::TOO_MANY_REQUESTS, "TooManyAttempts", message)
            .with_header(header::RETRY_AFTER, HeaderValue::from(seconds))
    }

    pub(crate) fn read_only() -> Self {
        let message = "the key is read-only";
        Self::new(StatusCode::FORBIDDEN, "ReadOnly", message)
    }

    pub(crate) fn wrong_csrf_token() -> Self {
        let message = "x-ebb-csrf does not match the session's token";
        Self::new(StatusCode::FORBIDDEN, "Csrf", message)
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let body = json!({ "error": { "code": self.code, "message": self.message } });
        let mut response = (self.status, Json(body)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some((name, value)) = self.extra {
            headers.insert(name, value);
        }
        response
    }
}
