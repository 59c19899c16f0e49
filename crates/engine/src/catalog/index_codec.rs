//! Encodes indexes within a stored record. As with records, field names are part of the format and
//! never change.

use document::{Document, Value, array, doc};

use super::{
    IndexReason, IndexShape, IndexSpec, IndexedPath, Policy,
    fields::{RecordFields, missing_field},
    policy::{steps_of, steps_to_array},
};
use crate::error::Error;

/// Encodes an index; the encoding of an index over dotted paths has no shape field.
pub(super) fn encode_index(index: &IndexSpec) -> Value {
    let part = |(path, descending): &(String, bool)| array![path.as_str(), *descending];
    let mut tree = doc! {
        "id": i64::from(index.id),
        "name": index.name.as_str(),
        "key": Value::Array(index.key.iter().map(part).collect()),
        "unique": index.unique,
        "sparse": index.sparse,
        "partial": index.partial.clone().map_or(Value::Null, Value::Document),
        "hidden": index.hidden,
        "expire_after": index.expire_after.map_or(Value::Null, Value::Int64),
        "system_ttl": index.system_ttl,
        "multikey": index.multikey,
        "ready": index.ready,
        "shown": index.shown.clone(),
    };
    match &index.shape {
        IndexShape::Fields => {}
        IndexShape::Wild(policy) => tree.push("wild", policy.to_array()),
        IndexShape::Allowed(policy) => tree.push("allowed", policy.to_array()),
        IndexShape::Path(kept) => tree.push("path", encode_indexed_path(kept)),
        IndexShape::Tuple { scoped } => tree.push("tuple", *scoped),
        IndexShape::Timeline => tree.push("timeline", true),
        IndexShape::InsertionOrder => tree.push("insertion_order", true),
    }
    // The field is omitted if false, so that earlier versions can read such records.
    if index.by_creation {
        tree.push("by_birth", true);
    }
    Value::Document(tree)
}

/// Encodes an indexed path of items, with the reason why it is indexed.
fn encode_indexed_path(kept: &IndexedPath) -> Document {
    let why = match kept.why {
        IndexReason::Query => 0_i64,
        IndexReason::Name => 1,
    };
    doc! {
        "steps": steps_to_array(&kept.steps),
        "why": why,
        "since_s": kept.since_s,
        "used_s": kept.used_s,
    }
}

pub(super) fn decode_index(value: Value) -> Result<IndexSpec, Error> {
    let mut fields = RecordFields::of_document(value, "indexes")?;
    let part = |value: Value| match value {
        Value::Array(parts) => match parts.as_slice() {
            [Value::String(path), Value::Bool(descending)] => Ok((path.clone(), *descending)),
            _ => Err(missing_field("key")),
        },
        _ => Err(missing_field("key")),
    };
    let index = IndexSpec {
        id: fields.take_id("id")?,
        name: fields.take_text("name")?,
        key: fields.take_list("key")?.into_iter().map(part).collect::<Result<_, _>>()?,
        unique: fields.take_bool("unique")?,
        sparse: fields.take_bool("sparse")?,
        partial: match fields.take_value("partial")? {
            Value::Null => None,
            Value::Document(filter) => Some(filter),
            _ => return Err(missing_field("partial")),
        },
        hidden: fields.take_bool("hidden")?,
        expire_after: fields.take_optional_int("expire_after")?,
        system_ttl: fields.take_bool("system_ttl")?,
        multikey: fields.take_bool("multikey")?,
        ready: fields.take_bool("ready")?,
        shown: fields.take_document("shown")?,
        shape: decode_shape(&mut fields)?,
        by_creation: match fields.take_optional("by_birth") {
            None => false,
            Some(Value::Bool(by_creation)) => by_creation,
            Some(_) => return Err(missing_field("by_birth")),
        },
    };
    fields.check_none_left()?;
    Ok(index)
}

/// Decodes the shape of an index, given by at most one field. Only older records have the field
/// `wild`, for an index of all paths of a policy.
fn decode_shape(fields: &mut RecordFields) -> Result<IndexShape, Error> {
    if let Some(policy) = fields.take_optional("allowed") {
        return Policy::from_array(policy)
            .map(IndexShape::Allowed)
            .ok_or_else(|| missing_field("allowed"));
    }
    if let Some(kept) = fields.take_optional("path") {
        return decode_indexed_path(kept).map(IndexShape::Path);
    }
    if let Some(policy) = fields.take_optional("wild") {
        return Policy::from_array(policy)
            .map(IndexShape::Wild)
            .ok_or_else(|| missing_field("wild"));
    }
    match fields.take_optional("insertion_order") {
        None => {}
        Some(Value::Bool(true)) => return Ok(IndexShape::InsertionOrder),
        Some(_) => return Err(missing_field("insertion_order")),
    }
    match (fields.take_optional("tuple"), fields.take_optional("timeline")) {
        (None, None) => Ok(IndexShape::Fields),
        (Some(Value::Bool(scoped)), None) => Ok(IndexShape::Tuple { scoped }),
        (None, Some(Value::Bool(true))) => Ok(IndexShape::Timeline),
        _ => Err(missing_field("tuple")),
    }
}

fn decode_indexed_path(value: Value) -> Result<IndexedPath, Error> {
    let mut fields = RecordFields::of_document(value, "path")?;
    let kept = IndexedPath {
        steps: steps_of(fields.take_value("steps")?).ok_or_else(|| missing_field("steps"))?,
        why: match fields.take_int("why")? {
            0 => IndexReason::Query,
            1 => IndexReason::Name,
            _ => return Err(missing_field("why")),
        },
        since_s: fields.take_int("since_s")?,
        used_s: fields.take_int("used_s")?,
    };
    fields.check_none_left()?;
    Ok(kept)
}
