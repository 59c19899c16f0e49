//! What every edited document has to keep to: its `_id`, a size and a depth.

use document::{DocBuf, Document, Invalid, Value, ValueRef, limits, shell, validate_depth};
use evaluation::{Error, Kind, limits::MAX_DOCUMENT_BYTES};

use super::{Operator, PathOperator, is_identical};

/// The `_id` is the same, bit by bit.
/// Equal is not enough: `1` to `1.0` would change the stored bytes under the same key.
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

/// The error for an operator on the `_id`.
pub(super) fn id_would_change() -> Error {
    let text = "Performing an update on the path '_id' would modify the immutable field '_id'";
    Error::new(Kind::Immutable, 66, text)
}

/// The error for a document that came out with another `_id`.
pub(super) fn id_altered(new: &Value) -> Error {
    let text = format!(
        "After applying the update, the (immutable) field '_id' was found to have been altered to \
         _id: {}",
        shell(new.as_ref())
    );
    Error::new(Kind::Immutable, 66, text)
}

/// Names at the root of a stored document do not begin with `$`, but for those of a reference.
/// It is called for replacements and for what operators put at the root.
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

/// Checks what operators put into a document that is there: names at its root do not begin with
/// `$`, but for those of a reference. A document that they make may have any names.
pub(super) fn check_names(leaves: &[PathOperator]) -> Result<(), Error> {
    // `$setOnInsert` works only on a document that is made, which may have any names.
    let creates = |leaf: &&PathOperator| {
        leaf.operator.creates_field() && !matches!(leaf.operator, Operator::SetOnInsert(_))
    };
    for leaf in leaves.iter().filter(creates) {
        root_name(leaf.path.root())?;
        // The `$ref` of a database reference is text.
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

/// Checks the type of an `_id`: an array, a pattern and undefined cannot be one (53).
pub fn id_type(id: ValueRef<'_>) -> Result<(), Error> {
    match id {
        ValueRef::Array(_) | ValueRef::Regex { .. } | ValueRef::Undefined => {
            let text = format!("The '_id' value cannot be of type {}", id.kind().name());
            Err(Error::new(Kind::Invalid, 53, text))
        }
        _ => Ok(()),
    }
}

/// Fails with 54 where a replacement or a pipeline would make a new document whose `_id` is an
/// array. Operators that do so are left to [`id_type`].
pub(super) fn new_id_is_no_array(id: Option<ValueRef<'_>>) -> Result<(), Error> {
    if !matches!(id, Some(ValueRef::Array(_))) {
        return Ok(());
    }
    let text = "After applying the update to the document, the (immutable) field '_id' was found to \
                be an array or array descendant.";
    Err(Error::new(Kind::Invalid, 54, text))
}

/// An `_id` holds no name at its top that begins with `$`.
/// Deeper names are free. An `_id` that is no document has no names.
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

/// The error of a document that is nested too deeply to be stored.
pub(super) fn too_deep() -> Error {
    let depth = limits::MAX_STORED_DEPTH;
    Error::new(Kind::TooLarge, 15, format!("Document exceeds maximum nesting depth of {depth}"))
}

/// Fails when the document is too large or nested too deeply to be stored.
/// It looks at the finished bytes, so that no operator has to foresee what it adds up to.
pub(super) fn check_storable(document: &DocBuf) -> Result<(), Error> {
    if document.bytes().len() > MAX_DOCUMENT_BYTES {
        let text = format!("Resulting document after update is larger than {MAX_DOCUMENT_BYTES}");
        return Err(Error::new(Kind::TooLarge, 17419, text));
    }
    match validate_depth(document.bytes(), limits::MAX_STORED_DEPTH) {
        Ok(()) => Ok(()),
        Err(Invalid::Depth(_)) => Err(too_deep()),
        Err(other) => Err(Error::new(Kind::Invalid, 22, other.to_string())),
    }
}
