//! What a request asks for. An operation is decided once, from the method, the resource path and the
//! headers of a request, and everything else goes by it: authorization, metering, measurement, the
//! task that it runs in, and the route. What an operation does stands in `routes`.
//!
//! A new operation is a row in `table`, an arm in `Operation::decide` and an arm in `dispatch`; the
//! compiler asks for the last one.

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
