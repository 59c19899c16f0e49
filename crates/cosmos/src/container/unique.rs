//! Unique keys of a container. They are specified when the container is created, and cannot change.

use document::{Document, Value};
use engine::IndexSpec;

use crate::{
    failure::{Failure, Result},
    limits::{MAX_UNIQUE_KEYS, MAX_UNIQUE_PATHS},
    partition_key::KeyPath,
};

/// Returns the indexes for the unique keys, in the order of the policy. Keys are unique within a
/// logical partition, as in Azure Cosmos DB; the engine enforces that.
pub(super) fn read_unique_keys(body: &Document) -> Result<Vec<IndexSpec>> {
    let wrong = || Failure::bad_request("The unique key policy is malformed.");
    let keys = match body.get("uniqueKeyPolicy") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Document(policy)) => match policy.get("uniqueKeys") {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Array(keys)) => keys,
            Some(_) => return Err(wrong()),
        },
        Some(_) => return Err(wrong()),
    };
    if MAX_UNIQUE_KEYS < keys.len() {
        let text = format!("There are more than {MAX_UNIQUE_KEYS} unique keys.");
        return Err(Failure::bad_request(text));
    }
    let mut seen: Vec<Vec<KeyPath>> = Vec::new();
    let mut count = 0;
    let mut found = Vec::new();
    for (at, key) in keys.iter().enumerate() {
        let Value::Document(key) = key else { return Err(wrong()) };
        let Some(Value::Array(paths)) = key.get("paths") else { return Err(wrong()) };
        count += paths.len();
        // Checked before the paths are compared, which takes quadratic time.
        if MAX_UNIQUE_PATHS < count {
            let text = format!("The unique keys have more than {MAX_UNIQUE_PATHS} paths.");
            return Err(Failure::bad_request(text));
        }
        let parsed = paths.iter().map(read_path).collect::<Result<Vec<_>>>()?;
        let twice = (0..parsed.len()).any(|at| parsed[at + 1..].contains(&parsed[at]));
        if parsed.is_empty() || twice || seen.contains(&parsed) {
            return Err(wrong());
        }
        let names: Vec<(Vec<String>, bool)> =
            parsed.iter().map(|path| (path.parts().to_vec(), false)).collect();
        found.push(IndexSpec::over_tuple(format!("unique {at}"), &names, true));
        seen.push(parsed);
    }
    Ok(found)
}

/// Parses a path of a unique key. Properties that the server sets are refused, because clients
/// cannot choose their values; `id` is permitted.
fn read_path(value: &Value) -> Result<KeyPath> {
    let text = value.as_ref().as_str().unwrap_or_default();
    // Clients may append the suffix of index paths.
    let text = text.strip_suffix("/?").unwrap_or(text);
    let parsed = KeyPath::parse(text).filter(|path| !is_system(path));
    parsed.ok_or_else(|| Failure::bad_request(format!("The unique key path '{text}' is invalid.")))
}

/// Returns whether the property at a path is set by the server.
fn is_system(path: &KeyPath) -> bool {
    let system = ["id", "_rid", "_self", "_etag", "_ts", "_attachments"];
    matches!(path.parts(), [only] if system.contains(&only.as_str()) && only != "id")
}
