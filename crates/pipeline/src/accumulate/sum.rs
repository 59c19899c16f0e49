//! Sums and means: integers exactly, doubles with a compensation, decimals as decimals.

use document::{Decimal128, Number, Value, ValueRef};

/// A sum of numbers; other values do not count.
#[derive(Clone, Debug, Default)]
pub struct Sum {
    pub(crate) whole: i128,
    pub(crate) double: Compensated,
    pub(crate) decimal: Option<Decimal128>,
    pub(crate) has_long: bool,
    pub(crate) has_double: bool,
}

/// A sum of doubles with the part that the sum itself cannot hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct Compensated {
    pub(crate) sum: f64,
    pub(crate) rest: f64,
    pub(crate) plain: f64,
}

impl Compensated {
    fn add_double(&mut self, value: f64) {
        self.plain += value;
        let (value, lost) = two_sum(value, self.rest);
        let (sum, value) = two_sum(self.sum, value);
        let rest = value + lost;
        let total = sum + rest;
        self.rest = rest - (total - sum);
        self.sum = total;
    }

    fn total(&self) -> f64 {
        if self.sum.is_nan() || self.sum.is_infinite() { self.plain } else { self.sum }
    }
}

/// A sum and its rounding error.
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

    fn binary_total(&self) -> f64 {
        let mut sum = self.double.clone();
        if self.whole != 0 {
            let high = self.whole as f64;
            sum.add_double(high);
            sum.add_double((self.whole - high as i128) as f64);
        }
        sum.total()
    }

    fn as_decimal(&self, decimal: Decimal128) -> Decimal128 {
        let mut total = decimal;
        if self.has_double {
            total = total.add(Decimal128::from_f64_exact(self.double.total()));
        }
        if self.whole != 0 {
            let whole = Decimal128::parse(&self.whole.to_string());
            total = total.add(whole.unwrap_or(Decimal128::NAN));
        }
        total
    }

    /// The sum in the widest type that was added; integers that do not fit become doubles.
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

/// A mean of numbers.
#[derive(Clone, Debug, Default)]
pub struct Avg {
    pub(crate) sum: Sum,
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
