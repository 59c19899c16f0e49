//! Bound expressions: names are slots, parameters are constants, functions are found. A tree that
//! evaluates to a value or to nothing (undefined). It parses nothing.

use document::Value;

use super::{Select, Set};
use crate::{functions::Function, like::Like};

/// The slot of the stored document; other slots are the binder's to give.
pub const DOCUMENT: usize = 0;

/// An expression. Every variant evaluates to a value or to nothing (undefined).
#[derive(Debug)]
pub enum Expr {
    /// A constant.
    Constant(Value),
    /// Nothing.
    Undefined,
    /// What a name of FROM, a group's key or an aggregate stands for.
    Slot(usize),
    /// A property inside what a slot holds, name by name. It saves an expression for each name, and
    /// is what indexes can use.
    Path(usize, Vec<String>),
    /// Properties by name and elements by position, each inside the one before. A text may have as
    /// many as it likes, so they are not one inside another.
    Steps(Box<Expr>, Vec<Expr>),
    /// An array; elements that are nothing are left out.
    Array(Vec<Expr>),
    /// An object; properties that are nothing are left out.
    Object(Vec<(String, Expr)>),
    /// NOT.
    Not(Box<Expr>),
    /// All of these.
    And(Vec<Expr>),
    /// Any of these.
    Or(Vec<Expr>),
    /// Operators from left to right. They are all of one precedence.
    Chain(Box<Expr>, Vec<(Binary, Expr)>),
    /// An operator in front.
    Unary(Unary, Box<Expr>),
    /// Strings in a row.
    Concat(Vec<Expr>),
    /// Value, low and high.
    Between(Box<[Expr; 3]>),
    /// Whether a value is among these.
    In(Box<Expr>, Vec<Expr>),
    /// Whether a value is among these constants. Made of [`Expr::In`] where all items are
    /// constants.
    Among(Box<Expr>, Box<Set>),
    /// LIKE a pattern that is known.
    Like(Box<Expr>, Like),
    /// LIKE a pattern that is computed.
    LikeAny(Box<Expr>, Box<Expr>, Option<char>),
    /// The first that is something.
    Coalesce(Vec<Expr>),
    /// `?:`
    Conditional(Box<[Expr; 3]>),
    /// A function. Arguments are evaluated from left to right before it is called.
    Call(&'static Function, Vec<Expr>),
    /// A query inside.
    Subquery(Subquery, Box<Select>),
}

/// What a query inside an expression answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subquery {
    /// Its only result; nothing when there is none, its first when there are several.
    Scalar,
    /// Whether there is a result.
    Exists,
    /// All results.
    Array,
    /// Whether all results are true.
    All,
    /// The first result.
    First,
    /// The last result.
    Last,
}

/// An operator in front of its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Unary {
    Negate,
    Plus,
    BitNot,
}

/// An operator between two operands.
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
