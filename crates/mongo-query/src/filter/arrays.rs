//! The operands of `$all` and `$elemMatch`.
//!
//! ```text
//! {a: {$all: [1, 2]}}                    the array contains every value
//! {a: {$all: [{$elemMatch: {..}}, ..]}}  for every filter there is an element
//! {a: {$elemMatch: {b: 1, c: 2}}}        one element is a document that matches both
//! {a: {$elemMatch: {$gt: 1, $lt: 5}}}    one element lies between 1 and 5
//! ```

use document::{ArrayRef, DocRef, ValueRef};
use pipeline::filter::{Condition, PathTest};

use super::{
    Scope, equality_test, is_operators,
    operators::{FIELD_OPERATORS, Operator, parse_operators, test_condition},
    parse_document, pattern,
};
use crate::Error;

/// Parses `$all`: the array contains every value of the list, or every `$elemMatch` finds an
/// element. An empty list matches nothing. The first element of the list decides between the two
/// forms.
///
/// Fails with 2 if the value is not an array, if an element is another operator, or if `$elemMatch`
/// is mixed with other values.
pub(super) fn parse_all(op: Operator<'_>) -> Result<Condition, Error> {
    let Some(array) = op.value.as_array() else {
        return Err(Error::bad_value("$all needs an array"));
    };
    let Some(first) = array.iter().next() else { return Ok(Condition::Never) };
    let conditions = if elem_match_of(first).is_some() {
        all_elem_match(array, op.scope)?
    } else {
        array.iter().map(one_of_all).collect::<Result<_, _>>()?
    };
    Ok(Condition::All(conditions))
}

/// Returns the operand if the value is `{$elemMatch: ..}`.
fn elem_match_of(value: ValueRef<'_>) -> Option<ValueRef<'_>> {
    let (name, inner) = value.as_document()?.iter().next()?;
    (name == "$elemMatch").then_some(inner)
}

/// Parses a list of `$elemMatch`. Any other element of the list is an error.
fn all_elem_match(array: ArrayRef<'_>, scope: Scope) -> Result<Vec<Condition>, Error> {
    let parse = |value: ValueRef<'_>| match elem_match_of(value) {
        Some(inner) => Ok(test_condition(parse_elem_match(inner, scope)?)),
        None => Err(Error::bad_value("$all/$elemMatch has to be consistent")),
    };
    array.iter().map(parse).collect()
}

/// Returns whether a document starts with a field operator.
fn starts_with_operator(document: DocRef<'_>) -> bool {
    let first = document.iter().next().map(|(name, _)| name);
    FIELD_OPERATORS.iter().any(|(name, _)| Some(*name) == first)
}

/// Parses one element of the array of `$all`: a value or a regular expression.
fn one_of_all(value: ValueRef<'_>) -> Result<Condition, Error> {
    match value {
        ValueRef::Document(inner) if starts_with_operator(inner) => {
            Err(Error::bad_value("no $ expressions in $all"))
        }
        ValueRef::Regex { pattern, options } => {
            Ok(test_condition(PathTest::Pattern(pattern::compile_pattern(pattern, options)?)))
        }
        value => Ok(test_condition(equality_test(value.to_value()))),
    }
}

/// Parses `$elemMatch`: a filter on embedded documents, or operators on the elements themselves.
/// The first name decides: `{$or: [..]}` and a database reference are filters, although they start
/// with `$`.
///
/// Fails with 2 if the value is not a document, and with the errors of its contents.
pub(super) fn parse_elem_match(value: ValueRef<'_>, scope: Scope) -> Result<PathTest, Error> {
    let Some(inner) = value.as_document() else {
        return Err(Error::bad_value("$elemMatch needs an Object"));
    };
    let scope = scope.inside_array()?;
    // Logical operators and references start with a dollar, too, but are filters.
    if is_operators(inner) && !starts_with_logic(inner) && !is_reference(inner) {
        return Ok(PathTest::ElemValue(parse_operators("", inner, scope)?));
    }
    Ok(PathTest::ElemMatch(Box::new(parse_document(inner, scope)?)))
}

/// Returns whether a document starts with a field of a database reference.
fn is_reference(inner: DocRef<'_>) -> bool {
    inner.iter().next().is_some_and(|(name, _)| matches!(name, "$ref" | "$id" | "$db"))
}

/// Returns whether a document starts with a top-level operator.
fn starts_with_logic(inner: DocRef<'_>) -> bool {
    let first = inner.iter().next().map(|(name, _)| name);
    first.is_some_and(|name| super::TOP_OPERATORS.iter().any(|(known, _)| *known == name))
}
