//! `$group`, `$sortByCount` and the accumulators they use.
//!
//! ```text
//! {$group: {_id: "$city", total: {$sum: "$price"},
//!           best: {$topN: {n: 3, sortBy: {..}, output: ..}}}}
//! ```
//!
//! The arguments of an accumulator have one of these forms: one value; nothing; `n` and a value; a
//! sort and a value, with or without `n`; or, for percentiles, a value and a method. The table of
//! accumulators in the crate `pipeline` states the form; the parsers are here.

use document::{DocRef, Document, ValueRef, shell};
use pipeline::{
    Expr,
    exec::{Group, Stage},
    group::{self, Accumulator, AccumulatorArguments, AccumulatorShape, Field},
    sort::{Sort, SortPart},
};

use super::Scope;
use crate::{Error, expression, sort};

/// Accumulators of MongoDB that are refused as not supported yet.
pub(crate) const NOT_YET: &[&str] = &["$accumulator"];

/// Parses `$group`: the required key in `_id`, and an accumulator for each other field.
///
/// Fails with 15947 if the value is not an object, 15948 if there are two keys, and 15955 if the
/// key is missing.
pub(super) fn parse_group(_: &str, value: ValueRef<'_>, _: Scope<'_>) -> Result<Vec<Stage>, Error> {
    let ValueRef::Document(spec) = value else {
        return Err(Error::new(15947, "a group's fields must be specified in an object"));
    };
    let (mut id, mut fields) = (None, Vec::new());
    for (name, value) in spec.iter() {
        if name == "_id" {
            if id.is_some() {
                return Err(Error::new(15948, "a group's _id may only be specified once"));
            }
            id = Some(parse_key(value)?);
        } else {
            fields.push(parse_field(name, value)?);
        }
    }
    let Some(id) = id else {
        return Err(Error::new(15955, "a group specification must include an _id"));
    };
    Ok(vec![Stage::Group(Group { id, fields })])
}

/// Parses the key of a group. In an object of fields, a number or a boolean is refused (17390),
/// since it looks like an inclusion in a projection. Names are checked as in any other object.
fn parse_key(value: ValueRef<'_>) -> Result<Expr, Error> {
    if let ValueRef::Document(fields) = value {
        // Operators are expressions; only objects of fields can look like an inclusion.
        let operator = fields.iter().next().is_some_and(|(name, _)| name.starts_with('$'));
        let inclusion = |(_, value): (&str, ValueRef<'_>)| {
            value.is_number() || matches!(value, ValueRef::Bool(_))
        };
        if !operator && fields.iter().any(inclusion) {
            return Err(Error::new(17390, "$group does not support inclusion-style expressions"));
        }
    }
    Ok(match expression::parse(value)? {
        // A missing value is null as the key, and as the only field of the key.
        Expr::Object(mut parts) if parts.len() == 1 => {
            let null = || Expr::Literal(document::Value::Null);
            let parts =
                parts.drain(..).map(|(name, part)| (name, Expr::IfNull(vec![part, null()])));
            Expr::Object(parts.collect())
        }
        expr => expr,
    })
}

/// Parses `name: {$accumulator: ...}`.
///
/// Fails with 40235 if the name contains a dot, 40236 if it starts with `$`, 40234 if the value is
/// not an accumulator, 40238 if it has several accumulators, and 15952 if the accumulator is
/// unknown.
pub(super) fn parse_field(name: &str, value: ValueRef<'_>) -> Result<Field, Error> {
    if name.contains('.') {
        return Err(Error::new(40235, format!("The field name '{name}' cannot contain '.'")));
    }
    if name.starts_with('$') {
        let text = format!("The field name '{name}' cannot be an operator name");
        return Err(Error::new(40236, text));
    }
    let ValueRef::Document(spec) = value else {
        let text = format!("The field '{name}' must be an accumulator object");
        return Err(Error::new(40234, text));
    };
    let mut parts = spec.iter();
    let (Some((operator, argument)), rest) = (parts.next(), parts.next()) else {
        let text = format!("The field '{name}' must be an accumulator object");
        return Err(Error::new(40234, text));
    };
    if !operator.starts_with('$') {
        let text = format!("The field '{name}' must be an accumulator object");
        return Err(Error::new(40234, text));
    }
    if rest.is_some() {
        let text = format!("The field '{name}' must specify one accumulator");
        return Err(Error::new(40238, text));
    }
    if NOT_YET.contains(&operator) {
        return Err(Error::unsupported(operator));
    }
    let Some(accumulator) = group::find_accumulator(operator) else {
        return Err(Error::new(15952, format!("unknown group operator '{operator}'")));
    };
    Ok(Field {
        name: name.to_owned(),
        accumulator,
        arguments: parse_arguments(accumulator, argument)?,
    })
}

/// Parses the arguments of an accumulator.
///
/// Fails with 40237 if an array is given in place of one value, and with 14 if an accumulator
/// without arguments is given one.
fn parse_arguments(
    accumulator: &Accumulator,
    value: ValueRef<'_>,
) -> Result<AccumulatorArguments, Error> {
    let name = accumulator.name;
    match accumulator.shape {
        AccumulatorShape::Value => {
            if value.as_array().is_some() {
                let text = format!("The {name} accumulator is a unary operator");
                return Err(Error::new(40237, text));
            }
            Ok(single_input(expression::parse(value)?))
        }
        AccumulatorShape::Nothing => match value {
            ValueRef::Document(fields) if fields.is_empty() => Ok(single_input(Expr::Absent)),
            _ => Err(Error::new(14, format!("{name} takes no arguments, i.e. {name}:{{}}"))),
        },
        AccumulatorShape::N => parse_several(name, value),
        AccumulatorShape::Top | AccumulatorShape::TopN => {
            parse_top(name, value, accumulator.shape == AccumulatorShape::TopN)
        }
        AccumulatorShape::Median | AccumulatorShape::Percentile => {
            parse_percentile(name, value, accumulator.shape)
        }
    }
}

/// Returns the arguments of an accumulator that has only an input.
fn single_input(input: Expr) -> AccumulatorArguments {
    AccumulatorArguments { input, n: Expr::Absent, sort: Sort::default() }
}

/// Parses `{n, input}`, for the first, last, greatest or least n values.
///
/// Fails with 5787801 if the value is not an object, 5787901 if an argument is unknown, and 5787906
/// or 5787907 if an argument is missing.
fn parse_several(name: &str, value: ValueRef<'_>) -> Result<AccumulatorArguments, Error> {
    let ValueRef::Document(fields) = value else {
        let text = format!("specification must be an object; found {name}: {}", shell(value));
        return Err(Error::new(5_787_801, text));
    };
    let (mut input, mut n) = (None, None);
    for (option, value) in fields.iter() {
        match option {
            "input" => input = Some(expression::parse(value)?),
            "n" => n = Some(expression::parse(value)?),
            other => {
                let text = format!("Unknown argument for 'n' operator: {other}");
                return Err(Error::new(5_787_901, text));
            }
        }
    }
    let n = n.ok_or_else(|| Error::new(5_787_906, "Missing value for 'n'"))?;
    let input = input.ok_or_else(|| Error::new(5_787_907, "Missing value for 'input'"))?;
    Ok(AccumulatorArguments { input, n, sort: Sort::default() })
}

/// Parses `{n, sortBy, output}` of a `counted` accumulator, or `{sortBy, output}` of another one.
///
/// Fails with 5788001 if the value is not an object, 5788002 if an argument is unknown, and 5788003
/// to 5788005 if an argument is missing.
fn parse_top(
    name: &str,
    value: ValueRef<'_>,
    counted: bool,
) -> Result<AccumulatorArguments, Error> {
    let ValueRef::Document(fields) = value else {
        let text = format!("specification must be an object; found {name}: {}", shell(value));
        return Err(Error::new(5_788_001, text));
    };
    let (mut output, mut by, mut n) = (None, None, None);
    for (option, value) in fields.iter() {
        match (option, value) {
            ("output", value) => output = Some(expression::parse(value)?),
            ("sortBy", ValueRef::Document(fields)) => by = Some(sort::parse_scored(fields)?),
            ("sortBy", _) => {
                let text = "invalid parameter: expected an object (sortBy)";
                return Err(Error::new(10065, text));
            }
            ("n", value) if counted => n = Some(expression::parse(value)?),
            (other, _) => {
                let text = format!("Unknown argument to {name} '{other}'");
                return Err(Error::new(5_788_002, text));
            }
        }
    }
    let missing = |code: i32, what: &str| Error::new(code, format!("Missing value for '{what}'"));
    let n = match n {
        None if counted => return Err(missing(5_788_003, "n")),
        n => n.unwrap_or(Expr::Absent),
    };
    let input = output.ok_or_else(|| missing(5_788_004, "output"))?;
    let sort = by.ok_or_else(|| missing(5_788_005, "sortBy"))?;
    Ok(AccumulatorArguments { input, n, sort })
}

/// Parses `{input, p, method}` of `$percentile`, or `{input, method}` of `$median`. The only method
/// is `approximate`, as in MongoDB 7.0.
///
/// Fails with 7436100 if the value is not an object, 40415 if an argument is unknown, 40414 if one
/// is missing, and 2 if the method is not `approximate`.
fn parse_percentile(
    name: &str,
    value: ValueRef<'_>,
    shape: AccumulatorShape,
) -> Result<AccumulatorArguments, Error> {
    let ValueRef::Document(fields) = value else {
        let kind = value.kind().name();
        let text = format!("{name} specification must be an object; found {kind}");
        return Err(Error::new(7_436_100, text));
    };
    let (mut input, mut p, mut method) = (None, None, None);
    for (option, value) in fields.iter() {
        match option {
            "input" => input = Some(expression::parse(value)?),
            "p" if shape == AccumulatorShape::Percentile => p = Some(expression::parse(value)?),
            "method" => method = value.as_str(),
            other => {
                let text = format!("BSON field '{name}.{other}' is an unknown field.");
                return Err(Error::new(40415, text));
            }
        }
    }
    let missing = |what: &str| {
        Error::new(40414, format!("BSON field '{name}.{what}' is missing but a required field"))
    };
    let input = input.ok_or_else(|| missing("input"))?;
    let n = match p {
        None if shape == AccumulatorShape::Percentile => return Err(missing("p")),
        p => p.unwrap_or(Expr::Absent),
    };
    if method.ok_or_else(|| missing("method"))? != "approximate" {
        let text = "Currently only 'approximate' can be used as percentile 'method'.";
        return Err(Error::new(2, text));
    }
    Ok(AccumulatorArguments { input, n, sort: Sort::default() })
}

/// Returns the field that counts the rows of each group.
pub(super) fn count_field(name: &str) -> Result<Field, Error> {
    let mut spec = Document::new();
    spec.push("$sum", 1);
    parse_field(name, ValueRef::Document(DocRef::Tree(&spec)))
}

/// Parses `$sortByCount`: a group that counts, and a sort by the count, the greatest first.
///
/// Fails with 40147 if the value is an object that is not an expression, 40148 if it is a string
/// that is not a path, and 40149 if it has any other type.
pub(super) fn parse_sort_by_count(
    _: &str,
    value: ValueRef<'_>,
    _: Scope<'_>,
) -> Result<Vec<Stage>, Error> {
    let wrong = "the sortByCount field must be defined as a $-prefixed path or an expression inside an object";
    match value {
        ValueRef::Document(fields) => {
            let operator = fields.iter().next().is_some_and(|(name, _)| name.starts_with('$'));
            if !operator {
                return Err(Error::new(40147, wrong));
            }
        }
        ValueRef::String(text) if text.starts_with('$') => {}
        ValueRef::String(_) => return Err(Error::new(40148, wrong)),
        _ => {
            let text = "the sortByCount field must be specified as a string or as an object";
            return Err(Error::new(40149, text));
        }
    }
    let group = Group { id: expression::parse(value)?, fields: vec![count_field("count")?] };
    let parts = vec![SortPart { path: "count".into(), descending: true }];
    Ok(vec![Stage::Group(group), Stage::Sort { sort: Sort { parts }, limit: None }])
}
