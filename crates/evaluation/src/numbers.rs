//! Error numbers that both evaluators share. They are stable, because logs and applications may
//! store them.
//!
//! Only one of the two APIs exposes error numbers, so they are taken from that API's list: its
//! drivers depend on them, and its server endpoint returns them unchanged.

/// Error code: a limit on memory or work was exceeded.
pub const LIMIT_EXCEEDED: i32 = 146;
/// Other operations hold the needed memory or too many files are open: retry later.
pub const BUSY: i32 = 365;
/// Error code: a value would be nested too deeply.
pub const TOO_DEEP: i32 = 15;
/// Error code: a value would exceed the maximum size of a document.
pub const VALUE_TOO_LARGE: i32 = 10_334;
/// Error code: a string would exceed the maximum size of a document.
pub const STRING_TOO_LARGE: i32 = 16_493;
/// Error code: a regular expression is invalid, too large, or uses an unsupported feature.
pub const PATTERN_REFUSED: i32 = 51_091;
/// Error code: an option of a regular expression is unknown.
pub const PATTERN_OPTION: i32 = 51_108;
