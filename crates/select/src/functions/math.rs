//! Numeric functions: roots, powers, rounding, bins. An integer that a function does not change is
//! returned exactly.

use document::ValueRef;
use evaluation::{Error, Evaluated};

use super::{Call, Function, UNDEFINED, row};
use crate::number::{integer_value, number_or_nothing};

/// Maximum number of decimal places for rounding.
const MAX_PLACES: u64 = 15;

pub(super) const FUNCTIONS: &[Function] = &[
    row("ABS", 1..=1, abs),
    row("CEILING", 1..=1, |call| unless_integer(call, f64::ceil)),
    row("EXP", 1..=1, |call| on_number(call, f64::exp)),
    row("FLOOR", 1..=1, |call| unless_integer(call, f64::floor)),
    row("LOG", 1..=2, log),
    row("LOG10", 1..=1, |call| on_number(call, f64::log10)),
    row("NUMBERBIN", 1..=2, number_bin),
    row("PI", 0..=0, |_| Ok(number_or_nothing(std::f64::consts::PI))),
    row("POWER", 2..=2, |call| on_two_numbers(call, f64::powf)),
    row("RAND", 0..=0, |call| Ok(number_or_nothing(call.context.random.next_fraction()))),
    row("ROUND", 1..=2, round),
    row("SIGN", 1..=1, sign),
    row("SQRT", 1..=1, |call| on_number(call, f64::sqrt)),
    row("SQUARE", 1..=1, |call| on_number(call, |value| value * value)),
    row("TRUNC", 1..=1, |call| unless_integer(call, f64::trunc)),
];

/// Applies a function to the first argument as a double; undefined if it is not a number.
pub(super) fn on_number<'a>(
    call: &Call<'_, 'a>,
    function: fn(f64) -> f64,
) -> Result<Evaluated<'a>, Error> {
    Ok(call.number_at(0).map_or(Evaluated::Missing, |value| number_or_nothing(function(value))))
}

/// Applies a function to the first two arguments as doubles; undefined if one is not a number.
pub(super) fn on_two_numbers<'a>(
    call: &Call<'_, 'a>,
    function: fn(f64, f64) -> f64,
) -> Result<Evaluated<'a>, Error> {
    let (Some(a), Some(b)) = (call.number_at(0), call.number_at(1)) else { return UNDEFINED };
    Ok(number_or_nothing(function(a, b)))
}

/// Returns the first argument if it is stored as an integer.
fn stored_integer(call: &Call<'_, '_>) -> Option<i64> {
    match call.argument(0)? {
        ValueRef::Int32(value) => Some(i64::from(value)),
        ValueRef::Int64(value) => Some(value),
        _ => None,
    }
}

/// Applies a function that does not change whole numbers: values stored as integers are returned
/// exactly, since a double may not represent them.
fn unless_integer<'a>(
    call: &Call<'_, 'a>,
    function: fn(f64) -> f64,
) -> Result<Evaluated<'a>, Error> {
    match stored_integer(call) {
        Some(value) => Ok(integer_value(value)),
        None => on_number(call, function),
    }
}

/// Returns the absolute value; a double for the least integer, whose absolute value exceeds 64
/// bits.
fn abs<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    match stored_integer(call).and_then(i64::checked_abs) {
        Some(value) => Ok(integer_value(value)),
        None => on_number(call, f64::abs),
    }
}

/// Returns the sign of a number as -1, 0 or 1.
fn sign<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    on_number(call, |value| if value == 0.0 { 0.0 } else { value.signum() })
}

/// Returns the natural logarithm of a number, or the logarithm to a given base.
fn log<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    if !call.is_given(1) {
        return on_number(call, f64::ln);
    }
    on_two_numbers(call, |value, base| match base {
        2.0 => value.log2(),
        10.0 => value.log10(),
        base => value.ln() / base.ln(),
    })
}

/// `ROUND(2.5)` is `3`: halves are rounded away from zero. The optional second argument is the
/// number of decimal places, negative for places before the point.
fn round<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let Some(places) = call.integer_or(1, 0) else { return UNDEFINED };
    if places == 0 {
        return unless_integer(call, f64::round);
    }
    let Some(value) = call.number_at(0) else { return UNDEFINED };
    if MAX_PLACES < places.unsigned_abs() {
        return UNDEFINED;
    }
    let scale = 10_f64.powi(i32::try_from(places.unsigned_abs()).unwrap_or(0));
    Ok(number_or_nothing(if 0 < places {
        (value * scale).round() / scale
    } else {
        (value / scale).round() * scale
    }))
}

/// `NUMBERBIN(17, 5)` is `15`: rounds down to a multiple of the size, or up if the size is
/// negative.
fn number_bin<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    if !call.is_given(1) {
        return unless_integer(call, f64::floor);
    }
    on_two_numbers(call, |value, size| (value / size).floor() * size)
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn numbers_are_computed_and_normalised() {
        check(&[
            ("ABS(-5)", "5"),
            ("ABS(-1.5)", "1.5"),
            ("ABS(9223372036854775807)", "9223372036854775807"),
            ("ABS(-9223372036854775808)", "9.223372036854776e+18"),
            ("ABS('1')", "undefined"),
            ("ABS(undefined)", "undefined"),
            ("ABS(null)", "undefined"),
            ("CEILING(4.2)", "5"),
            ("CEILING(-4.8)", "-4"),
            ("CEILING(9007199254740993)", "9007199254740993"),
            ("FLOOR(62.6)", "62"),
            ("FLOOR(-62.6)", "-63"),
            ("FLOOR(0.2)", "0"),
            ("FLOOR(1e300)", "1e+300"),
            ("TRUNC(2.9)", "2"),
            ("TRUNC(-2.9)", "-2"),
            ("EXP(0)", "1"),
            ("EXP(1000)", "undefined"),
            ("LOG(1)", "0"),
            ("LOG(0)", "undefined"),
            ("LOG(-1)", "undefined"),
            ("LOG(8,2)", "3"),
            ("LOG(1000,10)", "3"),
            ("LOG(81,3)", "4"),
            ("LOG(8,1)", "undefined"),
            ("LOG(8,undefined)", "undefined"),
            ("LOG10(100)", "2"),
            ("PI()", "3.141592653589793"),
            ("POWER(2,10)", "1024"),
            ("POWER(-8,0.5)", "undefined"),
            ("POWER(2,'1')", "undefined"),
            ("SIGN(-2)", "-1"),
            ("SIGN(0)", "0"),
            ("SIGN(-0)", "0"),
            ("SIGN(0.5)", "1"),
            ("SQRT(9)", "3"),
            ("SQRT(2)", "1.4142135623730951"),
            ("SQRT(-1)", "undefined"),
            ("SQUARE(3)", "9"),
            ("SQUARE(1.5)", "2.25"),
            ("SQUARE(1e200)", "undefined"),
        ]);
    }

    #[test]
    fn halves_are_rounded_away_from_zero() {
        check(&[
            ("ROUND(2.4)", "2"),
            ("ROUND(2.6)", "3"),
            ("ROUND(2.5)", "3"),
            ("ROUND(-2.5)", "-3"),
            ("ROUND(-0.5)", "-1"),
            ("ROUND(-2.4)", "-2"),
            ("ROUND(9007199254740993)", "9007199254740993"),
            ("ROUND(3.14159,2)", "3.14"),
            ("ROUND(1234,-2)", "1200"),
            ("ROUND(1.5,0)", "2"),
            ("ROUND(1.5,99)", "undefined"),
            ("ROUND(1.5,-9223372036854775808)", "undefined"),
            ("ROUND(1.5,0.5)", "undefined"),
            ("ROUND('a')", "undefined"),
        ]);
    }

    #[test]
    fn bins_are_multiples_of_their_size() {
        check(&[
            ("NUMBERBIN(37.752,-100)", "100"),
            ("NUMBERBIN(37.752,10)", "30"),
            ("NUMBERBIN(37.752,1)", "37"),
            ("NUMBERBIN(37.752)", "37"),
            ("NUMBERBIN(37.752,0)", "undefined"),
            ("NUMBERBIN(37.752,0.1)", "37.7"),
            ("NUMBERBIN(37.752,0.01)", "37.75"),
            ("NUMBERBIN(-1,2)", "-2"),
            ("NUMBERBIN(1,undefined)", "undefined"),
        ]);
    }

    #[test]
    fn random_numbers_lie_below_one() {
        let context = evaluation::Context::default();
        let random = super::super::find_function("rand").unwrap();
        let mut last = -1.0;
        for _ in 0..100 {
            let got = random.run(&[], &context, 0).unwrap();
            let value = got.value().and_then(crate::number::to_f64).unwrap();
            assert!((0.0..1.0).contains(&value) && value != last);
            last = value;
        }
    }
}
