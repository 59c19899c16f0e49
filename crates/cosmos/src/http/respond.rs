//! Builds responses with their headers. Names and formats are Azure Cosmos DB's; SDKs expose
//! several of them to applications (charge, session token, activity id, etag, continuation), so
//! they are set for all operations.

use std::{sync::LazyLock, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use http_body_util::Full;
use hyper::Response;
use throughput::request_units;

use crate::{
    exchange::{Answer, count_bytes},
    limits::QUOTA,
    session,
};

// Constants, because parsing a name at run time looks it up among all known ones.
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
const SUB_STATUS: HeaderName = HeaderName::from_static("x-ms-substatus");
const RETRY_AFTER: HeaderName = HeaderName::from_static("x-ms-retry-after-ms");
const ITEM_LSN: HeaderName = HeaderName::from_static("x-ms-item-lsn");
const RANGE_ID: HeaderName = HeaderName::from_static("x-ms-documentdb-partitionkeyrangeid");

const fn fixed(name: &'static str, text: &'static str) -> (HeaderName, HeaderValue) {
    (HeaderName::from_static(name), HeaderValue::from_static(text))
}

/// Headers of every response, with the values that Azure Cosmos DB's gateway sends.
const FIXED: [(HeaderName, HeaderValue); 7] = [
    fixed("x-ms-gatewayversion", "version=2.14.0"),
    fixed("x-ms-serviceversion", "version=2.14.0.0"),
    fixed("x-ms-version", "2020-07-15"),
    fixed("x-ms-schemaversion", "1.19"),
    fixed("x-ms-number-of-read-regions", "0"),
    fixed("x-ms-xp-role", "1"),
    fixed("cache-control", "no-store, no-cache"),
];

/// Approximate number of headers in addition to the fixed ones.
const MORE_HEADERS: usize = 17;

/// A map of the headers in `FIXED`. Each response clones it, which is faster than inserting them
/// one by one, since the hash table is copied as a whole. The map has no spare capacity, so that a
/// clone needs a single allocation.
static TEMPLATE: LazyLock<HeaderMap> = LazyLock::new(|| {
    let mut headers = HeaderMap::with_capacity(FIXED.len());
    headers.extend(FIXED);
    headers
});

/// Builds the response; the memory of the body stays reserved until its last part is dropped.
/// `location` is the URL of the resource in the response.
///
/// The header `lsn` and the session token report the commit that the response reflects. A client
/// sends the token back and then never reads older state.
pub(super) fn build_response(answer: Answer, location: Option<String>) -> Response<Full<Bytes>> {
    let seq = answer.seq();
    let Answer { reply, activity, about_items, took, held, .. } = answer;
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
    put_header(&mut headers, ACTIVITY_ID, activity.to_string());
    put_header(&mut headers, DURATION, milliseconds(took));
    if about_items {
        headers.insert(RANGE_ID, HeaderValue::from_static(session::RANGE));
    }
    if let Some(location) = location {
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
            // A client sees a single replica with any number of nodes.
            headers.insert(WRITE_QUORUM, HeaderValue::from_static("1"));
            headers.insert(REPLICA_SET_SIZE, HeaderValue::from_static("1"));
        }
    }
    if reply.sub_status != 0 {
        headers.insert(SUB_STATUS, HeaderValue::from(reply.sub_status));
    }
    if let Some(ms) = reply.retry_ms {
        headers.insert(RETRY_AFTER, HeaderValue::from(ms));
    }
    if let Some(seq) = reply.item_seq {
        headers.insert(ITEM_LSN, HeaderValue::from(seq));
    }
    for (name, text) in reply.extra {
        put_header(&mut headers, HeaderName::from_static(name), text);
    }
    let mut response = Response::new(Full::new(count_bytes(reply.body, held)));
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or_default();
    *response.headers_mut() = headers;
    response
}

/// Formats milliseconds with three decimals.
fn milliseconds(took: Duration) -> String {
    // 64 bits suffice for any duration, and avoid a 128-bit division.
    let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    format!("{}.{:03}", us / 1000, us % 1000)
}

/// Adds a header. A value that is not valid in a header, such as a name with a line break, is
/// omitted instead of failing the response.
fn put_header(headers: &mut HeaderMap, name: HeaderName, text: String) {
    if let Ok(value) = HeaderValue::from_maybe_shared(Bytes::from(text)) {
        headers.insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{exchange::Activity, reply::Reply};

    #[test]
    fn answers_carry_what_clients_read() {
        let usage = HeaderValue::from_static("documentSize=0;");
        let stored = Some(crate::reply::StoredHeaders { usage, of_write: true });
        let reply = Reply { status: 201, seq: 7, stored, ..Reply::default() };
        let reply = reply.with_etag("\"e\"".to_owned());
        let owner = crate::reply::ParentHeaders::new("dbs/d", "AAAAAQ==");
        let answer = Answer {
            activity: Activity::Text("a".to_owned()),
            known: 9,
            about_items: true,
            took: Duration::from_micros(12_034),
            ..Answer::of_reply(Reply { parent: owner, sub_status: 3, retry_ms: Some(4), ..reply })
        };
        let response = build_response(answer, Some("http://x/dbs/d".to_owned()));
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
            ("x-ms-substatus", Some("3")),
            ("x-ms-retry-after-ms", Some("4")),
            ("x-ms-item-lsn", None),
            ("x-ms-resource-usage", Some("documentSize=0;")),
            ("x-ms-current-write-quorum", Some("1")),
        ] {
            assert_eq!(header(name), want, "{name}");
        }
    }
}
