//! MongoDB's query language: filters, projections, sorts, updates, expressions and pipelines,
//! parsed from BSON into plans of the crate `pipeline`. Nothing is evaluated here, and the parsers
//! have no access to collections.
//!
//! Numbers and texts of errors are those of mongod 6.0 (of 8.0 for later features). Drivers pass
//! them on to applications, whose tests compare numbers and often texts, so neither may be changed
//! here, not even to improve them. Features of MongoDB that this server lacks are refused with 238
//! and a text that names the feature; `support` lists them.
//!
//! Modules import each other in one direction: `error` and `field_path`, then `sort`, `expression`,
//! `filter`, `projection`, `pipeline` and `update`. `support` is separate.

mod error;
/// Expressions such as `{$add: ["$a", 1]}`.
pub mod expression;
/// The validation of dotted paths.
pub mod field_path;
/// Filters such as `{a: {$gt: 1}}`.
pub mod filter;
/// Pipelines such as `[{$match: {..}}, {$group: {..}}]`.
pub mod pipeline;
/// Projections such as `{a: 1, b: 0}`.
pub mod projection;
#[cfg(test)]
mod shell_text;
/// Sorts such as `{a: 1, b: -1}`.
pub mod sort;
/// The supported operators and stages, for the documentation.
pub mod support;
/// Updates such as `{$set: {a: 1}}`.
pub mod update;

pub use error::Error;
