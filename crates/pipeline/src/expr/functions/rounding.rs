//! Rounding and truncation at a decimal place.

use document::{Decimal128, Number, Rounding};
use evaluation::Error;

use super::{
    super::OptionalValue,
    Arity::Between,
    Call, Function,
    arithmetic::{NULL, some_value},
    number::{int32_of, is_int, number_value, truncated},
    row,
};
use crate::{invalid_request, type_mismatch};

pub(super) const FUNCTIONS: &[Function] = &[
    row("$round", Between(1, 2), round, "number rounded half to even at a decimal place"),
    row("$trunc", Between(1, 2), trunc, "number truncated at a decimal place"),
];

/// `$round: [2.5]` is `2`: rounds half to even, at a decimal place or before the point.
fn round(call: &Call<'_>) -> OptionalValue {
    at_place(call, Rounding::HalfEven)
}

/// `$trunc`: truncates at a decimal place.
fn trunc(call: &Call<'_>) -> OptionalValue {
    at_place(call, Rounding::Down)
}

/// Returns the place argument of `$round` and `$trunc`; `None` if it is null. Negative places are
/// before the point: -2 rounds to hundreds.
///
/// Fails with 16004 if the argument is not a number, 31109 if it is a double beyond 64 bits, 51082
/// if it is not an integer of 32 bits, and 51083 if it is out of range.
fn place_argument(call: &Call<'_>) -> Result<Option<i32>, Error> {
    let arg = call.arg_at(1);
    if arg.is_absent() {
        return Ok(Some(0));
    }
    if arg.is_nullish() {
        return Ok(None);
    }
    let Some(number) = Number::of(arg.operand()) else {
        let text = format!("can't convert from BSON type {} to long", arg.type_name());
        return Err(type_mismatch(16004, text));
    };
    if let Number::Double(place) = number {
        truncated(place)?;
    }
    let Some(whole) = int32_of(arg.operand()) else {
        let text = format!("precision argument to  {} must be a integral value", call.name);
        return Err(invalid_request(51082, text));
    };
    match whole {
        place if (-20..=100).contains(&place) => Ok(Some(place)),
        _ => Err(invalid_request(
            51083,
            format!(
                "cannot apply {} with precision value {whole} value must be in [-20, 100]",
                call.name
            ),
        )),
    }
}

/// Rounds a number at a place. The type is kept, except that a 32-bit integer that no longer fits
/// becomes 64-bit; places after the point do not change integers. Null for null and missing.
fn at_place(call: &Call<'_>, rounding: Rounding) -> OptionalValue {
    if call.arg_at(0).is_nullish() {
        return NULL;
    }
    let Some(number) = Number::of(call.value_at(0)) else {
        let kind = call.arg_at(0).type_name();
        let text = format!("{} only supports numeric types, not {kind}", call.name);
        return Err(type_mismatch(51081, text));
    };
    let Some(place) = place_argument(call)? else { return NULL };
    match number {
        Number::Int(v) if place >= 0 => {
            some_value(number_value(Number::Int(v), is_int(call.value_at(0))))
        }
        Number::Int(v) => {
            let rounded = int_at_place(v, place, rounding);
            let rounded = rounded.ok_or_else(|| {
                invalid_request(51080, "invalid conversion from Decimal128 result in $round resulting from arguments: [value, precision]")
            })?;
            some_value(number_value(Number::Int(rounded), is_int(call.value_at(0))))
        }
        Number::Double(v) => some_value(double_at_place(v, place, rounding)),
        Number::Decimal(v) => some_value(decimal_at_place(v, place, rounding)),
    }
}

/// Rounds an integer at a place before the decimal point; `None` if the result does not fit.
fn int_at_place(value: i64, place: i32, rounding: Rounding) -> Option<i64> {
    // At most 10^20, so that the products below fit.
    let unit = 10_i128.pow(place.unsigned_abs());
    let value = i128::from(value);
    let (mut whole, rest) = (value / unit, value % unit);
    if rounding == Rounding::HalfEven {
        let twice = rest.abs() * 2;
        if twice > unit || (twice == unit && whole % 2 != 0) {
            whole += rest.signum();
        }
    }
    i64::try_from(whole * unit).ok()
}

/// Rounds a double at a place, exactly, by converting it to a decimal first. NaN and infinities are
/// unchanged.
fn double_at_place(value: f64, place: i32, rounding: Rounding) -> f64 {
    if !value.is_finite() {
        return value;
    }
    if place == 0 {
        return if rounding == Rounding::Down { value.trunc() } else { value.round_ties_even() };
    }
    // Converted with as many digits as a decimal has: the double 5.015 is slightly less than 5.015.
    let exact = Decimal128::parse(&format!("{value:.33e}")).unwrap_or(Decimal128::NAN);
    decimal_at_place(exact, place, rounding).to_f64()
}

/// Pads a decimal with zeros to at least this number of places, if it has the digits for them.
pub(super) fn at_least_to(value: Decimal128, places: i32) -> Decimal128 {
    match value.parts() {
        Some((_, _, exponent)) if -places < exponent => {
            let longer = value.quantize(-places);
            if longer.is_nan() { value } else { longer }
        }
        _ => value,
    }
}

/// Rounds a decimal at a place. NaN and infinities are unchanged.
fn decimal_at_place(value: Decimal128, place: i32, rounding: Rounding) -> Decimal128 {
    let Some((_, _, exponent)) = value.parts() else { return value };
    if exponent >= -place {
        return at_least_to(value, place);
    }
    if rounding == Rounding::HalfEven {
        return value.quantize(-place);
    }
    // Shifting the point changes only the exponent, so no digit is lost.
    let shift = |by: i32| Decimal128::parse(&format!("1E{by}")).unwrap_or(Decimal128::ZERO);
    value.multiply(shift(place)).round(rounding).multiply(shift(-place))
}
