//! Queries from text to results. Tables contain documents, queries and results; each query runs in
//! pages of several sizes and with rows in several orders, which must not change the results.

#![allow(clippy::unwrap_used, reason = "a failed assumption fails the test")]

mod asks;
mod clients;
mod errors;
mod harness;
mod laws;
mod maker;
mod paging;
mod plans;
mod sargs;
mod service;
mod table;
mod texts;
