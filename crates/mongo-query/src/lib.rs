//! MongoDB's query language: filters, projections, sorts, updates, expressions and pipelines,
//! parsed from BSON into the plan of `query`. Syntax in, plan out: nothing is evaluated here.

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
