//! The NoSQL query language: text in, plan out. It evaluates nothing, does no I/O and knows no
//! store.

mod ast;
mod bind;
mod error;
mod lexer;
pub mod limits;
mod parser;
mod token;

pub use error::SqlError;

use document::Value;
use query::json::select::Select;

/// The plan of a query. Parameters have their `@` and become constants.
pub fn compile(text: &str, parameters: &[(String, Value)]) -> Result<Select, SqlError> {
    let query = parser::parse(text).map_err(|fault| fault.into_error(text))?;
    bind::bind(&query, parameters).map_err(|fault| fault.into_error(text))
}
