//! Expiry beyond visibility: changes of TTL, counts without scanning, forecasts, reaping.

mod build;
mod change;
mod clock;
mod document_expiry;
mod forecast;
mod forget;
mod live_counts;
mod reap;
mod trim;

pub(crate) use change::apply_default;
pub use document_expiry::{DocumentExpiries, DocumentExpiry, ExpiryReason};
pub use forecast::{Forecast, ForecastOfAll, HorizonAmounts, Preview, Series, Steps};
