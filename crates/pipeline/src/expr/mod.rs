//! Expressions over a document and variables: a tree of literals, field paths, forms that decide
//! what to evaluate, and calls of functions.
//!
//! Most expressions are calls: their arguments are evaluated, then passed to a function
//! (`functions`). Forms (`form`), such as `$cond`, `$map` and `$let`, evaluate only some of their
//! parts or evaluate them several times. Values are borrowed from the document where possible.
//!
//! The operation's budget limits the work of an evaluation. The environment (`env`) limits its
//! memory, and the total number of iterations of nested forms over arrays.

mod env;
mod form;
pub mod functions;
mod geo_call;
mod regex_call;
mod sorted;
#[cfg(test)]
mod tests;
mod visit;

pub use env::Env;
pub(crate) use env::{Variable, VariableScope};
pub use form::{Filtering, Mapping};
pub use functions::Function;
pub use geo_call::{GeoCall, GeoPart};
pub use regex_call::{Compiled, RegexCall, RegexForm};
pub use sorted::{SortBy, sort_values};

use std::sync::Arc;

use document::{Path, Value};
use evaluation::{Error, Evaluated, Size, readable_bytes, without_spare_room};
use full_text::TextQuery;

use crate::path::read_path;

/// An expression. Literals are evaluated and functions resolved, so that evaluation looks up no
/// names.
#[derive(Clone, Debug)]
pub enum Expr {
    /// A constant, evaluated by the parser.
    Literal(Value),
    /// An optional argument that was not given. Unlike a missing value it makes a function use its
    /// default.
    Absent,
    /// The whole document that is evaluated: `$$ROOT`.
    Root,
    /// A path in the document.
    Field(Path),
    /// A variable, or a path below it. Resolved by name during evaluation, from the innermost
    /// binding outward.
    Variable(Arc<str>, Option<Path>),
    /// `$$NOW`: the database time at which the operation runs, the same for all documents.
    Now,
    /// `$$CLUSTER_TIME`: the time of `$$NOW` as a BSON timestamp.
    ClusterTime,
    /// The score of a stored document in a search for texts.
    TextScore(Arc<TextQuery>),
    /// The score that an earlier stage has computed for the row; fails with 40218 if none has.
    RowScore,
    /// The distance of the document in a search by distance, or its nearest geometry.
    Geo(Box<GeoCall>),
    /// `$$REMOVE`: a missing value, so that the field which has this expression is omitted.
    Remove,
    /// A document of computed fields.
    Object(Vec<(String, Expr)>),
    /// An array of computed elements; a missing element is null.
    Array(Vec<Expr>),
    /// A call of a function with evaluated arguments.
    Call(&'static Function, Vec<Expr>),
    /// `$and`: true if all operands are true.
    And(Vec<Expr>),
    /// `$or`: true if an operand is true.
    Or(Vec<Expr>),
    /// `$cond`: the condition, and the values if it is true and if it is false.
    Cond(Box<[Expr; 3]>),
    /// `$switch`: the first pair whose condition holds, else the default.
    Switch(Vec<(Expr, Expr)>, Option<Box<Expr>>),
    /// `$ifNull`: the first value that is neither null nor missing, otherwise the last one.
    IfNull(Vec<Expr>),
    /// `$let`: variables, all of which are evaluated before any is bound, and the expression over
    /// them.
    Let(Vec<(Arc<str>, Expr)>, Box<Expr>),
    /// `$map`: the values of an expression for each element of an array.
    Map(Box<Mapping>),
    /// `$filter`: the elements that meet a condition.
    Filter(Box<Filtering>),
    /// `$reduce`: input, initial value, and an expression over `$$value` and `$$this`.
    Reduce(Box<[Expr; 3]>),
    /// A regular expression applied to text.
    Regex(Box<RegexCall>),
    /// `$sortArray`: an array in another order.
    SortArray(Box<Expr>, SortBy),
}

/// The result of a function: a value, which may be null, or `None` for a missing field.
pub type OptionalValue = Result<Option<Value>, Error>;

impl Expr {
    /// Evaluates the expression over a document. `None` is a missing value, which is neither null
    /// nor undefined.
    pub fn evaluate(&self, env: &Env<'_>) -> OptionalValue {
        Ok(self.evaluate_borrowed(env)?.into_value())
    }

    /// Returns whether the expression's value counts as true.
    pub fn is_true(&self, env: &Env<'_>) -> Result<bool, Error> {
        Ok(self.evaluate_borrowed(env)?.is_truthy())
    }

    /// Evaluates the expression; the value is borrowed from the document or the expression where
    /// possible.
    pub fn evaluate_borrowed<'e>(&'e self, env: &Env<'e>) -> Result<Evaluated<'e>, Error> {
        match self {
            Self::Literal(value) => Ok(Evaluated::Ref(value.as_ref())),
            Self::Absent => Ok(Evaluated::Absent),
            Self::Root => Ok(Evaluated::Ref(document::ValueRef::Document(env.root))),
            Self::Field(path) => {
                // A search for a field reads only names, so a fraction of the document's bytes is
                // charged.
                env.context
                    .budget
                    .spend(readable_bytes(document::ValueRef::Document(env.root)) / 64)?;
                checked_found(read_path(env.root, path, 0), env)
            }
            Self::Variable(name, path) => {
                checked_found(env.read_variable(name, path.as_ref())?, env)
            }
            Self::Now => Ok(Evaluated::Owned(Value::DateTime(env.context.now_ms))),
            Self::ClusterTime => {
                Ok(Evaluated::Owned(Value::Timestamp(env.context.operation_timestamp())))
            }
            Self::TextScore(query) => {
                let score = query.score(env.root, env.context)?;
                Ok(Evaluated::Owned(Value::Double(score)))
            }
            Self::RowScore => {
                let score = env.root.get(crate::SCORE_FIELD).ok_or_else(no_score)?;
                Ok(Evaluated::Ref(score))
            }
            Self::Geo(call) => call.evaluate(env),
            Self::Remove => Ok(Evaluated::Missing),
            Self::Call(function, args) => function.call_with(args, env),
            _ => form::evaluate_form(self, env).map(without_spare_room),
        }
    }

    /// Returns the constant, if the expression is one.
    pub fn as_literal(&self) -> Option<&Value> {
        if let Self::Literal(value) = self { Some(value) } else { None }
    }
}

/// Charges work for a value that was built and not borrowed, as when a path goes through an array:
/// as much as the memory of the value.
fn checked_found<'e>(got: Evaluated<'e>, env: &Env<'_>) -> Result<Evaluated<'e>, Error> {
    if let Evaluated::Owned(value) = &got {
        env.context.budget.spend_bounded(Size::of_value(value.as_ref()).memory)?;
    }
    Ok(got)
}

/// Returns the error of a row without the score of a search.
fn no_score() -> Error {
    let text = "query requires text score metadata, but it is not available";
    crate::invalid_request(40218, text.to_owned())
}
