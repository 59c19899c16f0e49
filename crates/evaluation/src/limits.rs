//! Sizes, depths and amounts of work that every evaluation enforces, whatever its language.

/// What the values of one expression may hold in memory, in bytes: 100 MiB.
pub const MAX_HELD_BYTES: usize = 100 * 1024 * 1024;
/// What the regular expressions of one program may take together, compiled.
pub const MAX_PATTERNS_BYTES: usize = 64 * 1024 * 1024;
/// Work of one evaluation of one expression, in units of about one byte copied: a second or two.
pub const MAX_WORK: u64 = 2 << 30;
/// Work of one step over an element, a field or a variable, whatever is done in it.
pub const STEP: usize = 128;
/// Deepest nesting of a value that evaluation may build: a stored document and what a stage puts
/// around it.
pub const MAX_VALUE_DEPTH: usize = 200;
/// Largest document that may be stored, in bytes.
pub const MAX_DOCUMENT_BYTES: usize = 16 * 1024 * 1024;
/// Largest document that a query may return, in bytes: a stored one and something beside it.
pub const MAX_RETURNED_BYTES: usize = MAX_DOCUMENT_BYTES + 16 * 1024;
/// Largest document that evaluation may build between two stages, in bytes: a later stage may make
/// it small again. While it is written it takes several times as much, which is counted like
/// everything that the operation holds.
pub const MAX_MADE_BYTES: usize = 64 * 1024 * 1024;
