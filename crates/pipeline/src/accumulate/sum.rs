//! Sums and means: integers exactly, doubles with a compensation, decimals as decimals. The type of
//! a sum is the widest one that was added, as MongoDB has it; adding in another order can change
//! the last digit only of doubles.

use document::{Decimal128, Number, Value, ValueRef};

/// A sum of numbers; other values do not count. Each type is summed for itself and the sums are
/// joined at the end.
/// Keeping types apart makes a sum of integers exact whatever doubles come between.
#[derive(Clone, Debug, Default)]
pub struct Sum {
    /// The sum of integers, exactly.
    /// 2^64 integers of 64 bits fit, so that it never overflows.
    pub(crate) whole: i128,
    /// The sum of doubles.
    pub(crate) double: Compensated,
    /// The sum of decimals, if there was one.
    pub(crate) decimal: Option<Decimal128>,
    /// Whether a 64-bit integer was added: then an integer sum is one too.
    pub(crate) has_long: bool,
    /// Whether a double was added: then the sum is no integer.
    pub(crate) has_double: bool,
}

/// A sum of doubles with the part that the sum itself cannot hold (Kahan and Neumaier): `sum +
/// rest` is the exact sum to about twice the digits of a double.
#[derive(Clone, Debug, Default)]
pub(crate) struct Compensated {
    /// The sum, rounded.
    pub(crate) sum: f64,
    /// What rounding lost so far.
    pub(crate) rest: f64,
    /// The sum without compensation. Infinities and NaN make the compensation meaningless, and this
    /// one says which of them it is.
    pub(crate) plain: f64,
}

impl Compensated {
    /// Adds a number and what rounding lost so far; what this addition loses is kept.
    /// The rest goes into the next addition, not only into the result, so that small numbers after
    /// a large one are not lost.
    fn add_double(&mut self, value: f64) {
        self.plain += value;
        let (value, lost) = two_sum(value, self.rest);
        let (sum, value) = two_sum(self.sum, value);
        let rest = value + lost;
        let total = sum + rest;
        self.rest = rest - (total - sum);
        self.sum = total;
    }

    /// The sum to the last digit of a double.
    fn total(&self) -> f64 {
        if self.sum.is_finite() { self.sum } else { self.plain }
    }

    /// The sum as a decimal, to about twice the digits of a double: what the doubles lost by
    /// rounding is a part of it.
    fn as_decimal(&self) -> Decimal128 {
        let total = Decimal128::from_f64_exact(self.total());
        if self.sum.is_finite() && self.rest != 0.0 {
            return total.add(Decimal128::from_f64_exact(self.rest));
        }
        total
    }
}

/// A sum and its rounding error, exactly, whatever the sizes of the two.
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

impl Sum {
    /// Adds a value, if it is a number.
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

    /// Adds a whole number so many times; any other value is not added.
    pub(crate) fn add_repeated(&mut self, value: ValueRef<'_>, times: i64) {
        let (whole, long) = match value {
            ValueRef::Int32(v) => (i128::from(v), false),
            ValueRef::Int64(v) => (i128::from(v), true),
            _ => return,
        };
        // Less than 2^63 of less than 2^63 fit.
        self.whole += whole * i128::from(times);
        self.has_long |= long;
    }

    /// The sum of integers and doubles as a double. A large integer is added in two parts that
    /// doubles hold.
    fn binary_total(&self) -> f64 {
        let mut sum = self.double.clone();
        if self.whole != 0 {
            // What the nearest double leaves is small enough to be one itself.
            let high = self.whole as f64;
            sum.add_double(high);
            sum.add_double((self.whole - high as i128) as f64);
        }
        sum.total()
    }

    /// The sum of everything as a decimal. Integers and doubles are added to each other before
    /// they are added to the decimals, as MongoDB does it, which decides the last digits.
    fn as_decimal(&self, decimal: Decimal128) -> Decimal128 {
        let mut others = None;
        if self.whole != 0 {
            // By its text: a sum of integers may have more digits than an `i64` holds.
            others = Some(Decimal128::parse(&self.whole.to_string()).unwrap_or(Decimal128::NAN));
        }
        if self.has_double {
            let double = self.double.as_decimal();
            others = Some(others.map_or(double, |whole| whole.add(double)));
        }
        others.map_or(decimal, |others| decimal.add(others))
    }

    /// The sum in the widest type that was added; integers that do not fit become doubles.
    /// Without any number it is the integer 0.
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

/// A mean of numbers, for groups.
/// The sum is divided once at the end, so that no addition rounds by the count.
#[derive(Clone, Debug, Default)]
pub struct Avg {
    /// The sum of the numbers.
    pub(crate) sum: Sum,
    /// How many they are.
    pub(crate) count: i64,
}

impl Avg {
    /// Adds a value, if it is a number.
    pub fn add_number(&mut self, value: ValueRef<'_>) {
        if Number::of(value).is_some() {
            self.sum.add_number(value);
            self.count += 1;
        }
    }

    /// How many numbers were added.
    pub(crate) fn number_count(&self) -> i64 {
        self.count
    }

    /// The mean; null without numbers.
    /// It is a decimal where a decimal was added, else a double.
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
