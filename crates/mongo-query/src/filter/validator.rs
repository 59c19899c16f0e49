//! Validators of collections: filters that keep each clause as it was specified.
//!
//! ```text
//! {a: {$gt: 1, $lt: 5}}            $and of two tests
//! {$or: [{a: 1}, {b: /^x/}]}       $or of a test of equality and of a regular expression
//! ```

use std::sync::Arc;

use document::{DocRef, Document, Path, ValueRef};
use evaluation::as_program;
use pipeline::filter::{Clause, FieldTest, Logic};

use super::{
    FilterTarget, Scope, is_operators, list_entries, parse_document, refused_by_distance, schema,
    top_operator,
};
use crate::{Error, expression};

/// Parses the validator of a collection.
///
/// Fails with the errors of filters, with 2 if there is a `$text` or `$where`, and with 5626500 if
/// there is an operator that sorts by distance, such as `$near`.
pub fn parse_validator(validator: DocRef<'_>) -> Result<Clause, Error> {
    as_program(|| parse_clauses(validator, Scope { depth: 0, target: FilterTarget::Top }))
}

/// Parses a document of clauses. A single clause is returned as it is.
fn parse_clauses(document: DocRef<'_>, scope: Scope) -> Result<Clause, Error> {
    let scope = scope.deeper()?;
    let mut clauses = Vec::new();
    for (name, value) in document.iter() {
        if name.starts_with('$') && !matches!(name, "$id" | "$ref" | "$db") {
            clauses.extend(parse_top(name, value, scope)?);
        } else {
            add_field(name, value, scope, &mut clauses)?;
        }
    }
    Ok(joined(clauses))
}

/// Returns the conjunction of clauses.
fn joined(mut clauses: Vec<Clause>) -> Clause {
    match (clauses.len(), clauses.pop()) {
        (1, Some(only)) => only,
        (_, last) => {
            clauses.extend(last);
            Clause::Logic(Logic::And, clauses)
        }
    }
}

/// Parses an operator in place of a field name; `None` for a comment.
fn parse_top(name: &str, value: ValueRef<'_>, scope: Scope) -> Result<Option<Clause>, Error> {
    let specified = || clause_of(name, value);
    Ok(Some(match name {
        "$and" => parse_logic(Logic::And, name, value, scope)?,
        "$or" => parse_logic(Logic::Or, name, value, scope)?,
        "$nor" => parse_logic(Logic::Nor, name, value, scope)?,
        "$jsonSchema" => Clause::Schema(specified(), Arc::new(schema::parse_root(value, scope)?)),
        "$expr" => Clause::Expr(specified(), Box::new(expression::parse(value)?)),
        "$alwaysTrue" => Clause::Constant(specified(), true),
        "$alwaysFalse" => Clause::Constant(specified(), false),
        "$comment" => return Ok(None),
        "$text" | "$where" => {
            return Err(Error::bad_value(format!("{name} is not allowed in this context")));
        }
        "$near" | "$nearSphere" | "$geoNear" => return Err(refused_by_distance()),
        _ => {
            // Unknown operators have the error of filters.
            top_operator(name, value, scope)?;
            return Err(Error::unsupported(name));
        }
    }))
}

/// Parses the clauses of `$and`, `$or` or `$nor`.
fn parse_logic(
    logic: Logic,
    name: &str,
    value: ValueRef<'_>,
    scope: Scope,
) -> Result<Clause, Error> {
    let clauses = list_entries(name, value)?.map(|entry| parse_clauses(entry?, scope));
    Ok(Clause::Logic(logic, clauses.collect::<Result<_, _>>()?))
}

/// Adds the clauses of a field: one for each of its operators, or an equality.
fn add_field(
    name: &str,
    value: ValueRef<'_>,
    scope: Scope,
    clauses: &mut Vec<Clause>,
) -> Result<(), Error> {
    match value {
        ValueRef::Document(operators) if is_operators(operators) => {
            add_operators(name, operators, scope, clauses)
        }
        value => {
            let operator = if matches!(value, ValueRef::Regex { .. }) { "$regex" } else { "$eq" };
            clauses.push(test_of(name, operator, clause_of(name, value), scope)?);
            Ok(())
        }
    }
}

/// Adds the clauses of a field's operators.
fn add_operators(
    field: &str,
    operators: DocRef<'_>,
    scope: Scope,
    clauses: &mut Vec<Clause>,
) -> Result<(), Error> {
    let options = operators.get("$options").filter(|_| operators.get("$regex").is_some());
    for (operator, operand) in operators.iter() {
        // The clause of a name without `$` would be an equality with a document.
        if !operator.starts_with('$') {
            return Err(Error::bad_value(format!("unknown operator: {operator}")));
        }
        // `$options` is part of the clause of `$regex`; without `$regex` it is an error.
        if operator != "$options" || options.is_none() {
            clauses.push(parse_operator(field, operator, operand, options, scope)?);
        }
    }
    Ok(())
}

/// Parses an operator of a field; `options` is the operand of the `$options` of its `$regex`.
fn parse_operator(
    field: &str,
    operator: &str,
    operand: ValueRef<'_>,
    options: Option<ValueRef<'_>>,
    scope: Scope,
) -> Result<Clause, Error> {
    match (operator, operand) {
        ("$near" | "$nearSphere" | "$geoNear", _) => return Err(refused_by_distance()),
        // Parsed without a copy of the operand, since negations may be nested.
        ("$not", ValueRef::Document(operators)) if !operators.is_empty() => {
            let mut clauses = Vec::new();
            add_operators(field, operators, scope.deeper()?, &mut clauses)?;
            return Ok(Clause::Not(Box::new(joined(clauses))));
        }
        ("$not", ValueRef::Regex { .. }) => {
            let test = test_of(field, "$regex", clause_of(field, operand), scope)?;
            return Ok(Clause::Not(Box::new(test)));
        }
        _ => {}
    }
    let mut operators = clause_of(operator, operand);
    if let Some(options) = options.filter(|_| operator == "$regex") {
        operators.push("$options", options.to_value());
    }
    let mut specified = Document::new();
    specified.push(field, operators);
    test_of(field, operator, specified, scope)
}

/// Returns the clause of a field's operator. `specified` is the clause as it was specified, with
/// this operator alone.
fn test_of(
    field: &str,
    operator: &str,
    specified: Document,
    scope: Scope,
) -> Result<Clause, Error> {
    let filter = parse_document(DocRef::Tree(&specified), scope)?;
    let (operator, path) = (operator.to_owned(), Path::new(field));
    Ok(Clause::Test(Box::new(FieldTest { operator, path, specified, filter })))
}

/// Returns a document with one field.
fn clause_of(name: &str, value: ValueRef<'_>) -> Document {
    let mut clause = Document::new();
    clause.push(name, value.to_value());
    clause
}
