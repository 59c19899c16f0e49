//! The Stable API: what a client may use with `apiVersion: "1"` and `apiStrict`. Drivers send
//! `apiVersion` with every command if the application declares it; ignoring it would break the
//! guarantee that the application relies on.
//!
//! `apiDeprecationErrors` refuses deprecated features. Version 1 has none, so the flag is checked
//! and has no effect.

use document::{ArrayRef, DocRef, ValueRef};

use crate::{
    arguments::Args,
    command_row::{ApiVersion1, CommandRow},
    errors::{APIStrictError, APIVersionError, Error, Result},
};

/// Stages outside version 1, at any position.
const STAGES_OUTSIDE: [&str; 18] = [
    "$changeStreamSplitLargeEvent",
    "$currentOp",
    "$fill",
    "$indexStats",
    "$listClusterCatalog",
    "$listLocalSessions",
    "$listSampledQueries",
    "$listSearchIndexes",
    "$listSessions",
    "$planCacheStats",
    "$querySettings",
    "$queryStats",
    "$rankFusion",
    "$score",
    "$scoreFusion",
    "$search",
    "$searchMeta",
    "$vectorSearch",
];

/// Kinds of indexes outside version 1.
const INDEXES_OUTSIDE: [&str; 2] = ["columnstore", "text"];

/// Checks the API version that a command declares, and whether the command is part of it. Fails
/// with 322 for a version other than "1", and with 4886600 for `apiStrict` or
/// `apiDeprecationErrors` without a version.
pub(crate) fn check_version(row: &CommandRow, args: &Args<'_>) -> Result<()> {
    let version = args.str("apiVersion")?;
    let strict = args.bool("apiStrict")?.unwrap_or(false);
    let deprecation = args.bool("apiDeprecationErrors")?;
    match version {
        None if args.get("apiStrict").is_some() || deprecation.is_some() => {
            let message =
                "Provided apiStrict and/or apiDeprecationErrors without passing apiVersion";
            Err(Error::new(4_886_600, message))
        }
        None => Ok(()),
        Some("1") if strict => check_strict(row, args),
        Some("1") => Ok(()),
        Some(_) => Err(Error::new(APIVersionError, "API version must be \"1\"")),
    }
}

/// Fails with 498870 on a command without a version, where the server requires one.
pub(crate) fn require_version(args: &Args<'_>) -> Result<()> {
    if args.get("apiVersion").is_some() {
        return Ok(());
    }
    let message =
        "The apiVersion parameter is required, please configure your MongoClient's API version";
    Err(Error::new(498_870, message))
}

/// Returns whether a command declares `apiStrict`. Its version was checked before, except for
/// unknown commands.
pub(crate) fn is_strict(body: DocRef<'_>) -> bool {
    let version = matches!(body.get("apiVersion"), Some(ValueRef::String("1")));
    version && matches!(body.get("apiStrict"), Some(ValueRef::Bool(true)))
}

/// Returns the error of a command outside version 1.
pub(crate) fn not_in_version(name: &str) -> Error {
    let message =
        format!("Provided apiStrict:true, but the command {name} is not in API Version 1.");
    Error::new(APIStrictError, message)
}

/// Fails with 323 on a command or an argument outside version 1.
fn check_strict(row: &CommandRow, args: &Args<'_>) -> Result<()> {
    match row.api {
        ApiVersion1::Outside => Err(not_in_version(row.name)),
        ApiVersion1::Except(_) => check_arguments(row, args.body),
    }
}

/// Fails with 323 on an argument outside version 1.
pub(crate) fn check_arguments(row: &CommandRow, body: DocRef<'_>) -> Result<()> {
    let ApiVersion1::Except(outside) = row.api else { return Ok(()) };
    match outside.iter().find(|path| is_given(body, path)) {
        Some(path) => {
            let message =
                format!("BSON field '{}.{path}' is not allowed with apiStrict:true.", row.name);
            Err(Error::new(APIStrictError, message))
        }
        None => Ok(()),
    }
}

/// Returns whether a command has a non-null argument at this path. `a.b` is the field `b` of the
/// document in argument `a`, or of any document if `a` is a list.
fn is_given(body: DocRef<'_>, path: &str) -> bool {
    let has = |document: DocRef<'_>, field: &str| {
        document.get(field).is_some_and(|value| !value.is_nullish())
    };
    let Some((name, field)) = path.split_once('.') else { return has(body, path) };
    match body.get(name) {
        Some(ValueRef::Document(document)) => has(document, field),
        Some(ValueRef::Array(list)) => {
            list.iter().filter_map(ValueRef::as_document).any(|document| has(document, field))
        }
        _ => false,
    }
}

/// Fails with 323 on a stage outside version 1, including those of nested pipelines.
pub(crate) fn check_stages(pipeline: ArrayRef<'_>) -> Result<()> {
    let mut open = vec![pipeline];
    while let Some(pipeline) = open.pop() {
        for stage in pipeline.iter().filter_map(ValueRef::as_document) {
            let Some((name, spec)) = stage.iter().next() else { continue };
            check_stage(name, spec)?;
            let Some(spec) = spec.as_document() else { continue };
            match name {
                "$facet" => open.extend(spec.iter().filter_map(|(_, inner)| inner.as_array())),
                "$lookup" | "$unionWith" => {
                    open.extend(spec.get("pipeline").and_then(ValueRef::as_array));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Fails with 323 on a stage outside version 1. `$collStats` is part of version 1 only with the
/// option `count`.
fn check_stage(name: &str, spec: ValueRef<'_>) -> Result<()> {
    let refuse = |what: &str| {
        let message = format!("{what} is not allowed with 'apiStrict: true' in API Version 1");
        Err(Error::new(APIStrictError, message))
    };
    if STAGES_OUTSIDE.contains(&name) {
        return refuse(name);
    }
    let options = spec.as_document().filter(|_| name == "$collStats");
    match options.and_then(|options| options.iter().find(|(option, _)| *option != "count")) {
        Some((option, _)) => refuse(&format!("$collStats with '{option}'")),
        None => Ok(()),
    }
}

/// Fails with 323 on a key pattern with a kind of index outside version 1.
pub(crate) fn check_index_key(pattern: DocRef<'_>) -> Result<()> {
    let mut kinds = pattern.iter().filter_map(|(_, kind)| kind.as_str());
    match kinds.find(|kind| INDEXES_OUTSIDE.contains(kind)) {
        Some(kind) => {
            let message = format!("{kind} indexes cannot be created with apiStrict: true");
            Err(Error::new(APIStrictError, message))
        }
        None => Ok(()),
    }
}
