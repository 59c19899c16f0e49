//! Counting of measurements: distributions that are counted without a lock, and latencies by kind of
//! operation. It knows no names and no formats: whoever measures names what was measured, and the
//! server's `/metrics` prints it.

mod histogram;
mod latency;

pub use histogram::{Distribution, Histogram};
pub use latency::Latencies;
