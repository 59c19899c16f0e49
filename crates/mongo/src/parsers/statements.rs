//! Statements of `update`, `delete` and `bulkWrite`: the documents that they select, and the
//! changes that they make. `findAndModify` and `explain` use the same parsers.
//!
//! A statement is parsed in two steps. The structure (fields and their types) of all statements of
//! a command is checked before the first statement runs, so that a malformed statement fails the
//! command before it has changed anything. The filter and the update are parsed when the statement
//! runs: their errors are entries of `writeErrors`, and earlier statements have taken effect.
//!
//! ```text
//! {q: {..}, u: {..} | [..], multi: bool, upsert: bool, arrayFilters: [..], hint: .., c: {..}}    update
//! {q: {..}, limit: 0 | 1, hint: ..}                                                              delete
//! ```

use std::sync::Arc;

use collation::Collation;
use document::{DocRef, ValueRef};
use engine::Find;
use evaluation::{Context, STEP};
use pipeline::edit::Edit;

use super::{collation::parse_collation, hint::parse_hint};
use crate::{
    arguments::Args,
    errors::{Error, FailedToParse, Result},
    reserved_property::{RESERVED, reserved_error},
};

/// Fields of a `delete` statement.
const DELETE_FIELDS: &[&str] = &["q", "limit", "collation", "hint"];

/// Field names of an update statement, which differ between `update` and `bulkWrite`.
pub(crate) struct UpdateFields {
    pub(crate) filter: &'static str,
    pub(crate) update: &'static str,
    /// Name of the field with the variables of an update pipeline.
    pub(crate) constants: &'static str,
    /// All fields that a statement may have.
    pub(crate) all: &'static [&'static str],
}

/// Field names of a statement of `update`.
pub(crate) const UPDATE_FIELDS: UpdateFields = UpdateFields {
    filter: "q",
    update: "u",
    constants: "c",
    all: &["q", "u", "c", "multi", "upsert", "collation", "arrayFilters", "hint", "sort"],
};

pub(crate) struct UpdateStatement {
    pub(crate) find: Find,
    pub(crate) edit: Edit,
    /// Whether the statement updates all matching documents, or only the first.
    pub(crate) many: bool,
    /// Whether the statement inserts a document if none matches.
    pub(crate) upsert: bool,
}

/// Checks the structure of an update statement. A malformed one fails the command before any
/// statement runs. The filter and the update are not parsed.
pub(crate) fn check_update(args: &Args<'_>, names: &UpdateFields) -> Result<()> {
    args.allow_only(names.all)?;
    args.need_document(names.filter)?;
    match args.body.get(names.update) {
        None => return Err(args.missing_field(names.update)),
        Some(ValueRef::Document(_) | ValueRef::Array(_)) => {}
        Some(_) => {
            let message = "Update argument must be either an object or an array";
            return Err(Error::new(FailedToParse, message));
        }
    }
    args.bool("upsert")?;
    args.document(names.constants)?;
    args.document("collation")?;
    if args.array("arrayFilters")?.is_some() {
        args.documents("arrayFilters")?;
    }
    parse_hint(args)?;
    // A sort selects the single document to update, so it excludes `multi`.
    let sorted = args.document("sort")?.is_some_and(|sort| !sort.is_empty());
    if args.bool("multi")?.unwrap_or(false) && sorted {
        return Err(Error::new(FailedToParse, "Cannot specify sort with multi=true"));
    }
    Ok(())
}

/// Parses a statement of valid structure. Returns it and its evaluation context, which is that of
/// the command with the statement's own constants and collation, for a collection with the
/// collation `default`. Fails with 51198 if constants are given and the update is not a pipeline.
pub(crate) fn parse_update(
    args: &Args<'_>,
    names: &UpdateFields,
    context: &Arc<Context>,
    default: Option<Arc<Collation>>,
) -> Result<(UpdateStatement, Arc<Context>)> {
    let update = args.get(names.update).ok_or_else(|| args.missing_field(names.update))?;
    let constants = args.document(names.constants)?;
    if constants.is_some() && !matches!(update, ValueRef::Array(_)) {
        let message = "Constant values may only be specified for pipeline updates";
        return Err(Error::new(51198, message));
    }
    let many = args.bool("multi")?.unwrap_or(false);
    let statement = UpdateStatement {
        find: parse_search(args, names.filter)?,
        edit: parse_edit(update, args, many)?,
        many,
        upsert: args.bool("upsert")?.unwrap_or(false),
    };
    let context = with_collation(args, context, default)?;
    Ok((statement, with_constants(&context, constants)?))
}

/// Returns the context with the collation of a statement. `default` is that of the collection.
pub(crate) fn with_collation(
    args: &Args<'_>,
    context: &Arc<Context>,
    default: Option<Arc<Collation>>,
) -> Result<Arc<Context>> {
    let collation = parse_collation(args)?.or_default(default);
    Ok(match collation == context.collation {
        true => Arc::clone(context),
        false => Arc::new(Context { collation, ..Context::clone(context) }),
    })
}

/// Returns the context with the constants of a statement added. Unlike the constants of `let` these
/// are values, not expressions.
fn with_constants(context: &Arc<Context>, constants: Option<DocRef<'_>>) -> Result<Arc<Context>> {
    let Some(constants) = constants else { return Ok(Arc::clone(context)) };
    let mut own = Context::clone(context);
    for (name, value) in constants.iter() {
        context.budget.spend(STEP)?;
        own.constants.insert(name, value);
    }
    Ok(Arc::new(own))
}

/// Parses the filter and the options of a statement's search; `name` is the field that has the
/// filter.
pub(crate) fn parse_search(args: &Args<'_>, name: &str) -> Result<Find> {
    let filter = mongo_query::filter::parse(args.need_document(name)?)?;
    let sort = args.document("sort")?.filter(|sort| !sort.is_empty());
    let sort = sort.map(mongo_query::sort::parse).transpose()?;
    let hint = parse_hint(args)?;
    Ok(Find { sort, hint, ..Find::new(filter) })
}

/// Parses an update: a replacement, operators or a pipeline. It must not change the reserved
/// property.
pub(crate) fn parse_edit(update: ValueRef<'_>, args: &Args<'_>, many: bool) -> Result<Edit> {
    let edit = mongo_query::update::parse(update, args.array("arrayFilters")?, many)?;
    if edit.touches_root(RESERVED) {
        return Err(reserved_error());
    }
    Ok(edit)
}

/// Checks the structure of a `delete` statement.
pub(crate) fn check_delete(args: &Args<'_>) -> Result<()> {
    args.allow_only(DELETE_FIELDS)?;
    args.need_document("q")?;
    args.document("collation")?;
    parse_hint(args)?;
    deletes_many(args).map(|_| ())
}

/// Returns true if all documents are to be deleted (`limit: 0`), false if only one is (`limit: 1`).
/// The limit is required.
pub(crate) fn deletes_many(args: &Args<'_>) -> Result<bool> {
    args.int("limit")?;
    let Some(limit) = args.get("limit") else { return Err(args.missing_field("limit")) };
    match document::Number::of(limit).and_then(document::Number::to_i64_exact) {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        _ => {
            let message = format!(
                "The limit field in delete objects must be 0 or 1. Evaluated {}",
                document::shell(limit)
            );
            Err(Error::new(FailedToParse, message))
        }
    }
}
