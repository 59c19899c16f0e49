//! Rules for every edited document: its `_id`, size and depth; and bitwise identity of values,
//! which is stricter than equality, where `1` equals `1.0`.

use document::{
    DocBuf, Document, Invalid, MAX_DOCUMENT_BYTES, MAX_STORED_DEPTH, Value, ValueRef, shell,
    validate_depth,
};
use evaluation::{Error, Kind};

use super::{Operator, PathOperator};

/// Fails unless the `_id` is identical. Equality is not enough: `1.0` for `1` would change the
/// stored bytes under the same key.
pub(super) fn id_stays(old: Option<ValueRef<'_>>, new: &Document) -> Result<(), Error> {
    let same = match (old, new.get("_id")) {
        (Some(old), Some(new)) => is_identical(&old.to_value(), new),
        (None, None) => true,
        _ => false,
    };
    if same {
        return Ok(());
    }
    Err(id_would_change())
}

/// Returns the error of an operator that would change the `_id`.
pub(super) fn id_would_change() -> Error {
    let text = "Performing an update on the path '_id' would modify the immutable field '_id'";
    Error::new(Kind::Immutable, 66, text)
}

/// Returns the error of an edit after which the document would have another `_id`.
pub(super) fn id_altered(new: &Value) -> Error {
    let text = format!(
        "After applying the update, the (immutable) field '_id' was found to have been altered to \
         _id: {}",
        shell(new.as_ref())
    );
    Error::new(Kind::Immutable, 66, text)
}

/// Fails if the name of a root field starts with `$`, except for those of a database reference.
/// Called for replacements and for fields that operators create.
pub fn root_name(name: &str) -> Result<(), Error> {
    if !name.starts_with('$') || matches!(name, "$ref" | "$id" | "$db") {
        return Ok(());
    }
    let text = format!(
        "The dollar ($) prefixed field '{name}' in '{name}' is not allowed in the context of an \
         update's replacement document. Consider using an aggregation pipeline with $replaceWith."
    );
    Err(Error::new(Kind::Invalid, 52, text))
}

/// Fails if operators create root fields of an existing document whose names start with `$`, except
/// for those of a database reference. Inserted documents may have any names.
pub(super) fn check_names(leaves: &[PathOperator]) -> Result<(), Error> {
    // `$setOnInsert` is not checked, since it applies only to inserted documents.
    let creates = |leaf: &&PathOperator| {
        leaf.operator.creates_field() && !matches!(leaf.operator, Operator::SetOnInsert(_))
    };
    for leaf in leaves.iter().filter(creates) {
        root_name(leaf.path.root())?;
        // The `$ref` of a database reference is a string.
        if let Operator::Set(value) = &leaf.operator
            && leaf.path.as_str() == "$ref"
            && value.kind() != document::Kind::String
        {
            let kind = value.kind().name();
            let text = format!("The DBRef $ref field must be a String, not a {kind}");
            return Err(Error::new(Kind::Invalid, 55, text));
        }
    }
    Ok(())
}

/// Fails with 53 if an `_id` is an array, a regular expression or undefined.
pub fn id_type(id: ValueRef<'_>) -> Result<(), Error> {
    match id {
        ValueRef::Array(_) | ValueRef::Regex { .. } | ValueRef::Undefined => {
            let text = format!("The '_id' value cannot be of type {}", id.kind().name());
            Err(Error::new(Kind::Invalid, 53, text))
        }
        _ => Ok(()),
    }
}

/// Fails with 54 if a replacement or a pipeline inserts a document whose `_id` is an array. For
/// operators [`id_type`] checks that.
pub(super) fn new_id_is_no_array(id: Option<ValueRef<'_>>) -> Result<(), Error> {
    if !matches!(id, Some(ValueRef::Array(_))) {
        return Ok(());
    }
    let text = "After applying the update to the document, the (immutable) field '_id' was found to \
                be an array or array descendant.";
    Err(Error::new(Kind::Invalid, 54, text))
}

/// Fails if an `_id` that is a document has a top-level field whose name starts with `$`.
pub(super) fn id_storable(id: &Value) -> Result<(), Error> {
    let Value::Document(fields) = id else { return Ok(()) };
    match fields.fields().iter().find(|(name, _)| name.starts_with('$')) {
        None => Ok(()),
        Some((name, _)) => {
            let text = format!(
                "_id fields may not contain '$'-prefixed fields: {name} is not valid for storage."
            );
            Err(Error::new(Kind::Invalid, 52, text))
        }
    }
}

/// Returns the error of a document that is nested too deeply to be stored.
pub(super) fn too_deep() -> Error {
    let depth = MAX_STORED_DEPTH;
    Error::new(Kind::TooLarge, 15, format!("Document exceeds maximum nesting depth of {depth}"))
}

/// Fails if the document is too large or nested too deeply to be stored. Checks the finished bytes,
/// so that operators need not anticipate the total.
pub(super) fn check_storable(document: &DocBuf) -> Result<(), Error> {
    if document.bytes().len() > MAX_DOCUMENT_BYTES {
        let text = format!("Resulting document after update is larger than {MAX_DOCUMENT_BYTES}");
        return Err(Error::new(Kind::TooLarge, 17419, text));
    }
    match validate_depth(document.bytes(), MAX_STORED_DEPTH) {
        Ok(()) => Ok(()),
        Err(Invalid::Depth(_)) => Err(too_deep()),
        Err(other) => Err(Error::new(Kind::Invalid, 22, other.to_string())),
    }
}

/// Returns whether two values have the same type and bytes. An edit that changes only a type (`1`
/// to `1.0`) is a change and is written. NaN is identical to a NaN with the same bits; `0.0` and
/// `-0.0` differ.
pub fn is_identical(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Double(a), Value::Double(b)) => a.to_bits() == b.to_bits(),
        (Value::Decimal128(a), Value::Decimal128(b)) => a.to_le_bytes() == b.to_le_bytes(),
        (Value::Document(a), Value::Document(b)) => same_fields(a, b),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_identical(a, b))
        }
        (
            Value::JavaScriptWithScope { code: a, scope: s },
            Value::JavaScriptWithScope { code: b, scope: t },
        ) => a == b && same_fields(s, t),
        // In all other types, equal values of one type have one representation.
        (a, b) => a.kind() == b.kind() && a == b,
    }
}

/// Returns whether two documents have identical fields in the same order.
fn same_fields(a: &Document, b: &Document) -> bool {
    a.len() == b.len()
        && a.fields().iter().zip(b.fields()).all(|((m, a), (n, b))| m == n && is_identical(a, b))
}
