//! Times and sizes of this crate.

use std::time::Duration;

/// How far the date of a signed request may be from the machine's clock, milliseconds, either way: a
/// recorded request is good for no longer than this.
pub(crate) const MAX_SKEW_MS: i64 = 15 * 60 * 1000;
/// Shortest life of a resource token, seconds.
pub const MIN_TOKEN_SECONDS: i64 = 10 * 60;
/// Longest life of a resource token, seconds.
pub const MAX_TOKEN_SECONDS: i64 = 24 * 60 * 60;
/// Life of a resource token when nothing is asked for, seconds.
pub const TOKEN_SECONDS: i64 = 60 * 60;
/// Largest authorization header that is looked at, bytes.
pub(crate) const MAX_HEADER_BYTES: usize = 16 * 1024;
/// Bytes of a key, at least and at most.
pub(crate) const KEY_BYTES: std::ops::RangeInclusive<usize> = 16..=256;
/// Wrong keys that one sender may give within a window before he has to wait.
pub const MAX_ATTEMPTS: u32 = 10;
/// The window in which wrong keys are counted.
pub const ATTEMPTS_WINDOW: Duration = Duration::from_secs(60);
/// Senders whose wrong keys are counted apart; more share one count. It bounds the memory that
/// guessing from many addresses can take.
pub const MAX_SENDERS: usize = 4096;
/// Wrong passwords for one user that one sender may give before it has to wait.
pub const BACKOFF_BURST: u32 = 10;
/// What one more wrong password costs: so often one may be tried in the long run.
pub const BACKOFF_PLACE: Duration = Duration::from_secs(3);
/// Longest time that wrong passwords make the next attempt wait.
pub const BACKOFF_MOST: Duration = Duration::from_secs(60);
/// How many times as many wrong passwords one sender may give for all users together.
pub const SPRAY_FACTOR: u32 = 10;
/// Largest message of a SCRAM exchange that is looked at, bytes.
pub const MAX_SCRAM_BYTES: usize = 4096;
/// Longest nonce of a client in a SCRAM exchange, bytes.
pub(crate) const MAX_NONCE_BYTES: usize = 1024;
/// Longest password before it is prepared, bytes. Preparing may make it several times as long.
pub const MAX_PASSWORD_BYTES: usize = 1024;
/// Fewest iterations that a password is hashed with: what RFC 7677 asks for, and below it clients end
/// an exchange.
pub const MIN_ITERATIONS: u32 = 4096;
