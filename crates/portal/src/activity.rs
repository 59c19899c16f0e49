//! Activity ids, by which a client correlates responses with its requests.

use axum::http::{HeaderMap, HeaderValue};

/// Maximum length of an activity id of a client. A longer id is replaced by a generated one.
const MAX_ACTIVITY_BYTES: usize = 64;
/// The header with the activity id in requests and responses, which Azure's clients use.
pub(crate) const ACTIVITY: &str = "x-ms-activity-id";

/// Returns the activity id that the client sent or, without one, a random UUID.
pub(crate) fn activity_id(headers: &HeaderMap) -> HeaderValue {
    let given = headers.get(ACTIVITY).filter(|id| id.len() <= MAX_ACTIVITY_BYTES);
    given.cloned().or_else(|| HeaderValue::try_from(random_id()).ok()).unwrap_or_else(nil_id)
}

/// Returns the nil UUID, which is always a valid header value.
fn nil_id() -> HeaderValue {
    HeaderValue::from_static("00000000-0000-0000-0000-000000000000")
}

/// Returns a random UUID (version 4, variant 1). It must be unique, but is not secret.
fn random_id() -> String {
    let bits = fastrand::u128(..) & !(0xf000 << 64) & !(0xc000 << 48) | 0x4000 << 64 | 0x8000 << 48;
    let text = format!("{bits:032x}");
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| text.get(range).unwrap_or(""));
    parts.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_clients_or_a_random_one() {
        let mut headers = HeaderMap::new();
        let (one, other) = (activity_id(&headers), activity_id(&headers));
        assert_ne!(one, other);
        assert_eq!(one.len(), 36);
        headers.insert(ACTIVITY, HeaderValue::from_static("mine"));
        assert_eq!(activity_id(&headers), "mine");
        let long = HeaderValue::try_from("x".repeat(65)).unwrap();
        headers.insert(ACTIVITY, long);
        assert_eq!(activity_id(&headers).len(), 36);
    }
}
