//! Sums and means: exact for integers, compensated for doubles, decimal for decimals. The result
//! has the widest type that was added, as in MongoDB. The order of additions affects only the last
//! digit of doubles.

use document::{Decimal128, Number, Value, ValueRef};

/// A sum of numbers, ignoring other values. Each type is summed separately and the sums are
/// combined at the end, so that integers are summed exactly even if doubles come in between.
#[derive(Clone, Debug, Default)]
pub struct Sum {
    /// The exact sum of integers. Cannot overflow: 2^64 integers of 64 bits fit.
    pub(crate) whole: i128,
    pub(crate) double: Compensated,
    /// The sum of the decimal numbers; `None` if there were none.
    pub(crate) decimal: Option<Decimal128>,
    /// Whether a 64-bit integer was added, which makes an integer result 64-bit.
    pub(crate) has_long: bool,
    /// Whether a double was added, so that the result is not an integer.
    pub(crate) has_double: bool,
}

/// A compensated sum of doubles (Kahan and Neumaier): `sum + rest` is the exact sum to about twice
/// the digits of a double.
#[derive(Clone, Debug, Default)]
pub(crate) struct Compensated {
    /// The sum of the numbers so far, as rounded to a double.
    pub(crate) sum: f64,
    /// The rounding error of `sum` so far.
    pub(crate) rest: f64,
    /// The sum without compensation, which distinguishes NaN from infinities if `sum` is not
    /// finite.
    pub(crate) plain: f64,
}

impl Compensated {
    /// Adds a number and accumulates the rounding error. The accumulated error is included in each
    /// addition, and not only at the end, so that small numbers after a large one are not lost.
    fn add_double(&mut self, value: f64) {
        self.plain += value;
        let (value, lost) = two_sum(value, self.rest);
        let (sum, value) = two_sum(self.sum, value);
        let rest = value + lost;
        let total = sum + rest;
        self.rest = rest - (total - sum);
        self.sum = total;
    }

    /// Returns the sum as a double.
    fn total(&self) -> f64 {
        if self.sum.is_finite() { self.sum } else { self.plain }
    }

    /// Returns the sum as a decimal with about twice the digits of a double: the rounding error of
    /// the double sum, which is kept separately, is added.
    fn as_decimal(&self) -> Decimal128 {
        let total = Decimal128::from_f64_exact(self.total());
        if self.sum.is_finite() && self.rest != 0.0 {
            return total.add(Decimal128::from_f64_exact(self.rest));
        }
        total
    }
}

/// Returns the sum of two doubles and its exact rounding error, for any magnitudes.
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

impl Sum {
    /// Adds a value if it is a number.
    pub fn add_number(&mut self, value: ValueRef<'_>) {
        match value {
            ValueRef::Int32(v) => self.whole += i128::from(v),
            ValueRef::Int64(v) => {
                self.whole += i128::from(v);
                self.has_long = true;
            }
            ValueRef::Double(v) => {
                self.double.add_double(v);
                self.has_double = true;
            }
            ValueRef::Decimal128(v) => {
                self.decimal = Some(self.decimal.unwrap_or(Decimal128::ZERO).add(v));
            }
            _ => {}
        }
    }

    /// Adds an integer `times` times; other values are ignored.
    pub(crate) fn add_repeated(&mut self, value: ValueRef<'_>, times: i64) {
        let (whole, long) = match value {
            ValueRef::Int32(v) => (i128::from(v), false),
            ValueRef::Int64(v) => (i128::from(v), true),
            _ => return,
        };
        // The product of two numbers below 2^63 fits.
        self.whole += whole * i128::from(times);
        self.has_long |= long;
    }

    /// Returns the sum of integers and doubles as a double. A large integer is added in two parts
    /// that doubles represent exactly.
    fn binary_total(&self) -> f64 {
        let mut sum = self.double.clone();
        if self.whole != 0 {
            // The remainder fits a double.
            let high = self.whole as f64;
            sum.add_double(high);
            sum.add_double((self.whole - high as i128) as f64);
        }
        sum.total()
    }

    /// Returns the sum of everything as a decimal. As in MongoDB, integers and doubles are added to
    /// each other before the decimals, since the order of additions affects the last digits.
    fn as_decimal(&self, decimal: Decimal128) -> Decimal128 {
        let mut others = None;
        if self.whole != 0 {
            // Converted by text, since the sum may not fit an `i64`.
            others = Some(Decimal128::parse(&self.whole.to_string()).unwrap_or(Decimal128::NAN));
        }
        if self.has_double {
            let double = self.double.as_decimal();
            others = Some(others.map_or(double, |whole| whole.add(double)));
        }
        others.map_or(decimal, |others| decimal.add(others))
    }

    /// Returns the sum in the widest type that was added, or the integer 0 without any number. An
    /// integer sum that does not fit 64 bits becomes a double.
    pub fn sum_value(&self) -> Value {
        if let Some(decimal) = self.decimal {
            return Value::Decimal128(self.as_decimal(decimal));
        }
        if self.has_double {
            return Value::Double(self.binary_total());
        }
        match (i32::try_from(self.whole), i64::try_from(self.whole)) {
            (Ok(small), _) if !self.has_long => Value::Int32(small),
            (_, Ok(whole)) => Value::Int64(whole),
            _ => Value::Double(self.whole as f64),
        }
    }
}

/// A mean of numbers, for groups. The sum is divided once at the end.
#[derive(Clone, Debug, Default)]
pub struct Avg {
    /// The sum of the numbers.
    pub(crate) sum: Sum,
    /// Number of values that were added as numbers.
    pub(crate) count: i64,
}

impl Avg {
    /// Adds a value if it is a number.
    pub fn add_number(&mut self, value: ValueRef<'_>) {
        if Number::of(value).is_some() {
            self.sum.add_number(value);
            self.count += 1;
        }
    }

    /// Returns how many values were numbers.
    pub(crate) fn number_count(&self) -> i64 {
        self.count
    }

    /// Returns the mean: a decimal if a decimal was added, else a double; null without numbers.
    pub fn mean_value(&self) -> Value {
        if self.count == 0 {
            return Value::Null;
        }
        match self.sum.decimal {
            Some(decimal) => {
                let count = Decimal128::from_i64(self.count);
                Value::Decimal128(self.sum.as_decimal(decimal).divide(count))
            }
            None => Value::Double(self.sum.binary_total() / self.count as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Value {
        Value::Decimal128(Decimal128::parse(text).unwrap())
    }

    #[test]
    fn decimals_get_what_doubles_lose_among_themselves() {
        for (values, sum) in [
            (vec![decimal("0"), 1e16.into(), 1.0.into()], "10000000000000001"),
            (vec![decimal("1.1"), 2.5.into(), 0.1.into()], "3.700000000000000005551115123125782"),
            (
                vec![0.1.into(), 0.2.into(), 0.3.into(), decimal("100")],
                "100.6000000000000000055511151231258",
            ),
            (vec![f64::INFINITY.into(), decimal("1")], "Infinity"),
            (vec![f64::INFINITY.into(), f64::NEG_INFINITY.into(), decimal("1")], "NaN"),
        ] {
            let (mut total, mut backward) = (Sum::default(), Sum::default());
            values.iter().for_each(|value: &Value| total.add_number(value.as_ref()));
            values.iter().rev().for_each(|value| backward.add_number(value.as_ref()));
            for total in [total, backward] {
                let Value::Decimal128(total) = total.sum_value() else { panic!("{values:?}") };
                assert_eq!(total.to_string(), sum, "{values:?}");
            }
        }
    }
}
