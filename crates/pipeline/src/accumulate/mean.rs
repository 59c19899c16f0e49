//! The mean of a few numbers, rounded as MongoDB's `$avg` of arguments does it, which adds in
//! doubles and looks at no more than the larger part of the sum. Groups are more exact.

use document::{Value, ValueRef};

use super::{Avg, sum::two_sum};

/// A mean of arguments. Tests against the original hold it to the last digit.
/// It keeps the sum in two forms, since only the end tells whether a decimal was among the
/// arguments.
#[derive(Clone, Debug, Default)]
pub struct Mean {
    /// Where there are decimals, and how many numbers there are.
    exact: Avg,
    /// Whether there was a decimal: then the exact mean is the result.
    has_decimal: bool,
    /// The sum, rounded.
    sum: f64,
    /// What rounding lost.
    rest: f64,
    /// The sum without its rest: where that is no number this one says why.
    plain: f64,
}

impl Mean {
    /// Adds a value, if it is a number.
    pub fn add_number(&mut self, value: ValueRef<'_>) {
        self.exact.add_number(value);
        match value {
            ValueRef::Int32(number) => self.add_double(f64::from(number)),
            ValueRef::Int64(number) => {
                // Two halves that doubles hold exactly.
                let high = number / (1 << 32) * (1 << 32);
                self.add_double((number - high) as f64);
                self.add_double(high as f64);
            }
            ValueRef::Double(number) => self.add_double(number),
            ValueRef::Decimal128(_) => self.has_decimal = true,
            _ => {}
        }
    }

    /// Adds a double, and keeps what the sum lost by rounding.
    fn add_double(&mut self, number: f64) {
        self.plain += number;
        let (number, rest) = two_sum(number, self.rest);
        let (sum, lost) = two_sum(self.sum, number);
        (self.sum, self.rest) = (sum, rest + lost);
    }

    /// The mean; null without numbers.
    /// It is never an integer: the mean of `1` and `1` is the double 1.
    pub fn mean_value(&self) -> Value {
        if self.has_decimal || self.exact.number_count() == 0 {
            return self.exact.mean_value();
        }
        let sum = if self.sum.is_finite() { self.sum } else { self.plain };
        Value::Double(sum / self.exact.number_count() as f64)
    }
}
