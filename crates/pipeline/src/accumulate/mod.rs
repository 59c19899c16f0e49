//! States of accumulators over values: sums, means, deviations, extremes, lists, percentiles.
//! `group` wraps them as the state of a group; array functions use them, too.
//!
//! A state is given one value at a time, returns the bytes by which it grew, and is converted to
//! the result at the end. Sums, means and deviations ignore values that are not numbers.

mod deviation;
mod extreme;
mod fixed_count;
mod list;
mod mean;
mod percentile;
mod sum;

pub use deviation::StandardDeviation;
pub use extreme::Extreme;
pub use fixed_count::{FirstOrLast, MinOrMax, parse_count, pick_n};
pub use list::{DistinctValues, JoinedArrays, PushedValues};
pub(crate) use list::{add_elements, merge_fields};
pub use mean::Mean;
pub use percentile::{Percentiles, parse_percentages, percentile_of};
pub(crate) use sum::Compensated;
pub use sum::{Avg, Sum};
