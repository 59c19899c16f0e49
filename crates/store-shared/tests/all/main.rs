//! Tests of cluster stores on an in-memory ledger; a single program, to link only once.
#![allow(clippy::unwrap_used, reason = "a failed assumption fails the test")]

mod accepting;
mod bases;
mod clocks;
mod documents;
mod faulty;
mod laws;
mod many_shards;
mod nodes;
mod own_copy;
mod owned;
mod take_over;
