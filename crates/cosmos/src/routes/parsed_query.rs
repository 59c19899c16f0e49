//! The body of a query request: a JSON object with a query text and parameters, which is parsed and
//! compiled. A text that does not compile is refused with Azure Cosmos DB's list of errors.

use std::sync::Arc;

use cosmos_sql::{Diagnostic, SqlError, compile_on};
use document::{Value, json};
use select::{functions::Surface, plan::Select};

use crate::{
    failure::{Failure, Result},
    limits::MAX_DEPTH,
};

pub(super) struct ParsedQuery {
    /// The compiled query, without the rows that it will process.
    pub(super) plan: Arc<Select>,
    /// Identifies the query for continuation tokens: its text and the values of its parameters,
    /// separated by zero bytes so that different queries differ.
    pub(super) text: Vec<u8>,
}

/// The text of a query, and its parameters by name.
pub(super) type QueryParts = (String, Vec<(String, Value)>);

impl ParsedQuery {
    /// Parses the body without compiling the query text, for query plan requests.
    pub(super) fn read_parts(body: &[u8]) -> Result<QueryParts> {
        let mut fields = json::parse_document(body, MAX_DEPTH)?;
        let Some(Value::String(text)) = fields.remove("query") else {
            return Err(Failure::bad_request("The body of a query has no string 'query'."));
        };
        let parameters = match fields.remove("parameters") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(parameters)) => {
                parameters.into_iter().map(read_parameter).collect::<Result<_>>()?
            }
            Some(_) => {
                return Err(Failure::bad_request("The 'parameters' of a query are not an array."));
            }
        };
        Ok((text, parameters))
    }

    /// Parses and compiles the body, for geometries on this surface.
    pub(super) fn compile_body(surface: Surface, body: &[u8]) -> Result<Self> {
        let (text, parameters) = Self::read_parts(body)?;
        let plan =
            compile_on(surface, &text, &parameters).map_err(|error| query_failure(&error))?;
        let mut about = text.into_bytes();
        for (name, value) in &parameters {
            about.push(0);
            about.extend_from_slice(name.as_bytes());
            json::write(value.as_ref(), &mut about);
        }
        Ok(Self { plan: Arc::new(plan), text: about })
    }
}

/// Parses a parameter. A parameter without a value is undefined, which differs from null.
fn read_parameter(value: Value) -> Result<(String, Value)> {
    let wrong =
        || Failure::bad_request("A parameter of a query must have a string 'name' and a 'value'.");
    let Value::Document(mut fields) = value else { return Err(wrong()) };
    let Some(Value::String(name)) = fields.remove("name") else { return Err(wrong()) };
    Ok((name, fields.remove("value").unwrap_or(Value::Undefined)))
}

/// Returns the failure for an invalid query in Azure Cosmos DB's format, from which SDKs read code
/// and position of errors.
pub(super) fn query_failure(error: &SqlError) -> Failure {
    let diagnostics = match error {
        SqlError::Unsupported { what } => return Failure::unsupported(what),
        SqlError::Invalid(diagnostics) => diagnostics,
    };
    // Errors that only query plan requests can have use the format of other failures.
    if let [Diagnostic { code: "", message, .. }] = diagnostics.as_slice() {
        return Failure::bad_request(message.clone());
    }
    let mut errors = b"{\"errors\":[".to_vec();
    for (at, diagnostic) in diagnostics.iter().enumerate() {
        if 0 < at {
            errors.push(b',');
        }
        write_diagnostic(diagnostic, &mut errors);
    }
    errors.extend_from_slice(b"]}");
    Failure::invalid_query(String::from_utf8(errors).unwrap_or_default())
}

/// Appends an error in the query text as an object of a JSON array.
fn write_diagnostic(diagnostic: &Diagnostic, errors: &mut Vec<u8>) {
    let Diagnostic { code, message, start, end } = diagnostic;
    errors.extend_from_slice(b"{\"severity\":\"Error\",");
    // Errors from Azure Cosmos DB's later checks have a number instead of a code, and no position.
    let about = match code.parse::<u32>() {
        Ok(number) => format!("\"code\":{number},\"message\":"),
        Err(_) => format!(
            "\"location\":{{\"start\":{start},\"end\":{end}}},\"code\":\"{code}\",\"message\":"
        ),
    };
    errors.extend_from_slice(about.as_bytes());
    json::write_string(message, errors);
    errors.push(b'}');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_queries_say_where() {
        let syntax =
            Diagnostic { code: "SC1001", message: "near '\"'".to_owned(), start: 7, end: 8 };
        let error = SqlError::Invalid(vec![syntax.clone()]);
        let want = concat!(
            r#"{"errors":[{"severity":"Error","location":{"start":7,"end":8},"code":"SC1001","#,
            r#""message":"near '\"'"}]}"#
        );
        assert_eq!(query_failure(&error).errors.as_deref(), Some(want));
        let late = Diagnostic { code: "2206", message: "x".to_owned(), start: 0, end: 0 };
        let error = SqlError::Invalid(vec![late.clone()]);
        let want = r#"{"errors":[{"severity":"Error","code":2206,"message":"x"}]}"#;
        assert_eq!(query_failure(&error).errors.as_deref(), Some(want));
        let want = concat!(
            r#"{"errors":[{"severity":"Error","location":{"start":7,"end":8},"code":"SC1001","#,
            r#""message":"near '\"'"},{"severity":"Error","code":2206,"message":"x"}]}"#
        );
        let both = SqlError::Invalid(vec![syntax, late]);
        assert_eq!(query_failure(&both).errors.as_deref(), Some(want));
        let composed = Diagnostic { code: "", message: "y".to_owned(), start: 0, end: 0 };
        assert_eq!(query_failure(&SqlError::Invalid(vec![composed])).errors, None);
        let unsupported = SqlError::Unsupported { what: "RRF".to_owned() };
        assert_eq!(query_failure(&unsupported).fault.status(), 501);
    }
}
