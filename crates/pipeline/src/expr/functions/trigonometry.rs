//! Trigonometric functions, in radians.

use document::{Decimal128, Number, Value};

use super::{
    super::OptionalValue,
    Arity::Exactly,
    Call, Function,
    arithmetic::{NULL, only_number},
    powers::through_double,
    row,
};
use crate::{invalid_request, shown, type_mismatch};

pub(super) const FUNCTIONS: &[Function] = &[
    row("$acos", Exactly(1), |c| bounded_function(c, f64::acos, -1.0, 1.0, "[-1,1]"), "arc cosine"),
    row(
        "$acosh",
        Exactly(1),
        |c| bounded_function(c, f64::acosh, 1.0, INF, "[1,inf]"),
        "inverse hyperbolic cosine",
    ),
    row("$asin", Exactly(1), |c| bounded_function(c, f64::asin, -1.0, 1.0, "[-1,1]"), "arc sine"),
    row("$asinh", Exactly(1), |c| plain_function(c, f64::asinh), "inverse hyperbolic sine"),
    row("$atan", Exactly(1), |c| plain_function(c, f64::atan), "arc tangent"),
    row("$atan2", Exactly(2), atan2, "arc tangent of a quotient"),
    row(
        "$atanh",
        Exactly(1),
        |c| bounded_function(c, f64::atanh, -1.0, 1.0, "[-1,1]"),
        "inverse hyperbolic tangent",
    ),
    row("$cos", Exactly(1), |c| finite_function(c, f64::cos), "cosine"),
    row("$cosh", Exactly(1), |c| plain_function(c, f64::cosh), "hyperbolic cosine"),
    row("$sin", Exactly(1), |c| finite_function(c, f64::sin), "sine"),
    row("$sinh", Exactly(1), |c| plain_function(c, f64::sinh), "hyperbolic sine"),
    row("$tan", Exactly(1), |c| finite_function(c, f64::tan), "tangent"),
    row("$tanh", Exactly(1), |c| plain_function(c, f64::tanh), "hyperbolic tangent"),
    row(
        "$degreesToRadians",
        Exactly(1),
        |c| plain_function(c, f64::to_radians),
        "degrees to radians",
    ),
    row(
        "$radiansToDegrees",
        Exactly(1),
        |c| plain_function(c, f64::to_degrees),
        "radians to degrees",
    ),
];

const INF: f64 = f64::INFINITY;

/// Applies a function of any number. Null for null and missing; 15 digits for a decimal.
fn plain_function(call: &Call<'_>, function: fn(f64) -> f64) -> OptionalValue {
    let Some(number) = only_number(call)? else { return NULL };
    Ok(Some(through_double(number, function)))
}

/// Applies a function with a limited domain, such as the arc cosine. NaN is allowed; `range` is the
/// domain in the error.
fn bounded_function(
    call: &Call<'_>,
    function: fn(f64) -> f64,
    low: f64,
    high: f64,
    range: &str,
) -> OptionalValue {
    let Some(number) = only_number(call)? else { return NULL };
    let value = number.to_f64();
    // The bounds themselves are allowed, even if the result is infinite.
    if !value.is_nan() && !(low..=high).contains(&value) {
        let (name, value) = (call.name, shown(call.value_at(0)));
        return Err(invalid_request(
            50989,
            format!("cannot apply {name} to {value}, value must be in {range}"),
        ));
    }
    Ok(Some(through_double(number, function)))
}

/// Applies a function of finite numbers, such as the sine. NaN is allowed.
fn finite_function(call: &Call<'_>, function: fn(f64) -> f64) -> OptionalValue {
    let Some(number) = only_number(call)? else { return NULL };
    if number.to_f64().is_infinite() {
        let (name, value) = (call.name, shown(call.value_at(0)));
        let text = format!("cannot apply {name} to {value}, value must be in (-inf,inf)");
        return Err(invalid_request(50989, text));
    }
    Ok(Some(through_double(number, function)))
}

/// `$atan2`: the angle of a point; a decimal if one coordinate is one. Null if one is null or
/// missing.
fn atan2(call: &Call<'_>) -> OptionalValue {
    let part = |index: usize, code: i32| {
        if call.arg_at(index).is_nullish() {
            return Ok(None);
        }
        Number::of(call.value_at(index)).map(Some).ok_or_else(|| {
            let kind = call.arg_at(index).type_name();
            type_mismatch(code, format!("$atan2 only supports numeric types, not {kind}"))
        })
    };
    let Some(y) = part(0, 51044)? else { return NULL };
    let Some(x) = part(1, 51045)? else { return NULL };
    let result = y.to_f64().atan2(x.to_f64());
    Ok(Some(match (y, x) {
        (Number::Decimal(_), _) | (_, Number::Decimal(_)) => {
            Value::Decimal128(Decimal128::from_f64_short(result))
        }
        _ => Value::Double(result),
    }))
}
