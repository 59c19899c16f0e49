//! Numbers of the failures that both evaluators share. They are stable: logs and applications may
//! have kept them.
//!
//! One API shows numbers to its users and the other one none, so they are taken from the list of the
//! one that does: drivers of it know them, and its door hands them on as they are.

/// A limit of memory or of work is exceeded.
pub const LIMIT_EXCEEDED: i32 = 146;
/// Other operations hold the memory that is needed, or too many files: it may go well later.
pub const BUSY: i32 = 365;
/// A value would be nested too deeply.
pub const TOO_DEEP: i32 = 15;
/// A value would be larger than a document may be.
pub const VALUE_TOO_LARGE: i32 = 10_334;
/// A string would be larger than a document may be.
pub const STRING_TOO_LARGE: i32 = 16_493;
/// A regular expression is wrong, too large, or needs what is not supported.
pub const PATTERN_REFUSED: i32 = 51_091;
/// An option of a regular expression is not known.
pub const PATTERN_OPTION: i32 = 51_108;
