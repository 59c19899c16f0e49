//! Numbers of the four BSON types, compared exactly with each other, Decimal128 included.

use std::cmp::Ordering;

use crate::{decimal::Decimal128, value::ValueRef};

/// A number of any of the four types; 32-bit and 64-bit integers share a variant. It is used to
/// compare and calculate; the type of a result is decided by the operator.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    /// An `int` or a `long`.
    Int(i64),
    /// A `double`, including NaN and infinities.
    Double(f64),
    /// A `decimal`, including NaN and infinities.
    Decimal(Decimal128),
}

impl Number {
    /// Returns the number that a value holds, or `None` for a value that is not a number, such as a
    /// boolean, a date or a text of digits.
    pub fn of(value: ValueRef<'_>) -> Option<Self> {
        match value {
            ValueRef::Int32(v) => Some(Self::Int(i64::from(v))),
            ValueRef::Int64(v) => Some(Self::Int(v)),
            ValueRef::Double(v) => Some(Self::Double(v)),
            ValueRef::Decimal128(v) => Some(Self::Decimal(v)),
            _ => None,
        }
    }

    /// Returns whether the number is a NaN.
    pub fn is_nan(self) -> bool {
        match self {
            Self::Int(_) => false,
            Self::Double(v) => v.is_nan(),
            Self::Decimal(v) => v.is_nan(),
        }
    }

    /// Converts to the nearest double.
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Int(v) => v as f64,
            Self::Double(v) => v,
            Self::Decimal(v) => v.to_f64(),
        }
    }

    /// Converts to an integer exactly; returns `None` for fractions, NaN and values outside `i64`.
    pub fn to_i64_exact(self) -> Option<i64> {
        match self {
            Self::Int(v) => Some(v),
            Self::Double(v) => exact_i64(v),
            Self::Decimal(v) => {
                let whole = v.to_i64(crate::decimal::Rounding::Down)?;
                let same = compare_numbers(self, Self::Int(whole)).is_eq();
                same.then_some(whole)
            }
        }
    }
}

/// Converts a double to an integer if it is whole and within `i64`.
fn exact_i64(value: f64) -> Option<i64> {
    // The upper bound is 2^63, one more than the greatest `i64`, and is excluded.
    let in_range = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&value);
    (in_range && value.fract() == 0.0).then_some(value as i64)
}

/// Compares two numbers exactly. NaN sorts below every number and equals itself; `-0` equals `0`.
/// Integers and doubles are not converted to each other, since neither type can represent all
/// values of the other.
pub fn compare_numbers(a: Number, b: Number) -> Ordering {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => return Ordering::Equal,
        (true, false) => return Ordering::Less,
        (false, true) => return Ordering::Greater,
        (false, false) => {}
    }
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => a.cmp(&b),
        (Number::Double(a), Number::Double(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
        (Number::Int(a), Number::Double(b)) => int_to_double(a, b),
        (Number::Double(a), Number::Int(b)) => int_to_double(b, a).reverse(),
        // At least one is a decimal. Only decimal digits represent both decimals and doubles
        // exactly.
        (a, b) => Exact::of(a).compare(&Exact::of(b)),
    }
}

/// Compares an integer with a double: a double outside `i64` by the range alone, others by the
/// whole part and then by the fraction.
fn int_to_double(a: i64, b: f64) -> Ordering {
    // Both bounds are powers of two and so exact as doubles; between them the whole part of the
    // double fits an `i64`.
    if b >= 9_223_372_036_854_775_808.0 {
        Ordering::Less
    } else if b < -9_223_372_036_854_775_808.0 {
        Ordering::Greater
    } else {
        let whole = b.trunc();
        // With equal whole parts the fraction decides; its sign is the double's.
        a.cmp(&(whole as i64)).then_with(|| whole.partial_cmp(&b).unwrap_or(Ordering::Equal))
    }
}

/// A value as decimal digits, `0.d1d2... * 10^point`, without leading or trailing zeros. Every
/// double and every decimal has such a form, so they can be compared exactly.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Exact {
    pub(crate) negative: bool,
    /// Whether the value is an infinity, which has no digits.
    pub(crate) infinite: bool,
    /// Digits from 0 to 9, the first and last of them not 0; empty for zero.
    pub(crate) digits: Vec<u8>,
    /// The power of ten by which the digits, read as a fraction, are multiplied.
    pub(crate) point: i32,
}

impl Exact {
    /// Converts a number exactly. NaN reads as zero and must be handled by the caller.
    pub(crate) fn of(number: Number) -> Self {
        match number {
            Number::Int(v) => Self::new(v < 0, &v.unsigned_abs().to_string(), 0),
            Number::Double(v) if v.is_infinite() => Self::infinity(v < 0.0),
            Number::Double(v) => {
                // 767 significant digits represent every double exactly.
                let text = format!("{:.766e}", v.abs());
                let (mantissa, exponent) = text.split_once('e').unwrap_or(("0", "0"));
                let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
                let exponent: i32 = exponent.parse().unwrap_or(0);
                let fraction = i32::try_from(digits.len()).unwrap_or(0) - 1;
                Self::new(v < 0.0, &digits, exponent - fraction)
            }
            Number::Decimal(v) => match v.parts() {
                Some((negative, coefficient, exponent)) => {
                    Self::new(negative, &coefficient.to_string(), exponent)
                }
                None if v.is_nan() => Self::new(false, "0", 0),
                None => Self::infinity(v.is_negative()),
            },
        }
    }

    /// Builds the value `digits * 10^exponent` and strips leading and trailing zeros. Zero loses
    /// its sign, so that both zeros are equal.
    fn new(negative: bool, digits: &str, exponent: i32) -> Self {
        let point = exponent + i32::try_from(digits.len()).unwrap_or(0);
        let significant = digits.trim_start_matches('0');
        let leading = i32::try_from(digits.len() - significant.len()).unwrap_or(0);
        let significant = significant.trim_end_matches('0');
        if significant.is_empty() {
            return Self { negative: false, infinite: false, digits: Vec::new(), point: 0 };
        }
        let digits = significant.bytes().map(|digit| digit - b'0').collect();
        Self { negative, infinite: false, digits, point: point - leading }
    }

    /// Returns the infinity of this sign.
    fn infinity(negative: bool) -> Self {
        Self { negative, infinite: true, digits: Vec::new(), point: 0 }
    }

    /// Returns whether the value is zero; an infinity also has no digits.
    pub(crate) fn is_zero(&self) -> bool {
        !self.infinite && self.digits.is_empty()
    }

    /// Compares magnitudes: infinities first, then zero, then `point`, then the digits. Digits have
    /// no leading zeros, so the greater `point` is the greater number.
    fn compare_magnitude(&self, other: &Self) -> Ordering {
        self.infinite
            .cmp(&other.infinite)
            .then_with(|| other.is_zero().cmp(&self.is_zero()))
            .then_with(|| self.point.cmp(&other.point))
            .then_with(|| self.digits.cmp(&other.digits))
    }

    /// Compares two numbers by sign, then by magnitude; the caller handles NaN.
    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => self.compare_magnitude(other),
            (true, true) => other.compare_magnitude(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Number {
        Number::Decimal(Decimal128::parse(text).unwrap())
    }

    #[test]
    fn numbers_of_all_types_stand_in_one_order() {
        let ascending = [
            Number::Double(f64::NAN),
            Number::Double(f64::NEG_INFINITY),
            decimal("-1E+400"),
            Number::Double(-f64::MAX),
            Number::Int(i64::MIN),
            Number::Int(-1),
            decimal("-1E-6000"),
            Number::Int(0),
            decimal("1E-6000"),
            Number::Double(5e-324),
            decimal("0.1"),
            Number::Double(0.1),
            Number::Int(1),
            Number::Double(9_007_199_254_740_992.0),
            Number::Int(9_007_199_254_740_993),
            decimal("9007199254740993.5"),
            Number::Int(i64::MAX),
            Number::Double(9_223_372_036_854_775_808.0),
            decimal("1E+400"),
            decimal("Infinity"),
        ];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                assert_eq!(compare_numbers(*a, *b), i.cmp(&j), "{a:?} {b:?}");
            }
        }
        for (a, b) in [
            (Number::Int(20), decimal("20.00")),
            (Number::Double(0.5), decimal("5E-1")),
            (Number::Double(-0.0), decimal("-0")),
            (Number::Double(f64::NAN), decimal("NaN")),
            (Number::Double(f64::INFINITY), decimal("Infinity")),
        ] {
            assert_eq!(compare_numbers(a, b), Ordering::Equal, "{a:?} {b:?}");
        }
    }

    #[test]
    fn whole_numbers_are_told_from_fractions() {
        assert_eq!(Number::Double(20.0).to_i64_exact(), Some(20));
        assert_eq!(Number::Double(20.5).to_i64_exact(), None);
        assert_eq!(Number::Double(f64::NAN).to_i64_exact(), None);
        assert_eq!(Number::Double(9.3e18).to_i64_exact(), None);
        assert_eq!(decimal("20.50").to_i64_exact(), None);
        assert_eq!(decimal("2E+1").to_i64_exact(), Some(20));
    }
}
