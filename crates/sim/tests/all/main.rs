//! Random histories, queries and bytes, in one program, so that it is linked once. This file checks
//! expiration in the engine over random histories.
//!
//! `SIM_SEED=n` runs one history, `SIM_HISTORIES=n` this many of them.
#![allow(clippy::unwrap_used, reason = "a failed assumption fails the test")]

mod counts;
mod fuzz;
mod kept_paths;
mod planner;
mod queries;
mod rules;

use engine::Rules;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn half(first: u64) {
    if let Some(seed) = number("SIM_SEED") {
        if let Err(failure) = sim::run_history(seed, Rules::default()) {
            panic!("{failure}");
        }
        return;
    }
    let histories = number("SIM_HISTORIES").unwrap_or(10_000);
    for seed in (first..histories).step_by(2) {
        if let Err(failure) = sim::run_caught(seed, Rules::default()) {
            panic!("{failure}");
        }
    }
}

#[test]
fn what_is_seen_is_what_the_matrix_says_in_even_histories() {
    half(0);
}

#[test]
fn what_is_seen_is_what_the_matrix_says_in_odd_histories() {
    half(1);
}

/// Transactions and other writers run while documents expire and settings change.
#[test]
fn transactions_keep_the_law_of_expiry() {
    if let Some(seed) = number("SIM_SEED") {
        return sim::run_transactions(seed, Rules::default())
            .unwrap_or_else(|failure| panic!("{failure}"));
    }
    for seed in 0..number("SIM_HISTORIES").unwrap_or(4_000) {
        sim::run_transactions(seed, Rules::default()).unwrap_or_else(|failure| panic!("{failure}"));
    }
}

/// Collections are created, dropped and renamed while documents are inserted, in random order.
#[test]
fn what_was_acknowledged_is_there_under_its_last_name() {
    if let Some(seed) = number("SIM_SEED") {
        return sim::run_names(seed).unwrap_or_else(|failure| panic!("{failure}"));
    }
    for seed in 0..number("SIM_HISTORIES").unwrap_or(10_000) {
        sim::run_names(seed).unwrap_or_else(|failure| panic!("{failure}"));
    }
}
