//! Arithmetic on decimals. Each operation is computed exactly on big integers and rounded once, so
//! the result is the nearest decimal to the true one. The exponent of a result is IEEE 754's
//! preferred exponent if the digits allow it: `1.10 + 1` is `2.10`, and `6 / 2` is `3`.

use std::cmp::Ordering;

use num_bigint::BigUint;

use crate::decimal::{DIGITS, Decimal128, power_of_ten};

impl Decimal128 {
    /// Returns the sum. If either operand is NaN, returns the first NaN with its sign; infinities
    /// of opposite signs give a NaN without a sign. Two numbers that cancel out give a positive
    /// zero with the smaller of the two exponents.
    #[expect(
        clippy::should_implement_trait,
        reason = "a decimal operation, named like multiply and divide"
    )]
    pub fn add(self, other: Self) -> Self {
        let (Some(a), Some(b)) = (self.parts(), other.parts()) else {
            return match (self.is_nan() || other.is_nan(), self.parts(), other.parts()) {
                (true, _, _) => self.nan_of(other),
                (_, None, None) if self.is_negative() != other.is_negative() => Self::NAN,
                (_, None, _) => self,
                _ => other,
            };
        };
        // With the smaller of the two exponents, both numbers have integer coefficients.
        let exponent = a.2.min(b.2);
        let scaled = |(_, coefficient, own): (bool, u128, i32)| {
            BigUint::from(coefficient) * power_of_ten(i64::from(own - exponent))
        };
        let (x, y) = (scaled(a), scaled(b));
        // Equal signs add up; otherwise the smaller magnitude is subtracted from the greater.
        let (negative, sum) = match (a.0 == b.0, x.cmp(&y)) {
            (true, _) => (a.0, x + y),
            (false, Ordering::Less) => (b.0, y - x),
            (false, Ordering::Greater) => (a.0, x - y),
            (false, Ordering::Equal) => (false, BigUint::ZERO),
        };
        Self::rounded(negative, sum, i64::from(exponent), false)
    }

    /// Returns this number minus `other`.
    pub fn subtract(self, other: Self) -> Self {
        if self.is_nan() || other.is_nan() {
            return self.nan_of(other);
        }
        self.add(other.negate())
    }

    /// Returns the NaN that results from two operands of which at least one is a NaN: the first
    /// one, with its sign.
    fn nan_of(self, other: Self) -> Self {
        Self::signed_nan(if self.is_nan() { self } else { other }.is_negative())
    }

    /// Returns the product. Zero times an infinity is NaN.
    pub fn multiply(self, other: Self) -> Self {
        let negative = self.is_negative() != other.is_negative();
        match (self.parts(), other.parts()) {
            (Some((_, a, e)), Some((_, b, f))) => {
                let product = BigUint::from(a) * BigUint::from(b);
                Self::rounded(negative, product, i64::from(e) + i64::from(f), false)
            }
            _ if self.is_nan() || other.is_nan() => self.nan_of(other),
            _ if self.is_zero() || other.is_zero() => Self::NAN,
            _ => Self::signed_infinity(negative),
        }
    }

    /// Returns the quotient. A number other than zero divided by zero is an infinity, and a finite
    /// number divided by an infinity is zero. Zero divided by zero and an infinity divided by an
    /// infinity are NaN.
    pub fn divide(self, other: Self) -> Self {
        let negative = self.is_negative() != other.is_negative();
        let (Some((_, a, e)), Some((_, b, f))) = (self.parts(), other.parts()) else {
            return match (self.is_nan() || other.is_nan(), self.parts(), other.parts()) {
                (true, _, _) => self.nan_of(other),
                (_, None, None) => Self::NAN,
                (_, None, _) => Self::signed_infinity(negative),
                _ => Self::rounded(negative, BigUint::ZERO, 0, false),
            };
        };
        if b == 0 {
            return if a == 0 { Self::NAN } else { Self::signed_infinity(negative) };
        }
        // IEEE 754's preferred exponent of a quotient: the difference of the operands' exponents.
        let ideal = i64::from(e) - i64::from(f);
        // Enough digits for a quotient of 34 digits and the rounding of the last one; the remainder
        // only says whether the quotient is exact.
        let (top, bottom) = (BigUint::from(a) * power_of_ten(2 * DIGITS), BigUint::from(b));
        let (mut quotient, rest) = (&top / &bottom, &top % &bottom);
        let mut exponent = ideal - 2 * DIGITS;
        let exact = rest == BigUint::ZERO;
        // An exact quotient drops trailing zeros, up to the ideal exponent.
        while exact && exponent < ideal && &quotient % 10_u8 == BigUint::ZERO {
            quotient /= 10_u8;
            exponent += 1;
        }
        Self::rounded(negative, quotient, exponent, !exact)
    }

    /// Returns the remainder with the sign of the dividend, as C's `fmod` does. A divisor of zero
    /// or an infinite dividend gives NaN; an infinite divisor returns the dividend.
    pub fn remainder(self, other: Self) -> Self {
        let (Some((negative, a, e)), Some((_, b, f))) = (self.parts(), other.parts()) else {
            return match (self.is_nan() || other.is_nan(), self.parts()) {
                (true, _) => self.nan_of(other),
                (_, Some(_)) => self,
                (_, None) => Self::NAN,
            };
        };
        if b == 0 {
            return Self::NAN;
        }
        let exponent = e.min(f);
        let scaled =
            |value: u128, own: i32| BigUint::from(value) * power_of_ten(i64::from(own - exponent));
        Self::rounded(negative, scaled(a, e) % scaled(b, f), i64::from(exponent), false)
    }

    /// Returns the square root, or NaN for negative numbers. The root of positive infinity is
    /// itself; a negative zero keeps its sign.
    pub fn sqrt(self) -> Self {
        match self.parts() {
            Some((negative, 0, exponent)) => {
                Self::rounded(negative, BigUint::ZERO, i64::from(exponent / 2), false)
            }
            Some((false, coefficient, exponent)) => {
                // The exponent has to be even because the root halves it.
                let odd = exponent.rem_euclid(2);
                let square = BigUint::from(coefficient) * power_of_ten(2 * DIGITS + i64::from(odd));
                let root = square.sqrt();
                let sticky = &root * &root != square;
                let (mut root, ideal) = (root, i64::from((exponent - odd) / 2));
                let mut own = ideal - DIGITS;
                while !sticky && own < ideal && &root % 10_u8 == BigUint::ZERO {
                    root /= 10_u8;
                    own += 1;
                }
                Self::rounded(false, root, own, sticky)
            }
            None if !self.is_negative() || self.is_nan() => self,
            _ => Self::NAN,
        }
    }
}
