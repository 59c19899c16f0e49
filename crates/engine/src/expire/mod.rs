//! Expiry beyond visibility: changes of TTL, counts without scanning, forecasts, reaping.

mod books;
mod build;
mod change;
mod clock;
mod fate;
mod forecast;
mod forget;
mod reap;
mod trim;

pub(crate) use change::apply_default;
pub use fate::{Ends, Fate, Fates};
pub use forecast::{Forecast, Outlook, Preview, Series, Steps, Within};
