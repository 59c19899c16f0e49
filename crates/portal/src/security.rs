//! Headers that every answer of the admin address has: nothing of it stands in a frame, is guessed
//! to be of another kind, or loads what is not the server's own.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

/// What pages may load: scripts, styles and data of this server, images also inside the page.
const POLICY: &str = "default-src 'self'; base-uri 'none'; form-action 'self'; \
                      frame-ancestors 'none'; object-src 'none'; img-src 'self' data:";

/// Headers that are the same everywhere: no frame, no guessing of types, no address told to others.
const FIXED: [(HeaderName, &str); 3] = [
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
];

/// Headers that keep other sites' pages from holding a window of ours or embedding its answers.
const SAME_ORIGIN: [&str; 2] = ["cross-origin-opener-policy", "cross-origin-resource-policy"];

/// Adds the headers. A page that brings a content policy of its own keeps it, as the explorer's do.
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
