//! Applies a patch to an item atomically: it changes a copy of the item, which becomes the new item
//! if all operations succeed.

use document::{DocBuf, DocRef, Document, Number, Value, ValueRef, depth_within, json};

use super::{Patch, PatchOperation, Pointer, Target, operation_failure};
use crate::{
    failure::{Failure, Result},
    limits::{MAX_DEPTH, MAX_ITEM_BYTES},
    partition_key::PartitionKeyDefinition,
};

/// Returns the patched item. If other writers commit first, it is called again for the same
/// request, with the newest version of the item.
pub(crate) fn apply_patch(
    patch: &Patch,
    key: &PartitionKeyDefinition,
    item: DocRef<'_>,
) -> Result<DocBuf> {
    let mut document = item.to_tree();
    for (at, operation) in patch.operations.iter().enumerate() {
        apply_operation(operation, &mut document).map_err(|text| operation_failure(at, &text))?;
    }
    // A move may change which value is at a path of the key, so the values of the partition key are
    // compared.
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

/// Result of an operation of a patch; the error is its message.
type Done = std::result::Result<(), String>;

fn apply_operation(operation: &PatchOperation, document: &mut Document) -> Done {
    match operation {
        PatchOperation::Add(path, value) => {
            put_value(document, path, value.clone(), true).map_err(no_parent("Add"))
        }
        PatchOperation::Set(path, value) => {
            put_value(document, path, value.clone(), false).map_err(no_parent("Set"))
        }
        PatchOperation::Replace(path, value) => {
            let place = find_existing(document, path).map_err(no_value("Replace"))?;
            *place = value.clone();
            Ok(())
        }
        PatchOperation::Remove(path) => {
            take_value(document, path).map(drop).map_err(no_value("Remove"))
        }
        PatchOperation::Increment(path, by) => increment_number(document, path, by),
        PatchOperation::Move { from, to } => {
            let value = take_value(document, from).map_err(no_value("Move"))?;
            put_value(document, to, value, true).map_err(no_parent("Move"))
        }
    }
}

/// A path that does not exist: the first name in it that was not found.
struct Missing(String);

fn missing(document: &Document, path: &Pointer) -> Missing {
    Missing(path.first_missing(document).to_owned())
}

/// The link that Azure Cosmos DB appends to error messages of patches.
const LEARN: &str = "Learn more: https://aka.ms/cosmosdbpatchdocs";

/// Returns the text for an operation that would create a value without an existing parent.
fn no_parent(operation: &'static str) -> impl Fn(Missing) -> String {
    move |Missing(name)| {
        format!(
            "{operation} Operation can only create a child object of an existing node(array or \
             object) and cannot create path recursively, no path found beyond: '{name}'. {LEARN}"
        )
    }
}

/// Returns the text for an operation that requires an existing value.
fn no_value(operation: &'static str) -> impl Fn(Missing) -> String {
    move |Missing(name)| {
        format!(
            "{operation} Operation can only be performed on an existing path, no path found beyond: \
             '{name}'. {LEARN}"
        )
    }
}

/// Returns the existing value at a path, or the first name in the path that was not found.
fn find_existing<'a>(
    document: &'a mut Document,
    path: &'a Pointer,
) -> std::result::Result<&'a mut Value, Missing> {
    // Computed first, since the value that is found borrows the document mutably.
    let missing = missing(document, path);
    let found = match path.find_target(document) {
        Some(Target::Property(fields, name)) => fields.get_mut(name),
        Some(Target::Element(values, at)) => values.get_mut(at),
        None => None,
    };
    found.ok_or(missing)
}

/// Writes a value to a property or an array. In an array, `between` determines whether the value is
/// inserted before the element at the position or replaces it. The position after the last element
/// is valid in both cases.
fn put_value(
    document: &mut Document,
    path: &Pointer,
    value: Value,
    between: bool,
) -> std::result::Result<(), Missing> {
    let missing = missing(document, path);
    match path.find_target(document) {
        Some(Target::Property(fields, name)) => fields.insert(name, value),
        Some(Target::Element(values, at)) if between && at <= values.len() => {
            values.insert(at, value);
        }
        Some(Target::Element(values, at)) if at == values.len() => values.push(value),
        Some(Target::Element(values, at)) => match values.get_mut(at) {
            Some(place) => *place = value,
            None => return Err(missing),
        },
        None => return Err(missing),
    }
    Ok(())
}

/// Removes and returns the value at a path.
fn take_value(document: &mut Document, path: &Pointer) -> std::result::Result<Value, Missing> {
    let missing = missing(document, path);
    let taken = match path.find_target(document) {
        Some(Target::Property(fields, name)) => fields.remove(name),
        Some(Target::Element(values, at)) if at < values.len() => Some(values.remove(at)),
        _ => None,
    };
    taken.ok_or(missing)
}

/// Adds `by` to the number at a path; a missing property is created with the value `by`. Integers
/// stay integers unless the sum overflows.
fn increment_number(document: &mut Document, path: &Pointer, by: &Value) -> Done {
    let missing = match path.find_target(document) {
        Some(Target::Property(fields, name)) => fields.get(name).is_none(),
        _ => false,
    };
    if missing {
        return put_value(document, path, by.clone(), false).map_err(no_parent("Increment"));
    }
    let place = find_existing(document, path).map_err(no_parent("Increment"))?;
    *place = match (&*place, by) {
        (Value::Int64(a), Value::Int64(b)) => match a.checked_add(*b) {
            Some(sum) => Value::Int64(sum),
            None => Value::Double(*a as f64 + *b as f64),
        },
        (a, b) => {
            let number = |value: &Value| Number::of(value.as_ref()).map(|number| number.to_f64());
            let sum = number(a).zip(number(b)).map(|(a, b)| a + b);
            let sum =
                sum.ok_or_else(|| format!("The value at '{}' is not a number.", path.text()))?;
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
    fn a_path_that_leads_nowhere_is_named() {
        let item = json::parse_document(br#"{"a":{"b":1},"l":[{}]}"#, 10).unwrap();
        for (operation, want) in [
            (
                r#"{"op":"add","path":"/x/y","value":1}"#,
                "For Operation(1): Add Operation can only create a child object of an existing \
                 node(array or object) and cannot create path recursively, no path found beyond: \
                 'x'. Learn more: https:",
            ),
            (r#"{"op":"add","path":"/a/b/c","value":1}"#, "Add Operation"),
            (r#"{"op":"set","path":"/a/x/y","value":1}"#, "beyond: 'x'"),
            (r#"{"op":"incr","path":"/x/y","value":1}"#, "Increment Operation can only create"),
            (r#"{"op":"replace","path":"/a/x","value":1}"#, "Replace Operation"),
            (r#"{"op":"remove","path":"/l/0/z"}"#, "beyond: 'z'"),
            (r#"{"op":"move","from":"/x","path":"/y"}"#, "Move Operation can only be performed"),
            (r#"{"op":"move","from":"/a","path":"/x/y"}"#, "Move Operation can only create"),
        ] {
            let patch = Patch::parse(format!(r#"{{"operations":[{operation}]}}"#).as_bytes());
            let key = json::parse_document(br#"{"paths":["/k"]}"#, 3).unwrap();
            let key = PartitionKeyDefinition::parse(&key).unwrap();
            let failure = apply_patch(&patch.unwrap(), &key, DocRef::Tree(&item)).unwrap_err();
            assert_eq!(failure.fault.status(), 400);
            assert!(failure.text.contains(want), "{operation}: {}", failure.text);
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
