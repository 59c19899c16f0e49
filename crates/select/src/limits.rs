//! Limits of running a SELECT over JSON.

/// Maximum size of rows, groups and keys that a run of a query holds in memory, in bytes.
pub const MAX_RUN_BYTES: usize = 256 * 1024 * 1024;
/// Bytes of a long sort position that a continuation token keeps; a hash replaces the rest. Tokens
/// travel in a header, which clients and proxies limit to a few kilobytes.
pub const RESUME_BYTES: usize = 512;
/// Bytes of the hash at the end of a truncated sort position.
pub const HASH_BYTES: usize = 16;
/// Number of rows that are read after a full page to determine whether a next page exists. If none
/// of them decides it, a continuation token is returned for a page that may turn out to be empty,
/// because reading further could take as long as the query itself.
pub const LOOK_AHEAD: usize = 100;
