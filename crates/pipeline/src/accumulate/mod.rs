//! What accumulators have computed so far, over values: sums, means, deviations, extremes, lists,
//! percentiles. `group` makes the state of a group of them; functions over arrays use the same ones.

mod deviation;
mod extreme;
mod list;
mod mean;
mod percentile;
mod some;
mod sum;

pub use deviation::Deviation;
pub use extreme::Extreme;
pub use list::{Held, Joined, Unique};
pub(crate) use list::{merge, union};
pub use mean::Mean;
pub use percentile::{Percentiles, percentages, percentile_of};
pub use some::{Edge, Ranked, count_of, pick_n};
pub(crate) use sum::Compensated;
pub use sum::{Avg, Sum};
