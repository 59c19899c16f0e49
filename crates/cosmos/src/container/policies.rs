//! The smaller policies of a container. A policy for a feature that this server does not have is
//! stored and returned with the definition if it would not change stored items or results.
//! Otherwise it is refused with an error that names it.

use document::{Document, Number, Value, doc};

use super::spatial;
use crate::{
    failure::{Failure, Result},
    limits::MAX_RETENTION_MINUTES,
};

/// Properties that are stored unchanged, in the order in which responses contain them.
const KEPT: [&str; 12] = [
    "id",
    "partitionKey",
    "indexingPolicy",
    "uniqueKeyPolicy",
    "conflictResolutionPolicy",
    "changeFeedPolicy",
    "geospatialConfig",
    "computedProperties",
    "vectorEmbeddingPolicy",
    "fullTextPolicy",
    "clientEncryptionPolicy",
    "analyticalStorageTtl",
];
/// Properties for features of Azure Cosmos DB that would change results, and that this server does
/// not have.
const REFUSED: [&str; 2] = ["materializedViewDefinition", "encryptionScopeId"];
/// Policies of features that this server does not have, each with its array of paths. They are
/// validated, stored and returned, so that definitions for Azure Cosmos DB are accepted; queries
/// that need them fail with an error that names the feature.
const LISTS: [(&str, &str); 3] = [
    ("vectorEmbeddingPolicy", "vectorEmbeddings"),
    ("fullTextPolicy", "fullTextPaths"),
    ("clientEncryptionPolicy", "includedPaths"),
];

/// Property for including previous images in the feed of all versions; an extension of this server.
const IMAGES: &str = "retainPreviousImages";
/// Property with the minutes for which versions are retained.
const RETENTION: &str = "retentionDuration";

/// Validates the policies and adds defaults. Unknown properties are dropped, as in Azure Cosmos DB;
/// `null` counts as absent. Returns the retention of deleted versions for feeds in seconds, or
/// `None` if deleted versions are not kept.
pub(super) fn check_policies(body: &mut Document) -> Result<Option<i64>> {
    for name in REFUSED {
        if !super::is_empty_policy(body.get(name)) {
            return Err(Failure::unsupported(&format!("The property '{name}'")));
        }
    }
    match body.get("computedProperties") {
        None | Some(Value::Null) => {}
        Some(Value::Array(list)) if list.is_empty() => {}
        Some(Value::Array(_)) => {
            return Err(Failure::unsupported("The property 'computedProperties'"));
        }
        Some(_) => {
            return Err(Failure::bad_request(
                "One of the specified inputs is invalid: the property 'computedProperties' is not \
                 an array.",
            ));
        }
    }
    for (name, paths) in LISTS {
        check_paths(body, name, paths)?;
    }
    check_analytical_ttl(body)?;
    let retention_s = read_retention(body)?;
    complete_conflict_policy(body)?;
    spatial::complete_config(body)?;
    let mut kept = Document::new();
    for name in KEPT {
        if let Some(value) = body.remove(name).filter(|value| !matches!(value, Value::Null)) {
            kept.push(name, value);
        }
    }
    *body = kept;
    Ok(retention_s)
}

/// Validates a policy whose entries have paths.
fn check_paths(body: &mut Document, name: &str, paths: &str) -> Result<()> {
    let Some(policy) = find_object(body, name)? else { return Ok(()) };
    let entries = match policy.get(paths) {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::Array(entries)) => entries,
        Some(_) => {
            return Err(Failure::bad_request(format!("The property '{paths}' is not an array.")));
        }
    };
    let is_path = |entry: &Value| match entry {
        Value::Document(fields) => fields
            .get("path")
            .and_then(|path| path.as_ref().as_str())
            .and_then(super::paths::parse_path),
        _ => None,
    };
    let Some(wrong) = entries.iter().find(|entry| is_path(entry).is_none()) else { return Ok(()) };
    if name != "fullTextPolicy" {
        return Err(Failure::bad_request(format!("An entry of '{paths}' has no valid 'path'.")));
    }
    let path = match wrong {
        Value::Document(fields) => fields.get("path").and_then(|path| path.as_ref().as_str()),
        _ => None,
    };
    Err(Failure::bad_request(format!(
        "The Full Text Policy contains an invalid Path: {}",
        path.unwrap_or_default()
    )))
}

/// Validates the TTL of the analytical store. There is no such store here, so a valid value has no
/// effect.
fn check_analytical_ttl(body: &Document) -> Result<()> {
    let seconds = match body.get("analyticalStorageTtl") {
        None | Some(Value::Null) => return Ok(()),
        Some(seconds) => Number::of(seconds.as_ref()).and_then(|seconds| seconds.to_i64_exact()),
    };
    match seconds {
        Some(-1 | 0) => Ok(()),
        Some(seconds) if (1..=i64::from(i32::MAX)).contains(&seconds) => Ok(()),
        _ => Err(Failure::bad_request(
            "The property 'analyticalStorageTtl' is not -1, 0 or a number of seconds.",
        )),
    }
}

/// Returns a policy that is an object; `null` means absent, and other types are refused.
pub(super) fn find_object<'a>(
    body: &'a mut Document,
    name: &str,
) -> Result<Option<&'a mut Document>> {
    match body.get_mut(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Document(policy)) => Ok(Some(policy)),
        Some(_) => Err(Failure::bad_request(format!("The property '{name}' is not an object."))),
    }
}

/// Converts the change feed policy's retention of deleted versions from minutes to seconds. Returns
/// `None` if the policy is absent or its retention is zero: no versions are retained.
fn read_retention(body: &mut Document) -> Result<Option<i64>> {
    let Some(policy) = find_object(body, "changeFeedPolicy")? else { return Ok(None) };
    if !matches!(policy.get(IMAGES), None | Some(Value::Null | Value::Bool(_))) {
        return Err(Failure::bad_request(format!("The property '{IMAGES}' is not a boolean.")));
    }
    let minutes = match policy.get(RETENTION) {
        None => return Ok(None),
        Some(minutes) => Number::of(minutes.as_ref()).and_then(|minutes| minutes.to_i64_exact()),
    };
    match minutes {
        Some(0) => Ok(None),
        Some(minutes @ 1..=MAX_RETENTION_MINUTES) => Ok(Some(minutes * 60)),
        _ => Err(Failure::bad_request(format!(
            "The property '{RETENTION}' is not a number of minutes up to \
             {MAX_RETENTION_MINUTES}."
        ))),
    }
}

/// Returns a property of a valid definition's change feed policy.
fn feed_property<'a>(options: &'a Document, name: &str) -> Option<&'a Value> {
    match options.get("changeFeedPolicy")? {
        Value::Document(policy) => policy.get(name),
        _ => None,
    }
}

/// Returns whether a definition specifies the retention of versions.
pub(super) fn has_retention(options: &Document) -> bool {
    feed_property(options, RETENTION).is_some()
}

/// Returns whether a definition disables keeping versions by a retention of zero.
pub(crate) fn refuses_versions(options: &Document) -> bool {
    let minutes = feed_property(options, RETENTION).map(Value::as_ref).and_then(Number::of);
    minutes.and_then(Number::to_i64_exact) == Some(0)
}

/// Returns whether a definition requests previous images in the feed of all versions.
pub(crate) fn keeps_images(options: &Document) -> bool {
    matches!(feed_property(options, IMAGES), Some(Value::Bool(true)))
}

/// Completes the policy for conflicts between regions. This server has one region and so no such
/// conflicts, but SDKs expect the policy.
fn complete_conflict_policy(body: &mut Document) -> Result<()> {
    match find_object(body, "conflictResolutionPolicy")? {
        None => {
            body.insert(
                "conflictResolutionPolicy",
                doc! {
                    "mode": "LastWriterWins",
                    "conflictResolutionPath": "/_ts",
                    "conflictResolutionProcedure": "",
                },
            );
            Ok(())
        }
        Some(policy) => conflict_texts(policy),
    }
}

/// Validates a conflict resolution policy sent by a client.
fn conflict_texts(policy: &mut Document) -> Result<()> {
    for name in ["mode", "conflictResolutionPath", "conflictResolutionProcedure"] {
        if !matches!(policy.get(name), None | Some(Value::Null | Value::String(_))) {
            return Err(Failure::bad_request(format!("The property '{name}' is not a text.")));
        }
    }
    match policy.get("mode").and_then(|mode| mode.as_ref().as_str()) {
        None => {
            policy.insert("mode", "LastWriterWins");
            Ok(())
        }
        Some(mode) if mode.eq_ignore_ascii_case("LastWriterWins") => Ok(()),
        Some(mode) if mode.eq_ignore_ascii_case("Custom") => Ok(()),
        Some(mode) => Err(Failure::bad_request(format!(
            "The conflict resolution mode '{mode}' is not LastWriterWins or Custom."
        ))),
    }
}
