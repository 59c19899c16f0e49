//! The body of a batch: an array of operations. Names of properties and of operation types are
//! those of the service; unknown properties are let pass, as it does.

use document::{Document, Value, json};

use crate::{
    binary,
    failure::{Failure, Result},
    item::{NewItem, check_id},
    limits::{BATCH_DEPTH, MAX_BATCH, MAX_BODY_BYTES, MAX_DEPTH, PATCH_DEPTH},
    patch::Patch,
};

/// One operation of a batch, checked in itself. Whether it fits the container is found out when it
/// is prepared.
#[derive(Clone, Debug)]
pub(crate) struct BatchOperation {
    /// What is to be done, and with which item.
    pub(crate) action: BatchAction,
    /// The etag that the item has to have, as the client wrote it.
    pub(crate) if_match: Option<String>,
    /// The etag that the client has already. It counts for reads alone.
    pub(crate) if_none_match: Option<String>,
    /// The partition key as it would stand in a header. It counts in bulks alone: a batch has one
    /// key for all its operations, in the header of the request.
    pub(crate) partition_key: Option<String>,
    /// Whether the item is left out of the response.
    pub(crate) minimal: bool,
}

/// What is to be done with one item.
#[derive(Clone, Debug)]
pub(crate) enum BatchAction {
    /// Write an item that is not there yet.
    Create(NewItem),
    /// Write an item, whether it is there or not.
    Upsert(NewItem),
    /// The item of this id becomes this one, which may have another id.
    Replace(String, NewItem),
    /// Change parts of the item of this id.
    Patch(String, Patch),
    /// Return the item of this id.
    Read(String),
    /// Remove the item of this id.
    Delete(String),
}

#[cfg(test)]
impl BatchAction {
    /// The id of the item it is about.
    pub(crate) fn id(&self) -> &str {
        match self {
            Self::Create(item) | Self::Upsert(item) => item.id(),
            Self::Replace(id, _) | Self::Patch(id, _) | Self::Read(id) | Self::Delete(id) => id,
        }
    }
}

/// Reads a request's body. The outer result is about the whole batch. An operation that is wrong in
/// itself fails alone, as the inner result: in a bulk the others are done all the same, and in a
/// batch the response says which one was at fault.
pub(crate) fn read_operations(body: &[u8]) -> Result<Vec<Result<BatchOperation>>> {
    if MAX_BODY_BYTES < body.len() {
        return Err(Failure::too_large());
    }
    // The array and the object of the operation are around an item, and an item's values are two
    // levels deeper in a patch. `read_item` and `Patch` hold each of them to its own depth later.
    let depth = MAX_DEPTH + BATCH_DEPTH + PATCH_DEPTH;
    let value = match binary::is_binary(body) {
        true => binary::read_value(body, depth, MAX_BODY_BYTES)?,
        false => json::parse(body, depth)?,
    };
    let Value::Array(operations) = value else {
        return Err(Failure::bad_request("The body of a batch is an array of operations."));
    };
    // Both bounds are the service's, with its texts.
    if operations.is_empty() {
        return Err(Failure::bad_request("Batch request has no operations."));
    }
    if MAX_BATCH < operations.len() {
        return Err(Failure::bad_request(format!(
            "Batch request has more operations than what is supported. There are {}, and at most \
             {MAX_BATCH} are allowed.",
            operations.len()
        )));
    }
    Ok(operations.into_iter().map(read_operation).collect())
}

/// Reads one operation. Its type counts without regard to case.
fn read_operation(value: Value) -> Result<BatchOperation> {
    let Value::Document(mut fields) = value else {
        return Err(Failure::bad_request("An operation of a batch is not an object."));
    };
    let kind = take_text(&mut fields, "operationType")?.unwrap_or_default();
    let id = take_text(&mut fields, "id")?;
    let body = match fields.remove("resourceBody") {
        None | Some(Value::Null) => None,
        Some(body) => Some(body),
    };
    // The text names the type as the client wrote it.
    let missing = |what: &str| {
        Failure::bad_request(format!("The operation '{kind}' of a batch has no '{what}'."))
    };
    let named = || {
        let id = id.clone().ok_or_else(|| missing("id"))?;
        check_id(&id).map(|()| id)
    };
    let given = || body.clone().ok_or_else(|| missing("resourceBody"));
    let action = match kind.to_ascii_lowercase().as_str() {
        "create" => BatchAction::Create(read_item(given()?)?),
        "upsert" => BatchAction::Upsert(read_item(given()?)?),
        "replace" => BatchAction::Replace(named()?, read_item(given()?)?),
        "patch" => BatchAction::Patch(named()?, Patch::from_value(given()?)?),
        "read" => BatchAction::Read(named()?),
        "delete" => BatchAction::Delete(named()?),
        _ => {
            return Err(Failure::bad_request(format!(
                "There is no operation '{kind}' of a batch."
            )));
        }
    };
    Ok(BatchOperation {
        action,
        if_match: take_text(&mut fields, "ifMatch")?,
        if_none_match: take_text(&mut fields, "ifNoneMatch")?,
        partition_key: take_text(&mut fields, "partitionKey")?,
        minimal: matches!(fields.get("minimalReturnPreference"), Some(Value::Bool(true))),
    })
}

/// Reads the item of an operation. It was parsed together with what is around it, so its own depth
/// is still to be checked.
fn read_item(body: Value) -> Result<NewItem> {
    if !fits_depth(&body, MAX_DEPTH) {
        return Err(Failure::bad_request(format!(
            "The item is nested deeper than {MAX_DEPTH} levels."
        )));
    }
    match body {
        Value::Document(body) => NewItem::from_document(body),
        _ => Err(Failure::bad_request("The 'resourceBody' of an operation is no object.")),
    }
}

/// Whether a value has at most this many levels of objects and arrays. The recursion is bounded,
/// because what was parsed has only a few levels more.
fn fits_depth(value: &Value, levels: usize) -> bool {
    let below = levels.checked_sub(1);
    match (value, below) {
        (Value::Document(fields), Some(below)) => {
            fields.fields().iter().all(|(_, value)| fits_depth(value, below))
        }
        (Value::Array(values), Some(below)) => values.iter().all(|value| fits_depth(value, below)),
        (Value::Document(_) | Value::Array(_), None) => false,
        _ => true,
    }
}

/// Takes a property that is a text out of an operation; `null` is the same as none.
fn take_text(fields: &mut Document, name: &str) -> Result<Option<String>> {
    match fields.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Failure::bad_request(format!(
            "The '{name}' of an operation of a batch is no text."
        ))),
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
