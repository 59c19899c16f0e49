//! MongoDB's semantics: filters, expressions, projections, edits, sorts and aggregation pipelines
//! over documents, with MongoDB's rules, error numbers and error texts. Its plans are made by
//! `mongo-query`; the engine runs them.
//!
//! It is not async and cannot see a store; its only I/O are temporary files for what stages cannot
//! hold. Where a pipeline needs another collection it asks for it (`exec::Next::Want`) and is
//! supplied. The other query language has an evaluator of its own (`select`).

pub mod accumulate;
pub mod edit;
pub mod exec;
pub mod expr;
mod failure;
pub mod filter;
pub mod group;
pub mod limits;
pub mod path;
pub mod project;
mod shown;
pub mod sort;
mod text;

pub use expr::{Env, Expr};
pub use filter::Filter;
