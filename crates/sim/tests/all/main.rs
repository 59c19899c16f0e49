//! Random histories, queries and bytes, in one program, so that it is linked once.
#![allow(clippy::unwrap_used, reason = "a failed assumption fails the test")]

mod counts;
mod fuzz;
mod histories;
mod kept_paths;
mod planner;
mod queries;
mod rules;
