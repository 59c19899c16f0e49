//! Truncates the fields of large items in a list, so that the portal does not load megabytes to
//! show table cells of a few hundred characters. Limits and format are those of the portal's lists
//! of MongoDB documents, which an aggregation stage truncates (`web/src/api/cutting.ts`). That
//! stage uses MongoDB's expressions, which this API does not evaluate, so the two share no code.

use document::{ArrayRef, DocRef, Value, ValueRef, json};

use super::SYSTEM;
use crate::partition_key::KeyPath;

/// Size in stored bytes above which the fields of an item are truncated.
const CUT_ABOVE: usize = 16 * 1024;
/// Size in bytes up to which a field of a truncated item is kept whole. Like the portal's
/// aggregation stage, this measures an object `{v: field}`.
const OF_A_FIELD: usize = 600;
/// Bytes of the object `{v: field}` in addition to those of the value.
const AROUND_A_FIELD: usize = 8;
/// Bytes of an array in addition to those of its elements.
const AROUND_ELEMENTS: usize = 5;
/// Number of characters kept of a string that is too long.
const OF_A_STRING: usize = 400;
/// Maximum number of elements kept of an array that is too long.
const OF_AN_ARRAY: usize = 20;
/// Number of leading fields of a truncated item that are written; most later fields are omitted.
const FIELDS: usize = 300;
/// Fields that are neither truncated nor omitted, besides the properties that the server sets.
const KEPT: [&str; 2] = ["id", "ttl"];

/// Truncates large items of one container. The values of the partition key are kept, because a
/// client needs them to read the whole item.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ItemCutter<'a> {
    keys: &'a [KeyPath],
}

impl<'a> ItemCutter<'a> {
    /// Creates a cutter for items with these partition key paths.
    pub(crate) fn new(keys: &'a [KeyPath]) -> Self {
        Self { keys }
    }

    /// Appends a value as JSON; the fields of an object above the limit are truncated. Returns
    /// whether the value was an object above the limit.
    pub(crate) fn write_value(self, value: ValueRef<'_>, out: &mut Vec<u8>) -> bool {
        match value {
            ValueRef::Document(item) if CUT_ABOVE < value.encoded_len() => {
                self.write_start(item, out);
                true
            }
            _ => {
                json::write(value, out);
                false
            }
        }
    }

    fn write_start(self, item: DocRef<'_>, out: &mut Vec<u8>) {
        let keys: Vec<&[String]> = self.keys.iter().map(KeyPath::parts).collect();
        let is_kept = |name: &str| KEPT.contains(&name) || SYSTEM.contains(&name);
        let fields = item.iter().enumerate().filter(|(at, (name, _))| {
            *at < FIELDS || is_kept(name) || !paths_below(&keys, name).is_empty()
        });
        write_object(fields.map(|(_, field)| field), out, |name, value, out| match is_kept(name) {
            true => json::write(value, out),
            false => write_field(value, &paths_below(&keys, name), out),
        });
    }
}

/// Returns, for each path that starts with this name, the rest of the path.
fn paths_below<'a>(paths: &[&'a [String]], name: &str) -> Vec<&'a [String]> {
    let below = |path: &&'a [String]| path.split_first().filter(|(first, _)| *first == name);
    paths.iter().filter_map(below).map(|(_, rest)| rest).collect()
}

/// Writes an object whose values are written by `write`.
fn write_object<'a>(
    fields: impl Iterator<Item = (&'a str, ValueRef<'a>)>,
    out: &mut Vec<u8>,
    write: impl Fn(&str, ValueRef<'a>, &mut Vec<u8>),
) {
    out.push(b'{');
    for (at, (name, value)) in fields.enumerate() {
        if 0 < at {
            out.push(b',');
        }
        json::write_string(name, out);
        out.push(b':');
        write(name, value, out);
    }
    out.push(b'}');
}

/// Writes a field of a truncated item. `keys` are the paths, relative to the field, of partition
/// key values in it; the path is empty if the field itself is such a value.
fn write_field(value: ValueRef<'_>, keys: &[&[String]], out: &mut Vec<u8>) {
    let is_key = keys.iter().any(|path| path.is_empty());
    match value {
        _ if value.encoded_len() + AROUND_A_FIELD <= OF_A_FIELD => json::write(value, out),
        // In a partition key any object or array counts as missing, which clients denote by `{}`.
        ValueRef::Document(_) | ValueRef::Array(_) if is_key => out.extend_from_slice(b"{}"),
        _ if is_key => json::write(value, out),
        ValueRef::Document(inner) if !keys.is_empty() => {
            let fields = inner.iter().filter(|(name, _)| !paths_below(keys, name).is_empty());
            write_object(fields, out, |name, value, out| {
                write_field(value, &paths_below(keys, name), out);
            });
        }
        _ => write_short(value, out),
    }
}

/// Writes the start of a string or array, or a text that describes a long value of another type.
fn write_short(value: ValueRef<'_>, out: &mut Vec<u8>) {
    let described = match value {
        ValueRef::String(text) => {
            let end = text.char_indices().nth(OF_A_STRING).map_or(text.len(), |(at, _)| at);
            return json::write_string(text.get(..end).unwrap_or(text), out);
        }
        ValueRef::Array(elements) => match array_start(elements) {
            Some(start) => return json::write(ValueRef::Array(ArrayRef::Tree(&start)), out),
            None => format!("array of {} elements", elements.len()),
        },
        ValueRef::Document(_) => format!("object of {} bytes", value.encoded_len()),
        _ => "a long value".to_owned(),
    };
    json::write_string(&described, out);
}

/// Returns the first elements of an array, or `None` if they exceed the size limit of a field.
fn array_start(elements: ArrayRef<'_>) -> Option<Vec<Value>> {
    let mut left = OF_A_FIELD.checked_sub(AROUND_A_FIELD + AROUND_ELEMENTS)?;
    let mut start = Vec::new();
    for (at, element) in elements.iter().take(OF_AN_ARRAY).enumerate() {
        // In the binary form, each element also has a type byte, and its index as text with a final
        // NUL.
        let around = if at < 10 { 3 } else { 4 };
        left = left.checked_sub(around + element.encoded_len())?;
        start.push(element.to_value());
    }
    Some(start)
}

#[cfg(test)]
mod tests {
    use document::{Document, doc};

    use super::*;

    fn keys(paths: &[&str]) -> Vec<KeyPath> {
        paths.iter().map(|path| KeyPath::parse(path).unwrap()).collect()
    }

    /// Returns the JSON that the cutter writes for an object, and whether the object was truncated.
    fn written(item: &Document, paths: &[&str]) -> (Value, bool) {
        let keys = keys(paths);
        let mut out = Vec::new();
        let item = ValueRef::Document(DocRef::Tree(item));
        let is_cut = ItemCutter::new(&keys).write_value(item, &mut out);
        (json::parse(&out, 128).unwrap(), is_cut)
    }

    /// Returns an item of this many stored bytes with a property `a`.
    fn item_of(bytes: usize) -> Document {
        let empty = ValueRef::Document(DocRef::Tree(&doc! { "a": "" })).encoded_len();
        doc! { "a": "x".repeat(bytes - empty) }
    }

    #[test]
    fn items_up_to_the_limit_and_other_values_are_whole() {
        let small = item_of(CUT_ABOVE);
        assert_eq!(written(&small, &[]), (Value::Document(small), false));
        let (short, is_cut) = written(&item_of(CUT_ABOVE + 1), &[]);
        assert_eq!((short, is_cut), (Value::Document(doc! { "a": "x".repeat(400) }), true));
        let long = "x".repeat(CUT_ABOVE + 1);
        let mut out = Vec::new();
        assert!(!ItemCutter::new(&[]).write_value(ValueRef::String(&long), &mut out));
        assert_eq!(out.len(), long.len() + 2);
    }

    #[test]
    fn each_type_has_its_start() {
        let numbers = |count: i64| Value::Array((0..count).map(Value::Int64).collect());
        let texts = Value::Array(vec![Value::from("y".repeat(300)); 3]);
        let item = doc! {
            "id": "i".repeat(1000),
            "text": "\u{e4}".repeat(10_000),
            "numbers": numbers(5000),
            "texts": texts,
            "object": doc! { "deep": "z".repeat(9000) },
            "small": doc! { "n": 1_i64 },
            "fits": "f".repeat(600 - 8 - 5),
            "exceeds": "f".repeat(600 - 8 - 4),
        };
        let want = doc! {
            "id": "i".repeat(1000),
            "text": "\u{e4}".repeat(400),
            "numbers": numbers(20),
            "texts": "array of 3 elements",
            "object": "object of 9016 bytes",
            "small": doc! { "n": 1_i64 },
            "fits": "f".repeat(600 - 8 - 5),
            "exceeds": "f".repeat(400),
        };
        assert_eq!(written(&item, &[]), (Value::Document(want), true));
    }

    #[test]
    fn of_many_fields_the_first_are_kept_and_those_that_identify_the_item() {
        let mut item = doc! {};
        for at in 0..1000 {
            item.insert(format!("f{at}"), "v".repeat(50));
        }
        for name in ["id", "pk", "ttl", "_etag", "_ts", "other"] {
            item.insert(name, name);
        }
        let (Value::Document(short), true) = written(&item, &["/pk"]) else {
            panic!("it is large")
        };
        let names: Vec<&str> = short.fields().iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names.len(), FIELDS + 5);
        assert_eq!(names[FIELDS - 1..], ["f299", "id", "pk", "ttl", "_etag", "_ts"]);
    }

    #[test]
    fn values_of_the_partition_key_are_whole() {
        let long = "k".repeat(2000);
        let item = doc! {
            "tenant": long.clone(),
            "a": doc! { "b": long.clone(), "c": "x".repeat(20_000), "d": doc! { "e": 1_i64 } },
            "none": doc! { "x": "x".repeat(1000) },
        };
        let want = doc! {
            "tenant": long.clone(),
            "a": doc! { "b": long, "d": doc! { "e": 1_i64 } },
            "none": doc! {},
        };
        let paths = ["/tenant", "/a/b", "/a/d/e", "/none"];
        assert_eq!(written(&item, &paths), (Value::Document(want), true));
    }
}
