//! The operands of `$regex` and `$options`. A construct that is not supported is refused when the
//! pattern is compiled, with an error that names it.
//!
//! ```text
//! {a: /^x/i}    {a: {$regex: "^x", $options: "i"}}    {a: {$regex: /^x/, $options: "i"}}
//! ```
//!
//! A pattern is compiled once, when the filter is parsed. The compiled patterns of a command share
//! one memory limit, which is counted during parsing (`as_program`).

use document::ValueRef;
use evaluation::Pattern;

use crate::Error;

/// Compiles a pattern of a filter.
///
/// Fails with 2 if the pattern contains a zero byte, and with the evaluator's errors if it is
/// invalid.
pub(super) fn compile_pattern(pattern: &str, options: &str) -> Result<Pattern, Error> {
    if pattern.contains('\0') {
        return Err(Error::bad_value("Regular expression cannot contain an embedded null byte"));
    }
    Ok(Pattern::perl(pattern, options)?)
}

/// Parses `$regex`, with the operand of the `$options` next to it. A value of the regular
/// expression type may have options of its own; options in both places fail with 51075.
///
/// Fails with 2 if the value is neither text nor a pattern, and with the errors of
/// [`compile_pattern`].
pub(super) fn parse_regex(
    value: ValueRef<'_>,
    options: Option<ValueRef<'_>>,
) -> Result<Pattern, Error> {
    let options = match options {
        None => None,
        Some(ValueRef::String(options)) => Some(options),
        Some(_) => return Err(Error::bad_value("$options has to be a string")),
    };
    match value {
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

/// Fails for `$options` without `$regex`, with which it is parsed.
pub(super) fn check_options(has_regex: bool) -> Result<(), Error> {
    if has_regex { Ok(()) } else { Err(Error::bad_value("$options needs a $regex")) }
}
