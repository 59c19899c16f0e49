//! Powers and logarithms. Decimals have no such functions: integral powers are computed as
//! products, everything else in doubles.
//!
//! ```text
//! $pow: [2, 10]        1024            $sqrt: 9          3.0
//! $pow: [2, -1]        0.5             $log: [8, 2]      3.0
//! $exp: 0              1.0             $ln: 1            0.0
//! ```

use document::{Decimal128, Number, Value};
use evaluation::Error;

use super::{
    super::OptionalValue,
    Arity::Exactly,
    Call, Function,
    arithmetic::{NULL, only_number, some_value},
    decimal_logs::{self, DIGITS},
    number::{is_int, number_value, to_decimal},
    row,
};
use crate::{invalid_request, shown, type_mismatch};

pub(super) const FUNCTIONS: &[Function] = &[
    row("$exp", Exactly(1), exp, "e raised to a power"),
    row("$ln", Exactly(1), ln, "natural logarithm"),
    row("$log", Exactly(2), log, "logarithm to a base"),
    row("$log10", Exactly(1), log10, "logarithm to base 10"),
    row("$pow", Exactly(2), pow, "power"),
    row("$sqrt", Exactly(1), sqrt, "square root"),
    row("$sigmoid", Exactly(1), sigmoid, "logistic function"),
];

/// Applies a function of doubles. Decimals are converted to doubles, and the result to a decimal of
/// 15 digits; other numbers yield a double.
pub(super) fn through_double(number: Number, function: impl Fn(f64) -> f64) -> Value {
    let result = function(number.to_f64());
    match number {
        Number::Decimal(_) => Value::Decimal128(Decimal128::from_f64_short(result)),
        _ => Value::Double(result),
    }
}

fn exp(call: &Call<'_>) -> OptionalValue {
    let Some(number) = only_number(call)? else { return NULL };
    match number {
        Number::Decimal(v) => some_value(decimal_logs::exp(v)),
        _ => some_value(through_double(number, f64::exp)),
    }
}

/// `$sigmoid`: 1 / (1 + e^-x). If `e^-x` overflows the result is 0.
fn sigmoid(call: &Call<'_>) -> OptionalValue {
    let Some(number) = only_number(call)? else { return NULL };
    if number.is_nan() {
        // NaN is unchanged, including its sign.
        return some_value(call.value_at(0).to_value());
    }
    some_value(through_double(number, |x| 1.0 / (1.0 + (-x).exp())))
}

/// Fails with the number `code` if a logarithm's argument is not positive, except for NaN. Decimals
/// are not converted for this, since a small one may be zero as a double.
fn check_positive(call: &Call<'_>, number: Number, code: i32) -> Result<(), Error> {
    let is_positive = match number {
        Number::Decimal(v) => !v.is_negative() && !v.is_zero(),
        number => number.to_f64() > 0.0,
    };
    if number.is_nan() || is_positive {
        return Ok(());
    }
    Err(invalid_request(
        code,
        format!(
            "{}'s argument must be a positive number, but is {}",
            call.name,
            shown(call.value_at(0))
        ),
    ))
}

/// Applies the logarithm `decimal` or `double` to a number. The result is a decimal for a decimal
/// other than NaN, and a double for any other number.
fn logarithm_of(number: Number, decimal: fn(Decimal128) -> f64, double: fn(f64) -> f64) -> Value {
    match number {
        Number::Decimal(v) if !v.is_nan() => {
            Value::Decimal128(Decimal128::from_f64_short(decimal(v)))
        }
        number => Value::Double(double(number.to_f64())),
    }
}

/// `$ln`: the natural logarithm of a positive number.
fn ln(call: &Call<'_>) -> OptionalValue {
    let Some(number) = only_number(call)? else { return NULL };
    check_positive(call, number, 28766)?;
    some_value(logarithm_of(number, decimal_logs::ln, f64::ln))
}

/// `$log10`: the logarithm to base 10 of a positive number.
fn log10(call: &Call<'_>) -> OptionalValue {
    let Some(number) = only_number(call)? else { return NULL };
    check_positive(call, number, 28761)?;
    some_value(logarithm_of(number, decimal_logs::log10, f64::log10))
}

/// `$log`: the logarithm to a base, as a quotient of natural logarithms, except for the exact base
/// 10. Null if an argument is null or missing. With NaN as an argument the result is a double, even
/// for decimals.
fn log(call: &Call<'_>) -> OptionalValue {
    if call.any_nullish() {
        return NULL;
    }
    let part = |index: usize, what: &str, code: i32| {
        Number::of(call.value_at(index)).ok_or_else(|| {
            let kind = call.arg_at(index).type_name();
            type_mismatch(code, format!("$log's {what} must be numeric, not {kind}"))
        })
    };
    let (number, base) = (part(0, "argument", 28756)?, part(1, "base", 28757)?);
    check_positive(call, number, 28758)?;
    let value = base.to_f64();
    if !value.is_nan() && (value <= 0.0 || value == 1.0) {
        let text = "$log's base must be a positive number not equal to 1, but is";
        return Err(invalid_request(28759, format!("{text} {}", shown(call.value_at(1)))));
    }
    let natural = |number| match number {
        Number::Decimal(v) => decimal_logs::ln(v),
        number => number.to_f64().ln(),
    };
    let result = match number {
        Number::Decimal(v) if value == 10.0 => decimal_logs::log10(v),
        number if value == 10.0 => number.to_f64().log10(),
        number => natural(number) / natural(base),
    };
    match (number, base) {
        _ if number.is_nan() || base.is_nan() => some_value(result),
        (Number::Decimal(_), _) | (_, Number::Decimal(_)) => {
            some_value(Decimal128::from_f64_short(result))
        }
        _ => some_value(result),
    }
}

/// `$sqrt`: an error below zero; a double for integers.
fn sqrt(call: &Call<'_>) -> OptionalValue {
    let Some(number) = only_number(call)? else { return NULL };
    if !number.is_nan() && number.to_f64() < 0.0 {
        return Err(invalid_request(28714, "$sqrt's argument must be greater than or equal to 0"));
    }
    match number {
        Number::Decimal(v) => some_value(v.sqrt()),
        other => some_value(other.to_f64().sqrt()),
    }
}

/// `$pow`: an integer if both operands are integers and the result fits. Otherwise, and for
/// negative exponents, a double. A negative power of zero is an error.
fn pow(call: &Call<'_>) -> OptionalValue {
    if call.any_nullish() {
        return NULL;
    }
    let part = |index: usize, what: &str, code: i32| {
        Number::of(call.value_at(index)).ok_or_else(|| {
            let kind = call.arg_at(index).type_name();
            type_mismatch(code, format!("$pow's {what} must be numeric, not {kind}"))
        })
    };
    let (base, exponent) = (part(0, "base", 28762)?, part(1, "exponent", 28763)?);
    if base.to_f64() == 0.0 && exponent.to_f64() < 0.0 {
        return Err(invalid_request(28764, "$pow cannot take a base of 0 and a negative exponent"));
    }
    let narrow = is_int(call.value_at(0)) && is_int(call.value_at(1));
    match (base, exponent) {
        (Number::Decimal(_), _) | (_, Number::Decimal(_)) => {
            some_value(decimal_pow(base, exponent))
        }
        (Number::Int(b), Number::Int(e)) => {
            // Powers of 0, 1 and -1 need no multiplication, even for large exponents.
            let power = match (b, u32::try_from(e)) {
                (0, _) => Some(i64::from(e == 0)),
                (1, _) => Some(1),
                (-1, _) => Some(if e % 2 == 0 { 1 } else { -1 }),
                (_, Ok(e)) => b.checked_pow(e),
                (_, Err(_)) => None,
            };
            match power {
                Some(power) => some_value(number_value(Number::Int(power), narrow)),
                None => some_value((b as f64).powf(e as f64)),
            }
        }
        (b, e) => some_value(b.to_f64().powf(e.to_f64())),
    }
}

/// Returns a power of decimals with all digits: integral exponents by squaring, halves with a
/// square root. Others, and exponents that are too large for that, are computed in doubles with
/// about 15 digits.
fn decimal_pow(base: Number, exponent: Number) -> Decimal128 {
    let (base, half) = (to_decimal(base), exponent.to_f64().rem_euclid(1.0) == 0.5);
    if half && let Some(whole) = whole_exponent(Number::Double(exponent.to_f64() - 0.5)) {
        return with_all_digits(whole_pow(base, whole).multiply(base.sqrt()));
    }
    match whole_exponent(exponent) {
        Some(whole) => with_all_digits(whole_pow(base, whole)),
        None => Decimal128::from_f64_short(base.to_f64().powf(exponent.to_f64())),
    }
}

/// Returns an integer exponent that is small enough for repeated multiplication.
fn whole_exponent(exponent: Number) -> Option<i64> {
    exponent.to_i64_exact().filter(|e| e.unsigned_abs() <= 100_000)
}

/// Pads the number to 34 digits with trailing zeros. A zero gets no sign and the least exponent.
fn with_all_digits(power: Decimal128) -> Decimal128 {
    const MIN_EXPONENT: i32 = -6176;
    let Some((_, digits, exponent)) = power.parts() else { return power };
    let len = digits.checked_ilog10().map_or(0, |len| len as i32 + 1);
    match len {
        0 => Decimal128::ZERO.quantize(MIN_EXPONENT),
        _ => power.quantize((exponent + len - DIGITS).max(MIN_EXPONENT)),
    }
}

/// Returns a decimal raised to an integer power, by squaring.
fn whole_pow(base: Decimal128, whole: i64) -> Decimal128 {
    let (mut square, mut left) = (base, whole.unsigned_abs());
    let mut power = Decimal128::from_i64(1);
    while left > 0 {
        if left % 2 == 1 {
            power = power.multiply(square);
        }
        // The last square is not used, so it may overflow.
        square = square.multiply(square);
        left /= 2;
    }
    if whole < 0 { Decimal128::from_i64(1).divide(power) } else { power }
}
