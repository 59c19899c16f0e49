//! Expiry beyond visibility: changes of TTL, counts without scanning, forecasts, reaping.

mod amount;
mod books;
mod build;
mod change;
mod clock;
mod fate;
mod forecast;
mod forget;
mod reap;
mod trim;

pub use amount::Amount;
pub(crate) use build::Begun;
pub(crate) use change::apply_default;
pub use clock::{KeepNothing, Persist};
pub use fate::{Ends, Fate, Fates};
pub use forecast::{Forecast, Outlook, Preview, Series, Steps, Unreaped, Within};
pub(crate) use reap::Reaper;
