//! Container definitions: parsed from a request, validated, and stored in the form that responses
//! have.
//!
//! A definition is completed before it is stored: omitted properties get the same defaults as in
//! Azure Cosmos DB's responses, so that clients read the same definition from both servers. A
//! feature that this server does not have is refused with an error that names it, unless it does
//! not affect results.

mod default_ttl;
mod encryption;
mod full_texts;
mod indexing;
mod paths;
mod policies;
mod spatial;
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
pub(crate) use indexing::{composite_paths, composites, is_lazy};
pub(crate) use policies::{keeps_images, refuses_versions};
pub(crate) use spatial::surface_of;

/// Properties that the server sets and ignores in requests, since SDKs send definitions back as
/// they read them.
const SYSTEM: [&str; 9] =
    ["_rid", "_self", "_etag", "_ts", "_docs", "_sprocs", "_triggers", "_udfs", "_conflicts"];

#[derive(Clone, Debug)]
pub(crate) struct ContainerDefinition {
    pub(crate) id: String,
    /// Paths of the container's partition key.
    key_paths: Vec<KeyPath>,
    /// The engine's form of the definition: TTL, partition key, indexes, and the JSON for
    /// responses.
    engine: engine::ContainerDefinition,
}

impl ContainerDefinition {
    /// Parses a request body. The order of the steps matters. The default TTL is extracted first,
    /// because `indexingMode` `none` is refused for a container with a default TTL. The policies
    /// are checked last, because that step drops unknown properties.
    pub(crate) fn parse(mut body: Document) -> Result<Self> {
        // Clients that predate partition keys omit the property.
        if matches!(body.get("partitionKey"), None | Some(Value::Null)) {
            body.insert("partitionKey", PartitionKeyDefinition::system_document());
        }
        let new = Self::parse_kept(body)?;
        vectors::check_vectors(new.options())?;
        full_texts::check_languages(new.options())?;
        full_texts::check_full_texts(new.options())?;
        encryption::check_encryption(new.options(), &new.key_paths)?;
        Ok(new)
    }

    /// Parses a definition without validating its vector and full-text policies, which earlier
    /// versions of the server stored unvalidated.
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

    /// Parses the replacement of a container's definition `held`. Properties that determine the
    /// layout of rows must not change: the partition key, the id and the unique keys.
    pub(crate) fn parse_replacement(mut body: Document, held: &Document) -> Result<Self> {
        if !same_key(body.get("partitionKey"), held.get("partitionKey")) {
            return Err(Failure::bad_request(
                "Document collection partition key cannot be changed. Create a new container with \
                 the new partition key.",
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
        if new.options().get("fullTextPolicy") != held.get("fullTextPolicy") {
            full_texts::check_languages(new.options())?;
        }
        if !same_texts {
            full_texts::check_full_texts(new.options())?;
        }
        if new.options().get("id") != held.get("id") {
            return Err(Failure::bad_request("The id of a container cannot be changed."));
        }
        let (unique, before) = (new.options().get("uniqueKeyPolicy"), held.get("uniqueKeyPolicy"));
        if unique != before && !(is_empty_policy(unique) && is_empty_policy(before)) {
            return Err(Failure::bad_request("The unique keys of a container cannot be changed."));
        }
        Ok(new)
    }

    /// Keeps the retention of an all-versions change feed that its first read started implicitly,
    /// when the container is replaced and neither the new definition nor the current one (`held`)
    /// specifies a retention.
    pub(crate) fn keep_begun_feed(&mut self, held: &Document) {
        if !policies::has_retention(held) && !policies::has_retention(self.options()) {
            self.engine.retention_s = Some(BEGUN_RETENTION_S);
        }
    }

    /// Returns the definition for the engine.
    pub(crate) fn engine_definition(&self) -> &engine::ContainerDefinition {
        &self.engine
    }

    /// Returns the definition as JSON for responses, without the properties that the server sets.
    pub(crate) fn options(&self) -> &Document {
        &self.engine.options
    }
}

/// Returns the number of bytes at the start of a row key that hold the effective partition key.
/// Version 1 keys have no fixed length and are truncated; hierarchical keys have one hash per path.
pub(crate) fn hash_bytes(key: &PartitionKeyDefinition) -> u8 {
    match key.kind() {
        _ if key.paths().is_empty() => 0,
        HashKind::HashV1 | HashKind::HashV2 => 16,
        HashKind::MultiHash => u8::try_from(16 * key.paths().len()).unwrap_or(u8::MAX),
    }
}

/// Returns whether a partition key equals the current one. An omitted kind or version means the
/// current one; if the current definition omits it, too, kind `Hash` and version 1 are assumed.
fn same_key(new: Option<&Value>, held: Option<&Value>) -> bool {
    if PartitionKeyDefinition::means_no_key(held) {
        return PartitionKeyDefinition::means_no_key(new);
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

/// Returns whether a policy is absent or contains only empty arrays.
fn is_empty_policy(value: Option<&Value>) -> bool {
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
