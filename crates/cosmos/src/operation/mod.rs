//! Operations. The operation of a request is determined once, from its method, resource path and
//! headers; authorization, metering, metrics, task and route depend only on the operation. The
//! implementations are in `routes`.
//!
//! To add an operation, add a row in `table`, an arm in `Operation::decide` and an arm in
//! `dispatch`. The compiler reports only a missing arm in `dispatch`.

mod action;
mod decide;
mod metric;
mod row;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use action::{METADATA, Needed, PREFIX};
pub(crate) use metric::Metric;
pub(crate) use row::{Access, Metering, Order, Parent, Requirement, Task};
pub(crate) use table::Operation;
