//! Queries from text to results: tables of documents, query and results, each run in pages of
//! several sizes and in several orders of rows, which must not change the answer.

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
