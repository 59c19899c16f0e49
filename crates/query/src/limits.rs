//! Sizes, depths and counts that evaluation enforces, with MongoDB's figures.

/// What one blocking stage (sort, group, ...) may hold, in bytes (MongoDB: 100 MB).
pub const MAX_STAGE_BYTES: usize = 100 * 1024 * 1024;
/// Deepest nesting of a value that evaluation may build.
pub const MAX_VALUE_DEPTH: usize = 150;
/// Deepest nesting of filters and expressions.
pub const MAX_EXPRESSION_DEPTH: usize = 100;
/// Largest document that evaluation may build, in bytes.
pub const MAX_DOCUMENT_BYTES: usize = 16 * 1024 * 1024;
