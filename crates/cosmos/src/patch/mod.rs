//! Patches: parsing and application to an item. The condition is kept as a text in the query
//! language; `routes/condition` evaluates it.
//!
//! ```text
//! {"condition": "from c where c.n > 1",
//!  "operations": [{"op": "set", "path": "/a/b", "value": 1}]}
//! ```
//!
//! A patch is validated as far as possible before an item is read. Paths are JSON pointers. The id
//! and the properties that the server sets cannot be patched, and a patch that would change the
//! partition key fails as a whole.

mod apply;
mod pointer;

use document::{Value, doc, json};

pub(crate) use apply::apply_patch;
pub(crate) use pointer::{Pointer, Target};

use crate::{
    failure::{Failure, Result},
    item::SYSTEM,
    limits::{MAX_DEPTH, MAX_PATCH, PATCH_DEPTH},
};

/// A patch with valid operations.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Patch {
    /// Condition of the patch, as text of the form `from c where ...`.
    pub(crate) condition: Option<String>,
    /// The operations in order; each sees the result of the previous ones.
    pub(crate) operations: Vec<PatchOperation>,
}

/// One operation of a patch, applied at one path.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PatchOperation {
    /// Adds a property with a value, or inserts an element before this position of an array.
    Add(Pointer, Value),
    /// Sets a property to a value, or replaces an element of an array.
    Set(Pointer, Value),
    /// Replaces the value at an existing path.
    Replace(Pointer, Value),
    /// Removes the value at an existing path.
    Remove(Pointer),
    /// Adds this number to an existing number, or creates a property with it.
    Increment(Pointer, Value),
    /// Moves an existing value to another path. In an array the value is inserted before the
    /// element at the position.
    Move { from: Pointer, to: Pointer },
}

impl Patch {
    /// Parses a request body. The depth limit is that of an item plus the levels of the patch
    /// around it; the depth of the patched item is checked later.
    pub(crate) fn parse(text: &[u8]) -> Result<Self> {
        Self::from_value(json::parse(text, MAX_DEPTH + PATCH_DEPTH)?)
    }

    /// Returns whether the operation changes the root property with this name or anything inside
    /// it.
    pub(crate) fn touches(&self, name: &str) -> bool {
        self.operations.iter().any(|operation| match operation {
            PatchOperation::Add(path, _)
            | PatchOperation::Set(path, _)
            | PatchOperation::Replace(path, _)
            | PatchOperation::Remove(path)
            | PatchOperation::Increment(path, _) => path.first_name() == name,
            PatchOperation::Move { from, to } => {
                from.first_name() == name || to.first_name() == name
            }
        })
    }

    /// Converts an object with operations and a condition, or a bare array of operations; SDKs send
    /// both forms.
    pub(crate) fn from_value(body: Value) -> Result<Self> {
        let mut body = match body {
            Value::Document(body) => body,
            operations @ Value::Array(_) => doc! { "operations": operations },
            _ => {
                return Err(Failure::bad_request(
                    "A patch must be an object or an array of operations.",
                ));
            }
        };
        let condition = match body.remove("condition") {
            None | Some(Value::Null) => None,
            Some(Value::String(condition)) => Some(condition),
            Some(_) => {
                return Err(Failure::bad_request("The condition of a patch must be a string."));
            }
        };
        let Some(Value::Array(operations)) = body.remove("operations") else {
            return Err(Failure::bad_request(
                "The body of a patch must have an array 'operations'.",
            ));
        };
        if !(1..=MAX_PATCH).contains(&operations.len()) {
            let text =
                format!("The number of patch operations can't be 0 or exceed '{MAX_PATCH}'.");
            return Err(Failure::bad_request(text));
        }
        let read =
            |(at, operation)| operation_of(operation).map_err(|text| operation_failure(at, &text));
        let operations = operations.into_iter().enumerate().map(read).collect::<Result<_>>()?;
        Ok(Self { condition, operations })
    }
}

/// Returns the failure of one operation, with its number in the text, as in Azure Cosmos DB. `at`
/// counts from zero, the number in the text from one.
pub(crate) fn operation_failure(at: usize, text: &str) -> Failure {
    Failure::bad_request(format!("For Operation({}): {text}", at + 1))
}

/// Parses one operation. The error is the part of the message after the operation's number.
fn operation_of(operation: Value) -> std::result::Result<PatchOperation, String> {
    let Value::Document(mut fields) = operation else {
        return Err("It is not an object.".to_owned());
    };
    let Some(Value::String(op)) = fields.remove("op") else {
        return Err("It has no string 'op'.".to_owned());
    };
    let path = read_pointer(fields.remove("path"), "path")?;
    let value = fields.remove("value");
    let given = || value.ok_or_else(|| format!("The operation '{op}' has no 'value'."));
    match op.as_str() {
        "add" => Ok(PatchOperation::Add(path, given()?)),
        "set" => Ok(PatchOperation::Set(path, given()?)),
        "replace" => Ok(PatchOperation::Replace(path, given()?)),
        "remove" => Ok(PatchOperation::Remove(path)),
        "incr" => match given()? {
            by @ (Value::Int64(_) | Value::Double(_)) => Ok(PatchOperation::Increment(path, by)),
            _ => Err("The 'value' of the operation 'incr' is not a number.".to_owned()),
        },
        "move" => {
            let from = read_pointer(fields.remove("from"), "from")?;
            if path.begins_with(&from) && path != from {
                return Err("A value cannot be moved into itself.".to_owned());
            }
            Ok(PatchOperation::Move { from, to: path })
        }
        other => Err(format!("The operation '{other}' is unknown.")),
    }
}

/// Parses the path of an operation and refuses paths that cannot be patched.
fn read_pointer(value: Option<Value>, name: &str) -> std::result::Result<Pointer, String> {
    let Some(Value::String(text)) = value else {
        return Err(format!("It has no string '{name}'."));
    };
    let pointer = Pointer::parse(&text).ok_or_else(|| format!("The path '{text}' is invalid."))?;
    let first = pointer.first_name();
    if (first == "id" && pointer.is_one()) || SYSTEM.contains(&first) {
        return Err(format!("The property at '{text}' cannot be patched."));
    }
    Ok(pointer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> String {
        match Patch::parse(text.as_bytes()) {
            Ok(patch) => format!("{} {:?}", patch.operations.len(), patch.condition),
            Err(failure) => failure.text.into_owned(),
        }
    }

    #[test]
    fn patches_are_checked_before_anything_is_changed() {
        let one = |operation: &str| format!(r#"{{"operations":[{operation}]}}"#);
        let many = |count: usize| vec![r#"{"op":"remove","path":"/a"}"#; count].join(",");
        for (text, want) in [
            (one(r#"{"op":"add","path":"/a","value":1}"#), "1 None"),
            (one(r#"{"op":"set","path":"/a/0","value":null}"#), "1 None"),
            (one(r#"{"op":"move","path":"/a","from":"/b"}"#), "1 None"),
            (
                r#"{"condition":"from c","operations":[{"op":"remove","path":"/a"}]}"#.to_owned(),
                "1 Some(\"from c\")",
            ),
            (one(&many(10)), "10 None"),
            (one(&many(11)), "can't be 0 or exceed '10'"),
            (one(""), "can't be 0 or exceed '10'"),
            (one("1"), "For Operation(1): It is not an object."),
            (one(r#"{"path":"/a"}"#), "has no string 'op'"),
            (one(r#"{"op":"test","path":"/a","value":1}"#), "operation 'test' is unknown"),
            (one(r#"{"op":"add","path":"/a"}"#), "has no 'value'"),
            (one(r#"{"op":"add","path":"a","value":1}"#), "The path 'a' is invalid"),
            (one(r#"{"op":"add","path":"","value":1}"#), "The path '' is invalid"),
            (one(r#"{"op":"add","value":1}"#), "no string 'path'"),
            (one(r#"{"op":"incr","path":"/a","value":"1"}"#), "is not a number"),
            (one(r#"{"op":"move","path":"/a/b","from":"/a"}"#), "into itself"),
            (one(r#"{"op":"move","path":"/a"}"#), "no string 'from'"),
            (one(r#"{"op":"remove","path":"/id"}"#), "cannot be patched"),
            (one(r#"{"op":"set","path":"/_ts","value":1}"#), "cannot be patched"),
            (one(r#"{"op":"move","path":"/a","from":"/_etag"}"#), "cannot be patched"),
            (format!(r#"{{"operations":[{},{{}}]}}"#, many(1)), "For Operation(2)"),
            (r#"{"condition":1,"operations":[]}"#.to_owned(), "must be a string"),
            ("{}".to_owned(), "must have an array 'operations'"),
            (r#"[{"op":"remove","path":"/a"}]"#.to_owned(), "1 None"),
            ("[]".to_owned(), "can't be 0 or exceed '10'"),
            ("[1]".to_owned(), "For Operation(1): It is not an object."),
            ("1".to_owned(), "must be an object or an array"),
            ("null".to_owned(), "must be an object or an array"),
        ] {
            assert!(parse(&text).contains(want), "{text}: {}", parse(&text));
        }
    }

    #[test]
    fn a_value_may_be_as_deep_as_in_an_item() {
        for (levels, good) in [(126, true), (127, true), (128, false), (5000, false)] {
            let value = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
            let one = format!(r#"[{{"op":"set","path":"/a","value":{value}}}]"#);
            let both = format!(r#"{{"operations":{one}}}"#);
            assert_eq!(parse(&both) == "1 None", good, "{levels}");
        }
    }
}
