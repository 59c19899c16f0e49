//! The plan of a query as the binder makes it: expressions and the clauses of SELECT. They stand in
//! one module because each holds the other: a query may stand inside an expression. Nothing here
//! evaluates anything (`eval`) or runs over rows (`statement`).

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
