//! Keywords about the fields of documents: `properties`, `patternProperties`,
//! `additionalProperties`, `required`, `minProperties`, `maxProperties` and `dependencies`.

use std::collections::HashSet;

use document::{Document, Kind, ValueRef};
use pipeline::filter::{Allowed, Dependency, Notes, Rule};

use super::{
    Place, Rules,
    keywords::{Keywords, wrong_type, wrong_value},
    parse_nested, parse_schema,
};
use crate::{
    Error,
    filter::{Scope, pattern::compile_pattern},
};

/// Adds the rules for documents, in the order in which mongod reports failures.
pub(super) fn add_object_rules(
    given: &Keywords<'_>,
    rules: &mut Rules,
    scope: Scope,
) -> Result<(), Error> {
    let required = given.get("required").map(parse_required).transpose()?;
    let mut named = HashSet::new();
    match given.get("properties") {
        None => {}
        Some(ValueRef::Document(properties)) => {
            let mut schemas = Vec::new();
            for (name, value) in properties.iter() {
                let schema = parse_nested(value, scope, || {
                    Error::type_mismatch(format!(
                        "Nested schema for $jsonSchema property '{name}' must be an object"
                    ))
                })?;
                named.insert(name.to_owned());
                schemas.push((name.to_owned(), schema));
            }
            rules.push_for(Kind::Document, Rule::Properties(schemas), Document::new());
        }
        Some(_) => return Err(wrong_type("properties", "must be an object")),
    }
    add_other_properties(given, named, rules, scope)?;
    if let Some(required) = required {
        let specified = given.specified(&["required"]);
        rules.push_for(Kind::Document, Rule::Required(required), specified);
    }
    for (name, rule) in [
        ("minProperties", Rule::MinProperties as fn(i64) -> Rule),
        ("maxProperties", Rule::MaxProperties),
    ] {
        if let Some(count) = given.length(name)? {
            rules.push_for(Kind::Document, rule(count), given.specified(&[name]));
        }
    }
    match given.get("dependencies") {
        None => {}
        Some(ValueRef::Document(dependencies)) => {
            let rule = parse_dependencies(dependencies, rules.place, scope)?;
            rules.push_for(Kind::Document, rule, Document::new());
        }
        Some(_) => return Err(wrong_type("dependencies", "must be an object")),
    }
    Ok(())
}

/// Adds the rule of `patternProperties` and `additionalProperties`.
fn add_other_properties(
    given: &Keywords<'_>,
    named: HashSet<String>,
    rules: &mut Rules,
    scope: Scope,
) -> Result<(), Error> {
    let mut patterns = Vec::new();
    match given.get("patternProperties") {
        None => {}
        Some(ValueRef::Document(properties)) => {
            for (name, value) in properties.iter() {
                let schema = parse_nested(value, scope, || {
                    let text = format!("has property '{name}' which is not an object");
                    wrong_type("patternProperties", &text)
                })?;
                patterns.push((compile_pattern(name, "")?, schema));
            }
        }
        Some(_) => return Err(wrong_type("patternProperties", "must be an object")),
    }
    let allowed = match given.get("additionalProperties") {
        None => Allowed::Any,
        Some(value) => parse_allowed(value, scope)?
            .ok_or_else(|| wrong_type("additionalProperties", "must be an object or a boolean"))?,
    };
    if !patterns.is_empty() || !matches!(allowed, Allowed::Any) {
        let rule = Rule::OtherProperties { named, patterns, allowed };
        rules.push_for(Kind::Document, rule, Document::new());
    }
    Ok(())
}

/// Parses `additionalProperties` or `additionalItems`: a boolean or a schema. Returns `None` for
/// another type.
pub(super) fn parse_allowed(value: ValueRef<'_>, scope: Scope) -> Result<Option<Allowed>, Error> {
    Ok(match value {
        ValueRef::Bool(true) => Some(Allowed::Any),
        ValueRef::Bool(false) => Some(Allowed::None),
        ValueRef::Document(schema) => {
            Some(Allowed::Matching(Box::new(parse_schema(schema, Place::Value, scope)?)))
        }
        _ => None,
    })
}

/// Parses `required`: at least one name, and none twice. Returns the names sorted.
fn parse_required(value: ValueRef<'_>) -> Result<Vec<String>, Error> {
    let Some(array) = value.as_array() else {
        let text =
            format!("must be an array, but found an element of type {}", value.kind().name());
        return Err(wrong_type("required", &text));
    };
    let mut names = Vec::new();
    for name in array.iter() {
        let ValueRef::String(name) = name else {
            let found = name.kind().name();
            let text =
                format!("must be an array of strings, but found an element of type: {found}");
            return Err(wrong_type("required", &text));
        };
        names.push(name.to_owned());
    }
    if names.is_empty() {
        return Err(wrong_value("required", "cannot be an empty array"));
    }
    names.sort();
    let count = names.len();
    names.dedup();
    if names.len() < count {
        return Err(wrong_value("required", "array cannot contain duplicate values"));
    }
    Ok(names)
}

/// Parses `dependencies`: for each field the names of the fields that it requires, or a schema for
/// the document. A text named `title` or `description` is a note for the descriptions of failures.
fn parse_dependencies(
    dependencies: document::DocRef<'_>,
    place: Place,
    scope: Scope,
) -> Result<Rule, Error> {
    let (mut notes, mut parsed) = (Notes::default(), Vec::new());
    for (name, value) in dependencies.iter() {
        let dependency = match (name, value) {
            ("title", ValueRef::String(text)) => {
                notes.title = Some(text.to_owned());
                continue;
            }
            ("description", ValueRef::String(text)) => {
                notes.description = Some(text.to_owned());
                continue;
            }
            (_, ValueRef::Document(schema)) => {
                Dependency::Matching(parse_schema(schema, place, scope)?)
            }
            (name, ValueRef::Array(needed)) => Dependency::Properties(parse_needed(name, needed)?),
            (name, _) => {
                return Err(Error::type_mismatch(format!(
                    "property '{name}' in $jsonSchema keyword 'dependencies' must be either an \
                     object or an array"
                )));
            }
        };
        parsed.push((name.to_owned(), dependency));
    }
    Ok(Rule::Dependencies(notes, parsed))
}

/// Parses the names of the fields that the field `name` requires.
fn parse_needed(name: &str, needed: document::ArrayRef<'_>) -> Result<Vec<String>, Error> {
    if needed.is_empty() {
        return Err(Error::failed_to_parse(format!(
            "property '{name}' in $jsonSchema keyword 'dependencies' cannot be an empty array"
        )));
    }
    let (mut names, mut seen) = (Vec::new(), HashSet::new());
    for value in needed.iter() {
        let ValueRef::String(other) = value else {
            return Err(Error::type_mismatch(format!(
                "array '{name}' in $jsonSchema keyword 'dependencies' can only contain strings, \
                 but found element of type: {}",
                value.kind().name()
            )));
        };
        if !seen.insert(other) {
            return Err(Error::failed_to_parse(format!(
                "array '{name}' in $jsonSchema keyword 'dependencies' contains duplicate element: \
                 {other}"
            )));
        }
        names.push(other.to_owned());
    }
    Ok(names)
}
