//! Arguments by position. How many a function takes is part of its row in `query`; the errors for a
//! wrong number are here, since they have different numbers for different kinds of functions.
//!
//! ```text
//! {$abs: -1}    {$abs: [-1]}                    one argument
//! {$add: [1, "$a", 2]}                          any number
//! {$year: "$at"}    {$year: {date: "$at", timezone: "Europe/Paris"}}    a date
//! ```

use document::{ValueRef, shell};
use pipeline::{Expr, expr::functions::Takes};

use super::{Scope, parse_operand};
use crate::error::Error;

/// The arguments of an operator: the elements of an array, or one. So `{$abs: -1}` is `{$abs:
/// [-1]}`, and an array as the only argument has to stand in another one.
pub(super) fn parse_all(value: ValueRef<'_>, scope: Scope) -> Result<Vec<Expr>, Error> {
    match value {
        ValueRef::Array(values) => values.iter().map(|value| parse_operand(value, scope)).collect(),
        other => Ok(vec![parse_operand(other, scope)?]),
    }
}

/// Operators that stand for a `$convert`, which say it in their own way when they are given several
/// arguments.
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

/// Exactly `count` arguments: 16020 else, 50723 for a conversion.
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

/// As many arguments as the function takes: 28667 outside of its range, 17045 where there is no
/// upper end.
pub(super) fn parse_list(
    name: &str,
    takes: Takes,
    value: ValueRef<'_>,
    scope: Scope,
) -> Result<Vec<Expr>, Error> {
    match takes {
        Takes::Exactly(count) => parse_exactly(name, count, value, scope),
        Takes::Between(least, most) => {
            let args = parse_all(value, scope)?;
            let given = args.len();
            if (least..=most).contains(&given) {
                return Ok(args);
            }
            // Functions without an upper end have a number and a text of their own.
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

/// The arguments of a function of a date: a date alone, or `{date, timezone}`. Returns both, the
/// zone absent where it is not given. An object whose first name begins with a `$` is an expression
/// that gives a date.
///
/// Errors: 40536 an array of another length than one, 40535 an unknown option, 40539 no `date`.
pub(super) fn parse_date(
    name: &str,
    value: ValueRef<'_>,
    scope: Scope,
) -> Result<Vec<Expr>, Error> {
    // In an array the one element is the date, and there is no zone.
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
    // An operator that gives a date, not the form with names.
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
