//! Batches and bulks as JSON: what is to be done, and what became of it. Doing it is the business
//! of the routes.

mod read;
mod response;

pub(crate) use read::{BatchAction, BatchOperation, read_operations};
pub(crate) use response::{Outcome, ResponseBudget};
