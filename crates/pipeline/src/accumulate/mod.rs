//! What accumulators have computed so far, over values: sums, means, deviations, extremes, lists,
//! percentiles. `group` makes the state of a group of them; functions over arrays use the same ones.
//!
//! A state is given one value at a time, says by how many bytes it grew, and becomes the result in
//! the end. What is not a number does not count in a sum, a mean or a deviation.

mod deviation;
mod extreme;
mod list;
mod mean;
mod percentile;
mod some;
mod sum;

pub use deviation::StandardDeviation;
pub use extreme::Extreme;
pub use list::{DistinctValues, JoinedArrays, PushedValues};
pub(crate) use list::{add_elements, merge_fields};
pub use mean::Mean;
pub use percentile::{Percentiles, parse_percentages, percentile_of};
pub use some::{Edge, Ranked, parse_count, pick_n};
pub(crate) use sum::Compensated;
pub use sum::{Avg, Sum};
