//! The door from outside: one program, so that it is linked once.
#![allow(clippy::unwrap_used, reason = "a failed assumption fails the test")]

mod bulk_write;
mod compat;
