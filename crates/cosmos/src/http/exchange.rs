//! What the door notes of a request before it is parsed, and needs for the response however the
//! request ends.

use std::time::Duration;

use engine::Store;
use http::{HeaderValue, Uri, header, request::Parts};

use super::respond::RequestSummary;
use crate::door::Door;

/// A request and its response, as far as neither depends on what the request means.
#[derive(Debug)]
pub(super) struct Exchange {
    /// When the request's head was there, on the machine's monotonic clock.
    pub(super) began: Duration,
    /// The id of the request for logs, as the client chose it or made here.
    pub(super) activity: String,
    /// The client's program, as it calls itself.
    pub(super) agent: Option<HeaderValue>,
    /// The operation of the client that it is a part of, as a header says; kept where that is traced.
    pub(super) parent: Option<HeaderValue>,
    /// Where the request came to.
    uri: Uri,
    /// The address that a response about a resource names.
    location: String,
    /// Whether the resource path is that of items. It is known although the request may be refused
    /// for another reason.
    about_items: bool,
    /// Whether the client waits to be asked for the body, and so has not sent it.
    pub(super) waits_to_send: bool,
    /// Whether the connection has to be closed after the response.
    pub(super) closes: bool,
}

/// Bytes of a client's activity id that are taken over; SDKs send a UUID of 36.
const MAX_ACTIVITY_BYTES: usize = 64;

impl Exchange {
    /// Notes the head of a request that came over this scheme.
    pub(super) fn begin<S: Store>(
        door: &Door<S>,
        scheme: &str,
        parts: &Parts,
        about_items: bool,
    ) -> Self {
        let given = parts.headers.get("x-ms-activity-id").and_then(|id| id.to_str().ok());
        let given = given.filter(|id| id.len() <= MAX_ACTIVITY_BYTES);
        Self {
            began: clock::monotonic_time(),
            activity: given.map_or_else(new_activity, str::to_owned),
            agent: parts.headers.get(header::USER_AGENT).cloned(),
            parent: door.settings.tracer.as_ref().and(parts.headers.get("traceparent")).cloned(),
            uri: parts.uri.clone(),
            location: request_address(door, scheme, parts),
            about_items,
            waits_to_send: parts.headers.contains_key(header::EXPECT),
            closes: false,
        }
    }

    /// The path that the request came to, without the query string.
    pub(super) fn path(&self) -> &str {
        self.uri.path()
    }

    /// What the headers of a response with this status say of the request. `known` is the newest
    /// commit that everybody may know.
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

/// A random id. It names a request in logs and protects nothing, so that a fast generator will do.
pub(super) fn new_activity() -> String {
    uuid::Builder::from_random_bytes(fastrand::u128(..).to_ne_bytes()).into_uuid().to_string()
}

/// The address that a request came to, without the query string.
fn request_address<S: Store>(door: &Door<S>, scheme: &str, parts: &Parts) -> String {
    let path = parts.uri.path();
    if let Some(endpoint) = &door.settings.endpoint {
        return [endpoint.trim_end_matches('/'), path].concat();
    }
    let host = parts.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    // HTTP/2 has no header for the host: it is part of the address.
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
