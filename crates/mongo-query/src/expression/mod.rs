//! Aggregation expressions: constants, field paths, objects, arrays and operators.
//!
//! ```text
//! "$a.b"                      a field path          reference.rs
//! "$$NOW"                     a variable            reference.rs
//! {$add: ["$a", 1]}           a function            argument.rs, named.rs
//! {$cond: {if: .., ..}}       an operator with a special syntax               special.rs
//! {a: "$x", b: 1}             an object whose fields are expressions
//! [1, "$x"]                   an array whose elements are expressions
//! anything else               a constant
//! ```
//!
//! Constants are folded: an object or an array whose parts are all constant is a constant, so that
//! it is built once and not for every document. Calls of functions with constants are not folded,
//! since their errors must occur only when a document reaches them.

mod argument;
mod form;
mod iterate;
mod named;
mod reference;
mod special;

#[cfg(test)]
pub(crate) mod tests;

use std::collections::HashSet;

use document::{DocRef, Document, Value, ValueRef, shell};
use evaluation::as_program;
use pipeline::{
    Expr,
    expr::functions::{self, Arity, Function},
};

use crate::{Error, field_path::check_field_name};

use reference::parse_reference;
pub use reference::variable_name;

/// Maximum nesting of filters and expressions, since parsing, matching and evaluation are
/// recursive.
pub(crate) const MAX_EXPRESSION_DEPTH: usize = 100;
/// Operators of MongoDB that are refused as not supported yet.
pub(crate) const NOT_YET: &[&str] = &[
    "$accumulator",
    "$createObjectId",
    "$encStrContains",
    "$encStrEndsWith",
    "$encStrNormalizedEq",
    "$encStrStartsWith",
    "$function",
    "$hash",
    "$hexHash",
    "$minMaxScaler",
    "$similarityCosine",
    "$similarityDotProduct",
    "$similarityEuclidean",
    "$toHashedIndexKey",
    "$toUUID",
    "$toArray",
    "$toObject",
];

/// The context of an expression.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scope {
    /// Nesting depth, limited because parsing and evaluation are recursive.
    depth: usize,
    /// Whether `$$CURRENT` is bound to something other than the current document: by `$let`, `$map`
    /// or `$redact`. Field paths are then read from this variable.
    rebound: bool,
    /// Whether `$$KEEP`, `$$PRUNE` and `$$DESCEND` are defined.
    redact: bool,
}

impl Scope {
    /// Returns the scope inside `$redact`, where `$$CURRENT` is the current embedded document.
    pub(crate) fn inside_redact() -> Self {
        Self { depth: 0, rebound: true, redact: true }
    }

    /// Returns the scope one level deeper; fails with 15 beyond the limit.
    fn deeper(self) -> Result<Self, Error> {
        if MAX_EXPRESSION_DEPTH <= self.depth {
            let text = format!("Expression exceeds the depth limit of {MAX_EXPRESSION_DEPTH}");
            return Err(Error::new(15, text));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }
}

/// Parses an expression. All regular expressions in it together have one memory limit.
pub fn parse(value: ValueRef<'_>) -> Result<Expr, Error> {
    as_program(|| parse_operand(value, Scope::default()))
}

/// Parses an expression in a scope.
pub(crate) fn parse_operand(value: ValueRef<'_>, scope: Scope) -> Result<Expr, Error> {
    let scope = scope.deeper()?;
    match value {
        // Text that does not start with a dollar is a constant.
        ValueRef::String(text) if text.starts_with('$') => parse_reference(text, scope),
        ValueRef::Document(fields) => parse_object(fields, scope),
        ValueRef::Array(values) => {
            let parts: Result<Vec<Expr>, Error> =
                values.iter().map(|value| parse_operand(value, scope)).collect();
            Ok(folded_array(parts?))
        }
        other => Ok(Expr::Literal(other.to_value())),
    }
}

/// Builds an array; a constant if all elements are constant.
fn folded_array(parts: Vec<Expr>) -> Expr {
    let constants: Option<Vec<Value>> =
        parts.iter().map(|part| part.as_literal().cloned()).collect();
    constants.map_or(Expr::Array(parts), |values| Expr::Literal(Value::Array(values)))
}

/// Parses an object: an operator if its first name starts with `$`, otherwise an object of
/// expressions. As in mongod, only the first name decides this: `{a: 1, $add: []}` has a wrong
/// field name, and `{$add: [], a: 1}` too many fields.
///
/// Fails with 15983 if fields follow an operator, 15998 if a field name is empty, 16410 or 16412 if
/// it starts with `$` or contains a dot, and 16406 if it occurs twice.
fn parse_object(fields: DocRef<'_>, scope: Scope) -> Result<Expr, Error> {
    // An empty object is a constant.
    let Some((first, value)) = fields.iter().next() else {
        return Ok(Expr::Literal(Value::Document(Document::new())));
    };
    if first.starts_with('$') {
        if fields.len() != 1 {
            let text = "An object representing an expression must have exactly one field:";
            return Err(Error::new(15983, format!("{text} {}", shell(ValueRef::Document(fields)))));
        }
        return parse_operator(first, value, scope);
    }
    let mut parts: Vec<(String, Expr)> = Vec::new();
    let mut names = HashSet::new();
    for (name, value) in fields.iter() {
        check_field_name(name)?;
        if !names.insert(name) {
            let shown = shell(ValueRef::Document(fields));
            let text = format!("duplicate field name specified in object literal: {shown}");
            return Err(Error::new(16406, text));
        }
        // Fields are evaluated and returned in this order.
        parts.push((name.to_owned(), parse_operand(value, scope)?));
    }
    let constants: Option<Document> =
        parts.iter().map(|(name, part)| Some((name.clone(), part.as_literal()?.clone()))).collect();
    Ok(constants.map_or(Expr::Object(parts), |fields| Expr::Literal(Value::Document(fields))))
}

/// Parses `{$name: value}`.
///
/// Fails with 238 if this server lacks an operator that MongoDB has, and with 168 if the operator
/// is unknown.
fn parse_operator(name: &str, value: ValueRef<'_>, scope: Scope) -> Result<Expr, Error> {
    // Special parsers come first, because some of these operators are also functions, which the
    // parsers call.
    if let Some(parse) = special::find_parser(name) {
        return parse(name, value, scope);
    }
    if let Some(function) = functions::find_function(name) {
        return parse_call(function, value, scope);
    }
    if NOT_YET.contains(&name) {
        return Err(Error::unsupported(name));
    }
    Err(Error::new(168, format!("Unrecognized expression '{name}'")))
}

/// Returns the names of the operators with special parsers.
#[cfg(test)]
pub(crate) fn special_names() -> impl Iterator<Item = &'static str> {
    special::TABLE.iter().map(|(name, _)| *name)
}

/// Checks that constant operands of `$setEquals` are arrays. mongod checks this before it reads a
/// document.
///
/// Fails with 5887502 if one is not an array. The error text counts arguments from 1.
fn check_sets(args: &[Expr]) -> Result<(), Error> {
    let constants = args.iter().enumerate().filter_map(|(at, arg)| Some((at, arg.as_literal()?)));
    for (at, value) in constants {
        if !matches!(value, Value::Array(_)) {
            let kind = value.as_ref().kind().name();
            let text = format!("{}-th argument is of type: {kind}", at + 1);
            let text = format!("All operands of $setEquals must be arrays. {text}");
            return Err(Error::new(5_887_502, text));
        }
    }
    Ok(())
}

/// Parses the arguments of a function, by position or by name as the function requires.
fn parse_call(
    function: &'static Function,
    value: ValueRef<'_>,
    scope: Scope,
) -> Result<Expr, Error> {
    let mut args = match function.arity {
        Arity::Named(params) => named::parse_arguments(function.name, params, value, scope)?,
        Arity::DateOrNamed => argument::parse_date(function.name, value, scope)?,
        arity => argument::parse_list(function.name, arity, value, scope)?,
    };
    match function.name {
        "$setEquals" => check_sets(&args)?,
        // mongod moves the constants of commutative functions to the end, so that a missing set
        // makes the result null before a constant of a wrong type is found.
        "$setIntersection" | "$setUnion" => args.sort_by_key(|arg| arg.as_literal().is_some()),
        _ => {}
    }
    Ok(Expr::Call(function, args))
}
