//! Keywords about single values: types, strings, numbers and `enum`.

use std::collections::HashSet;

use document::{Decimal128, Document, Kind, Number, Value, ValueRef, compare};
use pipeline::filter::{Comparison, Rule, TypeSet, with_sorted_fields};

use super::{
    Rules,
    keywords::{Keywords, wrong_type, wrong_value},
};
use crate::{
    Error,
    filter::{pattern::compile_pattern, types::KINDS},
};

/// The names of types in `type`, which are those of JSON.
const JSON_TYPES: [(&str, Kind); 5] = [
    ("array", Kind::Array),
    ("boolean", Kind::Bool),
    ("null", Kind::Null),
    ("object", Kind::Document),
    ("string", Kind::String),
];

/// The types that a schema allows, the keyword with which they were specified, and the type again
/// if the keyword names only one.
pub(super) type Types = (TypeSet, Document, Option<TypeSet>);

/// Parses `type` or `bsonType`; a schema with both is refused.
pub(super) fn parse_type(given: &Keywords<'_>) -> Result<Option<Types>, Error> {
    let (name, value) = match (given.get("type"), given.get("bsonType")) {
        (Some(_), Some(_)) => {
            let text = "Cannot specify both $jsonSchema keywords 'type' and 'bsonType'";
            return Err(Error::failed_to_parse(text));
        }
        (Some(value), None) => ("type", value),
        (None, Some(value)) => ("bsonType", value),
        (None, None) => return Ok(None),
    };
    let (mut types, mut names) = (TypeSet::default(), HashSet::new());
    match value {
        ValueRef::String(alias) => {
            names.insert(alias);
            add_type(name, alias, &mut types)?;
        }
        ValueRef::Array(aliases) => {
            for alias in aliases.iter() {
                let ValueRef::String(alias) = alias else {
                    return Err(wrong_type(name, "array elements must be strings"));
                };
                if !names.insert(alias) {
                    return Err(wrong_value(name, &format!("has duplicate value: {alias}")));
                }
                add_type(name, alias, &mut types)?;
            }
        }
        _ => return Err(wrong_type(name, "must be either a string or an array of strings")),
    }
    if types.is_empty() {
        return Err(wrong_value(name, "must name at least one type"));
    }
    let single = (names.len() == 1).then_some(types);
    Ok(Some((types, given.specified(&[name]), single)))
}

/// Adds the type that a name denotes in `type` or `bsonType`.
fn add_type(keyword: &str, alias: &str, types: &mut TypeSet) -> Result<(), Error> {
    if alias == "integer" {
        let text = "$jsonSchema type 'integer' is not currently supported.";
        return Err(Error::failed_to_parse(text));
    }
    if alias == "number" {
        types.extend(TypeSet::number_kinds());
        return Ok(());
    }
    let kind = match keyword {
        "type" => JSON_TYPES.iter().find(|(name, _)| *name == alias).map(|(_, kind)| *kind),
        _ => KINDS.iter().find(|kind| kind.name() == alias).copied(),
    };
    let unknown = || Error::bad_value(format!("Unknown type name alias: {alias}"));
    types.insert(kind.ok_or_else(unknown)?);
    Ok(())
}

/// Adds the rules for strings: `pattern`, `maxLength`, `minLength`.
pub(super) fn add_text_rules(given: &Keywords<'_>, rules: &mut Rules) -> Result<(), Error> {
    match given.get("pattern") {
        None => {}
        Some(ValueRef::String(pattern)) => {
            let rule = Rule::Pattern(compile_pattern(pattern, "")?);
            rules.push_for(Kind::String, rule, given.specified(&["pattern"]));
        }
        Some(_) => return Err(wrong_type("pattern", "must be a string")),
    }
    for (name, rule) in
        [("maxLength", Rule::MaxLength as fn(i64) -> Rule), ("minLength", Rule::MinLength)]
    {
        if let Some(length) = given.length(name)? {
            rules.push_for(Kind::String, rule(length), given.specified(&[name]));
        }
    }
    Ok(())
}

/// Adds the rules for numbers: `multipleOf`, `maximum`, `minimum`.
pub(super) fn add_number_rules(given: &Keywords<'_>, rules: &mut Rules) -> Result<(), Error> {
    if let Some(value) = given.get("multipleOf") {
        let divisor = match Number::of(value) {
            Some(Number::Int(value)) => Decimal128::from_i64(value),
            Some(Number::Double(value)) => Decimal128::from_f64_short(value),
            Some(Number::Decimal(value)) => value,
            None => return Err(wrong_type("multipleOf", "must be a number")),
        };
        if divisor.is_negative() || divisor.is_zero() {
            return Err(wrong_value("multipleOf", "must have a positive value"));
        }
        let specified = given.specified(&["multipleOf"]);
        rules.push_for(Kind::Int32, Rule::MultipleOf(divisor), specified);
    }
    for (name, exclusive, comparisons) in [
        ("maximum", "exclusiveMaximum", [Comparison::Lte, Comparison::Lt]),
        ("minimum", "exclusiveMinimum", [Comparison::Gte, Comparison::Gt]),
    ] {
        let excludes = match given.get(exclusive) {
            None => false,
            Some(_) if given.get(name).is_none() => {
                let text = format!("must be a present if {exclusive} is present");
                return Err(wrong_value(name, &text));
            }
            Some(ValueRef::Bool(excludes)) => excludes,
            Some(_) => return Err(wrong_type(exclusive, "must be a boolean")),
        };
        let Some(value) = given.get(name) else { continue };
        if !value.is_number() {
            return Err(wrong_type(name, "must be a number"));
        }
        let [inclusive, beyond] = comparisons;
        let comparison = if excludes { beyond } else { inclusive };
        let rule = Rule::Limit(comparison, value.to_value());
        rules.push_for(Kind::Int32, rule, given.specified(&[name, exclusive]));
    }
    Ok(())
}

/// Parses `enum`: at least one value, and none twice.
pub(super) fn parse_enum(value: ValueRef<'_>) -> Result<Vec<Value>, Error> {
    let Some(array) = value.as_array() else {
        let text =
            format!("must be an array, but found an element of type {}", value.kind().name());
        return Err(wrong_type("enum", &text));
    };
    if array.is_empty() {
        return Err(wrong_value("enum", "cannot be an empty array"));
    }
    let values: Vec<Value> = array.iter().map(with_sorted_fields).collect();
    let mut sorted: Vec<&Value> = values.iter().collect();
    sorted.sort_by(|a, b| compare(a.as_ref(), b.as_ref()));
    if sorted.windows(2).any(|pair| match pair {
        [a, b] => compare(a.as_ref(), b.as_ref()).is_eq(),
        _ => false,
    }) {
        return Err(wrong_value("enum", "array cannot contain duplicate values."));
    }
    Ok(values)
}
