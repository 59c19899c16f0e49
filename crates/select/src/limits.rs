//! Sizes that running a SELECT over JSON enforces.

/// What one run may hold in memory: rows, groups and keys.
pub const MAX_RUN_BYTES: usize = 256 * 1024 * 1024;
/// How many bytes of a long place a token keeps; the rest is replaced by a hash. A token travels in
/// a header, which clients and proxies bound to a few kilobytes.
pub const MARK_BYTES: usize = 512;
/// Bytes of the hash that closes a place that was cut.
pub const HASH_BYTES: usize = 16;
/// Rows that are looked at after a full page, to know whether there is a next one. When none of
/// them decides it, a page is promised that may turn out to be empty: looking further could take as
/// long as the query itself.
pub const LOOK_AHEAD: usize = 100;
