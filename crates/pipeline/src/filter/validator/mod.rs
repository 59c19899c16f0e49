//! Validators: filters that describe why a document does not match.
//!
//! Unlike a [`Filter`], which is rearranged for the planner, a validator keeps the clauses of its
//! document, since MongoDB's error names them by position and shows each as it was specified.
//!
//! ```text
//! {a: {$gt: 1}, $or: [{b: 2}, {c: 3}]}
//!   Logic(And, [Test($gt), Logic(Or, [Test($eq), Test($eq)])])
//! ```

mod explain;
mod values;

use std::sync::Arc;

use document::{DocRef, Document, Path};
use evaluation::{Context, Error, Kind};

use super::{Filter, Schema};
use crate::expr::{Env, Expr};

/// A logical operator with a list of clauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logic {
    /// All clauses match: `$and`, and the fields of a validator.
    And,
    /// At least one clause matches: `$or`.
    Or,
    /// None of the clauses matches: `$nor`.
    Nor,
}

/// A clause of a validator, or a whole validator.
#[derive(Clone, Debug)]
pub enum Clause {
    /// Clauses joined by a logical operator.
    Logic(Logic, Vec<Clause>),
    /// `$not` of a field's operators.
    Not(Box<Clause>),
    /// One operator of a field.
    Test(Box<FieldTest>),
    /// `$expr`, with the clause as it was specified.
    Expr(Document, Box<Expr>),
    /// `$jsonSchema`, with the clause as it was specified.
    Schema(Document, Arc<Schema>),
    /// A clause that every document or no document matches.
    Constant(Document, bool),
}

/// One operator of a field in a validator.
#[derive(Clone, Debug)]
pub struct FieldTest {
    /// Name of the operator, including the `$`.
    pub operator: String,
    /// Path of the field that is tested.
    pub path: Path,
    /// The clause as it was specified.
    pub specified: Document,
    /// The clause, parsed as a filter.
    pub filter: Filter,
}

/// The limits of a description of a failure, in bytes and in levels of nesting.
#[derive(Clone, Copy, Debug)]
pub struct DetailLimits {
    /// Maximum size of the description in bytes.
    pub bytes: usize,
    /// Maximum nesting of the description.
    pub depth: usize,
    /// Whether values of the document and the clauses as they were specified are shown.
    pub shows_values: bool,
    /// Returns the name of an error code.
    pub code_name: fn(i32) -> String,
}

impl Clause {
    /// Returns whether a document matches. A clause whose evaluation fails does not match.
    ///
    /// # Errors
    ///
    /// Errors that end the operation.
    pub fn matches(&self, document: DocRef<'_>, context: &Context) -> Result<bool, Error> {
        match self.evaluate(document, context) {
            Err(error) if !ends_operation(&error) => Ok(false),
            matched => matched,
        }
    }

    /// Returns whether a document matches; fails if an expression fails.
    fn evaluate(&self, document: DocRef<'_>, context: &Context) -> Result<bool, Error> {
        match self {
            Self::Logic(logic, clauses) => {
                // The first clause with this result decides.
                let decisive = *logic != Logic::And;
                for clause in clauses {
                    if clause.evaluate(document, context)? == decisive {
                        return Ok(*logic == Logic::Or);
                    }
                }
                Ok(*logic != Logic::Or)
            }
            Self::Not(clause) => Ok(!clause.evaluate(document, context)?),
            Self::Test(test) => test.filter.matches(document, context),
            Self::Expr(_, expr) => {
                let value = expr.evaluate(&Env::new(document, context))?;
                Ok(value.is_some_and(|value| value.as_ref().is_truthy()))
            }
            Self::Schema(_, schema) => {
                schema.matches(document::ValueRef::Document(document), context)
            }
            Self::Constant(_, matches) => Ok(*matches),
        }
    }
}

/// Returns whether an error ends the operation, instead of being a property of the document.
fn ends_operation(error: &Error) -> bool {
    match error.kind {
        Kind::Stopped | Kind::Short | Kind::Full | Kind::Device => true,
        Kind::Invalid
        | Kind::TypeMismatch
        | Kind::Overflow
        | Kind::Immutable
        | Kind::Conflict
        | Kind::TooLarge
        | Kind::Unsupported => false,
    }
}
