//! What both query languages lower to, and its evaluator: filters, expressions, projections, edits
//! and pipelines over documents. It is not async and cannot see a store; its only I/O are temporary
//! files for what stages cannot hold. Where a pipeline needs another collection it asks for it (`exec::Next::Want`) and is supplied.

pub mod edit;
mod error;
pub mod exec;
pub mod expr;
pub mod filter;
pub mod group;
pub mod json;
pub mod limits;
pub mod project;
pub mod sort;

pub use error::{Error, Kind};
pub use expr::{Context, Env, Expr};
pub use filter::Filter;
