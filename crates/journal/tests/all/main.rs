//! External tests of the journal: the laws, on disk and in memory.
#![allow(clippy::unwrap_used, reason = "a failed assumption fails the test")]

mod laws;
mod local;
