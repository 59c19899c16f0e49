//! Checks and completes a client's document before it is stored: its `_id`, its own `ttl`, and the
//! reserved property. The engine also uses it for the documents that upserts and pipelines produce.

use clock::Instant;
use document::{DocBuf, DocRef, ObjectId, ValueRef};
use engine::Lifetime;

use crate::{
    errors::{BadValue, Error, Result},
    reserved_property::{RESERVED, reserved_error},
    timestamps,
};

/// The result of checking a document's root fields. They are scanned once, since further scans are
/// measurable for large batches of small documents.
pub(crate) struct CheckedDocument {
    /// The document's own expiry from its field `ttl`, or `Inherit` if the collection's default
    /// applies.
    pub(crate) lifetime: Lifetime,
    /// Whether the document has an empty timestamp that must be filled in.
    pub(crate) has_empty_timestamp: bool,
}

/// Checks and completes documents for one operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DocumentWriter {
    /// Database time, for generated ids.
    pub(crate) now: Instant,
    /// Whether a document's own `ttl` is interpreted.
    pub(crate) per_document: bool,
    /// Whether documents are written without being checked against the collection's validator.
    pub(crate) bypasses_validation: bool,
}

impl DocumentWriter {
    /// Checks a document that is to be stored. Fails with 2 if it sets the reserved property or has
    /// two fields `_id`, and with 53 or 52 if its `_id` is invalid. Of several fields `ttl` the
    /// first one counts.
    pub(crate) fn check_document(&self, document: DocRef<'_>) -> Result<CheckedDocument> {
        let (mut ttl, mut has_empty_timestamp, mut has_id) = (None, false, false);
        for (name, value) in document.iter() {
            match name {
                RESERVED => return Err(reserved_error()),
                "ttl" if ttl.is_none() => ttl = Some(value),
                // Of two `_id` fields only one could be the key, and readers would not agree on
                // which.
                "_id" if std::mem::replace(&mut has_id, true) => {
                    let message = "can't have multiple _id fields in one document";
                    return Err(Error::new(BadValue, message));
                }
                "_id" => check_id(value)?,
                _ => {}
            }
            has_empty_timestamp |= timestamps::is_present(name, value);
        }
        let lifetime = if self.per_document { Lifetime::from_ttl(ttl) } else { Lifetime::Inherit };
        Ok(CheckedDocument { lifetime, has_empty_timestamp })
    }
}

/// Checks an `_id`: no array, pattern or undefined (53), and no field name with a leading dollar at
/// any depth (52), as mongod does. A document reference (`$ref`, `$id`, `$db`) is allowed.
fn check_id(id: ValueRef<'_>) -> Result<()> {
    pipeline::edit::check_id_type(id)?;
    match id {
        ValueRef::Document(inner) => {
            let reference = |name: &str| matches!(name, "$ref" | "$id" | "$db");
            inner.iter().try_for_each(|(name, value)| {
                if reference(name) { Ok(()) } else { refuse_dollar(name) }?;
                refuse_dollars(value)
            })
        }
        _ => Ok(()),
    }
}

/// Fails with 52 on a field name with a leading dollar, at any depth.
fn refuse_dollars(value: ValueRef<'_>) -> Result<()> {
    match value {
        ValueRef::Document(inner) => inner.iter().try_for_each(|(name, value)| {
            refuse_dollar(name)?;
            refuse_dollars(value)
        }),
        ValueRef::Array(inner) => inner.iter().try_for_each(refuse_dollars),
        _ => Ok(()),
    }
}

/// Fails with 52 on a name with a leading dollar.
fn refuse_dollar(name: &str) -> Result<()> {
    if !name.starts_with('$') {
        return Ok(());
    }
    Err(Error::new(
        crate::errors::DollarPrefixedFieldName,
        format!("_id fields may not contain '$'-prefixed fields: {name} is not valid for storage."),
    ))
}

/// Returns a new ObjectId with the current second of the database clock, which may be set manually.
/// The random part is drawn once per process and the counter always advances, so ids within one
/// second differ.
pub(crate) fn new_id(now: Instant) -> ObjectId {
    use std::sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    };
    static RANDOM: OnceLock<[u8; 5]> = OnceLock::new();
    static COUNTER: OnceLock<AtomicU32> = OnceLock::new();
    let random = *RANDOM.get_or_init(|| std::array::from_fn(|_| fastrand::u8(..)));
    let counter = COUNTER.get_or_init(|| AtomicU32::new(fastrand::u32(..)));
    let seconds = u32::try_from(now.seconds().rem_euclid(1 << 32)).unwrap_or(0);
    ObjectId::from_parts(seconds, random, counter.fetch_add(1, Ordering::Relaxed) & 0x00ff_ffff)
}

/// Returns the document with `_id` first, generated if missing. mongod stores `_id` first, too, and
/// clients see that order.
pub(crate) fn with_id(document: DocRef<'_>, now: Instant) -> DocBuf {
    let mut builder = document::DocBuilder::new();
    match document.get("_id") {
        Some(id) => builder.append("_id", id),
        None => builder.append("_id", ValueRef::ObjectId(new_id(now))),
    }
    for (name, value) in document.iter().filter(|(name, _)| *name != "_id") {
        builder.append(name, value);
    }
    builder.finish()
}

impl engine::Writer for DocumentWriter {
    fn lifetime_of(&self, document: &DocBuf) -> std::result::Result<Lifetime, engine::Error> {
        self.check_document(document.as_ref()).map(|checked| checked.lifetime).map_err(|error| {
            let inner = evaluation::Error::new(
                evaluation::Kind::Invalid,
                error.code,
                error.message.clone(),
            );
            engine::Error::new(engine::Kind::Query(inner), error.message)
        })
    }

    fn checks_rule(&self) -> bool {
        !self.bypasses_validation
    }

    fn with_id(&self, document: DocBuf) -> DocBuf {
        if document.get("_id").is_some() { document } else { with_id(document.as_ref(), self.now) }
    }
}

#[cfg(test)]
mod tests {
    use document::{Value, array, doc};

    use super::*;

    #[test]
    fn an_id_has_no_names_with_dollars() {
        for (id, code) in [
            (Value::Document(doc! { "a": 1 }), 0),
            (doc! { "$ref": "a", "$id": 1 }.into(), 0),
            (doc! { "$a": 1 }.into(), 52),
            (doc! { "a": doc! { "$b": 1 } }.into(), 52),
            (doc! { "a": array![doc! { "$b": 1 }] }.into(), 52),
            (doc! { "a": doc! { "$id": 1 } }.into(), 52),
            (array![1], 53),
        ] {
            let got = check_id(id.as_ref()).map_or_else(|error| error.code, |()| 0);
            assert_eq!(got, code, "{id:?}");
        }
    }
}
