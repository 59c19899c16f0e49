//! The operators of a field: one table row each. A new operator needs a row, a parser, and a test
//! in the crate `pipeline`.
//!
//! ```text
//! {a: {$gte: 1, $lt: 5}}    two tests of one path, both of which must hold
//! {a: {$not: {$gt: 5}}}     a negated condition, which matches a missing field, too
//! {a: {$in: [1, /^x/]}}     a set of values and patterns
//! ```
//!
//! A parsed condition contains no path: the caller applies it to a field or to the elements of an
//! array.

use document::{DocRef, Value, ValueRef};
use evaluation::Pattern;
use geometry::GeoPredicate;
use pipeline::filter::{BitTest, Comparison, Condition, InSet, PathTest, Quantity};

use super::{Scope, arrays, bits, geo, is_operators, number, pattern, types};
use crate::Error;

/// An operator of a field, with the neighbours that its parser needs: `$regex` and `$options` are
/// parsed together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operator<'a> {
    /// The operator's name, for error messages.
    pub(crate) name: &'a str,
    pub(crate) value: ValueRef<'a>,
    /// The field's name, for error messages.
    pub(crate) field: &'a str,
    /// The operand of `$options` next to the operator.
    pub(crate) options: Option<ValueRef<'a>>,
    /// Whether `$regex` is among the operators of the field.
    pub(crate) has_regex: bool,
    /// All operators of the field.
    pub(crate) operators: DocRef<'a>,
    /// The context of the operator.
    pub(crate) scope: Scope,
}

/// Parses an operator; returns `None` for one that is parsed as part of another operator.
type Parse = fn(Operator<'_>) -> Result<Option<Condition>, Error>;

/// Operators in the document that is the value of a field, such as `$gt`.
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
        Ok(Some(test_condition(PathTest::Pattern(pattern::parse_regex(op.value, op.options)?))))
    }),
    ("$options", |op| pattern::check_options(op.has_regex).map(|()| None)),
    ("$all", |op| arrays::parse_all(op).map(Some)),
    ("$elemMatch", |op| Ok(Some(test_condition(arrays::parse_elem_match(op.value, op.scope)?)))),
    ("$size", |op| Ok(Some(test_condition(PathTest::Size(number::parse_size(op.value)?))))),
    ("$bitsAllSet", |op| parse_bit_test(op, Quantity::AllSet)),
    ("$bitsAnySet", |op| parse_bit_test(op, Quantity::AnySet)),
    ("$bitsAllClear", |op| parse_bit_test(op, Quantity::AllClear)),
    ("$bitsAnyClear", |op| parse_bit_test(op, Quantity::AnyClear)),
    ("$near", |op| Err(geo::misplaced_near(op.operators))),
    ("$nearSphere", |op| Err(geo::misplaced_near(op.operators))),
    ("$geoNear", |op| Err(geo::misplaced_near(op.operators))),
    ("$geoWithin", |op| geo::parse_test(op, GeoPredicate::Within)),
    ("$geoIntersects", |op| geo::parse_test(op, GeoPredicate::Intersects)),
    ("$within", |op| geo::parse_test(op, GeoPredicate::Within)),
];

/// Parses the operators of a field: their conjunction, flattened. A single operator is returned
/// without a conjunction.
///
/// Fails with 2 if an operator is unknown. If the first name is an operator, all names must be
/// operators.
pub(crate) fn parse_operators(
    field: &str,
    operators: DocRef<'_>,
    scope: Scope,
) -> Result<Condition, Error> {
    let scope = scope.deeper()?;
    // Looked up once, so that many operators of one field take linear time.
    let (options, has_regex) = (operators.get("$options"), operators.get("$regex").is_some());
    let mut all = Vec::new();
    for (name, value) in operators.iter() {
        let Some((_, parse)) = FIELD_OPERATORS.iter().find(|(known, _)| *known == name) else {
            return Err(Error::bad_value(format!("unknown operator: {name}")));
        };
        match parse(Operator { name, value, field, options, has_regex, operators, scope })? {
            // The conditions of `$all` are flattened, too.
            Some(Condition::All(inner)) => all.extend(inner),
            Some(other) => all.push(other),
            None => {}
        }
    }
    Ok(if all.len() == 1 { all.pop().unwrap_or(Condition::Never) } else { Condition::All(all) })
}

pub(super) fn test_condition(test: PathTest) -> Condition {
    Condition::Test(Box::new(test))
}

fn negated(condition: Condition) -> Condition {
    Condition::Not(Box::new(condition))
}

/// Parses a comparison with a value. With a regular expression only equality is allowed.
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

/// Parses `$ne`, the negation of equality: it matches documents without the field.
fn parse_ne(op: Operator<'_>) -> Result<Option<Condition>, Error> {
    if matches!(op.value, ValueRef::Regex { .. }) {
        return Err(Error::bad_value("Can't have regex as arg to $ne."));
    }
    Ok(parse_comparison(op, Comparison::Eq)?.map(negated))
}

/// Parses `$in` and `$nin`: values and regular expressions. Operators in the list are an error,
/// since they could be mistaken for values.
///
/// Fails with 2 if the value is not an array, or contains an operator or undefined.
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

/// Parses `$not`: negated operators or a negated regular expression. Unlike `$nor`, it is an
/// operator of a field.
///
/// Fails with 2 if the value is an empty document, or neither a document nor a pattern.
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

/// Parses `$exists`, whose operand is any value, taken as a boolean.
fn parse_exists(op: Operator<'_>) -> Result<Option<Condition>, Error> {
    let exists = test_condition(PathTest::Exists);
    Ok(Some(if op.value.is_truthy() { exists } else { negated(exists) }))
}

/// Parses one of the four bit tests.
fn parse_bit_test(op: Operator<'_>, quantity: Quantity) -> Result<Option<Condition>, Error> {
    let mask = bits::parse_mask(op.field, op.name, op.value)?;
    Ok(Some(test_condition(PathTest::Bits(BitTest { quantity, mask }))))
}
