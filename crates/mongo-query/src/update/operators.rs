//! The update operators: one table row each. Operands are parsed and checked here, once for the
//! whole update; `pipeline::edit` applies them.
//!
//! ```text
//! {$inc: {"a.b": 1}, $rename: {old: "new"}, $currentDate: {at: true}, $bit: {flags: {or: 4}}}
//! ```

use document::{Number, Value, ValueRef, shell};
use pipeline::edit::{BitOperator, EditPath, Operator};

use super::arrays;
use crate::Error;

/// Parses the operand of an operator at a path.
type Parse = fn(&str, ValueRef<'_>) -> Result<Operator, Error>;

/// The operators, each parsed from a field's path and its operand. The parser of `$rename` returns
/// an operation with source and target exchanged; the caller swaps them.
///
/// ```text
/// $set $setOnInsert $unset $rename      fields
/// $inc $mul $min $max $bit               numbers and values
/// $currentDate                           the operation's instant
/// $push $addToSet $pop $pull $pullAll    arrays
/// ```
pub(crate) const UPDATE_OPERATORS: &[(&str, Parse)] = &[
    ("$set", |_, value| Ok(Operator::Set(value.to_value()))),
    ("$setOnInsert", |_, value| Ok(Operator::SetOnInsert(value.to_value()))),
    ("$unset", |_, _| Ok(Operator::Unset)),
    ("$inc", |path, value| numeric_operand("increment", path, value).map(Operator::Add)),
    ("$mul", |path, value| numeric_operand("multiply", path, value).map(Operator::Multiply)),
    ("$min", |_, value| Ok(Operator::Min(value.to_value()))),
    ("$max", |_, value| Ok(Operator::Max(value.to_value()))),
    ("$rename", parse_rename),
    ("$currentDate", parse_current_date),
    ("$push", |_, value| arrays::parse_push(value).map(Operator::Push)),
    ("$addToSet", |_, value| arrays::parse_add_to_set(value).map(Operator::AddToSet)),
    ("$pop", parse_pop),
    ("$pull", |_, value| arrays::parse_pull(value).map(Operator::Pull)),
    ("$pullAll", |_, value| arrays::parse_pull_all(value).map(Operator::PullAll)),
    ("$bit", |_, value| parse_bits(value).map(Operator::Bits)),
];

/// Parses a number for `$inc` or `$mul`; `verb` describes the operation in the error text.
///
/// Fails with 14 if the value is not a number.
fn numeric_operand(verb: &str, path: &str, value: ValueRef<'_>) -> Result<Value, Error> {
    if value.is_number() {
        return Ok(value.to_value());
    }
    let shown = format!("{{{path}: {}}}", shell(value));
    Err(Error::type_mismatch(format!("Cannot {verb} with non-numeric argument: {shown}")))
}

/// Parses `$rename`: both paths must be plain, and neither may be inside the other.
///
/// Fails with 2, with a text of its own for each kind of mistake, and with the errors of the
/// evaluator if a path is invalid.
fn parse_rename(path: &str, value: ValueRef<'_>) -> Result<Operator, Error> {
    let shown = format!("{path}: {}", shell(value));
    let Some(target) = value.as_str() else {
        let text = format!("The 'to' field for $rename must be a string: {shown}");
        return Err(Error::bad_value(text));
    };
    if target.contains('\0') {
        let text = "The 'to' field for $rename cannot contain an embedded null byte";
        return Err(Error::bad_value(text));
    }
    let source = EditPath::parse(path)?;
    let target = EditPath::parse(target)?;
    if source == target {
        let text = format!("The source and target field for $rename must differ: {shown}");
        return Err(Error::bad_value(text));
    }
    let (from, to) = (document::Path::new(path), document::Path::new(target.as_str()));
    if from.conflicts_with(&to) {
        return Err(Error::bad_value(format!(
            "The source and target field for $rename must not be on the same path: {shown}"
        )));
    }
    for (which, path) in [("source", &source), ("destination", &target)] {
        if path.is_dynamic() {
            let text = format!("The {which} field for $rename may not be dynamic: {path}");
            return Err(Error::bad_value(text));
        }
    }
    Ok(Operator::RenameFrom(target))
}

/// Parses `$currentDate`: true for a date, or `{$type: "date" | "timestamp"}`.
fn parse_current_date(_: &str, value: ValueRef<'_>) -> Result<Operator, Error> {
    const WANTED: &str = "The '$type' string field is required to be 'date' or 'timestamp': \
                          {$currentDate: {field : {$type: 'date'}}}";
    let spec = match value {
        ValueRef::Bool(_) => return Ok(Operator::CurrentDate),
        ValueRef::Document(spec) => spec,
        other => {
            return Err(Error::bad_value(format!(
                "{} is not valid type for $currentDate. Please use a boolean ('true') or a $type \
                 expression ({{$type: 'timestamp/date'}}).",
                other.kind().name()
            )));
        }
    };
    if let Some((name, _)) = spec.iter().find(|(name, _)| *name != "$type") {
        return Err(Error::bad_value(format!("Unrecognized $currentDate option: {name}")));
    }
    match spec.get("$type").and_then(ValueRef::as_str) {
        Some("date") => Ok(Operator::CurrentDate),
        Some("timestamp") => Ok(Operator::CurrentTimestamp),
        _ => Err(Error::bad_value(WANTED)),
    }
}

/// Parses `$pop`: 1 for the last element, -1 for the first.
///
/// Fails with 9 if the value is neither 1 nor -1.
fn parse_pop(path: &str, value: ValueRef<'_>) -> Result<Operator, Error> {
    let Some(number) = Number::of(value) else {
        let text = format!("Expected a number in: {path}: {}", shell(value));
        return Err(Error::failed_to_parse(text));
    };
    match number.to_i64_exact() {
        Some(1) => Ok(Operator::PopLast),
        Some(-1) => Ok(Operator::PopFirst),
        Some(other) => Err(Error::failed_to_parse(format!("$pop expects 1 or -1, found: {other}"))),
        None => {
            let text = format!("Expected an integer: {path}: {}", shell(value));
            Err(Error::failed_to_parse(text))
        }
    }
}

/// Parses `$bit`: `and`, `or` and `xor` with integers, in the order of application.
///
/// Fails with 2 unless the value is an object with only these three names, whose values are
/// integers of 32 or 64 bits.
fn parse_bits(value: ValueRef<'_>) -> Result<Vec<(BitOperator, Value)>, Error> {
    let Some(operations) = value.as_document() else {
        return Err(Error::bad_value(format!(
            "The $bit modifier is not compatible with a {}. You must pass in an embedded document: \
             {{$bit: {{field: {{and/or/xor: #}}}}",
            value.kind().name()
        )));
    };
    let mut parsed = Vec::new();
    for (name, operand) in operations.iter() {
        let shown = format!("{{{name}: {}}}", shell(operand));
        let operator = match name {
            "and" => BitOperator::And,
            "or" => BitOperator::Or,
            "xor" => BitOperator::Xor,
            other => {
                return Err(Error::bad_value(format!(
                    "The $bit modifier only supports 'and', 'or', and 'xor', not '{other}' which \
                     is an unknown operator: {shown}"
                )));
            }
        };
        if !matches!(operand, ValueRef::Int32(_) | ValueRef::Int64(_)) {
            return Err(Error::bad_value(format!(
                "The $bit modifier field must be an Integer(32/64 bit); a '{}' is not supported \
                 here: {shown}",
                operand.kind().name()
            )));
        }
        parsed.push((operator, operand.to_value()));
    }
    if parsed.is_empty() {
        return Err(Error::bad_value(
            "You must pass in at least one bitwise operation. The format is: {$bit: {field: \
             {and/or/xor: #}}",
        ));
    }
    Ok(parsed)
}
