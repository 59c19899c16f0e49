//! Batches and bulks as JSON: what is to be done, and what became of it. Doing it is the business
//! of the routes.

mod answer;
mod read;

pub(crate) use answer::{Outcome, Room};
pub(crate) use read::{Action, Operation, read};
