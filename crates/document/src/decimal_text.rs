//! The text of a Decimal128, as MongoDB writes it.

use std::fmt;

use crate::decimal::Decimal128;

/// MongoDB's text: plain between 1E-6 and 34 digits, scientific elsewhere.
/// An exponent above zero is always written as such (`1E+3`), since writing it out would claim
/// digits that the value does not have. NaN has no sign in the text.
impl fmt::Display for Decimal128 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_nan() {
            return f.write_str("NaN");
        }
        if self.is_negative() {
            f.write_str("-")?;
        }
        let Some((_, coefficient, exponent)) = self.parts() else {
            return f.write_str("Infinity");
        };
        let digits = coefficient.to_string();
        let len = i32::try_from(digits.len()).unwrap_or(i32::MAX);
        let scientific = exponent + len - 1;
        if exponent > 0 || scientific < -6 {
            let (first, rest) = digits.split_at(1);
            let dot = if rest.is_empty() { "" } else { "." };
            return write!(f, "{first}{dot}{rest}E{scientific:+}");
        }
        let fraction = usize::try_from(-exponent).unwrap_or(0);
        if fraction == 0 {
            return f.write_str(&digits);
        }
        // At least one digit stands before the point: `5E-3` is `0.005`.
        let padded = format!("{digits:0>width$}", width = fraction + 1);
        let (whole, rest) = padded.split_at(padded.len() - fraction);
        write!(f, "{whole}.{rest}")
    }
}

impl fmt::Debug for Decimal128 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Decimal128({self})")
    }
}
