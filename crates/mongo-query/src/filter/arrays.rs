//! The operands of `$all` and `$elemMatch`.
//!
//! ```text
//! {a: {$all: [1, 2]}}                    every value is in the array
//! {a: {$all: [{$elemMatch: {..}}, ..]}}  for every filter there is an element
//! {a: {$elemMatch: {b: 1, c: 2}}}        one element is a document that matches both
//! {a: {$elemMatch: {$gt: 1, $lt: 5}}}    one element lies between both
//! ```

use document::{ArrayRef, DocRef, ValueRef};
use pipeline::filter::{Condition, PathTest};

use super::operators::{FIELD_OPERATORS, Operator, parse_operators, test_condition};
use super::{Scope, equality_test, is_operators, parse_document, pattern};
use crate::error::Error;

/// `$all`: every value of the list is there, or every `$elemMatch` finds an element. An empty list
/// matches nothing. The first element decides which of the two forms the list has.
///
/// Errors: 2 for something other than an array, for operators in it, and for `$elemMatch` beside
/// other values.
pub(super) fn parse_all(op: Operator<'_>) -> Result<Condition, Error> {
    let Some(array) = op.value.as_array() else {
        return Err(Error::bad_value("$all needs an array"));
    };
    // An empty list has no value that could be there.
    let Some(first) = array.iter().next() else { return Ok(Condition::Never) };
    let conditions = if elem_match_of(first).is_some() {
        all_elem_match(array, op.scope)?
    } else {
        array.iter().map(one_of_all).collect::<Result<_, _>>()?
    };
    Ok(Condition::All(conditions))
}

/// The operand of `{$elemMatch: ..}`, if a value is that.
fn elem_match_of(value: ValueRef<'_>) -> Option<ValueRef<'_>> {
    let (name, inner) = value.as_document()?.iter().next()?;
    (name == "$elemMatch").then_some(inner)
}

/// A list of `$elemMatch`; anything else in it is an error.
fn all_elem_match(array: ArrayRef<'_>, scope: Scope) -> Result<Vec<Condition>, Error> {
    let parse = |value: ValueRef<'_>| match elem_match_of(value) {
        Some(inner) => Ok(test_condition(parse_elem_match(inner, scope)?)),
        None => Err(Error::bad_value("$all/$elemMatch has to be consistent")),
    };
    array.iter().map(parse).collect()
}

/// Whether a document begins with an operator of a field.
fn starts_with_operator(document: DocRef<'_>) -> bool {
    let first = document.iter().next().map(|(name, _)| name);
    FIELD_OPERATORS.iter().any(|(name, _)| Some(*name) == first)
}

/// A value of `$all`, or a pattern.
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

/// `$elemMatch`: a filter on embedded documents, or operators on the elements themselves. Which one
/// it is shows in its first name: `{$or: [..]}` and a database reference are filters although they
/// begin with a `$`.
///
/// Errors: 2 for something other than a document, and those of what is in it.
pub(super) fn parse_elem_match(value: ValueRef<'_>, scope: Scope) -> Result<PathTest, Error> {
    let Some(inner) = value.as_document() else {
        return Err(Error::bad_value("$elemMatch needs an Object"));
    };
    let scope = scope.inside_array()?;
    // Logic and references begin with a dollar too, and are filters.
    if is_operators(inner) && !starts_with_logic(inner) && !is_reference(inner) {
        return Ok(PathTest::ElemValue(parse_operators("", inner, scope)?));
    }
    Ok(PathTest::ElemMatch(Box::new(parse_document(inner, scope)?)))
}

/// Whether it begins with a field of a database reference.
fn is_reference(inner: DocRef<'_>) -> bool {
    inner.iter().next().is_some_and(|(name, _)| matches!(name, "$ref" | "$id" | "$db"))
}

/// Whether it begins with an operator of the top level.
fn starts_with_logic(inner: DocRef<'_>) -> bool {
    let first = inner.iter().next().map(|(name, _)| name);
    first.is_some_and(|name| super::TOP_OPERATORS.iter().any(|(known, _)| *known == name))
}
