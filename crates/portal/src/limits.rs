//! Sizes, counts and times of the portal.

use std::time::Duration;

/// Largest body in bytes that is relayed to an API: the size of the largest command of the MongoDB
/// API. An API may have a lower limit.
pub(crate) const MAX_BODY_BYTES: usize = 16 * 1024 * 1024 + 16 * 1024;
/// Largest body of a login in bytes; it contains one key.
pub(crate) const MAX_LOGIN_BYTES: usize = 4 * 1024;
/// Longest time for a body to arrive.
pub(crate) const BODY_TIMEOUT: Duration = Duration::from_secs(60);
/// Lifetime of a session in seconds from its login; use does not extend it.
pub(crate) const SESSION_SECONDS: i64 = 12 * 60 * 60;
/// Maximum number of ended sessions that are stored individually. Beyond it, all sessions up to an
/// expiry are ended, as `ended_sessions.rs` describes.
pub(crate) const MAX_ENDED_SESSIONS: usize = 10_000;
/// Maximum length of an activity id of a client. A longer id is replaced by a generated one.
pub(crate) const MAX_ACTIVITY_BYTES: usize = 64;
