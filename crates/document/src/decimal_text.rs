//! Formats a Decimal128 as MongoDB does.

use std::fmt;

use crate::decimal::Decimal128;

/// Writes MongoDB's text: plain digits for values from 1E-6 up whose exponent is not positive,
/// scientific notation for all others (`1E+3`), since plain digits would claim a precision that the
/// value does not have. NaN is written without a sign.
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
        // Padding puts at least one digit before the point: `5E-3` becomes `0.005`.
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
