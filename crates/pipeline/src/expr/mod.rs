//! Expressions over a document and variables: a tree of literals, field paths, forms that decide
//! what to evaluate, and calls of functions from one table.
//!
//! Most expressions are calls: their arguments are evaluated first, and a function makes a value of
//! them (`functions`). Forms (`form`) are those that evaluate some of their parts, or evaluate them
//! several times: `$cond`, `$map`, `$let` and their like. A value is borrowed from the document
//! where it can be.
//!
//! The budget bounds what one evaluation does, the environment how much it holds and how often
//! nested forms repeat each other.

mod env;
mod form;
pub mod functions;
mod regular;
mod sorted;
#[cfg(test)]
mod tests;
mod visit;

pub use env::Env;
pub(crate) use env::{Variable, VariableScope};
pub use form::{Filtering, Mapping};
pub use functions::Function;
pub use regular::{Compiled, RegexCall, RegexForm};
pub use sorted::{SortBy, sort_values};

use std::sync::Arc;

use document::{Path, Value};
use evaluation::{Error, Evaluated, Size, readable_bytes, without_spare_room};

use crate::path::read_path;

/// An expression.
/// Literals are evaluated already; functions stand for themselves, so that nothing is looked up by
/// name while rows are read.
#[derive(Clone, Debug)]
pub enum Expr {
    /// A constant.
    Literal(Value),
    /// An optional argument that was not given.
    /// Not the same as a missing value: a function tells the two apart for its defaults.
    Absent,
    /// The whole document: `$$ROOT`.
    Root,
    /// A path of the document.
    Field(Path),
    /// A variable, or what lies below it.
    /// Found by name at run time, from the innermost binding outward.
    Variable(Arc<str>, Option<Path>),
    /// The operation's instant.
    /// The same for all documents of the operation.
    Now,
    /// The operation's second as a timestamp.
    ClusterTime,
    /// Nothing: in an object or a computed field, the field is left out.
    Remove,
    /// A document of computed fields.
    Object(Vec<(String, Expr)>),
    /// An array of computed elements; a missing element is null.
    Array(Vec<Expr>),
    /// A function of evaluated arguments.
    Call(&'static Function, Vec<Expr>),
    /// True when all are.
    And(Vec<Expr>),
    /// True when one is.
    Or(Vec<Expr>),
    /// Condition, then, else.
    Cond(Box<[Expr; 3]>),
    /// The first pair whose condition holds, else the default.
    Switch(Vec<(Expr, Expr)>, Option<Box<Expr>>),
    /// The first that is neither null nor missing, else the last.
    IfNull(Vec<Expr>),
    /// Variables for a body; all are evaluated before any is bound.
    Let(Vec<(Arc<str>, Expr)>, Box<Expr>),
    /// A body for each element.
    Map(Box<Mapping>),
    /// The elements that meet a condition.
    Filter(Box<Filtering>),
    /// Input, initial value, body over `value` and `this`.
    Reduce(Box<[Expr; 3]>),
    /// A regular expression applied to text.
    Regex(Box<RegexCall>),
    /// An array in another order.
    SortArray(Box<Expr>, SortBy),
}

/// What functions return: a value or nothing. Nothing is a missing field, not null.
/// Null is a value.
pub type OptionalValue = Result<Option<Value>, Error>;

impl Expr {
    /// The value of the expression over a document; `None` is a missing value, which is neither
    /// null nor undefined.
    pub fn evaluate(&self, env: &Env<'_>) -> OptionalValue {
        Ok(self.evaluate_borrowed(env)?.into_value())
    }

    /// Whether its value counts as true.
    pub fn is_true(&self, env: &Env<'_>) -> Result<bool, Error> {
        Ok(self.evaluate_borrowed(env)?.is_truthy())
    }

    /// The value, borrowed from the document or the expression where that is possible.
    pub fn evaluate_borrowed<'e>(&'e self, env: &Env<'e>) -> Result<Evaluated<'e>, Error> {
        match self {
            Self::Literal(value) => Ok(Evaluated::Ref(value.as_ref())),
            Self::Absent => Ok(Evaluated::Absent),
            Self::Root => Ok(Evaluated::Ref(document::ValueRef::Document(env.root))),
            Self::Field(path) => {
                // Looking for a field reads names only: it is counted as a small part of the
                // document.
                env.context
                    .budget
                    .spend(readable_bytes(document::ValueRef::Document(env.root)) / 64)?;
                checked_found(read_path(env.root, path, 0), env)
            }
            Self::Variable(name, path) => {
                checked_found(env.read_variable(name, path.as_ref())?, env)
            }
            Self::Now => Ok(Evaluated::Own(Value::DateTime(env.context.now_ms))),
            Self::ClusterTime => {
                Ok(Evaluated::Own(Value::Timestamp(env.context.operation_timestamp())))
            }
            Self::Remove => Ok(Evaluated::Missing),
            Self::Call(function, args) => function.call_with(args, env),
            _ => form::evaluate_form(self, env).map(without_spare_room),
        }
    }

    /// The constant that the expression is, when it is one without evaluation.
    pub fn as_literal(&self) -> Option<&Value> {
        if let Self::Literal(value) = self { Some(value) } else { None }
    }
}

/// What a path led to. Values that were gathered from an array are new ones, whose memory is
/// counted as work.
fn checked_found<'e>(got: Evaluated<'e>, env: &Env<'_>) -> Result<Evaluated<'e>, Error> {
    if let Evaluated::Own(value) = &got {
        env.context.budget.spend_bounded(Size::of_value(value.as_ref()).memory)?;
    }
    Ok(got)
}
