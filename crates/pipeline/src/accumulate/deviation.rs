//! Standard deviations by Welford's method: updates the mean and the sum of squared distances from
//! it in one pass, without the cancellation of large numbers.

use document::{Number, Value, ValueRef};

/// The state of `$stdDevSamp` or `$stdDevPop`. Its three figures are saved when a group is spilled.
#[derive(Clone, Debug)]
pub struct StandardDeviation {
    /// Whether to compute the deviation of a sample, which divides by one less than the number of
    /// values.
    sample: bool,
    pub(crate) count: u64,
    pub(crate) mean: f64,
    /// Sum of squared distances from the mean.
    pub(crate) squares: f64,
}

impl StandardDeviation {
    /// Creates an empty state, for a sample or for a whole population.
    pub fn new(sample: bool) -> Self {
        Self { sample, count: 0, mean: 0.0, squares: 0.0 }
    }

    /// Adds a value if it is a number. Decimals are converted to double, the type of the result.
    pub fn add_number(&mut self, value: ValueRef<'_>) {
        let Some(number) = Number::of(value) else { return };
        let value = number.to_f64();
        self.count += 1;
        // The sum of squares grows by the product of the distances from the old and from the new
        // mean.
        let delta = value - self.mean;
        self.mean += delta / self.count as f64;
        self.squares += delta * (value - self.mean);
    }

    /// Returns the deviation; null if there are fewer than two numbers of a sample or none of a
    /// population. NaN and infinities make it NaN.
    pub fn into_deviation(&self) -> Value {
        let count = self.count.saturating_sub(u64::from(self.sample));
        if count == 0 {
            return Value::Null;
        }
        Value::Double((self.squares / count as f64).sqrt())
    }
}
