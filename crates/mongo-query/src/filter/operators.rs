//! The operators of a field: one table row each. A new operator is a row, a parser, and a test in
//! `query`.
//!
//! ```text
//! {a: {$gte: 1, $lt: 5}}    two tests of one path that both have to hold
//! {a: {$not: {$gt: 5}}}     a condition that must not hold, for a missing field too
//! {a: {$in: [1, /^x/]}}     a set of values and patterns
//! ```
//!
//! A condition has no path yet: it is put at the field, or tested on the elements of an array.

use document::{DocRef, Value, ValueRef};
use evaluation::Pattern;
use pipeline::filter::{BitTest, Comparison, Condition, InSet, PathTest, Quantity};

use super::{Scope, arrays, bits, is_operators, number, pattern, types};
use crate::error::Error;

/// One operator with what stands around it: some are read together with their neighbours (`$regex`
/// and `$options`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operator<'a> {
    /// Its name, for texts.
    pub(crate) name: &'a str,
    /// Its operand.
    pub(crate) value: ValueRef<'a>,
    /// The field's name, for messages.
    pub(crate) field: &'a str,
    /// The document that the operator stands in.
    pub(crate) siblings: DocRef<'a>,
    /// Where it stands.
    pub(crate) scope: Scope,
}

/// Parses an operator; `None` where another one has read it.
type Parse = fn(Operator<'_>) -> Result<Option<Condition>, Error>;

/// The operators that stand inside a field's document.
pub(crate) const FIELD_OPERATORS: &[(&str, Parse)] = &[
    ("$eq", |op| parse_comparison(op, Comparison::Eq)),
    ("$ne", parse_ne),
    ("$gt", |op| parse_comparison(op, Comparison::Gt)),
    ("$gte", |op| parse_comparison(op, Comparison::Gte)),
    ("$lt", |op| parse_comparison(op, Comparison::Lt)),
    ("$lte", |op| parse_comparison(op, Comparison::Lte)),
    ("$in", |op| Ok(Some(test_condition(PathTest::In(parse_in(op)?))))),
    ("$nin", |op| Ok(Some(negated(test_condition(PathTest::In(parse_in(op)?)))))),
    ("$not", parse_not),
    ("$exists", parse_exists),
    ("$type", |op| {
        Ok(Some(test_condition(PathTest::Type(types::parse_types(op.field, op.value)?))))
    }),
    ("$mod", |op| Ok(Some(test_condition(number::parse_modulo(op.value)?)))),
    ("$regex", |op| {
        Ok(Some(test_condition(PathTest::Pattern(pattern::parse_regex(op.value, op.siblings)?))))
    }),
    ("$options", |op| pattern::options_alone(op.siblings).map(|()| None)),
    ("$all", |op| arrays::parse_all(op).map(Some)),
    ("$elemMatch", |op| Ok(Some(test_condition(arrays::parse_elem_match(op.value, op.scope)?)))),
    ("$size", |op| Ok(Some(test_condition(PathTest::Size(number::parse_size(op.value)?))))),
    ("$bitsAllSet", |op| parse_bit_test(op, Quantity::AllSet)),
    ("$bitsAnySet", |op| parse_bit_test(op, Quantity::AnySet)),
    ("$bitsAllClear", |op| parse_bit_test(op, Quantity::AllClear)),
    ("$bitsAnyClear", |op| parse_bit_test(op, Quantity::AnyClear)),
    ("$near", refuse_operator),
    ("$nearSphere", refuse_operator),
    ("$geoNear", refuse_operator),
    ("$geoWithin", refuse_operator),
    ("$geoIntersects", refuse_operator),
    ("$within", refuse_operator),
    ("$maxDistance", refuse_operator),
    ("$minDistance", refuse_operator),
];

/// Parses all operators of a field: every one has to hold. One alone stays itself, and what joins
/// others is joined flat.
///
/// Errors: 2 for an unknown operator. A document whose first name is an operator has to consist of
/// operators.
pub(crate) fn parse_operators(
    field: &str,
    operators: DocRef<'_>,
    scope: Scope,
) -> Result<Condition, Error> {
    let scope = scope.deeper()?;
    let mut all = Vec::new();
    for (name, value) in operators.iter() {
        let Some((_, parse)) = FIELD_OPERATORS.iter().find(|(known, _)| *known == name) else {
            return Err(Error::bad_value(format!("unknown operator: {name}")));
        };
        match parse(Operator { name, value, field, siblings: operators, scope })? {
            // `$all` joins as the operators beside it do.
            Some(Condition::All(inner)) => all.extend(inner),
            Some(other) => all.push(other),
            None => {}
        }
    }
    Ok(if all.len() == 1 { all.pop().unwrap_or(Condition::Never) } else { Condition::All(all) })
}

/// A test as a condition.
pub(super) fn test_condition(test: PathTest) -> Condition {
    Condition::Test(Box::new(test))
}

/// A condition that must not hold.
fn negated(condition: Condition) -> Condition {
    Condition::Not(Box::new(condition))
}

/// An operator that is known and not supported.
fn refuse_operator(op: Operator<'_>) -> Result<Option<Condition>, Error> {
    Err(Error::unsupported(op.name))
}

/// A comparison. A pattern can only be compared for equality.
fn parse_comparison(op: Operator<'_>, comparison: Comparison) -> Result<Option<Condition>, Error> {
    match op.value {
        ValueRef::Regex { .. } if comparison != Comparison::Eq => Err(Error::bad_value(format!(
            "Can't have RegEx as arg to predicate over field '{}'.",
            op.field
        ))),
        ValueRef::Undefined => Err(Error::bad_value("cannot compare to undefined")),
        value => Ok(Some(test_condition(PathTest::Compare(comparison, value.to_value())))),
    }
}

/// `$ne`, the negation of equality: it matches documents without the field.
fn parse_ne(op: Operator<'_>) -> Result<Option<Condition>, Error> {
    if matches!(op.value, ValueRef::Regex { .. }) {
        return Err(Error::bad_value("Can't have regex as arg to $ne."));
    }
    Ok(parse_comparison(op, Comparison::Eq)?.map(negated))
}

/// `$in` and `$nin`: values and patterns. Operators inside are an error, as they would look like
/// values.
///
/// Errors: 2 for something other than an array, and for operators or undefined in it.
fn parse_in(op: Operator<'_>) -> Result<InSet, Error> {
    let Some(array) = op.value.as_array() else {
        return Err(Error::bad_value(format!("{} needs an array", op.name)));
    };
    let (mut values, mut patterns): (Vec<Value>, Vec<Pattern>) = (Vec::new(), Vec::new());
    for value in array.iter() {
        match value {
            ValueRef::Document(document) if is_operators(document) => {
                return Err(Error::bad_value(format!("cannot nest $ under {}", op.name)));
            }
            ValueRef::Regex { pattern, options } => {
                patterns.push(pattern::compile_pattern(pattern, options)?);
            }
            ValueRef::Undefined => {
                return Err(Error::bad_value("InMatchExpression equality cannot be undefined"));
            }
            value => values.push(value.to_value()),
        }
    }
    Ok(InSet::new(values, patterns))
}

/// `$not`: operators or a pattern that must not hold. Unlike `$nor` it stands inside a field.
///
/// Errors: 2 for an empty document and for anything that is neither a document nor a pattern.
fn parse_not(op: Operator<'_>) -> Result<Option<Condition>, Error> {
    match op.value {
        ValueRef::Regex { pattern, options } => Ok(Some(negated(test_condition(
            PathTest::Pattern(pattern::compile_pattern(pattern, options)?),
        )))),
        ValueRef::Document(inner) if inner.is_empty() => {
            Err(Error::bad_value("$not cannot be empty"))
        }
        ValueRef::Document(inner) => Ok(Some(negated(parse_operators(op.field, inner, op.scope)?))),
        _ => Err(Error::bad_value("$not needs a regex or a document")),
    }
}

/// `$exists`, whose operand is any value that is true or false.
fn parse_exists(op: Operator<'_>) -> Result<Option<Condition>, Error> {
    let exists = test_condition(PathTest::Exists);
    Ok(Some(if op.value.is_truthy() { exists } else { negated(exists) }))
}

/// One of the four bit tests.
fn parse_bit_test(op: Operator<'_>, quantity: Quantity) -> Result<Option<Condition>, Error> {
    let mask = bits::parse_mask(op.field, op.name, op.value)?;
    Ok(Some(test_condition(PathTest::Bits(BitTest { quantity, mask }))))
}
