//! Limits on size, depth and work that apply to every evaluation in both languages.

/// Maximum memory of the values of one expression, in bytes: 100 MiB.
pub const MAX_HELD_BYTES: usize = 100 * 1024 * 1024;
/// Maximum memory of all compiled regular expressions of one program, in bytes.
pub const MAX_PATTERNS_BYTES: usize = 64 * 1024 * 1024;
/// Maximum work of one evaluation of one expression, in units of about one byte copied: a second or
/// two.
pub const MAX_WORK: u64 = 2 << 30;
/// Units of work charged for one step over an element, a field or a variable, besides the work done
/// in the step.
pub const STEP: usize = 128;
/// Maximum nesting of a value that evaluation builds: a stored document plus the levels that stages
/// add.
pub const MAX_VALUE_DEPTH: usize = 200;
/// Maximum size of a stored document, in bytes.
pub const MAX_DOCUMENT_BYTES: usize = 16 * 1024 * 1024;
/// Maximum size of a returned document, in bytes: a stored one plus some metadata.
pub const MAX_RETURNED_BYTES: usize = MAX_DOCUMENT_BYTES + 16 * 1024;
/// Maximum size of a document between two stages, in bytes; a later stage may make it smaller.
/// Building it takes several times as much memory, which is reserved like all memory of the
/// operation.
pub const MAX_MADE_BYTES: usize = 64 * 1024 * 1024;
