//! Sizes and depths that pipelines, edits and filters enforce, with MongoDB's figures.

/// What one blocking stage (sort, group, ...) may hold, in bytes (MongoDB: 100 MB).
/// Beyond it a stage writes to temporary files, where it can and may.
pub const MAX_STAGE_BYTES: usize = 100 * 1024 * 1024;
/// What the concrete paths of one update's positional operators may hold: more than those of any
/// document that can be stored.
pub const MAX_NAMED_BYTES: usize = 256 * 1024 * 1024;
/// Deepest nesting of filters and expressions.
/// Parsing, matching and evaluating recurse that deep.
pub const MAX_EXPRESSION_DEPTH: usize = 100;
