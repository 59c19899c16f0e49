//! MongoDB's query language: filters, projections, sorts, updates, expressions and pipelines,
//! parsed from BSON into the plan of `query`. Syntax in, plan out: nothing is evaluated here, and
//! nothing is known of collections.
//!
//! What is a compatibility rule, and where it comes from: the numbers and texts of errors are those
//! of mongod 6.0 (of 8.0 for what came later). Drivers hand them on to applications, whose tests
//! compare numbers and often texts, so neither is ever made nicer here. What MongoDB has and this
//! server does not is refused by name with 238; `support` lists it.
//!
//! Modules import each other in one direction: `error` and `field_path`, then `sort`, `expression`,
//! `filter`, `projection`, `pipeline` and `update`. `support` stands beside them.

mod error;
pub mod expression;
pub mod field_path;
pub mod filter;
pub mod pipeline;
pub mod projection;
#[cfg(test)]
mod shell_text;
pub mod sort;
pub mod support;
pub mod update;

pub use error::Error;
