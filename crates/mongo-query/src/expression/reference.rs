//! Field paths and variables in strings that start with a `$`.
//!
//! ```text
//! "$a.b"        field b of field a of the current document
//! "$$ROOT.a"    field a of the stage's input document
//! "$$x.a"       field a of the variable x
//! "$$NOW"       the instant of the operation
//! ```
//!
//! Variables that a request binds start with a lower-case letter, so that they cannot hide the
//! server's variables; of these only `CURRENT` may be bound.

use std::sync::Arc;

use document::{Path, Value};
use pipeline::Expr;

use super::Scope;
use crate::{Error, field_path::check_path};

/// Parses `$a.b` or `$$name.a.b`.
///
/// Fails with 16872 if the text is a `$` alone, 9 if a variable has no name or an invalid one, and
/// with the errors of paths.
pub(crate) fn parse_reference(text: &str, scope: Scope) -> Result<Expr, Error> {
    let Some(rest) = text.strip_prefix("$$") else {
        let path = text.strip_prefix('$').unwrap_or(text);
        if path.is_empty() {
            return Err(Error::new(16872, "'$' by itself is not a valid FieldPath"));
        }
        check_path(path)?;
        let path = Path::new(path);
        // Where possible a path is read from the document itself: only such paths can use an index.
        return Ok(match scope.rebound {
            true => Expr::Variable(Arc::from("CURRENT"), Some(path)),
            false => Expr::Field(path),
        });
    };
    let (name, below) = match rest.split_once('.') {
        Some((name, below)) => {
            check_path(below)?;
            (name, Some(Path::new(below)))
        }
        None => (rest, None),
    };
    if name.is_empty() {
        return Err(Error::new(9, "empty variable names are not allowed"));
    }
    parse_variable(name, below, scope)
}

/// Returns the expression of a variable and the path below it. The server's own variables are in
/// capitals; other names that start with a capital fail with 17276. The parser has no list of bound
/// variables: an unbound variable fails during evaluation.
///
/// `SEARCH_META` and `USER_ROLES` are known but not supported. A path below `NOW` or `CLUSTER_TIME`
/// has no value, as below any value that is not a document.
fn parse_variable(name: &str, below: Option<Path>, scope: Scope) -> Result<Expr, Error> {
    Ok(match (name, below) {
        // The stage's input document, regardless of the binding of `CURRENT`.
        ("ROOT", None) => Expr::Root,
        ("ROOT", Some(below)) => Expr::Field(below),
        ("CURRENT", None) if !scope.rebound => Expr::Root,
        ("CURRENT", Some(below)) if !scope.rebound => Expr::Field(below),
        ("CURRENT", below) => Expr::Variable(Arc::from("CURRENT"), below),
        ("NOW", None) => Expr::Now,
        // A date has no fields, so a path below it is missing.
        ("NOW" | "REMOVE", _) => Expr::Remove,
        ("DESCEND", None) if scope.redact => Expr::Literal(Value::from("descend")),
        ("PRUNE", None) if scope.redact => Expr::Literal(Value::from("prune")),
        ("KEEP", None) if scope.redact => Expr::Literal(Value::from("keep")),
        ("CLUSTER_TIME", None) => Expr::ClusterTime,
        ("CLUSTER_TIME", Some(_)) => Expr::Remove,
        ("SEARCH_META" | "USER_ROLES", _) => {
            return Err(Error::unsupported(&format!("$${name}")));
        }
        (name, below) => {
            // Names in capitals are the server's, so unknown ones cannot be bound.
            if name.starts_with(|c: char| c.is_ascii_uppercase()) {
                let text = format!("Use of undefined variable: {name}");
                return Err(Error::new(17276, text));
            }
            variable_name(name)?;
            Expr::Variable(Arc::from(name), below)
        }
    })
}

/// Fails with 9 if a request must not bind a variable with this name.
pub fn variable_name(name: &str) -> Result<(), Error> {
    let Some(first) = name.chars().next() else {
        return Err(Error::new(9, "empty variable names are not allowed"));
    };
    if !first.is_ascii_lowercase() && first.is_ascii() && name != "CURRENT" {
        let text = format!("'{name}' starts with an invalid character for a user variable name");
        return Err(Error::new(9, text));
    }
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii();
    match name.chars().find(|c| !fits(*c)) {
        Some(c) => {
            let text = format!("'{name}' contains an invalid character for a variable name: '{c}'");
            Err(Error::new(9, text))
        }
        None => Ok(()),
    }
}
