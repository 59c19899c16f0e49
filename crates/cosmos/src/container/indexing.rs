//! Indexing policies: validated, completed with defaults, and converted to indexes. The policy
//! determines the cost of queries. It does not affect their results, except that an ORDER BY over
//! several properties requires a composite index.
//!
//! The included and excluded paths determine the values that may be indexed. The engine indexes the
//! values that queries need or that the policy lists explicitly. Each composite index of the policy
//! becomes an index. A policy is completed as in Azure Cosmos DB: a policy without paths includes
//! all paths, and the etag is excluded.

use std::collections::HashSet;

use document::{Document, Value, doc};
use engine::{DefaultTtl, IndexSpec, Policy, PolicyRule};
use select::sarg::PathStep;

use super::{
    paths::{self, End},
    spatial,
};
use crate::{
    failure::{Failure, Result},
    limits::{MAX_COMPOSITE_PATHS, MAX_COMPOSITES, MAX_INDEX_PATHS},
};

/// Prefix of the names that composite indexes have in the engine; the index's position in the
/// policy follows.
const COMPOSITE: &str = "composite ";

/// Completes the policy of a definition and returns the indexes for it. With mode `none` nothing is
/// indexed. As in Azure Cosmos DB, this mode is refused if items expire.
pub(super) fn complete_policy(body: &mut Document, default: DefaultTtl) -> Result<Vec<IndexSpec>> {
    let mut policy = match body.remove("indexingPolicy") {
        None | Some(Value::Null) => Document::new(),
        Some(Value::Document(policy)) => policy,
        Some(_) => {
            return Err(Failure::bad_request("The property 'indexingPolicy' is not an object."));
        }
    };
    let mode = read_mode(&policy)?;
    if mode == "none" && default != DefaultTtl::Off {
        return Err(Failure::bad_request(
            "Indexing mode value cannot be 'none' when 'defaultTtl' is specified in the collection",
        ));
    }
    policy.insert("indexingMode", mode);
    let automatic = match policy.get("automatic") {
        None | Some(Value::Null) => mode != "none",
        Some(Value::Bool(automatic)) => *automatic,
        Some(_) => return Err(Failure::bad_request("The property 'automatic' is not a boolean.")),
    };
    // As in Azure Cosmos DB: indexing cannot be manual in consistent mode.
    policy.insert("automatic", automatic || mode == "consistent");
    check_kept(&policy)?;
    spatial::complete_indexes(&mut policy, spatial::surface_of(body))?;
    let mut indexes = Vec::new();
    if mode == "none" {
        let named =
            |name| read_list(&policy, name).map(|list| list.is_some_and(|list| !list.is_empty()));
        if named("compositeIndexes")? {
            return Err(Failure::bad_request(
                "Composite indexes are not allowed with indexingMode 'none'.",
            ));
        }
        fill_missing(&mut policy, &[], &[]);
    } else {
        // A policy without any paths includes all paths; a policy with some paths includes only
        // those.
        let untouched =
            policy.get("includedPaths").is_none() && policy.get("excludedPaths").is_none();
        if untouched {
            fill_missing(&mut policy, &["/*"], &[]);
        } else {
            fill_missing(&mut policy, &[], &[]);
        }
        exclude_etag(&mut policy)?;
        let rules = read_rules(&policy)?;
        if rules.0.iter().any(|rule| rule.included) {
            indexes.push(IndexSpec::on_demand("paths", rules));
        }
        indexes.extend(read_composites(&policy)?);
    }
    body.insert("indexingPolicy", policy);
    Ok(indexes)
}

/// Returns the indexing mode, `consistent` by default. `lazy` is accepted and shown, but indexes
/// consistently.
fn read_mode(policy: &Document) -> Result<&'static str> {
    let mode = match policy.get("indexingMode") {
        None | Some(Value::Null) => return Ok("consistent"),
        Some(mode) => mode.as_ref().as_str().unwrap_or_default(),
    };
    let known = ["consistent", "lazy", "none"];
    known.into_iter().find(|known| mode.eq_ignore_ascii_case(known)).ok_or_else(|| {
        Failure::bad_request(format!(
            "The indexing mode '{mode}' is not one of consistent, lazy and none."
        ))
    })
}

/// Returns whether a container has lazy indexing, for which responses report the progress.
pub(crate) fn is_lazy(options: &Document) -> bool {
    let Some(Value::Document(policy)) = options.get("indexingPolicy") else { return false };
    read_mode(policy) == Ok("lazy")
}

/// Adds missing arrays of paths.
fn fill_missing(policy: &mut Document, included: &[&str], excluded: &[&str]) {
    let array = |texts: &[&str]| {
        Value::Array(texts.iter().map(|text| Value::Document(doc! { "path": *text })).collect())
    };
    for (name, texts) in [("includedPaths", included), ("excludedPaths", excluded)] {
        if policy.get(name).is_none_or(|list| matches!(list, Value::Null)) {
            policy.insert(name, array(texts));
        }
    }
}

/// Excludes the etag unless the policy names it. Azure Cosmos DB shows policies with this
/// exclusion, and clients compare them.
fn exclude_etag(policy: &mut Document) -> Result<()> {
    for name in ["includedPaths", "excludedPaths"] {
        let entries = read_list(policy, name)?.unwrap_or_default();
        let etag = |step: &PathStep| matches!(step, PathStep::Property(name) if name == "_etag");
        let is_etag = |entry: &Value| {
            let parsed = path_of(entry).ok().and_then(paths::parse_path);
            parsed.is_some_and(|(steps, _)| steps.first().is_some_and(etag))
        };
        // A policy with too many paths is refused later; adding a path would falsify the number in
        // the error.
        if MAX_INDEX_PATHS <= entries.len() || entries.iter().any(is_etag) {
            return Ok(());
        }
    }
    if let Some(Value::Array(excluded)) = policy.get_mut("excludedPaths") {
        excluded.push(Value::Document(doc! { "path": "/\"_etag\"/?" }));
    }
    Ok(())
}

/// Returns an array of the policy; `null` means absent.
pub(super) fn read_list<'a>(policy: &'a Document, name: &str) -> Result<Option<&'a [Value]>> {
    match policy.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Array(values)) => Ok(Some(values)),
        Some(_) => Err(Failure::bad_request(format!("The property '{name}' is not an array."))),
    }
}

/// Validates vector and full-text indexes. They are stored and returned, but queries that need them
/// are refused.
fn check_kept(policy: &Document) -> Result<()> {
    for name in ["vectorIndexes", "fullTextIndexes"] {
        for entry in read_list(policy, name)?.unwrap_or_default() {
            let text = path_of(entry)?;
            paths::parse_path(text).ok_or_else(|| invalid_path(text))?;
        }
    }
    let kinds = ["flat", "quantizedFlat", "diskANN"];
    for entry in read_list(policy, "vectorIndexes")?.unwrap_or_default() {
        let Value::Document(fields) = entry else { continue };
        let kind = fields.get("type").and_then(|kind| kind.as_ref().as_str());
        if !kind.is_some_and(|kind| kinds.iter().any(|known| kind.eq_ignore_ascii_case(known))) {
            let text = format!("The type of a vector index is one of {}.", kinds.join(", "));
            return Err(Failure::bad_request(text));
        }
    }
    Ok(())
}

pub(super) fn path_of(entry: &Value) -> Result<&str> {
    let path = match entry {
        Value::Document(fields) => fields.get("path").and_then(|path| path.as_ref().as_str()),
        _ => None,
    };
    path.ok_or_else(|| Failure::bad_request("An entry of the indexing policy has no text 'path'."))
}

/// Returns Azure Cosmos DB's failure for an invalid path.
pub(super) fn invalid_path(path: &str) -> Failure {
    Failure::bad_request(format!(
        "The indexing path '{path}' could not be accepted, failed near position '0'. Please \
         ensure that the path is a valid path."
    ))
}

/// Converts the included and excluded paths to rules for the engine. The root path `/*` must be in
/// one of the arrays, since otherwise the rule for unlisted paths is undefined. A path that occurs
/// twice is refused, since its rules could conflict.
fn read_rules(policy: &Document) -> Result<Policy> {
    let mut rules: Vec<PolicyRule> = Vec::new();
    let (mut root, mut twice) = (false, false);
    let mut seen: HashSet<&str> = HashSet::new();
    for (name, included) in [("includedPaths", true), ("excludedPaths", false)] {
        let entries = read_list(policy, name)?.unwrap_or_default();
        if MAX_INDEX_PATHS < entries.len() {
            let text = format!("The property '{name}' has more than {MAX_INDEX_PATHS} paths.");
            return Err(Failure::bad_request(text));
        }
        for entry in entries {
            let text = path_of(entry)?;
            // `/a/[]/{b, c}/?` includes properties `b` and `c` of array elements; it becomes the
            // rule `/a/[]/*`.
            let (steps, end) = match text.split_once("/[]/{") {
                Some((array, tuple)) if included => {
                    let parsed = paths::parse_path(array).filter(|_| paths::is_tuple(tuple));
                    let (mut steps, _) = parsed.ok_or_else(|| invalid_path(text))?;
                    steps.push(PathStep::Elements);
                    (steps, End::Below)
                }
                _ => paths::parse_path(text).ok_or_else(|| invalid_path(text))?,
            };
            twice |= !seen.insert(text);
            root |= steps.is_empty();
            let below = end != End::Value;
            rules.push(PolicyRule { steps, below, included });
        }
    }
    if twice {
        return Err(Failure::bad_request("A path occurs twice in the indexing policy."));
    }
    if !root && !rules.is_empty() {
        return Err(Failure::bad_request(
            "The special mandatory indexing path \"/\" is not provided in any of the path type \
             sets. Please provide this path in one of the sets.",
        ));
    }
    Ok(Policy(rules))
}

/// Converts the composite indexes, which are named by their positions in the policy. Each must have
/// at least two paths, at most the limit, and no path twice.
fn read_composites(policy: &Document) -> Result<Vec<IndexSpec>> {
    let lists = read_list(policy, "compositeIndexes")?.unwrap_or_default();
    if MAX_COMPOSITES < lists.len() {
        let text = format!("There are more than {MAX_COMPOSITES} composite indexes.");
        return Err(Failure::bad_request(text));
    }
    let mut found = Vec::new();
    for (at, entries) in lists.iter().enumerate() {
        let Value::Array(entries) = entries else {
            return Err(Failure::bad_request("A composite index is not an array of paths."));
        };
        if !(2..=MAX_COMPOSITE_PATHS).contains(&entries.len()) {
            let text = format!("A composite index must have 2 to {MAX_COMPOSITE_PATHS} paths.");
            return Err(Failure::bad_request(text));
        }
        let paths = entries.iter().map(composite_path).collect::<Result<Vec<_>>>()?;
        let twice = |at: usize| paths.iter().skip(at + 1).any(|(path, _)| *path == paths[at].0);
        if (0..paths.len()).any(twice) {
            return Err(Failure::bad_request("A path occurs twice in a composite index."));
        }
        found.push(IndexSpec::over_tuple(format!("{COMPOSITE}{at}"), &paths, false));
    }
    Ok(found)
}

/// Returns the paths of the composite index with this name in the engine, each with whether its
/// order is descending; `None` if the policy has no such index.
pub(crate) fn composite_paths(options: &Document, name: &str) -> Option<Vec<(String, bool)>> {
    let at: usize = name.strip_prefix(COMPOSITE)?.parse().ok()?;
    composites(options).into_iter().nth(at)
}

/// Returns the composite indexes of a policy. Each is a list of paths, with whether the order of
/// the path is descending.
pub(crate) fn composites(options: &Document) -> Vec<Vec<(String, bool)>> {
    let Some(Value::Document(policy)) = options.get("indexingPolicy") else { return Vec::new() };
    let lists = read_list(policy, "compositeIndexes").ok().flatten().unwrap_or_default();
    let path = |entry: &Value| {
        let (_, descending) = composite_path(entry).ok()?;
        Some((path_of(entry).ok()?.to_owned(), descending))
    };
    let paths = |list: &Value| match list {
        Value::Array(entries) => entries.iter().filter_map(path).collect(),
        _ => Vec::new(),
    };
    lists.iter().map(paths).collect()
}

/// Parses an entry of a composite index to the property names of its path, and whether its order is
/// descending. The path must lead to a single value: arrays and wildcards are refused.
fn composite_path(entry: &Value) -> Result<(Vec<String>, bool)> {
    let text = path_of(entry)?;
    let (steps, end) = paths::parse_path(text).ok_or_else(|| invalid_path(text))?;
    let names = steps.into_iter().map(|step| match step {
        PathStep::Property(name) => Some(name),
        PathStep::Elements => None,
    });
    let names: Option<Vec<String>> = names.collect();
    let names = names.filter(|names| !names.is_empty() && end == End::Open);
    let names = names.ok_or_else(|| invalid_path(text))?;
    let order = match entry {
        Value::Document(fields) => fields.get("order").map(Value::as_ref),
        _ => None,
    };
    let descending = match order {
        None => false,
        Some(order) => match order.as_str() {
            Some("ascending") => false,
            Some("descending") => true,
            _ => {
                let text = "The order of a composite path must be ascending or descending.";
                return Err(Failure::bad_request(text));
            }
        },
    };
    Ok((names, descending))
}
