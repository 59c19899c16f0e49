//! Exact percentiles of numbers, all of which are kept.

use document::{Number, Value, ValueRef};
use evaluation::Error;

use crate::invalid_request;

/// The numbers and the requested percentiles. Memory grows with the numbers of a group, and is
/// counted; nothing is approximated.
#[derive(Debug, Default)]
pub struct Percentiles {
    pub(crate) numbers: Vec<f64>,
    /// The requested percentiles, from 0 to 1.
    percentages: Vec<f64>,
    /// Whether the result is a single number (`$median`), rather than an array.
    one: bool,
}

impl Percentiles {
    /// Creates the state of `$median`.
    pub(crate) fn median() -> Self {
        Self { numbers: Vec::new(), percentages: vec![0.5], one: true }
    }

    /// Sets the requested percentiles, which may depend on the group's key.
    pub(crate) fn ask_for(&mut self, percentages: Vec<f64>) {
        self.percentages = percentages;
    }

    /// Adds a value if it is a number and not NaN, which has no rank; returns its bytes.
    pub(crate) fn add_number(&mut self, value: ValueRef<'_>) -> usize {
        match Number::of(value).filter(|number| !number.is_nan()) {
            Some(number) => {
                self.numbers.push(number.to_f64());
                size_of::<f64>()
            }
            None => 0,
        }
    }

    /// Sorts the numbers and returns the percentiles.
    pub(crate) fn into_percentiles(mut self) -> Value {
        self.numbers.sort_by(f64::total_cmp);
        let mut all = self.percentages.iter().map(|p| percentile_of(&self.numbers, *p));
        match self.one {
            true => all.next().unwrap_or(Value::Null),
            false => Value::Array(all.collect()),
        }
    }
}

/// Returns the value at a percentile: the number at the one-based rank `ceil(n * percentage)`, the
/// least one for 0, or null without numbers. `sorted` must be in ascending order.
pub fn percentile_of(sorted: &[f64], percentage: f64) -> Value {
    let rank = (sorted.len() as f64 * percentage).ceil() as usize;
    // Clamped, because rounding of the product can exceed the last rank.
    let at = rank.saturating_sub(1).min(sorted.len().saturating_sub(1));
    sorted.get(at).map_or(Value::Null, |value| Value::Double(*value))
}

/// Parses the percentages of `p`: an array of numbers from 0 to 1.
pub fn parse_percentages(value: ValueRef<'_>) -> Result<Vec<f64>, Error> {
    let ValueRef::Array(values) = value else {
        let text = "The $percentile 'p' field must be an array of numbers from [0.0, 1.0]";
        return Err(invalid_request(7_750_300, text));
    };
    let read = |value: ValueRef<'_>| {
        let number = Number::of(value).map(Number::to_f64);
        number.filter(|p| (0.0..=1.0).contains(p)).ok_or_else(|| {
            invalid_request(
                7_750_303,
                format!(
                    "The $percentile 'p' field must be an array of numbers from [0.0, 1.0], but found: {}",
                    document::shell(value)
                ),
            )
        })
    };
    values.iter().map(read).collect()
}
