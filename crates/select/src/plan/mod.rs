//! The plan of a query as the binder makes it: expressions, in this file, and the clauses of
//! SELECT. Names are replaced by slots, parameters by constants, and functions are resolved.
//! Expressions and clauses share a module because each contains the other: an expression may
//! contain a subquery. Nothing here evaluates expressions (`eval`) or runs over rows (`statement`).

mod reads;
mod sarg;
mod select;
mod set;

pub use select::Aggregate;
pub use select::{
    Clauses, Group, Input, Order, Projection, SYSTEM_PROPERTIES, Select, Source, Window,
};
pub use set::Set;

use document::Value;

use crate::{functions::Function, like::Like};

/// The slot of the stored document; the binder assigns the other slots.
pub const DOCUMENT: usize = 0;

/// An expression. Every variant evaluates to a value or to undefined.
#[derive(Debug)]
pub enum Expr {
    /// A constant, including a bound parameter.
    Constant(Value),
    /// The value undefined, as a literal.
    Undefined,
    /// The value of a FROM alias, a group key or an aggregate.
    Slot(usize),
    /// A nested property of a slot's value, name by name. It avoids one expression per name, and is
    /// the form that indexes can use.
    Path(usize, Vec<String>),
    /// Properties by name and elements by position, each applied to the result of the previous
    /// step. It is a list and not a nested tree, because a query may chain any number of them.
    Steps(Box<Expr>, Vec<Expr>),
    /// An array; undefined elements are left out.
    Array(Vec<Expr>),
    /// An object; undefined properties are left out.
    Object(Vec<(String, Expr)>),
    /// NOT: undefined unless the operand is boolean.
    Not(Box<Expr>),
    /// AND of all these operands.
    And(Vec<Expr>),
    /// OR of all these operands.
    Or(Vec<Expr>),
    /// Binary operators of one precedence, applied from left to right.
    Chain(Box<Expr>, Vec<(Binary, Expr)>),
    /// A prefix operator and its operand.
    Unary(Unary, Box<Expr>),
    /// `||`: the concatenation of strings.
    Concat(Vec<Expr>),
    /// BETWEEN: the value, the lower and the upper bound.
    Between(Box<[Expr; 3]>),
    /// IN: whether a value is in the list.
    In(Box<Expr>, Vec<Expr>),
    /// IN with constants only, which replaces [`Expr::In`] then.
    Among(Box<Expr>, Box<Set>),
    /// LIKE with a constant pattern.
    Like(Box<Expr>, Like),
    /// LIKE with a computed pattern and an escape character.
    LikeAny(Box<Expr>, Box<Expr>, Option<char>),
    /// `??`: the first operand that is not undefined.
    Coalesce(Vec<Expr>),
    /// `?:`: condition, value if true, value otherwise.
    Conditional(Box<[Expr; 3]>),
    /// A function call. Arguments are evaluated from left to right before the call.
    Call(&'static Function, Vec<Expr>),
    /// A subquery, and how the value of the expression follows from the subquery's results.
    Subquery(Subquery, Box<Select>),
}

/// How the value of a subquery expression results from the subquery's results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subquery {
    /// The first result of the subquery; undefined if it has none.
    Scalar,
    /// Whether the subquery has any result.
    Exists,
    /// An array of all results of the subquery.
    Array,
    /// Whether all results of the subquery are true.
    All,
    /// The first of the subquery's results.
    First,
    /// The last of the subquery's results.
    Last,
}

/// A prefix operator, with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Unary {
    Negate,
    Plus,
    BitNot,
}

/// A binary operator, with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Binary {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
    ShiftRightZero,
}
