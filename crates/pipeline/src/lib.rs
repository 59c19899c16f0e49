//! MongoDB's semantics: filters, expressions, projections, edits, sorts and aggregation pipelines
//! over documents, with MongoDB's rules, error numbers and error texts. `mongo-query` makes the
//! plans and the engine runs them.
//!
//! The crate is not async and cannot see a store; its only I/O are temporary files of stages that
//! exceed their memory. If a pipeline needs another collection it returns a request
//! (`exec::Next::Want`), and the caller supplies the rows. The other query language has its own
//! evaluator (`select`).
//!
//! ```text
//! filter    conditions on documents   project   projections
//! expr      values over a document    edit      updates
//! sort      sort orders               group     accumulators
//! exec      pipelines of stages
//! ```
//!
//! Messages and numbers are MongoDB's because drivers and applications compare them. They are set
//! where the failure is detected, and the API passes them on.

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
