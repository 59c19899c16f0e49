//! Measurements: histograms updated without a lock, and latencies by kind of operation. The callers
//! and the server's `/metrics` define names and formats.

mod histogram;
mod latency;

pub use histogram::{Distribution, Histogram};
pub use latency::Latencies;
