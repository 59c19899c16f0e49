//! The cost of operations in request units, the bounds of provisioned throughput, and the limiter
//! that enforces it. Both APIs use this crate, which depends neither on documents nor on protocols.

mod provisioned;
pub mod request_units;
pub mod throttle;

pub use provisioned::{OutOfBounds, Throughput};
pub use throttle::{Allowance, Throttle};
