//! The operand of `$type`: codes, names and lists of them.
//!
//! ```text
//! {a: {$type: 2}}         {a: {$type: ["string", "null"]}}
//! {a: {$type: "string"}}  {a: {$type: "number"}}
//! ```
//!
//! Codes are those of BSON, from 1 (double) to 127 (MaxKey).

use document::{Kind, Number, ValueRef, shell};
use pipeline::filter::TypeSet;

use crate::Error;

/// All BSON types that `$type` can name.
pub(crate) const KINDS: [Kind; 21] = [
    Kind::Double,
    Kind::String,
    Kind::Document,
    Kind::Array,
    Kind::Binary,
    Kind::Undefined,
    Kind::ObjectId,
    Kind::Bool,
    Kind::DateTime,
    Kind::Null,
    Kind::Regex,
    Kind::DbPointer,
    Kind::JavaScript,
    Kind::Symbol,
    Kind::JavaScriptWithScope,
    Kind::Int32,
    Kind::Timestamp,
    Kind::Int64,
    Kind::Decimal128,
    Kind::MaxKey,
    Kind::MinKey,
];

/// Parses the types in an operand, of which there must be at least one.
pub(super) fn parse_types(field: &str, value: ValueRef<'_>) -> Result<TypeSet, Error> {
    let mut types = TypeSet::default();
    match value {
        ValueRef::Array(array) => {
            for value in array.iter() {
                add_type(value, &mut types)?;
            }
        }
        value => add_type(value, &mut types)?,
    }
    if types.is_empty() {
        return Err(Error::failed_to_parse(format!("{field} must match at least one type")));
    }
    Ok(types)
}

/// Adds the type that a code or a name denotes. The code of MinKey is -1, although it is 255 in
/// BSON. The code 0 is rejected with an error text of its own: in old versions of MongoDB it
/// denoted a missing field.
///
/// Fails with 14 if the value is neither a number nor a string, and with 2 if no type has this code
/// or name.
fn add_type(value: ValueRef<'_>, types: &mut TypeSet) -> Result<(), Error> {
    if let ValueRef::String(name) = value {
        return add_named(name, types);
    }
    let Some(number) = Number::of(value) else {
        return Err(Error::type_mismatch("type must be represented as a number or a string"));
    };
    let kind = match number.to_i64_exact() {
        Some(-1) => Some(Kind::MinKey),
        Some(0) => {
            let text = "Invalid numerical type code: 0. Instead use {$exists:false}.";
            return Err(Error::bad_value(text));
        }
        Some(code @ 1..=127) => u8::try_from(code).ok().and_then(Kind::from_code),
        _ => None,
    };
    let Some(kind) = kind else {
        let text = format!("Invalid numerical type code: {}", shell(value));
        return Err(Error::bad_value(text));
    };
    types.insert(kind);
    Ok(())
}

/// Adds the type that a name denotes. The name `number` adds all numeric types.
fn add_named(name: &str, types: &mut TypeSet) -> Result<(), Error> {
    if name == "number" {
        types.extend(TypeSet::number_kinds());
        return Ok(());
    }
    let Some(kind) = KINDS.iter().find(|kind| kind.name() == name) else {
        return Err(Error::bad_value(format!("Unknown type name alias: {name}")));
    };
    types.insert(*kind);
    Ok(())
}
