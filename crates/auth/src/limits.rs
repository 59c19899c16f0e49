//! Times and sizes of this crate.

use std::time::Duration;

/// Maximum difference between the date of a signed request and the machine's clock, in
/// milliseconds, either way. A recorded request can be replayed no longer than this.
pub(crate) const MAX_SKEW_MS: i64 = 15 * 60 * 1000;
/// Minimum lifetime of a resource token in seconds.
pub const MIN_TOKEN_SECONDS: i64 = 10 * 60;
/// Maximum lifetime of a resource token in seconds.
pub const MAX_TOKEN_SECONDS: i64 = 24 * 60 * 60;
/// Default lifetime of a resource token in seconds.
pub const TOKEN_SECONDS: i64 = 60 * 60;
/// Maximum size of an authorization header in bytes.
pub(crate) const MAX_HEADER_BYTES: usize = 16 * 1024;
/// Permitted key lengths in bytes.
pub(crate) const KEY_BYTES: std::ops::RangeInclusive<usize> = 16..=256;
/// Number of wrong keys that one sender may send within a window.
pub const MAX_ATTEMPTS: u32 = 10;
/// The window in which wrong keys are counted.
pub const ATTEMPTS_WINDOW: Duration = Duration::from_secs(60);
/// Number of senders whose wrong keys are counted separately; further ones share a count. It bounds
/// the memory used by guessing from many addresses.
pub const MAX_SENDERS: usize = 4096;
/// Number of wrong passwords for one user that one sender may give without a delay.
pub const BACKOFF_BURST: u32 = 10;
/// The cost of one wrong password: in the long run, one is permitted per this interval.
pub const BACKOFF_STEP: Duration = Duration::from_secs(3);
/// Maximum delay of an attempt because of wrong passwords.
pub const BACKOFF_MAX: Duration = Duration::from_secs(60);
/// Factor by which a sender's limit for all users together exceeds its limit for one user.
pub const SPRAY_FACTOR: u32 = 10;
/// Maximum size of a SCRAM message in bytes.
pub const MAX_SCRAM_BYTES: usize = 4096;
/// Maximum length of a client's SCRAM nonce in bytes.
pub(crate) const MAX_NONCE_BYTES: usize = 1024;
/// Maximum length of a password in bytes, before preparation, which may make it several times as
/// long.
pub const MAX_PASSWORD_BYTES: usize = 1024;
/// Minimum number of hash iterations of a password, from RFC 7677; clients abort an exchange with
/// fewer.
pub const MIN_ITERATIONS: u32 = 4096;
