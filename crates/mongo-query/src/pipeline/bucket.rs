//! `$bucket`, which is translated to a group by a switch and a sort, and `$bucketAuto`, which is a
//! separate stage.
//!
//! ```text
//! {$bucket: {groupBy: "$a", boundaries: [0, 10, 20], default: "other", output: {n: {$sum: 1}}}}
//!
//! {$group: {_id: {$switch: {branches: [
//!     {case: 0 <= a < 10, then: 0}, {case: 10 <= a < 20, then: 10}], default: "other"}}, n: ..}},
//! {$sort: {_id: 1}}
//! ```
//!
//! As in mongod, a value outside of all boundaries makes the switch fail if there is no default.

use collation::Collation;
use document::{Number, Value, ValueRef, canonical_class, shell};
use evaluation::compare_by;
use pipeline::{
    Expr,
    exec::{BucketAuto, Group, Stage},
    expr::functions,
    group::Field,
    sort::{Sort, SortPart},
};

use super::{Scope, group};
use crate::{Error, expression};

/// Parses the value by which rows are grouped: a path or an expression, not a constant. `code` is
/// the stage's error code.
fn parse_group_by(name: &str, value: ValueRef<'_>, code: i32) -> Result<Expr, Error> {
    let fits = match value {
        ValueRef::String(text) => text.starts_with('$'),
        ValueRef::Document(_) => true,
        _ => false,
    };
    if !fits {
        let text =
            "'groupBy' field must be defined as a $-prefixed path or an expression, but found:";
        return Err(Error::new(code, format!("The {name} {text} {}.", shell(value))));
    }
    expression::parse(value)
}

/// Parses the accumulators of `$bucket` or `$bucketAuto`.
fn parse_outputs(name: &str, value: ValueRef<'_>, code: i32) -> Result<Vec<Field>, Error> {
    let ValueRef::Document(fields) = value else {
        let kind = value.kind().name();
        let text = format!("The {name} 'output' field must be an object, but found type: {kind}.");
        return Err(Error::new(code, text));
    };
    fields.iter().map(|(name, value)| group::parse_field(name, value)).collect()
}

#[derive(Default)]
struct BucketOptions {
    /// The value by which rows are grouped.
    by: Option<Expr>,
    /// Lower bounds of the buckets, and the upper bound of the last one.
    boundaries: Option<Vec<Value>>,
    /// The bucket for values outside the boundaries.
    default: Option<Value>,
    /// The accumulators; a count by default.
    fields: Option<Vec<Field>>,
}

/// Returns the value of an expression if it is constant.
fn constant_value(value: ValueRef<'_>) -> Result<Option<Value>, Error> {
    Ok(expression::parse(value)?.as_literal().cloned())
}

/// Parses the boundaries: at least two constants of one type in ascending order.
///
/// Fails with 40200 if the value is not an array, 40191 if a boundary is not constant, 40192 if
/// there are fewer than two, 40193 if they are of different types, and 40194 if they are not in
/// ascending order.
fn parse_boundaries(
    value: ValueRef<'_>,
    collation: Option<&Collation>,
) -> Result<Vec<Value>, Error> {
    let ValueRef::Array(values) = value else {
        let kind = value.kind().name();
        let text = "The $bucket 'boundaries' field must be an array, but found type:";
        return Err(Error::new(40200, format!("{text} {kind}.")));
    };
    let mut bounds: Vec<Value> = Vec::new();
    for (at, value) in values.iter().enumerate() {
        let Some(bound) = constant_value(value)? else {
            let text = "The $bucket 'boundaries' field must be an array of constant values, but found value:";
            return Err(Error::new(40191, format!("{text} {}.", shell(value))));
        };
        if let Some(before) = bounds.last() {
            if canonical_class(before.kind()) != canonical_class(bound.kind()) {
                let (a, b) = (before.kind().name(), bound.kind().name());
                let text = "All values in the the 'boundaries' option to $bucket must have the same type. Found conflicting types";
                return Err(Error::new(40193, format!("{text} {a} and {b}.")));
            }
            if compare_by(collation, before.as_ref(), bound.as_ref()).is_ge() {
                let (a, b) = (shell(before.as_ref()), shell(bound.as_ref()));
                let first = at.saturating_sub(1);
                let text = "The 'boundaries' option to $bucket must be sorted, but elements";
                let text = format!("{text} {first} and {at} are not in ascending order");
                return Err(Error::new(40194, format!("{text} ({a} is not less than {b}).")));
            }
        }
        bounds.push(bound);
    }
    if bounds.len() < 2 {
        let count = bounds.len();
        let text = "The $bucket 'boundaries' field must have at least 2 values, but found";
        return Err(Error::new(40192, format!("{text} {count} value(s).")));
    }
    Ok(bounds)
}

/// Parses the options of `$bucket`.
///
/// Fails with 40201 if the value is not an object, 40195 if the default is not constant, 40197 if
/// an option is unknown, and with the errors of the parts.
fn parse_options(
    value: ValueRef<'_>,
    collation: Option<&Collation>,
) -> Result<BucketOptions, Error> {
    let ValueRef::Document(options) = value else {
        let kind = value.kind().name();
        let text = format!("Argument to $bucket stage must be an object, but found type: {kind}.");
        return Err(Error::new(40201, text));
    };
    let mut given = BucketOptions::default();
    for (option, value) in options.iter() {
        match option {
            "groupBy" => given.by = Some(parse_group_by("$bucket", value, 40202)?),
            "boundaries" => given.boundaries = Some(parse_boundaries(value, collation)?),
            "default" => {
                let text = "The $bucket 'default' field must be a constant expression, but found:";
                let wrong = || Error::new(40195, format!("{text} {}.", shell(value)));
                given.default = Some(constant_value(value)?.ok_or_else(wrong)?);
            }
            "output" => given.fields = Some(parse_outputs("$bucket", value, 40196)?),
            other => {
                return Err(Error::new(40197, format!("Unrecognized option to $bucket: {other}.")));
            }
        }
    }
    Ok(given)
}

/// Parses `$bucket`. The default must be outside of the boundaries; otherwise it would fall into
/// one of the buckets.
///
/// Fails with 40198 if the key or the boundaries are missing, and with 40199 if the default is
/// between the boundaries.
pub(super) fn parse_bucket(
    _: &str,
    value: ValueRef<'_>,
    scope: Scope<'_>,
) -> Result<Vec<Stage>, Error> {
    let compare = |a: &Value, b: &Value| compare_by(scope.collation, a.as_ref(), b.as_ref());
    let given = parse_options(value, scope.collation)?;
    let (Some(by), Some(bounds)) = (given.by, given.boundaries) else {
        let text = "$bucket requires 'groupBy' and 'boundaries' to be specified.";
        return Err(Error::new(40198, text));
    };
    if let (Some(default), Some(first), Some(last)) =
        (&given.default, bounds.first(), bounds.last())
    {
        // The last boundary is exclusive, so a default may equal it.
        let below = compare(default, first).is_lt();
        if !below && compare(default, last).is_lt() {
            let text = "The $bucket 'default' field must be less than the lowest boundary or greater than or equal to the highest boundary.";
            return Err(Error::new(40199, text));
        }
    }
    // The condition of a bucket uses the functions `$gte` and `$lt`, as a written `$switch` would.
    let test = |name: &str, bound: &Value| -> Result<Expr, Error> {
        let function = functions::find_function(name)
            .ok_or_else(|| Error::new(168, format!("Unrecognized expression '{name}'")))?;
        Ok(Expr::Call(function, vec![by.clone(), Expr::Literal(bound.clone())]))
    };
    let mut branches = Vec::new();
    for pair in bounds.windows(2) {
        if let [low, high] = pair {
            let inside = Expr::And(vec![test("$gte", low)?, test("$lt", high)?]);
            branches.push((inside, Expr::Literal(low.clone())));
        }
    }
    let default = given.default.map(|default| Box::new(Expr::Literal(default)));
    let fields = match given.fields {
        Some(fields) => fields,
        None => vec![group::count_field("count")?],
    };
    let group = Group { id: Expr::Switch(branches, default), fields };
    let parts = vec![SortPart { path: "_id".into(), descending: false }];
    Ok(vec![Stage::Group(group), Stage::Sort { sort: Sort { parts }, limit: None }])
}

/// Parses `$bucketAuto`: a number of buckets of equal size.
///
/// Fails with 40240 if the value is not an object, 40245 if an option is unknown, and 40246 if
/// `groupBy` or `buckets` is missing. `granularity` is not supported.
pub(super) fn parse_bucket_auto(
    name: &str,
    value: ValueRef<'_>,
    _: Scope<'_>,
) -> Result<Vec<Stage>, Error> {
    let ValueRef::Document(options) = value else {
        let kind = value.kind().name();
        let text = format!("The argument to {name} must be an object, but found type: {kind}");
        return Err(Error::new(40240, text));
    };
    let (mut group_by, mut count, mut fields) = (None, None, None);
    for (option, value) in options.iter() {
        match option {
            "groupBy" => group_by = Some(parse_group_by(name, value, 40239)?),
            "buckets" => count = Some(parse_bucket_count(value)?),
            "output" => fields = Some(parse_outputs(name, value, 40244)?),
            "granularity" => return Err(Error::unsupported("$bucketAuto's 'granularity'")),
            other => {
                return Err(Error::new(40245, format!("Unrecognized option to {name}: {other}")));
            }
        }
    }
    let (Some(by), Some(count)) = (group_by, count) else {
        let text = "$bucketAuto requires 'groupBy' and 'buckets' to be specified";
        return Err(Error::new(40246, text));
    };
    let fields = match fields {
        Some(fields) if !fields.is_empty() => fields,
        _ => vec![group::count_field("count")?],
    };
    Ok(vec![Stage::BucketAuto(Box::new(BucketAuto { by, count, fields }))])
}

/// Parses the number of buckets: from 1 to the maximum of 32 bits.
///
/// Fails with 40241 if the value is not a number, 40242 if it exceeds 32 bits, and 40243 if it is
/// less than 1.
fn parse_bucket_count(value: ValueRef<'_>) -> Result<usize, Error> {
    let text = "The $bucketAuto 'buckets' field must be";
    let Some(number) = Number::of(value) else {
        let kind = value.kind().name();
        return Err(Error::new(40241, format!("{text} a numeric value, but found type: {kind}")));
    };
    let whole = number.to_i64_exact().and_then(|whole| i32::try_from(whole).ok());
    let Some(whole) = whole else {
        let shown = shell(value);
        let text = format!("{text} representable as a 32-bit integer, but found {shown}");
        return Err(Error::new(40242, text));
    };
    usize::try_from(whole)
        .ok()
        .filter(|whole| *whole > 0)
        .ok_or_else(|| Error::new(40243, format!("{text} greater than 0, but found: {whole}")))
}
