//! The operators of a field: one table row each.

use document::{DocRef, Value, ValueRef};
use query::filter::{BitTest, Comparison, Condition, InSet, Pattern, Quantity, Test};

use super::{Scope, arrays, bits, is_operators, number, pattern, types};
use crate::error::Error;

/// One operator with what stands around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operator<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: ValueRef<'a>,
    /// The field's name, for messages.
    pub(crate) field: &'a str,
    /// The document that the operator stands in.
    pub(crate) siblings: DocRef<'a>,
    pub(crate) scope: Scope,
}

type Parse = fn(Operator<'_>) -> Result<Option<Condition>, Error>;

/// The operators that stand inside a field's document.
pub(crate) const FIELD_OPERATORS: &[(&str, Parse)] = &[
    ("$eq", |op| compare(op, Comparison::Eq)),
    ("$ne", not_equal),
    ("$gt", |op| compare(op, Comparison::Gt)),
    ("$gte", |op| compare(op, Comparison::Gte)),
    ("$lt", |op| compare(op, Comparison::Lt)),
    ("$lte", |op| compare(op, Comparison::Lte)),
    ("$in", |op| Ok(Some(test(Test::In(in_set(op)?))))),
    ("$nin", |op| Ok(Some(not(test(Test::In(in_set(op)?)))))),
    ("$not", negation),
    ("$exists", exists),
    ("$type", |op| Ok(Some(test(Test::Type(types::parse(op.field, op.value)?))))),
    ("$mod", |op| Ok(Some(test(number::modulo(op.value)?)))),
    ("$regex", |op| Ok(Some(test(Test::Pattern(pattern::parse(op.value, op.siblings)?))))),
    ("$options", |op| pattern::options_alone(op.siblings).map(|()| None)),
    ("$all", |op| arrays::all(op).map(Some)),
    ("$elemMatch", |op| Ok(Some(test(arrays::elem_match(op.value, op.scope)?)))),
    ("$size", |op| Ok(Some(test(Test::Size(number::size(op.value)?))))),
    ("$bitsAllSet", |op| bit_test(op, Quantity::AllSet)),
    ("$bitsAnySet", |op| bit_test(op, Quantity::AnySet)),
    ("$bitsAllClear", |op| bit_test(op, Quantity::AllClear)),
    ("$bitsAnyClear", |op| bit_test(op, Quantity::AnyClear)),
    ("$near", refuse),
    ("$nearSphere", refuse),
    ("$geoNear", refuse),
    ("$geoWithin", refuse),
    ("$geoIntersects", refuse),
    ("$within", refuse),
    ("$maxDistance", refuse),
    ("$minDistance", refuse),
];

/// Parses all operators of a field: every one has to hold.
pub(crate) fn condition(
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
            Some(Condition::All(inner)) => all.extend(inner),
            Some(other) => all.push(other),
            None => {}
        }
    }
    Ok(if all.len() == 1 { all.pop().unwrap_or(Condition::Never) } else { Condition::All(all) })
}

pub(super) fn test(test: Test) -> Condition {
    Condition::Test(Box::new(test))
}

fn not(condition: Condition) -> Condition {
    Condition::Not(Box::new(condition))
}

fn refuse(op: Operator<'_>) -> Result<Option<Condition>, Error> {
    Err(Error::unsupported(op.name))
}

fn compare(op: Operator<'_>, comparison: Comparison) -> Result<Option<Condition>, Error> {
    match op.value {
        ValueRef::Regex { .. } if comparison != Comparison::Eq => Err(Error::bad_value(format!(
            "Can't have RegEx as arg to predicate over field '{}'.",
            op.field
        ))),
        ValueRef::Undefined => Err(Error::bad_value("cannot compare to undefined")),
        value => Ok(Some(test(Test::Compare(comparison, value.to_value())))),
    }
}

fn not_equal(op: Operator<'_>) -> Result<Option<Condition>, Error> {
    if matches!(op.value, ValueRef::Regex { .. }) {
        return Err(Error::bad_value("Can't have regex as arg to $ne."));
    }
    Ok(compare(op, Comparison::Eq)?.map(not))
}

fn in_set(op: Operator<'_>) -> Result<InSet, Error> {
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
                patterns.push(pattern::compile(pattern, options)?);
            }
            ValueRef::Undefined => {
                return Err(Error::bad_value("InMatchExpression equality cannot be undefined"));
            }
            value => values.push(value.to_value()),
        }
    }
    Ok(InSet::new(values, patterns))
}

fn negation(op: Operator<'_>) -> Result<Option<Condition>, Error> {
    match op.value {
        ValueRef::Regex { pattern, options } => {
            Ok(Some(not(test(Test::Pattern(pattern::compile(pattern, options)?)))))
        }
        ValueRef::Document(inner) if inner.is_empty() => {
            Err(Error::bad_value("$not cannot be empty"))
        }
        ValueRef::Document(inner) => Ok(Some(not(condition(op.field, inner, op.scope)?))),
        _ => Err(Error::bad_value("$not needs a regex or a document")),
    }
}

fn exists(op: Operator<'_>) -> Result<Option<Condition>, Error> {
    let exists = test(Test::Exists);
    Ok(Some(if op.value.is_truthy() { exists } else { not(exists) }))
}

fn bit_test(op: Operator<'_>, quantity: Quantity) -> Result<Option<Condition>, Error> {
    let mask = bits::mask(op.field, op.name, op.value)?;
    Ok(Some(test(Test::Bits(BitTest { quantity, mask }))))
}
