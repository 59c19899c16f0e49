//! The operands of `$regex` and `$options`. Patterns are matched in linear time: what would need
//! going back is refused by name when the pattern is compiled.
//!
//! ```text
//! {a: /^x/i}    {a: {$regex: "^x", $options: "i"}}    {a: {$regex: /^x/, $options: "i"}}    the same
//! ```
//!
//! A pattern is compiled once, when the filter is parsed. What all patterns of a command take
//! together is bounded by the evaluator, which counts them from the start of a parse (`as_program`)
//! to its end.

use document::{DocRef, ValueRef};
use evaluation::Pattern;

use crate::error::Error;

/// Compiles a pattern. Look-ahead is offered: `query` matches it as several patterns that have to
/// hold at one place.
pub(super) fn compile_pattern(pattern: &str, options: &str) -> Result<Pattern, Error> {
    Ok(Pattern::with_look_ahead(pattern, options)?)
}

/// `$regex`, with the `$options` beside it. A pattern of type regex has options of its own; both at
/// once are 51075.
///
/// Errors: 2 for something other than text or a pattern, and for a zero byte; those of the pattern
/// are the evaluator's.
pub(super) fn parse_regex(value: ValueRef<'_>, siblings: DocRef<'_>) -> Result<Pattern, Error> {
    let options = match siblings.get("$options") {
        None => None,
        Some(ValueRef::String(options)) => Some(options),
        Some(_) => return Err(Error::bad_value("$options has to be a string")),
    };
    match value {
        ValueRef::String(pattern) if pattern.contains('\0') => {
            Err(Error::bad_value("Regular expression cannot contain an embedded null byte"))
        }
        ValueRef::String(pattern) => compile_pattern(pattern, options.unwrap_or_default()),
        ValueRef::Regex { options: own, .. } if options.is_some() && !own.is_empty() => {
            Err(Error::new(51075, "options set in both $regex and $options"))
        }
        ValueRef::Regex { pattern, options: own } => {
            compile_pattern(pattern, options.unwrap_or(own))
        }
        _ => Err(Error::bad_value("$regex has to be a string")),
    }
}

/// `$options` is read with `$regex`; alone it is an error.
pub(super) fn options_alone(siblings: DocRef<'_>) -> Result<(), Error> {
    match siblings.get("$regex") {
        Some(_) => Ok(()),
        None => Err(Error::bad_value("$options needs a $regex")),
    }
}
