//! The plan of a query as the binder makes it: expressions and the clauses of SELECT. They share a
//! module because each contains the other: an expression may contain a subquery. Nothing here
//! evaluates expressions (`eval`) or runs over rows (`statement`).

mod aggregate;
mod expr;
mod reads;
mod sarg;
mod select;
mod set;

pub use aggregate::Aggregate;
pub use expr::{Binary, DOCUMENT, Expr, Subquery, Unary};
pub use select::{
    Clauses, Group, Input, Order, Projection, SYSTEM_PROPERTIES, Select, Source, Window,
};
pub use set::Set;
