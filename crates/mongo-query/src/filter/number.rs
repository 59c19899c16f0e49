//! Numeric operands: `$mod` and `$size`. As in mongod `$size` must be an integer, while the numbers
//! of `$mod` are truncated.
//!
//! ```text
//! {a: {$size: 2.0}}        2
//! {a: {$size: 2.5}}        error 2
//! {a: {$mod: [4.7, 1]}}    divisor 4
//! ```

use document::{Number, Rounding, ValueRef, shell};
use pipeline::filter::PathTest;

use crate::Error;

/// Parses a nonnegative integer, or returns the text of the error. `label` names the operand in the
/// text.
pub(super) fn parse_whole(label: &str, value: ValueRef<'_>) -> Result<i64, String> {
    let shown = format!("{label}: {}", shell(value));
    let Some(number) = Number::of(value) else {
        return Err(format!("Expected a number in: {shown}"));
    };
    if number.is_nan() {
        return Err(format!("Expected an integer, but found NaN in: {shown}"));
    }
    match number.to_i64_exact() {
        Some(whole) if whole < 0 => Err(format!("Expected a non-negative number in: {shown}")),
        Some(whole) => Ok(whole),
        None if number.to_f64().abs() >= 9.2e18 => {
            Err(format!("Cannot represent as a 64-bit integer: {shown}"))
        }
        None => Err(format!("Expected an integer: {shown}")),
    }
}

/// Parses the operand of `$size`.
pub(super) fn parse_size(value: ValueRef<'_>) -> Result<i64, Error> {
    parse_whole("$size", value)
        .and_then(|size| match i32::try_from(size) {
            Ok(_) => Ok(size),
            Err(_) => Err(format!("Cannot represent $size: {} in an int", shell(value))),
        })
        .map_err(|reason| Error::bad_value(format!("Failed to parse $size. {reason}")))
}

/// Parses `$mod: [divisor, remainder]`, both truncated to integers.
///
/// Fails with 2 if the value is not an array of two finite numbers, or the divisor is 0.
pub(super) fn parse_modulo(value: ValueRef<'_>) -> Result<PathTest, Error> {
    let Some(array) = value.as_array() else {
        return Err(Error::bad_value("malformed mod, needs to be an array"));
    };
    let mut parts = array.iter();
    let (Some(divisor), Some(remainder)) = (parts.next(), parts.next()) else {
        return Err(Error::bad_value("malformed mod, not enough elements"));
    };
    if parts.next().is_some() {
        return Err(Error::bad_value("malformed mod, too many elements"));
    }
    let divisor = truncated_number("divisor", divisor)?;
    let remainder = truncated_number("remainder", remainder)?;
    if divisor == 0 {
        return Err(Error::bad_value("divisor cannot be 0"));
    }
    Ok(PathTest::Mod { divisor, remainder })
}

/// Returns a number of `$mod`, truncated; `what` is the operand's name in error texts.
fn truncated_number(what: &str, value: ValueRef<'_>) -> Result<i64, Error> {
    let Some(number) = Number::of(value) else {
        return Err(Error::bad_value(format!("malformed mod, {what} not a number")));
    };
    let invalid = |reason: &str| {
        let text = format!("malformed mod, {what} value is invalid :: caused by :: {reason}");
        Error::bad_value(text)
    };
    if !number.to_f64().is_finite() {
        return Err(invalid("Unable to coerce NaN/Inf to integral type"));
    }
    let whole = match number {
        Number::Int(v) => Some(v),
        Number::Double(v) => Number::Double(v.trunc()).to_i64_exact(),
        Number::Decimal(v) => v.to_i64(Rounding::Down),
    };
    whole.ok_or_else(|| invalid("Out of bounds coercing to integral value"))
}
