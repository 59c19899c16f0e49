//! Headers that every answer of the admin address has: nothing of it stands in a frame, is guessed
//! to be of another kind, or loads what is not the server's own.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

const POLICY: &str = "default-src 'self'; base-uri 'none'; form-action 'self'; \
                      frame-ancestors 'none'; object-src 'none'; img-src 'self' data:";

const FIXED: [(HeaderName, &str); 3] = [
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
];

const SAME_ORIGIN: [&str; 2] = ["cross-origin-opener-policy", "cross-origin-resource-policy"];

/// Adds them. A page that brings a policy of its own keeps it.
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
