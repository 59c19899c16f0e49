//! MongoDB's semantics: filters, expressions, projections, edits, sorts and aggregation pipelines
//! over documents, with MongoDB's rules, error numbers and error texts. Its plans are made by
//! `mongo-query`; the engine runs them.
//!
//! It is not async and cannot see a store; its only I/O are temporary files for what stages cannot
//! hold. Where a pipeline needs another collection it asks for it (`exec::Next::Want`) and is
//! supplied. The other query language has an evaluator of its own (`select`).
//!
//! ```text
//! filter    which documents           project   which part of them is shown
//! expr      values over a document    edit      updates
//! sort      orders                    group     accumulators
//! exec      stages, one after the other
//! ```
//!
//! Messages and numbers are MongoDB's because drivers and applications compare them. They stand
//! where the failure is found; the door hands them on.

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
