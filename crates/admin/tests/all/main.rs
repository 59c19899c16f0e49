//! Tests of the admin address with whole servers, in one program, so that it is linked once.
#![allow(clippy::unwrap_used, reason = "a failed assumption fails the test")]

mod access;
mod explorer;
mod metrics;
mod quickstart;
mod routes;
mod state;
