//! Activity ids, by which clients and logs name a request.

use std::fmt;

use uuid::Uuid;

/// Longest activity id in bytes that a client may choose; SDKs send a UUID of 36.
const MAX_ACTIVITY_BYTES: usize = 64;

/// The activity id of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Activity {
    Text(String),
    /// A UUID whose first three groups are little-endian, as in frames.
    Guid([u8; 16]),
}

impl Default for Activity {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl fmt::Display for Activity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Guid(bytes) => Uuid::from_bytes_le(*bytes).fmt(f),
        }
    }
}

impl Activity {
    /// Returns the id that a client chose, or a random one. An id only names a request in logs, so a
    /// fast generator is sufficient.
    pub(crate) fn of_client(given: Option<&str>) -> Self {
        let given = given.filter(|id| id.len() <= MAX_ACTIVITY_BYTES);
        let made =
            || uuid::Builder::from_random_bytes(fastrand::u128(..).to_ne_bytes()).into_uuid();
        Self::Text(given.map_or_else(|| made().to_string(), str::to_owned))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_have_the_usual_form() {
        let new = || Activity::of_client(None).to_string();
        let (one, other) = (new(), new());
        assert_ne!(one, other);
        assert_eq!(one.len(), 36);
        assert_eq!(one.as_bytes()[14], b'4');
        assert!(b"89ab".contains(&one.as_bytes()[19]), "{one}");
        let long = "x".repeat(65);
        assert_ne!(Activity::of_client(Some(&long)).to_string(), long);
    }

    #[test]
    fn identifiers_in_frames_are_shown_like_those_in_headers() {
        let bytes = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
        let shown = Activity::Guid(bytes).to_string();
        assert_eq!(shown, "00010203-0405-0607-0809-0a0b0c0d0e0f");
    }
}
