//! Compiles the NoSQL query language: parses a text and binds it to a plan for the crate `select`.
//! It evaluates nothing, does no I/O and has no access to the store.
//!
//! ```text
//! text --lexer--> tokens --parser--> tree (ast) --bind--> select::plan::Select
//!                                         `-----plan----> the document clients ask for
//! ```
//!
//! Every step is bounded: the length of the text, the depth of the tree, the number of operators
//! and joins. An error has Azure Cosmos DB's code and the position in the text.

mod ast;
mod bind;
mod error;
mod lexer;
mod parser;
mod plan;
mod printer;
mod token;

pub use error::{Diagnostic, MAX_DIAGNOSTICS, SqlError};

use error::Fault;

use document::{Document, Value};
use select::{functions::Surface, plan::Select};

/// Compiles a query to a plan. Names of parameters include the `@`; their values become constants
/// of the plan. Geometries lie on the Earth.
pub fn compile(text: &str, parameters: &[(String, Value)]) -> Result<Select, SqlError> {
    compile_on(Surface::Earth, text, parameters)
}

/// Compiles a query as [`compile`] does, for a container whose geometries lie on this surface.
pub fn compile_on(
    surface: Surface,
    text: &str,
    parameters: &[(String, Value)],
) -> Result<Select, SqlError> {
    let query = parser::parse(text).map_err(|fault| fault.into_error(text))?;
    bind::bind_query(&query, parameters, surface).map_err(|faults| Fault::into_errors(faults, text))
}

/// Compiles a condition on one document, `FROM c WHERE c.a = 1`; SELECT is optional.
/// [`Select::keeps_document`] evaluates the plan. Geometries lie on this surface.
pub fn compile_condition(surface: Surface, text: &str) -> Result<Select, SqlError> {
    let query = parser::parse_condition(text).map_err(|fault| fault.into_error(text))?;
    bind::bind_query(&query, &[], surface).map_err(|faults| Fault::into_errors(faults, text))
}

/// Returns the query plan for a client with these features: the steps that the client performs on
/// the results of several partitions, and the query that it sends to each. This server has all
/// documents, so it returns correct results for the original query without these steps.
pub fn plan_document(
    text: &str,
    parameters: &[(String, Value)],
    supported_features: &[&str],
) -> Result<Document, SqlError> {
    let query = parser::parse(text).map_err(|fault| fault.into_error(text))?;
    plan::document_for(&query, parameters, supported_features)
        .map_err(|faults| Fault::into_errors(faults, text))
}
