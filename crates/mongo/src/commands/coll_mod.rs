//! `collMod`: changes the validation of documents, the definition of a view, the limits of a capped
//! collection or the TTL of an index, or hides an index, with all of MongoDB's coercions. For the
//! `_ts` index, which is the collection's default time to live, a wrong number is refused and never
//! coerced: documents would otherwise expire at an unintended time.
//!
//! ```text
//! {collMod: "c", index: {name: "a_1", expireAfterSeconds: 60}}
//! => {expireAfterSeconds_old: 3600, expireAfterSeconds_new: 60, ok: 1}
//! {collMod: "c", index: {keyPattern: {a: 1}, hidden: true}}
//! => {hidden_old: false, hidden_new: true, ok: 1}
//! ```

use std::sync::Arc;

use document::{DocBuf, Document, Number, Rounding, Value, ValueRef, doc, shell};
use engine::{Capped, Collection, IndexChange, IndexSpec, Namespace};

use super::{change_stream, drop_indexes, views};
use crate::{
    access::Action,
    arguments::Args,
    call::{Call, default_collation},
    errors::{CommandNotSupported, Error, IndexNotFound, InvalidOptions, Result, TypeMismatch},
    parsers::{
        capped_limits::{parse_max, parse_size},
        clustered_index,
        collection_options::{self, unsupported},
    },
    replies::ok,
    rights::{CommandRequest, Requirement},
    stored_view::{PIPELINE, VIEW_ON, is_view},
};

/// Arguments of `collMod`. Those for missing features and other kinds of collections are refused.
pub(super) const FIELDS: &[&str] = &[
    "index",
    "validator",
    "validationLevel",
    "validationAction",
    "viewOn",
    "pipeline",
    "expireAfterSeconds",
    "timeseries",
    "changeStreamPreAndPostImages",
    "cappedSize",
    "cappedMax",
    "dryRun",
    "recordPreImages",
];

/// Returns the rights that `collMod` requires: to change the collection, and for a view those of its
/// new definition.
pub(super) fn needs(request: &CommandRequest<'_>) -> Result<Vec<Requirement>> {
    let changes = Requirement::of(Action::CollMod, request.collection()?);
    Ok([Some(changes), views::definition_needs(request)?].into_iter().flatten().collect())
}

/// Replaces the definition of a view. Fails with 72 if there are other options or only one part of
/// the definition is given; the required rights depend on both parts.
async fn change_view(
    call: &Call<'_>,
    view: &Arc<Collection>,
    namespace: &Namespace,
) -> Result<DocBuf> {
    let args = call.args();
    views::allow_only(&args, &[VIEW_ON, PIPELINE], FIELDS)?;
    match (args.get(VIEW_ON), args.get(PIPELINE)) {
        (None, None) => return ok(doc! {}),
        (Some(_), Some(_)) => {}
        _ => {
            let message = "Must specify both 'viewOn' and 'pipeline' when modifying a view";
            return Err(invalid_options(message));
        }
    }
    let collation = default_collation(Some(view));
    let definition = views::parse_definition(call, &args, namespace, collation.as_deref()).await?;
    let with_definition = move |options: &Document| {
        let mut options = options.clone();
        for (name, value) in definition.fields() {
            options.insert(name.as_str(), value.clone());
        }
        options
    };
    call.api.engine.change_options(view, with_definition).await?;
    ok(doc! {})
}

/// Runs `collMod`. The reply has the old and the new value of each changed setting.
pub(super) async fn run(call: &Call<'_>) -> Result<DocBuf> {
    let namespace = call.namespace()?;
    let args = call.args();
    if let Some(view) = call.find_collection(&namespace).filter(|held| is_view(held)) {
        return change_view(call, &view, &namespace).await;
    }
    let cluster_ttl = clustered_index::parse_changed_ttl(&args)?;
    let is_clustered = |held: Arc<Collection>| held.state().record.cluster_key.is_some();
    if cluster_ttl.is_some() && !call.find_collection(&namespace).is_some_and(is_clustered) {
        let message =
            "'expireAfterSeconds' option is only supported on collections clustered by _id";
        return Err(Error::new(InvalidOptions, message));
    }
    let asked = collection_options::check_options(&args)?;
    let dry_run = args.lax_bool("dryRun")?.unwrap_or(false);
    let index = args.document("index")?.map(|index| Args::new("collMod.index", index));
    index.as_ref().map(check_shape).transpose()?;
    let collection = call.expect_collection(&namespace)?;
    if let Some(option) = asked {
        return Err(unsupported(&args, option));
    }
    check_kind(&args, &collection)?;
    let (size, max) = (parse_size(&args, "cappedSize")?, parse_max(&args, "cappedMax")?);
    if dry_run {
        return Err(invalid_options("dry run mode requires an valid index modification."));
    }
    // All arguments are checked before the first change.
    let validation = collection_options::parse_validation(&args, &namespace)?;
    let change = index.map(|index| parse_change(&collection, &index, &namespace)).transpose()?;
    if !validation.is_empty() {
        let with_validation =
            move |options: &Document| collection_options::with_validation(options, &validation);
        call.api.engine.change_options(&collection, with_validation).await?;
    }
    if let Some(enabled) = collection_options::parse_images(&args)? {
        if enabled {
            change_stream::keep_changes(call).await?;
        }
        let with_images =
            move |options: &Document| collection_options::with_images(options, enabled);
        call.api.engine.change_options(&collection, with_images).await?;
    }
    if let Some(expire_after) = cluster_ttl {
        call.api.engine.change_cluster_ttl(&collection, expire_after).await?;
    }
    if size.is_some() || max.is_some() {
        let with_limits = move |held: Capped| Capped {
            bytes: size.unwrap_or(held.bytes),
            documents: max.unwrap_or(held.documents),
        };
        call.api.engine.change_capped(&collection, with_limits).await?;
    }
    let Some((name, change)) = change else { return ok(doc! {}) };
    let was = call.api.engine.change_index(&collection, &name, change).await?;
    let mut reply = doc! {};
    if let Some(seconds) = change.expire_after {
        if let Some(old) = was.expire_after {
            reply.push("expireAfterSeconds_old", Value::Int64(old));
        }
        reply.push("expireAfterSeconds_new", Value::Int64(seconds));
    }
    if let Some(hidden) = change.hidden.filter(|hidden| *hidden != was.hidden) {
        reply.push("hidden_old", was.hidden);
        reply.push("hidden_new", hidden);
    }
    ok(reply)
}

/// Refuses options of other kinds of collections with 72, as mongod does on an ordinary collection.
fn check_kind(args: &Args<'_>, collection: &Collection) -> Result<()> {
    let is_capped = collection.state().record.capped.is_some();
    for (options, text) in [
        (["viewOn", "pipeline"].as_slice(), "option only supported on a view: "),
        (&["timeseries"], "option only supported on a time-series collection: "),
        (&["cappedSize", "cappedMax"], "Collection must be capped."),
    ] {
        let Some(option) = options.iter().find(|option| args.get(option).is_some()) else {
            continue;
        };
        if is_capped && option.starts_with("capped") {
            continue;
        }
        let shown = if text.ends_with(' ') { option } else { "" };
        return Err(invalid_options(format!("{text}{shown}")));
    }
    Ok(())
}

/// Returns error 72 InvalidOptions, the most common error of `collMod`.
fn invalid_options(message: impl Into<String>) -> Error {
    Error::new(InvalidOptions, message)
}

/// Checks the structure of an index change before the index is looked up: mongod reports these
/// errors even if the collection does not exist.
fn check_shape(args: &Args<'_>) -> Result<()> {
    args.allow_only(&[
        "name",
        "keyPattern",
        "expireAfterSeconds",
        "hidden",
        "unique",
        "prepareUnique",
    ])?;
    for option in ["unique", "prepareUnique"] {
        if args.get(option).is_some() {
            let message = format!("collMod with index option '{option}' is not supported");
            return Err(Error::new(CommandNotSupported, message));
        }
    }
    let hidden = args.lax_bool("hidden")?;
    match (args.str("name")?, args.document("keyPattern")?) {
        (Some(_), Some(_)) => {
            return Err(invalid_options("Cannot specify both key pattern and name."));
        }
        (None, None) => {
            return Err(invalid_options("Must specify either index name or key pattern."));
        }
        _ => {}
    }
    if args.get("expireAfterSeconds").is_none() && hidden.is_none() {
        return Err(invalid_options(
            "no expireAfterSeconds, hidden, unique, or prepareUnique field",
        ));
    }
    Ok(())
}

/// Returns the index that a change names, by its name or by its key pattern, and the change.
///
/// Fails with 27 if the index does not exist, 181 if several indexes have the pattern, and 72 if it
/// is the `_id` index.
fn parse_change(
    collection: &Collection,
    args: &Args<'_>,
    namespace: &Namespace,
) -> Result<(String, IndexChange)> {
    let (name, pattern) = (args.str("name")?, args.document("keyPattern")?);
    let expire_after = args.get("expireAfterSeconds");
    let hidden = args.lax_bool("hidden")?;
    let state = collection.state();
    let is_id = name == Some("_id_")
        || pattern.is_some_and(|pattern| pattern.len() == 1 && pattern.get("_id").is_some());
    if is_id {
        return Err(match expire_after {
            Some(_) => invalid_options("the _id field does not support TTL indexes"),
            None => Error::new(crate::errors::BadValue, "can't hide _id index"),
        });
    }
    let missing = |shown: String| {
        Error::new(IndexNotFound, format!("cannot find index {shown} for ns {namespace}"))
    };
    let name = match (name, pattern) {
        (Some(name), _) => name.to_owned(),
        (None, Some(pattern)) => {
            drop_indexes::name_by_pattern(&state, pattern).map_err(|error| {
                if error.code == IndexNotFound {
                    missing(shell(ValueRef::Document(pattern)).to_string())
                } else {
                    error
                }
            })?
        }
        (None, None) => String::new(),
    };
    let held = state.record.index_named(&name).ok_or_else(|| missing(name.clone()))?;
    let expire_after = expire_after.map(|value| coerced_seconds(value, held)).transpose()?;
    if held.system_ttl && hidden == Some(true) {
        return Err(invalid_options("an index on '_ts' cannot be hidden"));
    }
    Ok((name, IndexChange { expire_after, hidden }))
}

/// Returns `expireAfterSeconds` as this kind of index accepts it.
///
/// A TTL index on a date field accepts any number: NaN is 0, fractions are truncated, large values
/// saturate, and only negative ones are refused. That is mongod's behavior, which differs from
/// `createIndexes`. The `_ts` index accepts -1 (no default) or an integer of at least 1.
fn coerced_seconds(value: ValueRef<'_>, index: &IndexSpec) -> Result<i64> {
    let Some(number) = Number::of(value) else {
        let message = format!(
            "BSON field 'collMod.index.expireAfterSeconds' is the wrong type '{}', expected types '[long, int, decimal, double]'",
            value.kind().name()
        );
        return Err(Error::new(TypeMismatch, message));
    };
    if 1 < index.key.len() {
        let message = "TTL indexes are single-field indexes, compound indexes do not support TTL";
        return Err(invalid_options(message));
    }
    let most = i64::from(i32::MAX);
    let coerced = match number {
        Number::Int(value) => value,
        Number::Double(value) if value.is_nan() => 0,
        Number::Double(value) => value as i64,
        Number::Decimal(value) if value.is_nan() => 0,
        Number::Decimal(value) => value
            .to_i64(Rounding::HalfEven)
            .unwrap_or_else(|| if value.is_negative() { i64::MIN } else { i64::MAX }),
    };
    if index.system_ttl {
        let infinite = number.to_f64() == f64::INFINITY;
        return match number.to_i64_exact() {
            Some(-1) => Ok(-1),
            Some(value) if 1 <= value => Ok(value.min(most)),
            _ if infinite => Ok(most),
            _ => Err(invalid_options(
                "TTL index 'expireAfterSeconds' option on '_ts' must be -1 or a whole number of at least 1",
            )),
        };
    }
    if coerced < 0 {
        return Err(invalid_options("TTL index 'expireAfterSeconds' option cannot be less than 0"));
    }
    Ok(coerced.min(most))
}
