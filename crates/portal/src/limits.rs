//! Sizes, counts and times of the portal.

use std::time::Duration;

/// Largest body that is handed to a door: the largest command of the MongoDB door. A door may take
/// less.
pub(crate) const MAX_BODY_BYTES: usize = 16 * 1024 * 1024 + 16 * 1024;
/// Largest body of a request to log in.
pub(crate) const MAX_LOGIN_BYTES: usize = 4 * 1024;
/// A body has to arrive within this long.
pub(crate) const BODY_TIMEOUT: Duration = Duration::from_secs(60);
/// Life of a session, seconds.
pub(crate) const SESSION_SECONDS: i64 = 12 * 60 * 60;
/// Sessions that were ended before their time and are kept by name.
pub(crate) const MAX_ENDED_SESSIONS: usize = 10_000;
/// Characters of an activity id that a client gives.
pub(crate) const MAX_ACTIVITY_BYTES: usize = 64;
