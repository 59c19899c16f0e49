//! Operators that only a find's projection has: `$slice`, `$elemMatch`, `$meta` and the positional
//! `$`.
//!
//! ```text
//! {a: {$slice: 3}}            the first three elements
//! {a: {$slice: [-5, 3]}}      three elements from the fifth-last on
//! {a: {$elemMatch: {b: 1}}}   the first element that matches
//! {"a.$": 1}                  the element at which the filter matched
//! ```

use document::{Number, ValueRef};
use pipeline::{Expr, project::Computed};

use super::build::{Builder, Leaf};
use crate::{Error, field_path::check_path, filter};

/// Parses an operator at a path. Returns `None` if the operator is to be parsed as an expression,
/// such as a `$slice` with other operands.
type Parse = fn(&str, ValueRef<'_>) -> Result<Option<Leaf>, Error>;

/// The operators of a find's projection.
pub(crate) const FIND_OPERATORS: &[(&str, Parse)] =
    &[("$slice", parse_slice), ("$elemMatch", parse_elem_match), ("$meta", parse_meta)];

/// Adds an operator; returns false if it is not one of the operators of a find's projection.
pub(super) fn add_operator(
    path: &str,
    name: &str,
    operand: ValueRef<'_>,
    builder: &mut Builder,
) -> Result<bool, Error> {
    let Some((_, parse)) = FIND_OPERATORS.iter().find(|(known, _)| *known == name) else {
        return Ok(false);
    };
    match parse(path, operand)? {
        Some(leaf) => builder.add_leaf(path, leaf).map(|()| true),
        None => Ok(false),
    }
}

/// Parses `$slice: limit` and `$slice: [skip, limit]`. With other operands it is the expression of
/// the same name, and `None` is returned.
fn parse_slice(_: &str, operand: ValueRef<'_>) -> Result<Option<Leaf>, Error> {
    // A single number counts from the start, or from the end if it is negative.
    if let Some(limit) = clamped_int(operand) {
        return Ok(Some(Leaf::Slice { skip: None, limit }));
    }
    let Some(array) = operand.as_array() else { return Ok(None) };
    // Exactly two numbers, the second above 0; anything else is an expression.
    let mut parts = array.iter();
    let (skip, limit) = (parts.next().and_then(clamped_int), parts.next().and_then(clamped_int));
    Ok(match (skip, limit, parts.next()) {
        (Some(skip), Some(limit), None) if limit > 0 => {
            Some(Leaf::Slice { skip: Some(skip), limit })
        }
        _ => None,
    })
}

/// Truncates a number and clamps it to 32 bits; NaN becomes 0. Returns `None` if the value is not a
/// number.
fn clamped_int(value: ValueRef<'_>) -> Option<i64> {
    let number = Number::of(value)?;
    let (low, high) = (f64::from(i32::MIN), f64::from(i32::MAX));
    Some(if number.is_nan() { 0 } else { number.to_f64().clamp(low, high) as i64 })
}

/// Parses `$elemMatch`: a filter for the elements of an array in a root field.
///
/// Fails with 31274 if the value is not a document, 31275 if the path has more than one part, and
/// with the errors of filters.
fn parse_elem_match(path: &str, operand: ValueRef<'_>) -> Result<Option<Leaf>, Error> {
    let Some(inner) = operand.as_document() else {
        return Err(Error::new(
            31274,
            format!(
                "elemMatch: Invalid argument, object required, but got {}",
                operand.kind().name()
            ),
        ));
    };
    if path.contains('.') {
        return Err(Error::new(31275, "Cannot use $elemMatch projection on a nested field."));
    }
    let test = filter::parse_elem_match(inner)?;
    let field = path.to_owned();
    Ok(Some(Leaf::FirstElement(Computed::FirstElement { field, test })))
}

/// Parses `$meta: "textScore"`, and refuses other names: with 17308 names that MongoDB does not
/// support either.
fn parse_meta(_: &str, operand: ValueRef<'_>) -> Result<Option<Leaf>, Error> {
    const KNOWN: [&str; 8] = [
        "indexKey",
        "recordId",
        "sortKey",
        "randVal",
        "geoNearDistance",
        "geoNearPoint",
        "searchScore",
        "searchHighlights",
    ];
    match operand.as_str() {
        Some("textScore") => Ok(Some(Leaf::Score(Computed::Expr(Expr::RowScore)))),
        Some(name) if !KNOWN.contains(&name) => {
            Err(Error::new(17308, format!("Unsupported argument to $meta: {name}")))
        }
        _ => Err(Error::unsupported("$meta")),
    }
}

/// Adds a path that ends in `.$`. The `$` must occur once and at the end; its value must be true.
///
/// Fails with 31394 if the `$` is in the middle, 31271 if the value is an object, 31308 if it is of
/// any other type except number and boolean, 31395 if it is false, and 31276 if the projection
/// already has a positional path.
pub(super) fn add_positional_path(
    path: &str,
    value: ValueRef<'_>,
    builder: &mut Builder,
) -> Result<(), Error> {
    // The rest of the path must not contain another `$`.
    let Some(array) = path.strip_suffix(".$").filter(|rest| !rest.split('.').any(|p| p == "$"))
    else {
        return Err(Error::new(
            31394,
            "As of 4.4, it's illegal to specify positional operator in the middle of a path.\
             Positional projection may only be used at the end, for example: a.b.$. If the query \
             previously used a form like a.b.$.d, remove the parts following the '$' and the \
             results will be equivalent.",
        ));
    };
    check_path(array)?;
    match value {
        ValueRef::Bool(_) => {}
        value if value.is_number() => {}
        ValueRef::Document(_) => {
            let text = "positional projection cannot be used with an expression or sub object";
            return Err(Error::new(31271, text));
        }
        _ => {
            let text = "positional projection cannot be used with a literal";
            return Err(Error::new(31308, text));
        }
    }
    if !value.is_truthy() {
        let text = "positional projection cannot be used with exclusion";
        return Err(Error::new(31395, text));
    }
    builder.add_leaf(array, Leaf::Positional)
}
