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

/// A code and a text.
mod error;
/// `{$add: ["$a", 1]}`
pub mod expression;
/// Rules for dotted paths.
pub mod field_path;
/// `{a: {$gt: 1}}`
pub mod filter;
/// `[{$match: {..}}, {$group: {..}}]`
pub mod pipeline;
/// `{a: 1, b: 0}`
pub mod projection;
#[cfg(test)]
mod shell_text;
/// `{a: 1, b: -1}`
pub mod sort;
/// What is supported, for the documentation.
pub mod support;
/// `{$set: {a: 1}}`
pub mod update;

pub use error::Error;
