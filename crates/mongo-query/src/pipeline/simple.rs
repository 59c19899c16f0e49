//! Stages with one simple value: filters, sorts, counts. Each has error numbers of its own.
//!
//! ```text
//! {$match: {a: 1}}  {$sort: {a: -1}}  {$skip: 5}  {$limit: 5}  {$count: "n"}  {$sample: {size: 3}}
//! ```

use document::{Number, ValueRef, shell};
use pipeline::exec::Stage;

use super::Scope;
use crate::{Error, expression, filter as filters, sort as sorts};

/// Parses `$match`: a filter.
///
/// Fails with 15959 if the value is not an object, 5626500 if the filter sorts by distance, and
/// with the errors of filters.
pub(super) fn parse_match(_: &str, value: ValueRef<'_>, _: Scope<'_>) -> Result<Vec<Stage>, Error> {
    let ValueRef::Document(fields) = value else {
        return Err(Error::new(15959, "the match filter must be an expression in an object"));
    };
    let filter = filters::parse(fields)?;
    // Only `$geoNear` sorts by distance.
    if filter.near().is_some() {
        return Err(filters::refused_by_distance());
    }
    Ok(vec![Stage::Match(filter)])
}

/// Parses `$sort`: at least one key.
///
/// Fails with 15973 if the value is not an object, 15976 if it is empty, and with the errors of
/// sorts.
pub(super) fn parse_sort(
    _: &str,
    value: ValueRef<'_>,
    scope: Scope<'_>,
) -> Result<Vec<Stage>, Error> {
    let ValueRef::Document(fields) = value else {
        return Err(Error::new(15973, "the $sort key specification must be an object"));
    };
    if fields.is_empty() {
        return Err(Error::new(15976, "$sort stage must have at least one sort key"));
    }
    let sort = if scope.scored { sorts::parse_scored(fields)? } else { sorts::parse(fields)? };
    Ok(vec![Stage::Sort { sort, limit: None }])
}

/// Parses a nonnegative integer; `code` is the stage's error.
fn parse_whole(name: &str, value: ValueRef<'_>, code: i32) -> Result<u64, Error> {
    let wrong = |what: &str| {
        let shown = shell(value);
        let text = format!("invalid argument to {name} stage: {what} {name}: {shown}");
        Error::new(code, text)
    };
    let number = Number::of(value).ok_or_else(|| wrong("Expected a number in:"))?;
    let whole = number.to_i64_exact().ok_or_else(|| wrong("Expected an integer:"))?;
    u64::try_from(whole).map_err(|_| wrong("Expected a non-negative number in:"))
}

/// Parses `$limit`: at least 1.
///
/// Fails with 5107201 if the value is not a nonnegative integer, and with 15958 if it is 0.
pub(super) fn parse_limit(
    name: &str,
    value: ValueRef<'_>,
    _: Scope<'_>,
) -> Result<Vec<Stage>, Error> {
    match parse_whole(name, value, 5_107_201)? {
        0 => Err(Error::new(15958, "the limit must be positive")),
        count => Ok(vec![Stage::Limit(count)]),
    }
}

/// Parses `$skip`: 0 or more.
///
/// Fails with 5107200 if the value is not a nonnegative integer.
pub(super) fn parse_skip(
    name: &str,
    value: ValueRef<'_>,
    _: Scope<'_>,
) -> Result<Vec<Stage>, Error> {
    Ok(vec![Stage::Skip(parse_whole(name, value, 5_107_200)?)])
}

/// Parses `$count`: the name of a field, which must not be a path.
///
/// Fails with 40156 to 40160 if the value is not a string, is empty, starts with `$`, or contains a
/// NUL character or a dot.
pub(super) fn parse_count(_: &str, value: ValueRef<'_>, _: Scope<'_>) -> Result<Vec<Stage>, Error> {
    let wrong = |code: i32, text: &str| Err(Error::new(code, format!("the count field {text}")));
    match value {
        ValueRef::String("") => wrong(40157, "must be a non-empty string"),
        ValueRef::String(name) if name.starts_with('$') => {
            wrong(40158, "cannot be a $-prefixed path")
        }
        ValueRef::String(name) if name.contains('\0') => wrong(40159, "cannot contain a null byte"),
        ValueRef::String(name) if name.contains('.') => wrong(40160, "cannot contain '.'"),
        ValueRef::String(name) => Ok(vec![Stage::Count(name.to_owned())]),
        _ => wrong(40156, "must be a non-empty string"),
    }
}

/// Parses `$sample: {size: n}`. A fraction is truncated.
///
/// Fails with 28745 if the value is not an object, 28746 if the size is not a number, 28747 if it
/// is negative, 28748 if an option is unknown, and 28749 if the size is missing.
pub(super) fn parse_sample(
    _: &str,
    value: ValueRef<'_>,
    _: Scope<'_>,
) -> Result<Vec<Stage>, Error> {
    let ValueRef::Document(fields) = value else {
        return Err(Error::new(28745, "the $sample stage specification must be an object"));
    };
    let mut size = None;
    for (name, value) in fields.iter() {
        if name != "size" {
            return Err(Error::new(28748, format!("unrecognized option to $sample: {name}")));
        }
        let Some(number) = Number::of(value) else {
            return Err(Error::new(28746, "size argument to $sample must be a number"));
        };
        let whole = number.to_i64_exact().unwrap_or(number.to_f64() as i64);
        let negative = "size argument to $sample must not be negative";
        size = Some(u64::try_from(whole).map_err(|_| Error::new(28747, negative))?);
    }
    match size {
        Some(size) => Ok(vec![Stage::Sample(size)]),
        None => Err(Error::new(28749, "$sample stage must specify a size")),
    }
}

/// Parses `$redact`: an expression that decides for each embedded document whether it is kept.
pub(super) fn parse_redact(
    _: &str,
    value: ValueRef<'_>,
    _: Scope<'_>,
) -> Result<Vec<Stage>, Error> {
    let expr = expression::parse_operand(value, expression::Scope::inside_redact())?;
    Ok(vec![Stage::Redact(expr)])
}

/// Parses `$documents`: an expression for an array of documents.
pub(super) fn parse_documents(
    _: &str,
    value: ValueRef<'_>,
    _: Scope<'_>,
) -> Result<Vec<Stage>, Error> {
    Ok(vec![Stage::Documents(expression::parse(value)?)])
}
