//! Expiry beyond visibility: changes of TTL, counts without scanning, forecasts, reaping. Whether
//! one row is live is no question for this folder: views answer it from the row's header
//! (`view/live.rs`), at the very instant.
//!
//! ```text
//!  change ─▶ settings in the catalog ─▶ every view from then on
//!  live_counts ─▶ forecast, statistics          counters: totals less expired buckets
//!  build ─▶ counters of what was there before   trim ─▶ takes away what was reaped
//!  reap ─▶ floors and compaction                forget ─▶ dropped indexes, once nothing needs them
//! ```

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
pub use document_expiry::{
    DocumentExpiries, DocumentExpiry, ExpiryPlace, ExpiryReason, NextToExpire,
};
pub use forecast::{Forecast, ForecastOfAll, HorizonAmounts, Preview, Series, SeriesSteps};
