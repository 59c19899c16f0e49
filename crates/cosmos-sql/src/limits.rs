//! Sizes and counts of a query text.

/// Largest text, in bytes.
pub const MAX_TEXT_BYTES: usize = 512 * 1024;
/// Deepest nesting of parentheses, brackets, calls, operators in front and queries.
/// The parser recurses once for each.
pub const MAX_DEPTH: usize = 100;
/// Highest tree; operators of different precedence inside one another count.
/// What the parser reads without recursion can still be higher than it is nested.
pub const MAX_HEIGHT: usize = 150;
/// JOINs of one query and those inside it.
pub const MAX_JOINS: usize = 10;
/// AND and OR operators.
/// They do not make the tree deeper, but each is bound and evaluated.
pub const MAX_LOGIC: usize = 2_000;
/// Items of one IN.
pub const MAX_IN_ITEMS: usize = 16_000;
/// Keys of GROUP BY, and items of ORDER BY.
pub const MAX_KEYS: usize = 64;
/// Deepest nesting of a parameter's value.
/// Stored documents have a limit of their own.
pub const MAX_PARAMETER_DEPTH: usize = 128;
/// What parameters may take in memory, each as often as it is used.
pub const MAX_FILLED_BYTES: usize = 64 * 1024 * 1024;
/// Mistakes that the refusal of one query tells. A text could have one for each of its names, and each
/// is told with its place and a message.
pub const MAX_MISTAKES: usize = 100;
