//! Measurements: histograms updated without a lock, and latencies by kind of operation. Names and
//! formats are up to the callers and to the server's `/metrics`.

mod histogram;
mod latency;

pub use histogram::{Distribution, Histogram};
pub use latency::Latencies;
