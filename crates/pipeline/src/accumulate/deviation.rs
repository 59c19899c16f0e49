//! Standard deviations, by Welford's method: the mean and the sum of squared distances from it are
//! carried along, so that one pass is enough and large numbers do not cancel each other out.

use document::{Number, Value, ValueRef};

/// A standard deviation, of a sample or of a whole population.
/// `$stdDevSamp` and `$stdDevPop`; its three figures are also what is written when a group has to
/// leave memory.
#[derive(Clone, Debug)]
pub struct StandardDeviation {
    /// Whether it is of a sample: then it is divided by one less.
    sample: bool,
    /// Numbers so far.
    pub(crate) count: u64,
    /// The mean so far.
    pub(crate) mean: f64,
    /// The sum of squared distances from the mean so far.
    pub(crate) squares: f64,
}

impl StandardDeviation {
    /// Of a sample, or of a whole population.
    pub fn new(sample: bool) -> Self {
        Self { sample, count: 0, mean: 0.0, squares: 0.0 }
    }

    /// Adds a value, if it is a number.
    /// Decimals are taken as the nearest double: the result is a double whatever was added.
    pub fn add_number(&mut self, value: ValueRef<'_>) {
        let Some(number) = Number::of(value) else { return };
        let value = number.to_f64();
        self.count += 1;
        // The distances from the old and from the new mean: their product is what the sum of
        // squares grows by.
        let delta = value - self.mean;
        self.mean += delta / self.count as f64;
        self.squares += delta * (value - self.mean);
    }

    /// The deviation; null when there are too few numbers.
    /// A sample needs two numbers, a population one. NaN and infinities make it NaN.
    pub fn into_deviation(&self) -> Value {
        let count = self.count.saturating_sub(u64::from(self.sample));
        if count == 0 {
            return Value::Null;
        }
        Value::Double((self.squares / count as f64).sqrt())
    }
}
