//! Results of arithmetic over JSON numbers. Whole results are integers, so that `1.5 + 0.5` is `2`
//! and not `2.0`; results that JSON cannot represent (infinite, not a number) are undefined.

use document::{Number, Value, ValueRef};
use evaluation::Evaluated;

/// 2^53: every whole number up to it is exactly representable as a double.
const MAX_WHOLE: f64 = 9_007_199_254_740_992.0;

/// Converts the result of a computation: whole results become integers, results that are not finite
/// undefined.
pub fn number_or_nothing(value: f64) -> Evaluated<'static> {
    if !value.is_finite() {
        return Evaluated::Missing;
    }
    if value.fract() == 0.0 && value.abs() < MAX_WHOLE {
        return integer_value(value as i64);
    }
    Evaluated::Owned(Value::Double(value))
}

/// Returns an integer as an evaluated value.
pub fn integer_value(value: i64) -> Evaluated<'static> {
    Evaluated::Owned(Value::Int64(value))
}

/// Returns the double nearest to a number, or `None` for other types.
pub fn to_f64(value: ValueRef<'_>) -> Option<f64> {
    Number::of(value).map(Number::to_f64)
}

/// Returns the integer that a number equals (`3.0` is 3); `None` for fractions, numbers beyond 64
/// bits and other types.
pub fn to_i64(value: ValueRef<'_>) -> Option<i64> {
    Number::of(value).and_then(Number::to_i64_exact)
}

#[cfg(test)]
mod tests {
    use document::json::to_string;

    use super::*;

    #[test]
    fn whole_results_are_integers_and_impossible_ones_nothing() {
        for (value, want) in [
            (2.0, "2"),
            (-2.5, "-2.5"),
            (-0.0, "0"),
            (9_007_199_254_740_991.0, "9007199254740991"),
            (9_007_199_254_740_992.0, "9007199254740992"),
            (-9_007_199_254_740_991.0, "-9007199254740991"),
            (1e300, "1e+300"),
            (f64::NAN, "undefined"),
            (f64::INFINITY, "undefined"),
            (f64::NEG_INFINITY, "undefined"),
        ] {
            let got = number_or_nothing(value).value().map_or("undefined".to_owned(), to_string);
            assert_eq!(got, want, "{value}");
        }
    }

    #[test]
    fn only_numbers_are_read_as_numbers() {
        for (value, double, whole) in [
            (Value::Int64(i64::MAX), Some(9.223_372_036_854_776e18), Some(i64::MAX)),
            (Value::Int32(3), Some(3.0), Some(3)),
            (Value::Double(3.0), Some(3.0), Some(3)),
            (Value::Double(3.5), Some(3.5), None),
            (Value::Double(1e19), Some(1e19), None),
            (Value::from("3"), None, None),
            (Value::Null, None, None),
        ] {
            assert_eq!(to_f64(value.as_ref()), double, "{value:?}");
            assert_eq!(to_i64(value.as_ref()), whole, "{value:?}");
        }
    }
}
