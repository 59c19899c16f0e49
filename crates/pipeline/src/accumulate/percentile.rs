//! Percentiles of numbers, exactly: the numbers are kept.

use document::{Number, Value, ValueRef};
use evaluation::Error;

use crate::failure::invalid_request;

/// Numbers, and which percentiles are asked of them.
/// Memory grows with the numbers of a group, and is counted; nothing is approximated.
#[derive(Debug, Default)]
pub struct Percentiles {
    /// All numbers so far.
    pub(crate) numbers: Vec<f64>,
    /// Which percentiles, from 0 to 1.
    asked: Vec<f64>,
    /// Whether the result is one number (`$median`) and not an array.
    one: bool,
}

impl Percentiles {
    /// The median: one percentile, which is not in an array.
    pub(crate) fn median() -> Self {
        Self { numbers: Vec::new(), asked: vec![0.5], one: true }
    }

    /// Says which percentiles are asked for, once the group's key is known.
    pub(crate) fn ask_for(&mut self, percentages: Vec<f64>) {
        self.asked = percentages;
    }

    /// Adds a value, if it is a number and not NaN; returns the bytes that it takes.
    /// NaN has no place among sorted numbers.
    pub(crate) fn add_number(&mut self, value: ValueRef<'_>) -> usize {
        match Number::of(value).filter(|number| !number.is_nan()) {
            Some(number) => {
                self.numbers.push(number.to_f64());
                size_of::<f64>()
            }
            None => 0,
        }
    }

    /// Sorts the numbers, and reads those that are asked for.
    pub(crate) fn into_percentiles(mut self) -> Value {
        self.numbers.sort_by(f64::total_cmp);
        let mut all = self.asked.iter().map(|p| percentile_of(&self.numbers, *p));
        match self.one {
            true => all.next().unwrap_or(Value::Null),
            false => Value::Array(all.collect()),
        }
    }
}

/// The value at a percentage of sorted numbers; null without numbers. It is one of the numbers,
/// never between two.
/// The number at rank `ceil(n * percentage)`, counted from 1; 0 asks for the least one. `sorted`
/// has to be in ascending order.
pub fn percentile_of(sorted: &[f64], percentage: f64) -> Value {
    let rank = (sorted.len() as f64 * percentage).ceil() as usize;
    // Within the list, whatever the product was rounded to.
    let at = rank.saturating_sub(1).min(sorted.len().saturating_sub(1));
    sorted.get(at).map_or(Value::Null, |value| Value::Double(*value))
}

/// Reads the percentages of `p`: an array of numbers from 0 to 1.
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
