//! Size and depth limits of pipelines, edits and filters, with MongoDB's values.

/// Maximum memory of one blocking stage (sort, group, ...), in bytes (MongoDB: 100 MB). Beyond it a
/// stage spills to temporary files, if it can and the request allows it.
pub const MAX_STAGE_BYTES: usize = 100 * 1024 * 1024;
/// Maximum memory of the concrete paths of one update's positional operators, in bytes: more than
/// those of any document that can be stored.
pub const MAX_NAMED_BYTES: usize = 256 * 1024 * 1024;
/// Maximum nesting of filters and expressions, since parsing, matching and evaluation are
/// recursive.
pub const MAX_EXPRESSION_DEPTH: usize = 100;
