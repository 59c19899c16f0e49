//! Stages that change each document: set and remove fields, project, replace the root.
//!
//! ```text
//! {$set: {a: 1, "b.c": "$x", d: {e: 2}}}    d.e is set, and other fields of d are kept
//! {$unset: ["a", "b.c"]}
//! {$replaceWith: "$inner"}
//! ```

use document::{DocRef, Document, ValueRef, shell};
use pipeline::exec::{Fields, Stage};

use super::Scope;
use crate::{Error, expression, field_path::check_plain_path, projection};

/// Prefixes an error with the stage's name, as in mongod: "Invalid $set :: caused by :: ..".
fn invalid_stage(name: &str) -> impl Fn(Error) -> Error {
    move |error| Error::new(error.code, format!("Invalid {name} :: caused by :: {}", error.message))
}

/// Parses `$project`.
///
/// Fails with 15969 if the value is not an object. The error text of one projection error already
/// contains the stage's name, so no prefix is added to it.
pub(super) fn parse_project(
    name: &str,
    value: ValueRef<'_>,
    _: Scope<'_>,
) -> Result<Vec<Stage>, Error> {
    let ValueRef::Document(fields) = value else {
        return Err(Error::new(15969, "$project specification must be an object"));
    };
    let parsed = projection::parse_stage(fields);
    let parsed = parsed.map_err(|error| match error.message.starts_with("Invalid $project") {
        true => error,
        false => invalid_stage(name)(error),
    })?;
    Ok(vec![Stage::Project(parsed)])
}

/// Parses `$addFields` and its alias `$set`.
///
/// Fails with 40272 if the value is not an object, and with the errors of the paths and
/// expressions.
pub(super) fn parse_add_fields(
    name: &str,
    value: ValueRef<'_>,
    _: Scope<'_>,
) -> Result<Vec<Stage>, Error> {
    let ValueRef::Document(spec) = value else {
        let kind = value.kind().name();
        let text = format!("{name} specification stage must be an object, got {kind}");
        return Err(Error::new(40272, text));
    };
    let mut fields = Fields::new();
    for (path, value) in spec.iter() {
        check_plain_path(path).map_err(invalid_stage(name))?;
        let mut parts: Vec<&str> = path.split('.').collect();
        set_below(&mut fields, &mut parts, value, spec).map_err(invalid_stage(name))?;
    }
    Ok(vec![Stage::AddFields(fields)])
}

/// Sets a value at a path. An object that is not an expression sets the fields below the path.
/// `spec` is the whole stage, for texts.
///
/// Fails with 40180 if the object is empty, 40181 if an operator is next to other fields, 40183 if
/// the name of a nested field contains a dot, and 15 if the path is too long.
fn set_below<'v>(
    fields: &mut Fields,
    path: &mut Vec<&'v str>,
    value: ValueRef<'v>,
    spec: DocRef<'_>,
) -> Result<(), Error> {
    let ValueRef::Document(inner) = value else { return put_field(fields, path, value, spec) };
    if inner.is_empty() {
        let text = "an empty object is not a valid value. Found empty object at path";
        return Err(Error::new(40180, format!("{text} {}", path.join("."))));
    }
    let operators = inner.iter().filter(|(name, _)| name.starts_with('$')).count();
    if operators > 0 {
        let count = inner.len();
        if count > 1 {
            let text = "an expression specification must contain exactly one field, the name of the expression. Found";
            let shown = shell(ValueRef::Document(inner));
            let whole = shell(ValueRef::Document(spec));
            let text = format!("{text} {count} fields in {shown}, while parsing object {whole}");
            return Err(Error::new(40181, text));
        }
        return put_field(fields, path, value, spec);
    }
    if path.len() > 150 {
        return Err(Error::new(15, "FieldPath is too long"));
    }
    for (name, value) in inner.iter() {
        if name.contains('.') {
            let shown = shell(ValueRef::Document(spec));
            let text = format!("cannot use dotted field name '{name}' in a sub object: {shown}");
            return Err(Error::new(40183, text));
        }
        check_plain_path(name)?;
        path.push(name);
        set_below(fields, path, value, spec)?;
        path.pop();
    }
    Ok(())
}

/// Sets an expression at a path. If the path conflicts with an earlier one, the error text names
/// both; the earlier path is searched for this purpose.
///
/// Fails with 40176 if the paths conflict.
fn put_field(
    fields: &mut Fields,
    path: &[&str],
    value: ValueRef<'_>,
    spec: DocRef<'_>,
) -> Result<(), Error> {
    let expr = expression::parse(value)?;
    fields.set_at(path, expr).map_err(|_| {
        let text = "specification contains two conflicting paths. Cannot specify both";
        let (path, shown) = (path.join("."), shell(ValueRef::Document(spec)));
        let other = spec.iter().map(|(name, _)| name).find(|name| {
            *name != path
                && (path.starts_with(&format!("{name}.")) || name.starts_with(&format!("{path}.")))
        });
        let other = other.unwrap_or(&path);
        Error::new(40176, format!("{text} '{path}' and '{other}': {shown}"))
    })
}

/// Parses `$unset`, which is an exclusion projection.
///
/// Fails with 31119 if the list is empty, 31120 if an element is not a string, and 31002 if the
/// value has any other type.
pub(super) fn parse_unset(
    name: &str,
    value: ValueRef<'_>,
    _: Scope<'_>,
) -> Result<Vec<Stage>, Error> {
    let mut excluded = Document::new();
    match value {
        ValueRef::String(path) => excluded.push(path, 0),
        ValueRef::Array(values) if values.is_empty() => {
            let text = "$unset specification must be a string or an array with at least one field";
            return Err(Error::new(31119, text));
        }
        ValueRef::Array(values) => {
            for value in values.iter() {
                let ValueRef::String(path) = value else {
                    let text = "$unset specification must be a string or an array containing only string values";
                    return Err(Error::new(31120, text));
                };
                excluded.push(path, 0);
            }
        }
        _ => {
            return Err(Error::new(31002, "$unset specification must be a string or an array"));
        }
    }
    for (path, _) in excluded.fields() {
        check_plain_path(path).map_err(invalid_stage(name))?;
    }
    let parsed = projection::parse_stage(DocRef::Tree(&excluded)).map_err(|error| {
        let text = error.message.replace("Invalid $project :: caused by :: ", "");
        invalid_stage(name)(Error::new(error.code, text))
    })?;
    Ok(vec![Stage::Project(parsed)])
}

/// Parses `$replaceRoot: {newRoot: ..}`.
///
/// Fails with 40229 if the value is not an object, and with 40414 or 40415 if a field is missing or
/// unknown.
pub(super) fn parse_replace_root(
    name: &str,
    value: ValueRef<'_>,
    _: Scope<'_>,
) -> Result<Vec<Stage>, Error> {
    let ValueRef::Document(fields) = value else {
        let kind = value.kind().name();
        let text = format!("expected an object as specification for {name} stage, got {kind}");
        return Err(Error::new(40229, text));
    };
    let mut root = None;
    for (option, value) in fields.iter() {
        if option != "newRoot" {
            let text = format!("BSON field '{name}.{option}' is an unknown field.");
            return Err(Error::new(40415, text));
        }
        root = Some(expression::parse(value)?);
    }
    let Some(root) = root else {
        let text = format!("BSON field '{name}.newRoot' is missing but a required field");
        return Err(Error::new(40414, text));
    };
    Ok(vec![Stage::ReplaceRoot { root, called: "'newRoot' expression" }])
}

/// Parses `$replaceWith`, which is `$replaceRoot` with the expression alone. Error texts of the
/// evaluator name the stage that the user wrote.
pub(super) fn parse_replace_with(
    _: &str,
    value: ValueRef<'_>,
    _: Scope<'_>,
) -> Result<Vec<Stage>, Error> {
    let root = expression::parse(value)?;
    Ok(vec![Stage::ReplaceRoot { root, called: "'replacement document'" }])
}
