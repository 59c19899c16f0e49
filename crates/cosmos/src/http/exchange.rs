//! Data about a request that is recorded before the request is parsed, since even the response to
//! an invalid request needs it.

use std::time::Duration;

use http::{HeaderValue, Uri, header, request::Parts};

use super::respond::RequestSummary;
use crate::api::NoSqlApi;

/// Data about a request that is the same for all operations.
#[derive(Debug)]
pub(super) struct Exchange {
    /// Time at which the head was complete, on the monotonic clock.
    pub(super) began: Duration,
    /// Activity id for logs, chosen by the client or generated.
    pub(super) activity: String,
    pub(super) agent: Option<HeaderValue>,
    /// Trace context of the client (`traceparent`); kept only if operations are traced.
    pub(super) parent: Option<HeaderValue>,
    uri: Uri,
    /// URL of the request, which a successful response about a resource reports.
    location: String,
    /// Whether the request's path denotes items; also set for requests that are refused.
    about_items: bool,
    /// Whether the client sent the header `Expect`, and so waits for a reply before it sends the
    /// body.
    pub(super) waits_to_send: bool,
    /// Whether the connection must be closed after the response.
    pub(super) closes: bool,
}

/// Longest client activity id that is accepted, in bytes; SDKs send a UUID of 36.
const MAX_ACTIVITY_BYTES: usize = 64;

impl Exchange {
    /// Records the head of a request that arrived over `http` or `https`.
    pub(super) fn begin(api: &NoSqlApi, scheme: &str, parts: &Parts, about_items: bool) -> Self {
        let given = parts.headers.get("x-ms-activity-id").and_then(|id| id.to_str().ok());
        let given = given.filter(|id| id.len() <= MAX_ACTIVITY_BYTES);
        Self {
            began: clock::monotonic_time(),
            activity: given.map_or_else(new_activity, str::to_owned),
            agent: parts.headers.get(header::USER_AGENT).cloned(),
            parent: api.settings.tracer.as_ref().and(parts.headers.get("traceparent")).cloned(),
            uri: parts.uri.clone(),
            location: request_address(api, scheme, parts),
            about_items,
            waits_to_send: parts.headers.contains_key(header::EXPECT),
            closes: false,
        }
    }

    /// Returns the request's path without the query string.
    pub(super) fn path(&self) -> &str {
        self.uri.path()
    }

    /// Returns the request data for the headers of a response with this status. `known` is the
    /// newest visible commit.
    pub(super) fn end(self, status: u16, known: u64) -> RequestSummary {
        RequestSummary {
            activity: self.activity,
            known,
            items: self.about_items,
            location: (status < 400).then_some(self.location),
            took: clock::monotonic_time().saturating_sub(self.began),
        }
    }
}

/// Returns a random id. It only names a request in logs, so a fast generator is sufficient.
pub(super) fn new_activity() -> String {
    uuid::Builder::from_random_bytes(fastrand::u128(..).to_ne_bytes()).into_uuid().to_string()
}

/// Returns the request's URL without the query string.
fn request_address(api: &NoSqlApi, scheme: &str, parts: &Parts) -> String {
    let path = parts.uri.path();
    if let Some(endpoint) = &api.settings.endpoint {
        return [endpoint.trim_end_matches('/'), path].concat();
    }
    let host = parts.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    // HTTP/2 has no host header: the host is in the URI.
    match host.or(parts.uri.authority().map(|authority| authority.as_str())) {
        Some(host) => [scheme, "://", host, path].concat(),
        None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_have_the_usual_form() {
        let (one, other) = (new_activity(), new_activity());
        assert_ne!(one, other);
        assert_eq!(one.len(), 36);
        assert_eq!(one.as_bytes()[14], b'4');
        assert!(b"89ab".contains(&one.as_bytes()[19]), "{one}");
    }
}
