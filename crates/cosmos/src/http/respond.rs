//! Responses with their headers. Names and forms are the service's; SDKs hand several of them to
//! applications (charge, session token, activity id, etag, continuation), so they are set whatever
//! the operation was.

use std::{sync::LazyLock, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use http_body_util::Full;
use hyper::Response;
use memory::Share;

use super::counted_bytes;
use crate::{limits::QUOTA, reply::Reply, request_units, session};

/// What a response's headers say of its request.
#[derive(Debug, Default)]
pub(super) struct RequestSummary {
    /// Its id, for logs.
    pub(super) activity: String,
    /// The newest commit that everybody may know.
    pub(super) known: u64,
    /// Whether it is about items. Clients that are not told the partition key range of a response
    /// about items read the list of ranges before their next request.
    pub(super) items: bool,
    /// Address of what was asked for, where the response holds it.
    pub(super) location: Option<String>,
    /// How long it took. People read it; SDKs do not.
    pub(super) took: Duration,
}

// Constants: a name that is read at run time is looked up among all that are known.
const SESSION_TOKEN: HeaderName = HeaderName::from_static("x-ms-session-token");
const LSN: HeaderName = HeaderName::from_static("lsn");
const COMMITTED_LSN: HeaderName = HeaderName::from_static("x-ms-global-committed-lsn");
const REQUEST_CHARGE: HeaderName = HeaderName::from_static("x-ms-request-charge");
const ACTIVITY_ID: HeaderName = HeaderName::from_static("x-ms-activity-id");
const DURATION: HeaderName = HeaderName::from_static("x-ms-request-duration-ms");
const CONTINUATION: HeaderName = HeaderName::from_static("x-ms-continuation");
const ITEM_COUNT: HeaderName = HeaderName::from_static("x-ms-item-count");
const ALT_CONTENT_PATH: HeaderName = HeaderName::from_static("x-ms-alt-content-path");
const CONTENT_PATH: HeaderName = HeaderName::from_static("x-ms-content-path");
const RESOURCE_QUOTA: HeaderName = HeaderName::from_static("x-ms-resource-quota");
const RESOURCE_USAGE: HeaderName = HeaderName::from_static("x-ms-resource-usage");
const WRITE_QUORUM: HeaderName = HeaderName::from_static("x-ms-current-write-quorum");
const REPLICA_SET_SIZE: HeaderName = HeaderName::from_static("x-ms-current-replica-set-size");
/// The header that names the partition key range of a response about items.
const RANGE_ID: HeaderName = HeaderName::from_static("x-ms-documentdb-partitionkeyrangeid");

/// A header of every response.
const fn fixed(name: &'static str, text: &'static str) -> (HeaderName, HeaderValue) {
    (HeaderName::from_static(name), HeaderValue::from_static(text))
}

/// Headers that every response has, with the values of the service's gateway.
const FIXED: [(HeaderName, HeaderValue); 7] = [
    fixed("x-ms-gatewayversion", "version=2.14.0"),
    fixed("x-ms-serviceversion", "version=2.14.0.0"),
    fixed("x-ms-version", "2020-07-15"),
    fixed("x-ms-schemaversion", "1.19"),
    fixed("x-ms-number-of-read-regions", "0"),
    fixed("x-ms-xp-role", "1"),
    fixed("cache-control", "no-store, no-cache"),
];

/// About how many headers a response has beside the fixed ones.
const MORE_HEADERS: usize = 17;

/// A map of the fixed headers, with room for no others: what it has to spare would keep a clone from
/// making room at once for all. A response begins with a clone of it: that copies the finished
/// table, where each insertion hashes its name and looks for a free place.
static TEMPLATE: LazyLock<HeaderMap> = LazyLock::new(|| {
    let mut headers = HeaderMap::with_capacity(FIXED.len());
    headers.extend(FIXED);
    headers
});

/// The response, whose body counts as memory until its last part is forgotten.
///
/// `lsn` and the session token are the commit that the response knows of. A client sends the token
/// back, and then reads nothing older than what it has seen.
pub(super) fn build_response(
    reply: Reply,
    about: RequestSummary,
    held: Share,
) -> Response<Full<Bytes>> {
    let seq = if reply.seq == 0 { about.known } else { reply.seq };
    let mut headers = TEMPLATE.clone();
    headers.reserve(MORE_HEADERS);
    if !reply.body.is_empty() {
        let kind = reply.content_type.unwrap_or("application/json");
        headers.insert(http::header::CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    put_header(&mut headers, SESSION_TOKEN, session::session_token(seq));
    headers.insert(LSN, HeaderValue::from(seq));
    headers.insert(COMMITTED_LSN, HeaderValue::from(seq));
    put_header(&mut headers, REQUEST_CHARGE, request_units::units_text(reply.request_units));
    put_header(&mut headers, ACTIVITY_ID, about.activity);
    put_header(&mut headers, DURATION, milliseconds(about.took));
    if about.items {
        headers.insert(RANGE_ID, HeaderValue::from_static(session::RANGE));
    }
    if let Some(location) = about.location {
        put_header(&mut headers, http::header::CONTENT_LOCATION, location);
    }
    if let Some(etag) = reply.etag {
        put_header(&mut headers, http::header::ETAG, etag);
    }
    if let Some(continuation) = reply.continuation {
        put_header(&mut headers, CONTINUATION, continuation);
    }
    if let Some(count) = reply.count {
        put_header(&mut headers, ITEM_COUNT, count.to_string());
    }
    if let Some(owner) = reply.parent {
        headers.insert(ALT_CONTENT_PATH, owner.path);
        headers.insert(CONTENT_PATH, owner.rid);
    }
    if let Some(stored) = reply.stored {
        headers.insert(RESOURCE_QUOTA, HeaderValue::from_static(QUOTA));
        headers.insert(RESOURCE_USAGE, stored.usage);
        if stored.of_write {
            // A client sees one replica, however many nodes a cluster has.
            headers.insert(WRITE_QUORUM, HeaderValue::from_static("1"));
            headers.insert(REPLICA_SET_SIZE, HeaderValue::from_static("1"));
        }
    }
    for (name, text) in reply.extra {
        put_header(&mut headers, HeaderName::from_static(name), text);
    }
    let mut response = Response::new(Full::new(counted_bytes::count_bytes(reply.body, held)));
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or_default();
    *response.headers_mut() = headers;
    response
}

/// With three digits after the point.
fn milliseconds(took: Duration) -> String {
    // A year has 45 bits of microseconds, and 128 of them cost a division by hand.
    let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    format!("{}.{:03}", us / 1000, us % 1000)
}

/// Adds a header; a text that cannot stand in one is left out, because a name with a line break in
/// it is no reason to fail the whole response.
fn put_header(headers: &mut HeaderMap, name: HeaderName, text: String) {
    if let Ok(value) = HeaderValue::from_maybe_shared(Bytes::from(text)) {
        headers.insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_carry_what_clients_read() {
        let usage = HeaderValue::from_static("documentSize=0;");
        let stored = Some(crate::reply::StoredHeaders { usage, of_write: true });
        let reply = Reply { status: 201, seq: 7, stored, ..Reply::default() };
        let reply = reply.with_etag("\"e\"".to_owned());
        let owner = crate::reply::ParentHeaders::new("dbs/d", "AAAAAQ==");
        let about = RequestSummary {
            activity: "a".to_owned(),
            known: 9,
            items: true,
            location: Some("http://x/dbs/d".to_owned()),
            took: Duration::from_micros(12_034),
        };
        let response = build_response(Reply { parent: owner, ..reply }, about, Share::default());
        let header = |name: &str| response.headers().get(name).map(|text| text.to_str().unwrap());
        assert_eq!(response.status(), 201);
        for (name, want) in [
            ("x-ms-session-token", Some("0:-1#7")),
            ("lsn", Some("7")),
            ("x-ms-request-charge", Some("0")),
            ("x-ms-activity-id", Some("a")),
            ("etag", Some("\"e\"")),
            ("x-ms-request-duration-ms", Some("12.034")),
            ("x-ms-documentdb-partitionkeyrangeid", Some("0")),
            ("content-location", Some("http://x/dbs/d")),
            ("x-ms-alt-content-path", Some("dbs/d")),
            ("x-ms-content-path", Some("AAAAAQ==")),
            ("content-type", None),
            ("x-ms-continuation", None),
            ("x-ms-resource-usage", Some("documentSize=0;")),
            ("x-ms-current-write-quorum", Some("1")),
        ] {
            assert_eq!(header(name), want, "{name}");
        }
    }
}
