//! Sizes, counts and times of the portal.

use std::time::Duration;

/// Largest body, in bytes, that is handed to an API: the largest command of the MongoDB API. An API
/// may take less and says so itself.
pub(crate) const MAX_BODY_BYTES: usize = 16 * 1024 * 1024 + 16 * 1024;
/// Largest body of a login, in bytes; it holds one key.
pub(crate) const MAX_LOGIN_BYTES: usize = 4 * 1024;
/// A body has to arrive within this long.
pub(crate) const BODY_TIMEOUT: Duration = Duration::from_secs(60);
/// How long a session is good, in seconds from its login. It is not prolonged by use.
pub(crate) const SESSION_SECONDS: i64 = 12 * 60 * 60;
/// How many ended sessions are remembered one by one; with more, see `ended.rs`.
pub(crate) const MAX_ENDED_SESSIONS: usize = 10_000;
/// Characters of an activity id that a client gives; a longer one is replaced.
pub(crate) const MAX_ACTIVITY_BYTES: usize = 64;
