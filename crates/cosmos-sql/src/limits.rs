//! Limits on the size and structure of a query.

/// Maximum size of a query text, in bytes.
pub const MAX_TEXT_BYTES: usize = 512 * 1024;
/// Maximum nesting of parentheses, brackets, calls, prefix operators and queries. The parser
/// recurses once per level.
pub const MAX_DEPTH: usize = 100;
/// Maximum height of the tree. It can exceed the nesting of the text: operators of different
/// precedence nest in the tree without parentheses in the text, and the parser does not recurse for
/// them.
pub const MAX_HEIGHT: usize = 150;
/// Maximum number of JOINs of a query, including its subqueries.
pub const MAX_JOINS: usize = 10;
/// Maximum number of AND and OR operators. They do not deepen the tree, but each operand is bound
/// and evaluated.
pub const MAX_LOGIC: usize = 2_000;
/// Maximum number of items of one IN.
pub const MAX_IN_ITEMS: usize = 16_000;
/// Maximum number of GROUP BY keys, and of ORDER BY items.
pub const MAX_KEYS: usize = 64;
/// Maximum nesting of a parameter's value. Stored documents have a separate limit.
pub const MAX_PARAMETER_DEPTH: usize = 128;
/// Maximum total size of parameter values in the plan, in bytes. A parameter that is used several
/// times counts as often.
pub const MAX_FILLED_BYTES: usize = 64 * 1024 * 1024;
/// Maximum number of mistakes reported for one query: a text could have one per name, each with a
/// position and a message.
pub const MAX_DIAGNOSTICS: usize = 100;
