//! The NoSQL query language: text in, a plan for `select` out. It evaluates nothing, does no I/O
//! and knows no store.
//!
//! ```text
//! text --lexer--> tokens --parser--> tree (ast) --bind--> select::plan::Select
//!                                         `-----plan----> the document clients ask for
//! ```
//!
//! Every step is bounded: the length of the text, the depth of the tree, the number of operators
//! and joins (`limits`). An error has the code that clients know and the place in the text.

mod ast;
mod bind;
mod error;
mod lexer;
pub mod limits;
mod parser;
mod plan;
mod printer;
mod token;

pub use error::{Mistake, SqlError};

use error::Fault;

use document::{Document, Value};
use select::plan::Select;

/// The plan of a query. Names of parameters have their `@`; their values become constants of the
/// plan.
pub fn compile(text: &str, parameters: &[(String, Value)]) -> Result<Select, SqlError> {
    let query = parser::parse(text).map_err(|fault| fault.into_error(text))?;
    bind::bind_query(&query, parameters).map_err(|faults| Fault::into_errors(faults, text))
}

/// The plan of a condition on one document, `FROM c WHERE c.a = 1`: a query that need not say what
/// it selects. [`Select::keeps_document`] is for it.
pub fn compile_condition(text: &str) -> Result<Select, SqlError> {
    let query = parser::parse_condition(text).map_err(|fault| fault.into_error(text))?;
    bind::bind_query(&query, &[]).map_err(|faults| Fault::into_errors(faults, text))
}

/// The plan that a client with these features is told: what it does itself with the results of
/// several partitions, and the query that it sends. One server has all results, so it never needs
/// to do anything.
pub fn plan_document(
    text: &str,
    parameters: &[(String, Value)],
    supported_features: &[&str],
) -> Result<Document, SqlError> {
    let query = parser::parse(text).map_err(|fault| fault.into_error(text))?;
    plan::document_for(&query, parameters, supported_features)
        .map_err(|faults| Fault::into_errors(faults, text))
}
