//! Expressions over a document and variables.

use document::{DocRef, Document, Value};

use crate::Error;

/// What stays the same for every row of one operation.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// The operation's instant, milliseconds since 1970: `$$NOW`.
    pub now_ms: i64,
    /// Constants that the request bound (`let`).
    pub constants: Document,
}

/// What an expression is evaluated over.
#[derive(Clone, Copy, Debug)]
pub struct Env<'a> {
    /// The document: `$$ROOT`.
    pub root: DocRef<'a>,
    /// The operation.
    pub context: &'a Context,
}

impl<'a> Env<'a> {
    /// A document of an operation, without further variables.
    pub fn new(root: DocRef<'a>, context: &'a Context) -> Self {
        Self { root, context }
    }
}

/// An expression.
#[derive(Clone, Debug)]
pub enum Expr {
    /// A constant.
    Literal(Value),
}

impl Expr {
    /// Its value over a document; `None` is a missing value, which is neither null nor undefined.
    pub fn eval(&self, env: &Env<'_>) -> Result<Option<Value>, Error> {
        let _ = env;
        match self {
            Self::Literal(value) => Ok(Some(value.clone())),
        }
    }
}
