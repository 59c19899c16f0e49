//! The keywords of one schema.

use document::{DocRef, Document, ValueRef};

use crate::{Error, filter::number::parse_whole};

/// The keywords that a schema may have.
const KNOWN: [&str; 29] = [
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "bsonType",
    "dependencies",
    "description",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "oneOf",
    "pattern",
    "patternProperties",
    "properties",
    "required",
    "title",
    "type",
    "uniqueItems",
];

/// Keywords of JSON Schema that MongoDB lacks.
const UNSUPPORTED: [&str; 6] = ["$ref", "$schema", "default", "definitions", "format", "id"];

/// Keywords of client-side encryption, which MongoDB has and this server lacks.
const ENCRYPTION: [&str; 2] = ["encrypt", "encryptMetadata"];

/// The values of a schema's keywords.
pub(super) struct Keywords<'a> {
    values: [Option<ValueRef<'a>>; KNOWN.len()],
}

impl<'a> Keywords<'a> {
    /// Reads the keywords of a schema.
    ///
    /// Fails with 9 if a keyword is unknown, unsupported or repeated, and with 238 if it is one of
    /// encryption.
    pub(super) fn read(schema: DocRef<'a>) -> Result<Self, Error> {
        let mut values = [None; KNOWN.len()];
        for (name, value) in schema.iter() {
            let Some(at) = KNOWN.iter().position(|known| *known == name) else {
                return Err(match name {
                    name if UNSUPPORTED.contains(&name) => Error::failed_to_parse(format!(
                        "$jsonSchema keyword '{name}' is not currently supported"
                    )),
                    name if ENCRYPTION.contains(&name) => {
                        Error::unsupported(&format!("$jsonSchema keyword '{name}'"))
                    }
                    name => Error::failed_to_parse(format!("Unknown $jsonSchema keyword: {name}")),
                });
            };
            let slot = values.get_mut(at);
            if slot.is_some_and(|slot| slot.replace(value).is_some()) {
                let text = format!("Duplicate $jsonSchema keyword: {name}");
                return Err(Error::failed_to_parse(text));
            }
        }
        Ok(Self { values })
    }

    /// Returns the value of a keyword.
    pub(super) fn get(&self, name: &str) -> Option<ValueRef<'a>> {
        let at = KNOWN.iter().position(|known| *known == name)?;
        self.values.get(at).copied().flatten()
    }

    /// Returns the keywords with these names and their values.
    pub(super) fn specified(&self, names: &[&str]) -> Document {
        let given = names.iter().filter_map(|name| Some((*name, self.get(name)?)));
        given.map(|(name, value)| (name.to_owned(), value.to_value())).collect()
    }

    /// Returns the text of `title` or `description`.
    pub(super) fn note(&self, name: &str) -> Result<Option<String>, Error> {
        match self.get(name) {
            None => Ok(None),
            Some(ValueRef::String(text)) => Ok(Some(text.to_owned())),
            Some(_) => Err(wrong_type(name, "must be of type string")),
        }
    }

    /// Returns the value of a keyword that is a nonnegative integer; another value fails with 9.
    pub(super) fn length(&self, name: &str) -> Result<Option<i64>, Error> {
        let Some(value) = self.get(name) else { return Ok(None) };
        parse_whole(name, value).map(Some).map_err(Error::failed_to_parse)
    }
}

/// Returns the error of a keyword whose value has a wrong type.
pub(super) fn wrong_type(name: &str, text: &str) -> Error {
    Error::type_mismatch(format!("$jsonSchema keyword '{name}' {text}"))
}

/// Returns the error of a keyword with a wrong value.
pub(super) fn wrong_value(name: &str, text: &str) -> Error {
    Error::failed_to_parse(format!("$jsonSchema keyword '{name}' {text}"))
}
