//! Sizes that running a SELECT over JSON enforces.

/// What one run may hold in memory: rows, groups and keys.
pub const MAX_RUN_BYTES: usize = 256 * 1024 * 1024;
/// How much of a place a token keeps.
pub const MARK_BYTES: usize = 512;
/// What closes a place that was cut.
pub const HASH_BYTES: usize = 16;
/// Rows that are looked at behind a full page, to know whether there is a next one. Behind more of
/// them a page is promised that may turn out to be empty.
pub const LOOK_AHEAD: usize = 100;
