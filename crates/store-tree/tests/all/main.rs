//! Integration tests of the embedded store, in one binary so that it is linked once.
#![allow(clippy::unwrap_used, reason = "a failed assumption fails the test")]

mod archive;
mod bounds;
mod damage;
mod first_start;
mod journals;
mod kept;
mod kills;
mod laws;
mod metrics;
mod views;
