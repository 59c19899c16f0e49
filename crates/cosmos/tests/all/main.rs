//! Tests of the crate through its public interface, in one program so that they are linked only
//! once.
#![allow(clippy::unwrap_used, reason = "a failed assumption fails the test")]

mod batches;
mod catalog;
mod changes_are_told_as_they_are;
mod client;
mod client_keys;
mod compat;
mod connections;
mod containers_without_keys;
mod cut_items;
mod direct;
mod direct_to_other_nodes;
mod endings;
mod exchanges;
mod expiry;
mod feeds_of_all_versions;
mod headers_of_answers;
mod hybrid_batches;
mod hybrid_batches_refused;
mod kept_paths;
mod later_pages;
mod memory;
mod numbers;
mod operations;
mod order_by;
mod points;
mod queries;
mod refused_requests_change_nothing;
mod relay;
mod sequence_numbers;
mod throughput;
mod who_may_do_what;
