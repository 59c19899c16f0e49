//! Parses a batch in JSON: an array of operations. Property names and operation types are Azure
//! Cosmos DB's; unknown properties are ignored.

use document::{Document, Value, json};

use super::operation::{BatchAction, BatchOperation, Kind, OperationBody, check_count};
use crate::{
    binary,
    failure::{Failure, Result},
    limits::{BATCH_DEPTH, MAX_BODY_BYTES, MAX_DEPTH, PATCH_DEPTH},
};

pub(super) fn read_operations(body: &[u8]) -> Result<Vec<Result<BatchOperation>>> {
    if MAX_BODY_BYTES < body.len() {
        return Err(Failure::too_large());
    }
    // An item is nested in the array and the operation, and the values of a patch two levels
    // deeper. `read_item` and `Patch` check their own depths later.
    let depth = MAX_DEPTH + BATCH_DEPTH + PATCH_DEPTH;
    let value = match binary::is_binary(body) {
        true => binary::read_value(body, depth, MAX_BODY_BYTES)?,
        false => json::parse(body, depth)?,
    };
    let Value::Array(operations) = value else {
        return Err(Failure::bad_request("The body of a batch must be an array of operations."));
    };
    check_count(operations.len())?;
    Ok(operations.into_iter().map(read_operation).collect())
}

/// Parses one operation. Its type ignores case.
fn read_operation(value: Value) -> Result<BatchOperation> {
    let Value::Document(mut fields) = value else {
        return Err(Failure::bad_request("A batch operation is not an object."));
    };
    let kind = take_text(&mut fields, "operationType")?.unwrap_or_default();
    let id = take_text(&mut fields, "id")?;
    let body = match fields.remove("resourceBody") {
        None | Some(Value::Null) => None,
        Some(body) => Some(OperationBody::Parsed(body)),
    };
    let of_name = Kind::of_name(&kind)
        .ok_or_else(|| Failure::bad_request(format!("Unknown batch operation '{kind}'.")))?;
    // Error texts contain the type as the client wrote it.
    let action = BatchAction::new(of_name, &kind, id, body)?;
    Ok(BatchOperation {
        action,
        if_match: take_text(&mut fields, "ifMatch")?,
        if_none_match: take_text(&mut fields, "ifNoneMatch")?,
        partition_key: take_text(&mut fields, "partitionKey")?,
        minimal: matches!(fields.get("minimalReturnPreference"), Some(Value::Bool(true))),
    })
}

/// Removes a text property from an operation; `null` means absent.
fn take_text(fields: &mut Document, name: &str) -> Result<Option<String>> {
    match fields.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => {
            Err(Failure::bad_request(format!("The '{name}' of a batch operation is not a string.")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations() {
        for (text, want) in [
            (r#"{"operationType":"Create","resourceBody":{"id":"z"}}"#, "Create z"),
            (r#"{"operationType":"upsert","resourceBody":{"id":"z"},"ifMatch":null}"#, "Upsert z"),
            (r#"{"operationType":"Read","id":"1"}"#, "Read 1"),
            (r#"{"operationType":"Delete","id":"1","partitionKey":"[\"a\"]"}"#, "Delete 1"),
            (
                r#"{"operationType":"Replace","id":"1","resourceBody":{"id":"1"},"ifMatch":"e"}"#,
                "Replace 1",
            ),
            (
                r#"{"operationType":"Patch","id":"1","resourceBody":{"operations":[{"op":"remove","path":"/a"}]}}"#,
                "Patch 1",
            ),
            (
                r#"{"operationType":"Patch","id":"1","resourceBody":[{"op":"remove","path":"/a"}]}"#,
                "Patch 1",
            ),
            (r#"{"operationType":"Patch","id":"1","resourceBody":1}"#, "refused"),
            (r#"{"operationType":"Create"}"#, "refused"),
            (r#"{"operationType":"Create","resourceBody":{}}"#, "refused"),
            (r#"{"operationType":"Create","resourceBody":[]}"#, "refused"),
            (r#"{"operationType":"Read"}"#, "refused"),
            (r#"{"operationType":"Read","id":"a/b"}"#, "Read a/b"),
            (r#"{"operationType":"Read","id":""}"#, "refused"),
            (r#"{"operationType":"Replace","id":"1","resourceBody":{"id":"2"}}"#, "Replace 1"),
            (r#"{"operationType":"Patch","id":"1","resourceBody":{}}"#, "refused"),
            (r#"{"operationType":"Merge","id":"1"}"#, "refused"),
            (r#"{"id":"1"}"#, "refused"),
            (r#"{"operationType":1}"#, "refused"),
            ("1", "refused"),
        ] {
            let found = read_operations(format!("[{text}]").as_bytes()).unwrap().remove(0);
            let shown = found.map_or_else(
                |_| "refused".to_owned(),
                |operation| {
                    let kind = format!("{:?}", operation.action);
                    let kind = kind.split('(').next().unwrap().to_owned();
                    format!("{kind} {}", operation.action.id())
                },
            );
            assert_eq!(shown, want, "{text}");
        }
    }

    #[test]
    fn items_and_values_of_patches_are_as_deep_as_alone() {
        for (levels, good) in [(127, true), (128, false), (129, false)] {
            let value = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
            let create = format!(
                r#"[{{"operationType":"Create","resourceBody":{{"id":"z","x":{value}}}}}]"#
            );
            let patch = format!(
                r#"[{{"operationType":"Patch","id":"z","resourceBody":{{"operations":[{{"op":"set","path":"/x","value":{value}}}]}}}}]"#
            );
            for text in [create, patch] {
                let found = read_operations(text.as_bytes());
                let found = found.is_ok_and(|operations| operations.iter().all(Result::is_ok));
                assert_eq!(found, good, "{levels} {text}");
            }
        }
    }

    #[test]
    fn a_batch_has_one_to_a_hundred() {
        let many = |count: usize| format!("[{}]", vec!["{}"; count].join(","));
        for (text, good) in [
            (many(0), false),
            (many(1), true),
            (many(100), true),
            (many(101), false),
            ("{}".to_owned(), false),
            ("[".to_owned(), false),
        ] {
            assert_eq!(read_operations(text.as_bytes()).is_ok(), good, "{text}");
        }
    }
}
