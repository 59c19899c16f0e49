//! Type wrappers: objects whose only name is the type of a value, such as `{"$oid": "65…"}`.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use document::{Decimal128, ObjectId, Value};
use serde::{
    Deserialize, Deserializer,
    de::{Error as _, MapAccess, Visitor, value::MapAccessDeserializer},
};

use super::{DocumentSeed, ParseContext};

/// Names of the wrappers. `$regex` is excluded because it is an operator in filters.
const NAMES: [&str; 16] = [
    "$binary",
    "$code",
    "$date",
    "$dbPointer",
    "$maxKey",
    "$minKey",
    "$numberDecimal",
    "$numberDouble",
    "$numberInt",
    "$numberLong",
    "$oid",
    "$regularExpression",
    "$symbol",
    "$timestamp",
    "$undefined",
    "$uuid",
];

/// Returns whether an object with this first name is a type wrapper.
pub(super) fn is_wrapper(name: &str) -> bool {
    NAMES.contains(&name)
}

/// The value in a wrapper: a string, an integer, a boolean, or an object with some of the fields of
/// `Fields`. The fixed types bound its nesting depth.
enum Inner {
    Bool(bool),
    Whole(i64),
    Text(String),
    Fields(Fields),
}

impl<'de> Deserialize<'de> for Inner {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(InnerVisitor)
    }
}

struct InnerVisitor;

impl<'de> Visitor<'de> for InnerVisitor {
    type Value = Inner;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of the named type")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Inner, E> {
        Ok(Inner::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Inner, E> {
        Ok(Inner::Whole(value))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Inner, E> {
        i64::try_from(value).map(Inner::Whole).map_err(|_| E::custom("a number that is too large"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Inner, E> {
        Ok(Inner::Text(value.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<Inner, A::Error> {
        Fields::deserialize(MapAccessDeserializer::new(access)).map(Inner::Fields)
    }
}

/// The fields of all kinds of objects that are values of type wrappers.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Fields {
    base64: Option<String>,
    #[serde(rename = "subType")]
    sub_type: Option<String>,
    pattern: Option<String>,
    options: Option<String>,
    t: Option<u32>,
    i: Option<u32>,
    #[serde(rename = "$ref")]
    namespace: Option<String>,
    #[serde(rename = "$id")]
    id: Option<Id>,
    #[serde(rename = "$numberLong")]
    long: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Id {
    #[serde(rename = "$oid")]
    oid: String,
}

/// Reads the value of a type wrapper such as `{"$oid": ..}`, whose first name was read already.
pub(super) fn read_wrapped<'de, A: MapAccess<'de>>(
    name: &str,
    mut access: A,
    room: ParseContext,
) -> Result<Value, A::Error> {
    let wrong = || A::Error::custom(format!("the value of {name} is malformed"));
    let inner: Inner = access.next_value()?;
    let second: Option<String> = access.next_key()?;
    let value = match (name, inner, second.as_deref()) {
        ("$code", Inner::Text(code), Some("$scope")) => {
            let scope = access.next_value_seed(DocumentSeed(room))?.as_ref().to_tree();
            if access.next_key::<String>()?.is_some() {
                return Err(wrong());
            }
            return Ok(Value::JavaScriptWithScope { code, scope });
        }
        (_, _, Some(_)) => {
            return Err(A::Error::custom(format!("{name} must be the only name in its object")));
        }
        (name, inner, None) => value_of(name, inner),
    };
    value.ok_or_else(wrong)
}

/// Converts the name and the content of a type wrapper to a value.
fn value_of(name: &str, inner: Inner) -> Option<Value> {
    Some(match (name, inner) {
        ("$oid", Inner::Text(text)) => Value::ObjectId(ObjectId::parse(&text)?),
        ("$numberInt", Inner::Text(text)) => Value::Int32(text.parse().ok()?),
        ("$numberLong", Inner::Text(text)) => Value::Int64(text.parse().ok()?),
        ("$numberDouble", Inner::Text(text)) => Value::Double(double(&text)?),
        ("$numberDecimal", Inner::Text(text)) => Value::Decimal128(Decimal128::parse(&text)?),
        ("$symbol", Inner::Text(text)) => Value::Symbol(text),
        ("$code", Inner::Text(text)) => Value::JavaScript(text),
        ("$undefined", Inner::Bool(true)) => Value::Undefined,
        ("$minKey", Inner::Whole(1)) => Value::MinKey,
        ("$maxKey", Inner::Whole(1)) => Value::MaxKey,
        ("$date", Inner::Text(text)) => Value::DateTime(date(&text)?),
        ("$date", Inner::Whole(ms)) => Value::DateTime(ms),
        ("$date", Inner::Fields(Fields { long: Some(ms), .. })) => {
            Value::DateTime(ms.parse().ok()?)
        }
        ("$uuid", Inner::Text(text)) => {
            let digits: String = text.split('-').collect();
            Value::Binary { subtype: 4, bytes: hex(&digits).filter(|bytes| bytes.len() == 16)? }
        }
        ("$binary", Inner::Fields(Fields { base64: Some(text), sub_type: Some(kind), .. })) => {
            binary(&text, &kind)?
        }
        ("$regularExpression", Inner::Fields(Fields { pattern, options, .. })) => {
            let (pattern, options) = (pattern?, options?);
            // BSON stores pattern and options as NUL-terminated strings.
            if pattern.contains('\0') || options.contains('\0') {
                return None;
            }
            Value::Regex { pattern, options }
        }
        ("$timestamp", Inner::Fields(Fields { t: Some(t), i: Some(i), .. })) => {
            Value::Timestamp(u64::from(t) << 32 | u64::from(i))
        }
        ("$dbPointer", Inner::Fields(Fields { namespace, id, .. })) => {
            Value::DbPointer { namespace: namespace?, id: ObjectId::parse(&id?.oid)? }
        }
        _ => return None,
    })
}

fn double(text: &str) -> Option<f64> {
    match text {
        "NaN" => Some(f64::NAN),
        "Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        text => text.parse().ok().filter(|value: &f64| value.is_finite()),
    }
}

/// Parses an ISO 8601 date with a time zone; returns milliseconds since 1970.
pub(crate) fn date(text: &str) -> Option<i64> {
    text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond)
}

fn binary(text: &str, kind: &str) -> Option<Value> {
    let subtype = u8::from_str_radix(kind, 16).ok()?;
    let mut bytes = STANDARD.decode(text).ok()?;
    if subtype == 2 {
        // The obsolete subtype 2 has a length prefix.
        let length = u32::try_from(bytes.len()).ok()?.to_le_bytes();
        bytes.splice(0..0, length);
    }
    Some(Value::Binary { subtype, bytes })
}

fn hex(text: &str) -> Option<Vec<u8>> {
    if !text.is_ascii() || !text.len().is_multiple_of(2) {
        return None;
    }
    let pair = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    (0..text.len()).step_by(2).map(pair).collect()
}
