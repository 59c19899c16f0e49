//! Security headers of all responses of the admin address: they prevent framing, content type
//! sniffing, and loading resources from other servers.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

/// Content security policy: scripts, styles and data only from this server; images also inline.
const POLICY: &str = "default-src 'self'; base-uri 'none'; form-action 'self'; \
                      frame-ancestors 'none'; object-src 'none'; img-src 'self' data:";

/// Security headers that are the same in every response: no framing, no type sniffing, no referrer.
const FIXED: [(HeaderName, &str); 3] = [
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
];

/// Headers that keep pages of other sites from controlling a window of this site or embedding its
/// responses.
const SAME_ORIGIN: [&str; 2] = ["cross-origin-opener-policy", "cross-origin-resource-policy"];

/// Adds the headers. A response that already has a content security policy, such as the explorer's,
/// keeps it.
pub(crate) fn add_headers(headers: &mut HeaderMap) {
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert_with(|| HeaderValue::from_static(POLICY));
    for (name, text) in FIXED {
        headers.insert(name, HeaderValue::from_static(text));
    }
    for name in SAME_ORIGIN {
        let name = HeaderName::from_static(name);
        headers.insert(name, HeaderValue::from_static("same-origin"));
    }
}
