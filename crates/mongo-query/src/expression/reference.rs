//! Field paths and variables in strings that start with a `$`.
//!
//! ```text
//! "$a.b"        field b of field a of the current document
//! "$$ROOT.a"    field a of the document that the stage was given
//! "$$x.a"       field a of the variable x
//! "$$NOW"       the instant of the operation
//! ```
//!
//! Variables that a request binds begin with a small letter, so that the server's own can never be
//! hidden; only `CURRENT` may be bound anew.

use std::sync::Arc;

use document::{Path, Value};
use pipeline::Expr;

use super::Scope;
use crate::{error::Error, field_path::check_path};

/// Parses `$a.b` or `$$name.a.b`.
///
/// Errors: 16872 a `$` alone, 9 a variable without a name or with a wrong one, and those of a path.
pub(crate) fn parse_reference(text: &str, scope: Scope) -> Result<Expr, Error> {
    let Some(rest) = text.strip_prefix("$$") else {
        let path = text.strip_prefix('$').unwrap_or(text);
        if path.is_empty() {
            return Err(Error::new(16872, "'$' by itself is not a valid FieldPath"));
        }
        check_path(path)?;
        let path = Path::new(path);
        // A path is read from the document itself where it can be: that is what an index knows.
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

/// A variable, and the path below it. The server's own variables have capitals; another name with a
/// capital is 17276. Which names are bound is not known here: an unbound one fails when it is
/// evaluated.
///
/// `SEARCH_META` and `USER_ROLES` are known and not supported. A path below `NOW` or below the
/// cluster's time has no value, as of any value that is not a document.
fn parse_variable(name: &str, below: Option<Path>, scope: Scope) -> Result<Expr, Error> {
    Ok(match (name, below) {
        // The document that the stage was given, whatever `CURRENT` is bound to.
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
            // Capitals are the server's: a name that it does not have cannot be bound either.
            if name.starts_with(|c: char| c.is_ascii_uppercase()) {
                let text = format!("Use of undefined variable: {name}");
                return Err(Error::new(17276, text));
            }
            variable_name(name)?;
            Expr::Variable(Arc::from(name), below)
        }
    })
}

/// Checks the name of a variable that a request binds (9).
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
