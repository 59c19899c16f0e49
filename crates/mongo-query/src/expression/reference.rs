//! Field paths and variables in strings that start with a `$`.

use std::sync::Arc;

use document::{Path, Value};
use query::Expr;

use super::Scope;
use crate::{error::Error, field_path::check_path};

/// Parses `$a.b` or `$$name.a.b`.
pub(crate) fn parse_reference(text: &str, scope: Scope) -> Result<Expr, Error> {
    let Some(rest) = text.strip_prefix("$$") else {
        let path = text.strip_prefix('$').unwrap_or(text);
        if path.is_empty() {
            return Err(Error::new(16872, "'$' by itself is not a valid FieldPath"));
        }
        check_path(path)?;
        let path = Path::new(path);
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

fn parse_variable(name: &str, below: Option<Path>, scope: Scope) -> Result<Expr, Error> {
    Ok(match (name, below) {
        ("ROOT", None) => Expr::Root,
        ("ROOT", Some(below)) => Expr::Field(below),
        ("CURRENT", None) if !scope.rebound => Expr::Root,
        ("CURRENT", Some(below)) if !scope.rebound => Expr::Field(below),
        ("CURRENT", below) => Expr::Variable(Arc::from("CURRENT"), below),
        ("NOW", None) => Expr::Now,
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
            if name.starts_with(|c: char| c.is_ascii_uppercase()) {
                let text = format!("Use of undefined variable: {name}");
                return Err(Error::new(17276, text));
            }
            variable_name(name)?;
            Expr::Variable(Arc::from(name), below)
        }
    })
}

/// Checks the name of a variable that a request binds.
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
