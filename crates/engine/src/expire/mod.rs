//! Expiry beyond visibility: changes of TTL, counts without scans, forecasts and reaping. Whether a
//! row is live is decided by views from the row's header (`view/live.rs`).
//!
//! ```text
//!  change ─▶ settings in the catalog ─▶ every view from then on
//!  live_counts -> forecast, statistics          counters: totals minus expired buckets
//!  build -> counters of older documents         trim -> subtracts reaped documents
//!  reap -> floors and compaction                forget -> removes dropped indexes when unused
//! ```

mod build;
mod change;
mod clock;
mod date_edge;
mod document_expiry;
mod forecast;
mod forget;
mod live_counts;
mod reap;
mod reap_sample;
mod trim;

pub(crate) use change::apply_default;
pub use document_expiry::{
    DocumentExpiries, DocumentExpiry, ExpiryPosition, ExpiryReason, NextToExpire,
};
pub use forecast::{Forecast, ForecastOfAll, HorizonAmounts, Preview, Series, SeriesSteps};
