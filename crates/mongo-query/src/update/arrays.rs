//! The operands of the operators on arrays: `$push`, `$addToSet`, `$pull`, `$pullAll`.
//!
//! ```text
//! {$push: {a: {$each: [3, 1], $position: 0, $slice: -5, $sort: 1}}}
//! {$pull: {a: {$gt: 5}}}
//! ```
//!
//! `$push` applies its modifiers in a fixed order (insert, sort, slice), regardless of their order
//! in the document.

use document::{DocRef, Number, Value, ValueRef, shell};
use pipeline::edit::{Pull, Push, PushOrder};

use crate::{Error, filter, sort};

/// The modifiers of `$push` with their parsers; the table of supported operators lists them, too.
pub(crate) const PUSH_MODIFIERS: &[(&str, Modifier)] = &[
    ("$each", |push, value| {
        push.values = parse_each("$push", value)?;
        Ok(())
    }),
    ("$position", |push, value| {
        push.position = Some(exact_int(value).ok_or_else(|| {
            let kind = value.kind().name();
            let text =
                format!("The value for $position must be an integer value, not of type: {kind}");
            Error::bad_value(text)
        })?);
        Ok(())
    }),
    ("$slice", |push, value| {
        push.slice = Some(exact_int(value).ok_or_else(|| {
            let kind = value.kind().name();
            let text =
                format!("The value for $slice must be an integer value but was given type: {kind}");
            Error::bad_value(text)
        })?);
        Ok(())
    }),
    ("$sort", |push, value| {
        push.order = Some(parse_order(value)?);
        Ok(())
    }),
];

/// Parses the value of a modifier of `$push`, such as `$slice`.
type Modifier = fn(&mut Push, ValueRef<'_>) -> Result<(), Error>;

/// Returns a number of any type as an integer; `None` if it is not an integer.
fn exact_int(value: ValueRef<'_>) -> Option<i64> {
    Number::of(value)?.to_i64_exact()
}

/// Parses `$push: value` or `$push: {$each: [...], ...}`. A document without `$each` is a value,
/// even if it contains modifiers.
///
/// Fails with 2 if a modifier is unknown or an operand is invalid.
pub(super) fn parse_push(value: ValueRef<'_>) -> Result<Push, Error> {
    let modified = value.as_document().filter(|document| document.get("$each").is_some());
    let Some(modifiers) = modified else {
        return Ok(Push { values: vec![value.to_value()], ..Push::default() });
    };
    let mut push = Push::default();
    for (name, value) in modifiers.iter() {
        let Some((_, parse)) = PUSH_MODIFIERS.iter().find(|(known, _)| *known == name) else {
            return Err(Error::bad_value(format!("Unrecognized clause in $push: {name}")));
        };
        parse(&mut push, value)?;
    }
    Ok(push)
}

/// Parses the values of `$each`.
fn parse_each(operator: &str, value: ValueRef<'_>) -> Result<Vec<Value>, Error> {
    value.as_array().map(|array| array.to_values()).ok_or_else(|| {
        Error::bad_value(format!(
            "The argument to $each in {operator} must be an array but it was of type: {}",
            value.kind().name()
        ))
    })
}

/// Parses the `$sort` of a push: by the whole elements, or by their fields. The rules for its paths
/// differ from those of other sorts.
///
/// Fails with 2; each kind of mistake has a text of its own.
fn parse_order(value: ValueRef<'_>) -> Result<PushOrder, Error> {
    if value.is_number() {
        let descending = is_descending(value)
            .ok_or_else(|| Error::bad_value("The $sort element value must be either 1 or -1"))?;
        return Ok(PushOrder::Whole { descending });
    }
    let Some(fields) = value.as_document() else {
        return Err(Error::bad_value(
            "The $sort is invalid: use 1/-1 to sort the whole element, or {field:1/-1} to sort \
             embedded fields",
        ));
    };
    Ok(PushOrder::Fields(sort::parse_elements(fields).map_err(Error::bad_value)?))
}

/// Parses the direction of a sort; `None` if it is invalid.
fn is_descending(value: ValueRef<'_>) -> Option<bool> {
    match exact_int(value)? {
        1 => Some(false),
        -1 => Some(true),
        _ => None,
    }
}

/// Parses `$addToSet: value` or `$addToSet: {$each: [...]}`.
///
/// Fails with 2 if there are fields next to `$each`, and with 14 if the value of `$each` is not an
/// array.
pub(super) fn parse_add_to_set(value: ValueRef<'_>) -> Result<Vec<Value>, Error> {
    let first = value.as_document().and_then(|document| document.iter().next());
    let Some(("$each", values)) = first else { return Ok(vec![value.to_value()]) };
    if value.as_document().is_some_and(|document| document.len() > 1) {
        return Err(Error::bad_value(format!(
            "Found unexpected fields after $each in $addToSet: {}",
            shell(value)
        )));
    }
    values.as_array().map(|array| array.to_values()).ok_or_else(|| {
        Error::type_mismatch(format!(
            "The argument to $each in $addToSet must be an array but it was of type {}",
            values.kind().name()
        ))
    })
}

/// Parses `$pull: value`, `$pull: {$gt: 1}` or `$pull: {field: condition}`. A document is a filter
/// for embedded documents unless it starts with an operator.
pub(super) fn parse_pull(value: ValueRef<'_>) -> Result<Pull, Error> {
    match value {
        ValueRef::Regex { .. } => {
            let mut operators = document::Document::new();
            operators.push("$regex", value.to_value());
            Ok(Pull::Condition(filter::parse_condition(DocRef::Tree(&operators))?))
        }
        ValueRef::Document(inner) if starts_with_operator(inner) => {
            Ok(Pull::Condition(filter::parse_condition(inner)?))
        }
        ValueRef::Document(inner) => Ok(Pull::Filter(filter::parse_part(inner)?)),
        other => Ok(Pull::Equal(other.to_value())),
    }
}

/// Returns whether a document is a condition on the elements themselves: its first field is an
/// operator. As in mongod, a first field `$not` does not count as one.
fn starts_with_operator(document: DocRef<'_>) -> bool {
    let first = document.iter().next().map(|(name, _)| name);
    let operators = first.filter(|name| *name != "$not");
    operators.is_some_and(|name| filter::FIELD_OPERATORS.iter().any(|(known, _)| *known == name))
}

/// Parses `$pullAll: [...]`: a list of values.
///
/// Fails with 2 if the value is not an array.
pub(super) fn parse_pull_all(value: ValueRef<'_>) -> Result<Vec<Value>, Error> {
    value.as_array().map(|array| array.to_values()).ok_or_else(|| {
        Error::bad_value(format!(
            "$pullAll requires an array argument but was given a {}",
            value.kind().name()
        ))
    })
}
