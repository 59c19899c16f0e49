//! A patch applied to an item: all operations or none. It works on a copy as a tree, which becomes
//! the new item when everything went well.

use document::{DocBuf, DocRef, Document, Number, Value, ValueRef, depth_within, json};

use super::{Patch, PatchOperation, Pointer, Target, operation_failure};
use crate::{
    failure::{Failure, Result},
    limits::{MAX_DEPTH, MAX_ITEM_BYTES},
    partition_key::PartitionKeyDefinition,
};

/// The item after the patch. It may be called several times for one request, each time with the
/// newest version, when other writers come first.
pub(crate) fn apply_patch(
    patch: &Patch,
    key: &PartitionKeyDefinition,
    item: DocRef<'_>,
) -> Result<DocBuf> {
    let mut document = item.to_tree();
    for (at, operation) in patch.operations.iter().enumerate() {
        apply_operation(operation, &mut document).map_err(|text| operation_failure(at, &text))?;
    }
    // The same key lies elsewhere in the item when a value was moved, so it is the values that are
    // compared and not the paths.
    if key.extract_key(DocRef::Tree(&document)) != key.extract_key(item) {
        return Err(Failure::bad_request("The partition key of an item cannot be patched."));
    }
    if document.get("id").map(Value::as_ref).and_then(ValueRef::as_str)
        != item.get("id").and_then(ValueRef::as_str)
    {
        return Err(Failure::bad_request("The id of an item cannot be patched."));
    }
    let stored = document.to_buf();
    if !depth_within(stored.bytes(), MAX_DEPTH) {
        return Err(Failure::bad_request(format!(
            "The item is nested deeper than {MAX_DEPTH} levels."
        )));
    }
    let mut text = Vec::new();
    json::write(ValueRef::Document(DocRef::Tree(&document)), &mut text);
    if MAX_ITEM_BYTES < text.len() {
        return Err(Failure::too_large());
    }
    Ok(stored)
}

/// The error is the text for the failing operation.
type Done = std::result::Result<(), String>;

/// Does one operation.
fn apply_operation(operation: &PatchOperation, document: &mut Document) -> Done {
    match operation {
        PatchOperation::Add(path, value) => put_value(document, path, value.clone(), true),
        PatchOperation::Set(path, value) => put_value(document, path, value.clone(), false),
        PatchOperation::Replace(path, value) => {
            let place = find_existing(document, path)?;
            *place = value.clone();
            Ok(())
        }
        PatchOperation::Remove(path) => take_value(document, path).map(drop),
        PatchOperation::Increment(path, by) => increment_number(document, path, by),
        PatchOperation::Move { from, to } => {
            let value = take_value(document, from)?;
            put_value(document, to, value, true)
        }
    }
}

/// The text for a path that leads nowhere.
fn nothing_there(path: &Pointer) -> String {
    format!("There is nothing at the path '{}' that the operation could change.", path.text())
}

/// The value at a path, where there is one.
fn find_existing<'a>(
    document: &'a mut Document,
    path: &'a Pointer,
) -> std::result::Result<&'a mut Value, String> {
    let found = match path.find_target(document) {
        Some(Target::Property(fields, name)) => fields.get_mut(name),
        Some(Target::Element(values, at)) => values.get_mut(at),
        None => None,
    };
    found.ok_or_else(|| nothing_there(path))
}

/// Puts a value. At a place of an array it goes between the elements or in place of one, as
/// `between` says; the place after the last one is open to both.
fn put_value(document: &mut Document, path: &Pointer, value: Value, between: bool) -> Done {
    match path.find_target(document) {
        Some(Target::Property(fields, name)) => fields.insert(name, value),
        Some(Target::Element(values, at)) if between && at <= values.len() => {
            values.insert(at, value);
        }
        Some(Target::Element(values, at)) if at == values.len() => values.push(value),
        Some(Target::Element(values, at)) => match values.get_mut(at) {
            Some(place) => *place = value,
            None => return Err(nothing_there(path)),
        },
        None => return Err(nothing_there(path)),
    }
    Ok(())
}

/// Takes the value at a path away.
fn take_value(document: &mut Document, path: &Pointer) -> std::result::Result<Value, String> {
    let taken = match path.find_target(document) {
        Some(Target::Property(fields, name)) => fields.remove(name),
        Some(Target::Element(values, at)) if at < values.len() => Some(values.remove(at)),
        _ => None,
    };
    taken.ok_or_else(|| nothing_there(path))
}

/// Adds to the number at a path; a property that is not there becomes the number. Whole numbers
/// stay whole until the sum is beyond them.
fn increment_number(document: &mut Document, path: &Pointer, by: &Value) -> Done {
    let missing = match path.find_target(document) {
        Some(Target::Property(fields, name)) => fields.get(name).is_none(),
        _ => false,
    };
    if missing {
        return put_value(document, path, by.clone(), false);
    }
    let place = find_existing(document, path)?;
    *place = match (&*place, by) {
        (Value::Int64(a), Value::Int64(b)) => match a.checked_add(*b) {
            Some(sum) => Value::Int64(sum),
            None => Value::Double(*a as f64 + *b as f64),
        },
        (a, b) => {
            let number = |value: &Value| Number::of(value.as_ref()).map(|number| number.to_f64());
            let sum = number(a).zip(number(b)).map(|(a, b)| a + b);
            let sum = sum.ok_or_else(|| format!("The value at '{}' is no number.", path.text()))?;
            if !sum.is_finite() {
                return Err(format!("The sum at '{}' is too large.", path.text()));
            }
            Value::Double(sum)
        }
    };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patched(item: &str, operations: &str) -> String {
        let item = json::parse_document(item.as_bytes(), 10).unwrap();
        let patch = format!(r#"{{"operations":[{operations}]}}"#);
        let patch = Patch::parse(patch.as_bytes()).unwrap();
        let key = json::parse_document(br#"{"paths":["/k/p"]}"#, 3).unwrap();
        let key = PartitionKeyDefinition::parse(&key).unwrap();
        match apply_patch(&patch, &key, DocRef::Tree(&item)) {
            Ok(stored) => json::to_string(ValueRef::Document(stored.as_ref())),
            Err(_) => "refused".to_owned(),
        }
    }

    #[test]
    fn operations() {
        let (a, l) = (r#"{"a":1}"#, r#"{"l":[1,2]}"#);
        let op =
            |op: &str, path: &str, rest: &str| format!(r#"{{"op":"{op}","path":"{path}"{rest}}}"#);
        let nine = r#","value":9"#;
        for (item, operation, want) in [
            (a, op("add", "/b", nine), r#"{"a":1,"b":9}"#),
            (a, op("add", "/a", nine), r#"{"a":9}"#),
            (a, op("add", "/b/c", nine), "refused"),
            (a, op("add", "/a/c", nine), "refused"),
            (l, op("add", "/l/0", nine), r#"{"l":[9,1,2]}"#),
            (l, op("add", "/l/2", nine), r#"{"l":[1,2,9]}"#),
            (l, op("add", "/l/-", nine), r#"{"l":[1,2,9]}"#),
            (l, op("add", "/l/3", nine), "refused"),
            (l, op("add", "/l/x", nine), "refused"),
            (a, op("set", "/b", nine), r#"{"a":1,"b":9}"#),
            (a, op("set", "/a", nine), r#"{"a":9}"#),
            (l, op("set", "/l/0", nine), r#"{"l":[9,2]}"#),
            (l, op("set", "/l/2", nine), r#"{"l":[1,2,9]}"#),
            (l, op("set", "/l/3", nine), "refused"),
            (a, op("replace", "/a", nine), r#"{"a":9}"#),
            (a, op("replace", "/b", nine), "refused"),
            (l, op("replace", "/l/1", nine), r#"{"l":[1,9]}"#),
            (l, op("replace", "/l/2", nine), "refused"),
            (l, op("replace", "/l/-", nine), "refused"),
            (a, op("remove", "/a", ""), "{}"),
            (a, op("remove", "/b", ""), "refused"),
            (l, op("remove", "/l/0", ""), r#"{"l":[2]}"#),
            (l, op("remove", "/l/2", ""), "refused"),
            (a, op("incr", "/a", nine), r#"{"a":10}"#),
            (a, op("incr", "/b", nine), r#"{"a":1,"b":9}"#),
            (a, op("incr", "/a", r#","value":-0.5"#), r#"{"a":0.5}"#),
            (l, op("incr", "/l/1", nine), r#"{"l":[1,11]}"#),
            (l, op("incr", "/l", nine), "refused"),
            (l, op("incr", "/l/2", nine), "refused"),
            (
                r#"{"a":9223372036854775807}"#,
                op("incr", "/a", r#","value":1"#),
                r#"{"a":9.223372036854776e+18}"#,
            ),
            (r#"{"a":1.7e308}"#, op("incr", "/a", r#","value":1.7e308"#), "refused"),
            (a, op("move", "/b", r#","from":"/a""#), r#"{"b":1}"#),
            (l, op("move", "/l/0", r#","from":"/l/1""#), r#"{"l":[2,1]}"#),
            (a, op("move", "/b", r#","from":"/c""#), "refused"),
            (a, op("move", "/c/d", r#","from":"/a""#), "refused"),
        ] {
            assert_eq!(patched(item, &operation), want, "{item} {operation}");
        }
    }

    #[test]
    fn operations_see_those_before_them_and_the_key_stays() {
        let item = r#"{"id":"i","k":{"p":"x","q":1}}"#;
        for (operations, want) in [
            (
                r#"{"op":"set","path":"/a","value":[]},{"op":"add","path":"/a/-","value":1}"#,
                r#"{"id":"i","k":{"p":"x","q":1},"a":[1]}"#,
            ),
            (r#"{"op":"incr","path":"/k/q","value":1}"#, r#"{"id":"i","k":{"p":"x","q":2}}"#),
            (r#"{"op":"set","path":"/k/p","value":"y"}"#, "refused"),
            (r#"{"op":"set","path":"/k","value":{"p":"x"}}"#, r#"{"id":"i","k":{"p":"x"}}"#),
            (r#"{"op":"remove","path":"/k"}"#, "refused"),
            (r#"{"op":"set","path":"/a","value":1},{"op":"remove","path":"/b"}"#, "refused"),
        ] {
            assert_eq!(patched(item, operations), want, "{operations}");
        }
    }

    #[test]
    fn what_a_patch_makes_is_limited() {
        let item = r#"{"a":{"a":{"a":{"a":{"a":{}}}}}}"#;
        for (depth, good) in [(60, true), (123, false)] {
            let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            let operation = format!(r#"{{"op":"set","path":"/a/a/a/a/a/b","value":{deep}}}"#);
            assert_eq!(patched(item, &operation) != "refused", good, "{depth}");
        }
        let copy = r#"{"op":"set","path":"/a","value":{}}"#;
        assert_eq!(patched("{}", copy), r#"{"a":{}}"#);
    }
}
