//! What a container is, as clients define it: read from a request, checked, and kept as it will be
//! shown. The items in it are not its business.
//!
//! A definition is completed before it is kept: what a client leaves out gets the value that the
//! service would show, so that a client reads the same from both. What this server does not have is
//! refused by name and never ignored in silence, except for policies that change no result.

mod default_ttl;
mod encryption;
mod full_texts;
mod indexing;
mod paths;
mod policies;
mod unique;
mod vectors;

use document::{Document, Value};
use engine::Partition;

use crate::{
    failure::{Failure, Result},
    limits::BEGUN_RETENTION_S,
    names,
    partition_key::{HashKind, KeyPath, PartitionKeyDefinition},
};

pub(crate) use default_ttl::write_default as write_ttl;
pub(crate) use encryption::encryption_keys;
pub(crate) use indexing::{composite_paths, is_lazy};
pub(crate) use policies::{keeps_images, refuses_versions};

/// Properties that the server sets, whatever a client sends in them. SDKs send back what they have
/// read.
const SYSTEM: [&str; 9] =
    ["_rid", "_self", "_etag", "_ts", "_docs", "_sprocs", "_triggers", "_udfs", "_conflicts"];

/// A definition of a container that may be put into force.
#[derive(Clone, Debug)]
pub(crate) struct ContainerDefinition {
    /// The name of the container.
    pub(crate) id: String,
    /// The paths of its partition key.
    key_paths: Vec<KeyPath>,
    /// The same for the engine: TTL, partition key, indexes, and the JSON that is shown.
    engine: engine::ContainerDefinition,
}

impl ContainerDefinition {
    /// Reads the body of a request. The order matters in two places: the default TTL is taken out
    /// first, because `indexingMode` `none` is refused together with it, and the policies come
    /// last, because they drop what nobody knows.
    pub(crate) fn parse(mut body: Document) -> Result<Self> {
        // What clients from before there were partition keys leave out.
        if matches!(body.get("partitionKey"), None | Some(Value::Null)) {
            body.insert("partitionKey", PartitionKeyDefinition::system_document());
        }
        let new = Self::parse_kept(body)?;
        vectors::check_vectors(new.options())?;
        full_texts::check_full_texts(new.options())?;
        encryption::check_encryption(new.options(), &new.key_paths)?;
        Ok(new)
    }

    /// The same for what may have been kept by a version that did not check policies of vectors and of
    /// full texts.
    fn parse_kept(mut body: Document) -> Result<Self> {
        for name in SYSTEM {
            body.remove(name);
        }
        let id = names::check_name(body.get("id"))?;
        let default = default_ttl::take_default(&mut body)?;
        let key = match body.get_mut("partitionKey") {
            None | Some(Value::Null) => {
                body.remove("partitionKey");
                PartitionKeyDefinition::without_paths()
            }
            Some(Value::Document(key)) => {
                let parsed = PartitionKeyDefinition::parse(key)?;
                if key.get("kind").is_none() {
                    let kind =
                        if parsed.kind() == HashKind::MultiHash { "MultiHash" } else { "Hash" };
                    key.push("kind", kind);
                }
                parsed
            }
            Some(_) => {
                return Err(Failure::bad_request("The property 'partitionKey' is not an object."));
            }
        };
        let mut indexes = indexing::complete_policy(&mut body, default)?;
        indexes.extend(unique::read_unique_keys(&body)?);
        let retention_s = policies::check_policies(&mut body)?;
        let partition = Partition {
            hash_bytes: hash_bytes(&key),
            values: u8::try_from(key.paths().len()).unwrap_or(u8::MAX),
        };
        let engine =
            engine::ContainerDefinition { default, partition, indexes, retention_s, options: body };
        Ok(Self { id, key_paths: key.paths().to_vec(), engine })
    }

    /// The same for a container that is there; `held` is its definition now. What can only be said
    /// at its creation has to be as it was, because the rows are laid out by it: the partition key,
    /// the id and the unique keys.
    pub(crate) fn parse_replacement(mut body: Document, held: &Document) -> Result<Self> {
        if !same_key(body.get("partitionKey"), held.get("partitionKey")) {
            return Err(Failure::bad_request(
                "Document collection partition key cannot be changed. Make a new container with \
                 the partition key that is wanted.",
            ));
        }
        body.remove("partitionKey");
        if let Some(key) = held.get("partitionKey") {
            body.insert("partitionKey", key.clone());
        }
        vectors::check_replacement(&body, held)?;
        encryption::check_replacement(&body, held)?;
        let same_vectors = vectors::same_vectors(&body, held);
        let same_texts = full_texts::same_full_texts(&body, held);
        let new = Self::parse_kept(body)?;
        if !same_vectors {
            vectors::check_vectors(new.options())?;
        }
        if !same_texts {
            full_texts::check_full_texts(new.options())?;
        }
        if new.options().get("id") != held.get("id") {
            return Err(Failure::bad_request("The id of a container cannot be changed."));
        }
        let (unique, before) = (new.options().get("uniqueKeyPolicy"), held.get("uniqueKeyPolicy"));
        if unique != before && !(says_nothing(unique) && says_nothing(before)) {
            return Err(Failure::bad_request("The unique keys of a container cannot be changed."));
        }
        Ok(new)
    }

    /// Keeps a feed of all versions that began because somebody read it, unless the new definition says for
    /// how long versions are kept, or the held one said so.
    pub(crate) fn keep_begun_feed(&mut self, held: &Document) {
        if !policies::says_retention(held) && !policies::says_retention(self.options()) {
            self.engine.retention_s = Some(BEGUN_RETENTION_S);
        }
    }

    /// What the engine keeps.
    pub(crate) fn engine_definition(&self) -> &engine::ContainerDefinition {
        &self.engine
    }

    /// What is shown, without what the server sets.
    pub(crate) fn options(&self) -> &Document {
        &self.engine.options
    }
}

/// How many bytes of effective partition keys row keys begin with. Those of the first version have
/// no fixed length, so their beginning stands for them; those of a hierarchical key are one hash
/// for each path.
pub(crate) fn hash_bytes(key: &PartitionKeyDefinition) -> u8 {
    match key.kind() {
        _ if key.paths().is_empty() => 0,
        HashKind::HashV1 | HashKind::HashV2 => 16,
        HashKind::MultiHash => u8::try_from(16 * key.paths().len()).unwrap_or(u8::MAX),
    }
}

/// Whether a partition key is the one there is. Clients leave out kind and version, which are then
/// what they were; the value that counts when the container has none either is that of its
/// creation.
fn same_key(new: Option<&Value>, held: Option<&Value>) -> bool {
    if PartitionKeyDefinition::says_none(held) {
        return PartitionKeyDefinition::says_none(new);
    }
    let (Some(Value::Document(new)), Some(Value::Document(held))) = (new, held) else {
        return false;
    };
    let agrees = |name: &str, implied: Value| {
        let held = held.get(name).cloned().unwrap_or(implied);
        new.get(name).is_none_or(|new| *new == held)
    };
    new.get("paths") == held.get("paths")
        && agrees("kind", Value::String("Hash".to_owned()))
        && agrees("version", Value::Int64(1))
}

/// Whether there is no policy, or one that says nothing: empty lists only.
fn says_nothing(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(Value::Document(fields)) => fields.fields().iter().all(|(_, value)| match value {
            Value::Array(values) => values.is_empty(),
            _ => false,
        }),
        Some(_) => false,
    }
}

#[cfg(test)]
mod tests;
