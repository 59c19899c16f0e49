//! The operand of `$jsonSchema`: MongoDB's subset of JSON Schema draft 4.
//!
//! ```text
//! {bsonType: "object", required: ["a"], properties: {a: {type: "number", minimum: 1}}}
//! ```
//!
//! All keywords of a schema are read first, because several depend on others: `minimum` on
//! `exclusiveMinimum`, `additionalProperties` on `properties`. Rules are kept in the order in which
//! mongod reports failures. A rule for a type that the schema does not allow is left out: a value
//! of that type does not match the schema anyway.
//!
//! A schema fails with 9 (FailedToParse) if a keyword is unknown, duplicate or unsupported or has
//! an invalid value, and with 14 (TypeMismatch) if a value has a wrong type.

mod keywords;
mod objects;
mod values;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use document::{DocRef, Document, Kind, ValueRef};
use pipeline::{
    Filter,
    filter::{Keyword, Notes, Rule, Schema, TypeSet},
};

use super::{FilterTarget, Scope};
use crate::Error;
use keywords::{Keywords, wrong_type};

/// Parses `$jsonSchema`.
///
/// Fails with 14 if the value is not a document, 224 if the filter applies to a part of a document,
/// and with the errors of the schema.
pub(super) fn parse_operator(
    _: &str,
    value: ValueRef<'_>,
    scope: Scope,
) -> Result<Option<Filter>, Error> {
    Ok(Some(Filter::Schema(Arc::new(parse_root(value, scope)?))))
}

/// Parses the operand of `$jsonSchema`, which applies to whole documents.
pub(super) fn parse_root(value: ValueRef<'_>, scope: Scope) -> Result<Schema, Error> {
    if scope.target == FilterTarget::Part {
        return Err(Error::new(224, "$jsonSchema is not allowed in this context"));
    }
    let Some(schema) = value.as_document() else {
        return Err(Error::type_mismatch("$jsonSchema must be an object"));
    };
    parse_schema(schema, Place::Root, scope)
}

/// The values to which a schema applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Whole documents. Rules for values of other types have no effect.
    Root,
    /// The values of a field or the elements of an array.
    Value,
}

/// The rules of a schema while it is parsed.
struct Rules {
    place: Place,
    /// The type that the schema requires, if it names only one.
    required: Option<TypeSet>,
    keywords: Vec<Keyword>,
}

impl Rules {
    /// Adds a rule for values of a type, with the keywords that specify it. A rule for one number
    /// type is a rule for all of them.
    fn push_for(&mut self, kind: Kind, rule: Rule, specified: Document) {
        let has_effect = self.place == Place::Value || kind == Kind::Document;
        let numbers = [Kind::Double, Kind::Int32, Kind::Int64, Kind::Decimal128];
        let kinds = if numbers.contains(&kind) { &numbers[..] } else { &[kind] };
        let is_allowed =
            |required: TypeSet| kinds.iter().any(|allowed| required.contains(*allowed));
        if has_effect && self.required.is_none_or(is_allowed) {
            self.keywords.push(Keyword { rule, specified });
        }
    }

    /// Adds a rule for values of all types.
    fn push(&mut self, rule: Rule, specified: Document) {
        self.keywords.push(Keyword { rule, specified });
    }
}

/// Parses a schema that applies to values at this place.
fn parse_schema(schema: DocRef<'_>, place: Place, scope: Scope) -> Result<Schema, Error> {
    let scope = scope.deeper()?;
    let given = Keywords::read(schema)?;
    let notes = Notes { title: given.note("title")?, description: given.note("description")? };
    let types = values::parse_type(&given)?;
    let required = types.as_ref().and_then(|(_, _, single)| *single);
    let mut rules = Rules { place, required, keywords: Vec::new() };
    values::add_text_rules(&given, &mut rules)?;
    values::add_number_rules(&given, &mut rules)?;
    add_array_rules(&given, &mut rules, scope)?;
    objects::add_object_rules(&given, &mut rules, scope)?;
    add_logical_rules(&given, &mut rules, scope)?;
    if let Some((types, specified, _)) = types
        && (place == Place::Value || !types.contains(Kind::Document))
    {
        rules.push(Rule::Type(types), specified);
    }
    Ok(Schema { notes, keywords: rules.keywords })
}

/// Parses a schema inside another one, for the values of fields or the elements of arrays.
fn parse_nested(
    value: ValueRef<'_>,
    scope: Scope,
    error: impl FnOnce() -> Error,
) -> Result<Schema, Error> {
    parse_schema(value.as_document().ok_or_else(error)?, Place::Value, scope)
}

/// Adds the rules for arrays: `minItems`, `maxItems`, `uniqueItems`, `items`, `additionalItems`.
fn add_array_rules(given: &Keywords<'_>, rules: &mut Rules, scope: Scope) -> Result<(), Error> {
    for (name, rule) in
        [("minItems", Rule::MinItems as fn(i64) -> Rule), ("maxItems", Rule::MaxItems)]
    {
        if let Some(length) = given.length(name)? {
            rules.push_for(Kind::Array, rule(length), given.specified(&[name]));
        }
    }
    match given.get("uniqueItems") {
        Some(ValueRef::Bool(true)) => {
            rules.push_for(Kind::Array, Rule::UniqueItems, given.specified(&["uniqueItems"]));
        }
        None | Some(ValueRef::Bool(false)) => {}
        Some(_) => return Err(wrong_type("uniqueItems", "must be a boolean")),
    }
    let mut listed = None;
    match given.get("items") {
        None => {}
        Some(ValueRef::Document(items)) => {
            let schema = parse_schema(items, Place::Value, scope)?;
            rules.push_for(Kind::Array, Rule::Items(Box::new(schema)), Document::new());
        }
        Some(ValueRef::Array(items)) => {
            let parse = |item: ValueRef<'_>| {
                parse_nested(item, scope, || {
                    let found = item.kind().name();
                    let text = format!(
                        "requires that each element of the array is an object, but found a {found}"
                    );
                    wrong_type("items", &text)
                })
            };
            let schemas: Vec<Schema> = items.iter().map(parse).collect::<Result<_, _>>()?;
            listed = Some(schemas.len());
            rules.push_for(Kind::Array, Rule::ItemList(schemas), Document::new());
        }
        Some(other) => {
            let text = format!("must be an array or an object, not {}", other.kind().name());
            return Err(wrong_type("items", &text));
        }
    }
    if let Some(additional) = given.get("additionalItems") {
        let allowed = objects::parse_allowed(additional, scope)?.ok_or_else(|| {
            let found = additional.kind().name();
            let text = format!("must be either an object or a boolean, but got a {found}");
            wrong_type("additionalItems", &text)
        })?;
        // They have no effect unless `items` is an array.
        if let Some(from) = listed {
            rules.push_for(Kind::Array, Rule::AdditionalItems(from, allowed), Document::new());
        }
    }
    Ok(())
}

/// Adds the rules that combine schemas, and `enum`.
fn add_logical_rules(given: &Keywords<'_>, rules: &mut Rules, scope: Scope) -> Result<(), Error> {
    for (name, rule) in [
        ("allOf", Rule::AllOf as fn(Vec<Schema>) -> Rule),
        ("anyOf", Rule::AnyOf),
        ("oneOf", Rule::OneOf),
    ] {
        if let Some(value) = given.get(name) {
            let schemas = parse_schemas(name, value, rules.place, scope)?;
            rules.push(rule(schemas), Document::new());
        }
    }
    if let Some(value) = given.get("not") {
        let Some(schema) = value.as_document() else {
            let text =
                format!("must be an object, but found an element of type {}", value.kind().name());
            return Err(wrong_type("not", &text));
        };
        let schema = parse_schema(schema, rules.place, scope)?;
        rules.push(Rule::Not(Box::new(schema)), Document::new());
    }
    if let Some(value) = given.get("enum") {
        let values = values::parse_enum(value)?;
        rules.push(Rule::Enum(values), given.specified(&["enum"]));
    }
    Ok(())
}

/// Parses the schemas of `allOf`, `anyOf` or `oneOf`.
fn parse_schemas(
    name: &str,
    value: ValueRef<'_>,
    place: Place,
    scope: Scope,
) -> Result<Vec<Schema>, Error> {
    let Some(array) = value.as_array() else {
        return Err(wrong_type(name, "must be an array"));
    };
    if array.is_empty() {
        let text = format!("$jsonSchema keyword '{name}' must be a non-empty array");
        return Err(Error::bad_value(text));
    }
    let parse = |element: ValueRef<'_>| {
        let Some(schema) = element.as_document() else {
            let found = element.kind().name();
            let text = format!("must be an array of objects, but found an element of type {found}");
            return Err(wrong_type(name, &text));
        };
        parse_schema(schema, place, scope)
    };
    array.iter().map(parse).collect()
}
