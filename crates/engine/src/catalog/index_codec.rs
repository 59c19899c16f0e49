//! Encodes indexes within a stored record. As with records, field names are part of the format and
//! never change.

use std::sync::Arc;

use collation::Collation;
use document::{Document, Value, array, doc};
use full_text::{Language, TextIndex};
use geometry::{GeoIndex, Plane, Space};

use super::{
    IndexReason, IndexShape, IndexSpec, IndexedPath, Policy, WildcardPaths,
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
        IndexShape::Hashed(path) => tree.push("hashed", path.as_str()),
        IndexShape::Wildcard(paths) => tree.push("wildcard", encode_wildcard(paths)),
        IndexShape::Text(text) => tree.push("text", encode_text(text)),
        IndexShape::Geo(geo) => tree.push("geo", encode_geo(geo)),
    }
    // The field is omitted if false, so that earlier versions can read such records.
    if index.by_creation {
        tree.push("by_birth", true);
    }
    if let Some(collation) = &index.collation {
        tree.push("collation", collation.to_document());
    }
    Value::Document(tree)
}

/// Encodes the paths of a wildcard index.
fn encode_wildcard(wildcard: &WildcardPaths) -> Document {
    let paths = wildcard.paths.iter().map(|path| Value::String(path.clone()));
    doc! {
        "included": wildcard.included,
        "paths": Value::Array(paths.collect()),
        "with_id": wildcard.with_id,
    }
}

fn decode_wildcard(value: Value) -> Result<WildcardPaths, Error> {
    let mut fields = RecordFields::of_document(value, "wildcard")?;
    let path = |value: Value| match value {
        Value::String(path) => Ok(path),
        _ => Err(missing_field("paths")),
    };
    let wildcard = WildcardPaths {
        included: fields.take_bool("included")?,
        paths: fields.take_list("paths")?.into_iter().map(path).collect::<Result<_, _>>()?,
        with_id: fields.take_bool("with_id")?,
    };
    fields.check_none_left()?;
    Ok(wildcard)
}

/// Encodes the rules of a text index.
fn encode_text(text: &TextIndex) -> Document {
    let weight = |(path, weight): &(String, u32)| array![path.as_str(), i64::from(*weight)];
    doc! {
        "weights": Value::Array(text.weights.iter().map(weight).collect()),
        "default_language": text.default_language.name(),
        "language_override": text.language_override.as_str(),
    }
}

fn decode_text(value: Value) -> Result<TextIndex, Error> {
    let mut fields = RecordFields::of_document(value, "text")?;
    let weight = |value: Value| {
        let Value::Array(parts) = value else { return Err(missing_field("weights")) };
        match parts.as_slice() {
            [Value::String(path), Value::Int64(weight)] => {
                let weight = u32::try_from(*weight).map_err(|_| missing_field("weights"))?;
                Ok((path.clone(), weight))
            }
            _ => Err(missing_field("weights")),
        }
    };
    let text = TextIndex {
        weights: fields.take_list("weights")?.into_iter().map(weight).collect::<Result<_, _>>()?,
        default_language: Language::named(&fields.take_text("default_language")?)
            .ok_or_else(|| missing_field("default_language"))?,
        language_override: fields.take_text("language_override")?,
    };
    fields.check_none_left()?;
    Ok(text)
}

/// Encodes the rules of an index of geometries.
fn encode_geo(geo: &GeoIndex) -> Document {
    let paths = geo.paths.iter().map(|path| Value::String(path.clone()));
    let plane = match &geo.space {
        Space::Sphere => Value::Null,
        Space::Plane(plane) => {
            Value::Array(vec![i64::from(plane.bits).into(), plane.min.into(), plane.max.into()])
        }
    };
    doc! { "paths": Value::Array(paths.collect()), "plane": plane }
}

fn decode_geo(value: Value) -> Result<GeoIndex, Error> {
    let mut fields = RecordFields::of_document(value, "geo")?;
    let path = |value: Value| match value {
        Value::String(path) => Ok(path),
        _ => Err(missing_field("paths")),
    };
    let geo = GeoIndex {
        paths: fields.take_list("paths")?.into_iter().map(path).collect::<Result<_, _>>()?,
        space: match fields.take_value("plane")? {
            Value::Null => Space::Sphere,
            Value::Array(parts) => match parts.as_slice() {
                [Value::Int64(bits), Value::Double(min), Value::Double(max)] => {
                    let bits = i32::try_from(*bits).map_err(|_| missing_field("plane"))?;
                    Space::Plane(Plane { bits, min: *min, max: *max })
                }
                _ => return Err(missing_field("plane")),
            },
            _ => return Err(missing_field("plane")),
        },
    };
    fields.check_none_left()?;
    Ok(geo)
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
        collation: match fields.take_optional("collation") {
            None => None,
            Some(Value::Document(options)) => {
                let collation = Collation::of_document(&options);
                Some(Arc::new(collation.ok_or_else(|| missing_field("collation"))?))
            }
            Some(_) => return Err(missing_field("collation")),
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
    if let Some(wildcard) = fields.take_optional("wildcard") {
        return decode_wildcard(wildcard).map(IndexShape::Wildcard);
    }
    if let Some(text) = fields.take_optional("text") {
        return decode_text(text).map(IndexShape::Text);
    }
    if let Some(geo) = fields.take_optional("geo") {
        return decode_geo(geo).map(IndexShape::Geo);
    }
    match fields.take_optional("hashed") {
        None => {}
        Some(Value::String(path)) => return Ok(IndexShape::Hashed(path)),
        Some(_) => return Err(missing_field("hashed")),
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
