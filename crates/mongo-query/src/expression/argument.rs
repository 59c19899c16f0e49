//! Arguments by position. The table of functions in the crate `pipeline` states the number of
//! arguments; the errors for a wrong number are here, since their codes differ between kinds of
//! functions.
//!
//! ```text
//! {$abs: -1}    {$abs: [-1]}                    one argument
//! {$add: [1, "$a", 2]}                          any number
//! {$year: "$at"}    {$year: {date: "$at", timezone: "Europe/Paris"}}    a date
//! ```

use document::{ValueRef, shell};
use pipeline::{Expr, expr::functions::Arity};

use super::{Scope, parse_operand};
use crate::Error;

/// Parses the arguments of an operator: the elements of an array, or a single argument. Therefore
/// `{$abs: -1}` equals `{$abs: [-1]}`, and a single argument that is an array must be written
/// inside another array.
pub(super) fn parse_all(value: ValueRef<'_>, scope: Scope) -> Result<Vec<Expr>, Error> {
    match value {
        ValueRef::Array(values) => values.iter().map(|value| parse_operand(value, scope)).collect(),
        other => Ok(vec![parse_operand(other, scope)?]),
    }
}

/// Short forms of `$convert`. Their error for several arguments differs from that of other
/// operators.
const CONVERSIONS: [&str; 8] = [
    "$toBool",
    "$toDate",
    "$toDecimal",
    "$toDouble",
    "$toInt",
    "$toLong",
    "$toObjectId",
    "$toString",
];

/// Parses exactly `count` arguments. Fails with 16020 if their number differs, or with 50723 if the
/// operator is a conversion.
pub(super) fn parse_exactly(
    name: &str,
    count: usize,
    value: ValueRef<'_>,
    scope: Scope,
) -> Result<Vec<Expr>, Error> {
    let args = parse_all(value, scope)?;
    if args.len() != count {
        let given = args.len();
        if CONVERSIONS.contains(&name) {
            let text = format!("{name} requires a single argument, got {given}");
            return Err(Error::new(50723, text));
        }
        let text = format!("takes exactly {count} arguments. {given} were passed in.");
        return Err(Error::new(16020, format!("Expression {name} {text}")));
    }
    Ok(args)
}

/// Parses the arguments of a function. If their number is out of range, fails with 28667, or with
/// 17045 for a function that has only a minimum.
pub(super) fn parse_list(
    name: &str,
    arity: Arity,
    value: ValueRef<'_>,
    scope: Scope,
) -> Result<Vec<Expr>, Error> {
    match arity {
        Arity::Exactly(count) => parse_exactly(name, count, value, scope),
        Arity::Between(least, most) => {
            let args = parse_all(value, scope)?;
            let given = args.len();
            if (least..=most).contains(&given) {
                return Ok(args);
            }
            // Functions without a maximum have another error code and text.
            if most == usize::MAX {
                let text = format!("{name} needs at least two arguments had: {given}");
                return Err(Error::new(17045, text));
            }
            let text = format!("takes at least {least} arguments, and at most {most}");
            Err(Error::new(28667, format!("Expression {name} {text}, but {given} were passed in.")))
        }
        _ => parse_all(value, scope),
    }
}

/// Parses the arguments of a date function: a date alone, or `{date, timezone}`. Returns the date
/// and the time zone; the zone is absent if it is not given. An object whose first name starts with
/// `$` is an expression for the date.
///
/// Fails with 40536 if the value is an array of a length other than one, 40535 if an option is
/// unknown, and 40539 if `date` is missing.
pub(super) fn parse_date(
    name: &str,
    value: ValueRef<'_>,
    scope: Scope,
) -> Result<Vec<Expr>, Error> {
    // An array has the date as its only element, and no zone.
    let only = match value {
        ValueRef::Array(values) => {
            let count = values.len();
            let text =
                format!("{name} accepts exactly one argument if given an array, but was given");
            match (count, values.get(0)) {
                (1, Some(only)) => return Ok(vec![parse_operand(only, scope)?, Expr::Absent]),
                _ => return Err(Error::new(40536, format!("{text} {count}"))),
            }
        }
        other => other,
    };
    let ValueRef::Document(fields) = only else {
        return Ok(vec![parse_operand(only, scope)?, Expr::Absent]);
    };
    // The object is an operator that returns a date, not `{date, timezone}`.
    if fields.iter().next().is_some_and(|(first, _)| first.starts_with('$')) {
        return Ok(vec![parse_operand(only, scope)?, Expr::Absent]);
    }
    let (mut date, mut zone) = (None, Expr::Absent);
    for (option, value) in fields.iter() {
        match option {
            "date" => date = Some(parse_operand(value, scope)?),
            "timezone" => zone = parse_operand(value, scope)?,
            other => {
                let text = format!("unrecognized option to {name}: \"{other}\"");
                return Err(Error::new(40535, text));
            }
        }
    }
    let Some(date) = date else {
        let shown = shell(only);
        let text = format!("missing 'date' argument to {name}, provided: {name}: {shown}");
        return Err(Error::new(40539, text));
    };
    Ok(vec![date, zone])
}
