//! Tests of listeners with whole servers, in one program, so that it is linked once.
#![allow(clippy::unwrap_used, reason = "a failed assumption fails the test")]

mod addresses;
mod misdirected;
mod tls;
