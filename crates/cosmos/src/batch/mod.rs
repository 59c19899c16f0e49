//! Batches and bulks as JSON: what is to be done, and what became of it. Doing it is the business
//! of the routes.
//!
//! A batch is all or nothing, a bulk is a number of operations that stand for themselves; the form
//! of request and response is the same. The official SDKs other than .NET send this JSON. .NET
//! sends another form, HybridRow, which is refused by name.

mod read;
mod response;

pub(crate) use read::{BatchAction, BatchOperation, read_operations};
pub(crate) use response::{Outcome, ResponseBudget};
