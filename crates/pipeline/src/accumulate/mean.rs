//! The mean of a few numbers, rounded like MongoDB's `$avg` over its arguments: it adds doubles in
//! a compensated sum, but leaves out the accumulated rounding error. In groups `$avg` is more
//! exact.

use document::{Value, ValueRef};

use super::{Avg, sum::two_sum};

/// The mean of arguments. Tests compare it with MongoDB's to the last digit. It keeps two forms of
/// the sum, since decimals may occur among later arguments.
#[derive(Clone, Debug, Default)]
pub struct Mean {
    /// The count of the numbers and their exact mean, which is the result if one of them is a
    /// decimal.
    exact: Avg,
    /// Whether a decimal number was added.
    has_decimal: bool,
    /// The sum of the numbers so far, as rounded to a double.
    sum: f64,
    /// The rounding error of `sum` so far.
    rest: f64,
    /// The sum without compensation, which distinguishes NaN from infinities if `sum` is not
    /// finite.
    plain: f64,
}

impl Mean {
    /// Adds a value if it is a number.
    pub fn add_number(&mut self, value: ValueRef<'_>) {
        self.exact.add_number(value);
        match value {
            ValueRef::Int32(number) => self.add_double(f64::from(number)),
            ValueRef::Int64(number) => {
                // Splits the integer into two parts that doubles represent exactly.
                let high = number / (1 << 32) * (1 << 32);
                self.add_double((number - high) as f64);
                self.add_double(high as f64);
            }
            ValueRef::Double(number) => self.add_double(number),
            ValueRef::Decimal128(_) => self.has_decimal = true,
            _ => {}
        }
    }

    /// Adds a double and accumulates the rounding error.
    fn add_double(&mut self, number: f64) {
        self.plain += number;
        let (number, rest) = two_sum(number, self.rest);
        let (sum, lost) = two_sum(self.sum, number);
        (self.sum, self.rest) = (sum, rest + lost);
    }

    /// Returns the mean; null without numbers. It is never an integer: the mean of `1` and `1` is
    /// the double 1.
    pub fn mean_value(&self) -> Value {
        if self.has_decimal || self.exact.number_count() == 0 {
            return self.exact.mean_value();
        }
        let sum = if self.sum.is_finite() { self.sum } else { self.plain };
        Value::Double(sum / self.exact.number_count() as f64)
    }
}
