//! The NoSQL query language: text in, plan out. It evaluates nothing, does no I/O and knows no
//! store.

mod ast;
mod bind;
mod error;
mod lexer;
pub mod limits;
mod parser;
mod plan;
mod printer;
mod token;

pub use error::SqlError;

use document::{Document, Value};
use select::plan::Select;

/// The plan of a query. Parameters have their `@` and become constants.
pub fn compile(text: &str, parameters: &[(String, Value)]) -> Result<Select, SqlError> {
    let query = parser::parse(text).map_err(|fault| fault.into_error(text))?;
    bind::bind(&query, parameters).map_err(|fault| fault.into_error(text))
}

/// The plan of a condition on one document, `FROM c WHERE c.a = 1`: a query that need not say what
/// it selects. [`Select::keeps`] is for it.
pub fn compile_condition(text: &str) -> Result<Select, SqlError> {
    let query = parser::parse_condition(text).map_err(|fault| fault.into_error(text))?;
    bind::bind(&query, &[]).map_err(|fault| fault.into_error(text))
}

/// The plan that a client with these features is told: what it does itself, and the query that it
/// sends. It never needs to do anything, as one server has all results.
pub fn plan_document(
    text: &str,
    parameters: &[(String, Value)],
    supported_features: &[&str],
) -> Result<Document, SqlError> {
    let query = parser::parse(text).map_err(|fault| fault.into_error(text))?;
    plan::document(&query, parameters, supported_features).map_err(|fault| fault.into_error(text))
}
