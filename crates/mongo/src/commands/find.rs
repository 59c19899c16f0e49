//! `find`: a filter, a sort, skip and limit, a projection.
//!
//! ```text
//! {find: "c", filter: {..}, sort: {..}, skip: n, limit: n, projection: {..}, batchSize: n}
//! => {cursor: {firstBatch: [..], id: long, ns: "db.c"}, ok: 1}
//! ```
//!
//! Without a sort, documents are returned in the order of `_id`, those of a capped collection in the
//! order of their insertion. A `limit` of 0 means none. A batch is limited by `batchSize` and by its
//! size in bytes.

use document::{DocBuf, DocRef};
use engine::{Collection, Direction, Hint, Namespace, Output, Plan};
use mongo_query::text_score;
use pipeline::{Filter, exec::Stage};

use super::views;
use crate::{
    arguments::Args,
    call::{Call, default_collation},
    counters::Counters,
    errors::{BadValue, Error, FailedToParse, NoQueryExecutionPlans, Result},
    limits::DUMP_APP_NAME,
    parsers::{
        collation::parse_collation,
        hint::{natural_order, parse_hint},
    },
    query::begin_query,
    replies::cursor::{FirstBatch, reply_with_cursor},
};

/// Arguments of `find`. Unsupported ones are included, so that a command that needs their effect is
/// refused with an error that names them.
pub(super) const FIELDS: &[&str] = &[
    "filter",
    "sort",
    "projection",
    "hint",
    "skip",
    "limit",
    "batchSize",
    "singleBatch",
    "returnKey",
    "showRecordId",
    "tailable",
    "awaitData",
    "noCursorTimeout",
    "allowDiskUse",
    "let",
    "collation",
    "min",
    "max",
    "allowPartialResults",
    "oplogReplay",
];

/// Runs `find`: replies with the first batch, and a cursor for the rest.
///
/// A client whose application name is [`DUMP_APP_NAME`] also gets the `_ts` of each document while
/// the setting `carry_timestamps` is on: a dump without `_ts` would restart every document's time
/// to live when it is restored.
///
/// Fails with the errors of the arguments, of filter, sort and projection; all of them before the
/// first document is read, even if `batchSize` is 0.
pub(super) async fn run(call: &Call<'_>) -> Result<DocBuf> {
    Counters::add(&call.connection.counters.query, 1);
    let namespace = call.namespace_of_documents()?;
    let args = call.args().with_noted_names();
    let found = call.find_collection(&namespace);
    views::check_find(found.as_deref(), &args)?;
    let follows = check_tailable(found.as_deref(), &namespace, &args)?;
    let collation = parse_collation(&args)?;
    let mut plan = parse_plan(&args)?;
    if follows {
        plan.hint = Hint::Natural(Direction::Forward);
    }
    let collation = collation.or_default(default_collation(found.as_deref()));
    let context = call.context_with(collation).await?;
    let wanted = FirstBatch {
        size: args.count("batchSize")?,
        single: args.strict_bool("singleBatch")?.unwrap_or(false),
        keep: args.strict_bool("noCursorTimeout")?.unwrap_or(false),
        sorts: plan.sorts(),
    };
    let is_never = matches!(plan.filter, Filter::Never);
    let mut cursor = begin_query(call, &namespace, found, plan, context)?;
    if follows && cursor.collection().is_some() && !is_never {
        cursor.follow_inserts()?;
    }
    let dumps = || call.connection.app_name().as_deref() == Some(DUMP_APP_NAME);
    if call.api.carries_timestamps() && dumps() {
        cursor.add_write_second();
    }
    reply_with_cursor(call, &namespace, cursor, wanted).await
}

/// Parses the plan of a find: filter, hint, and the stages sort, skip, limit and projection in this
/// order.
///
/// A sort by `$natural` is not a stage but the direction of the scan; a hint beside it has no
/// effect.
pub(super) fn parse_plan(args: &Args<'_>) -> Result<Plan> {
    check_flags(args)?;
    let filter = match args.document("filter")? {
        Some(filter) => mongo_query::filter::parse(filter)?,
        None => Filter::always(),
    };
    let Some(query) = filter.text_query().cloned() else { return plan_of(args, filter) };
    if args.strict_bool("returnKey")?.unwrap_or(false) {
        return Err(Error::new(BadValue, "text and returnKey not allowed in same query"));
    }
    let mut plan = plan_of(args, filter)?;
    let scored = ["sort", "projection"].into_iter().filter_map(|name| args.get(name));
    if scored.into_iter().any(text_score::uses_score) {
        plan.stages.insert(0, text_score::score_stage(&query));
        plan.stages.push(text_score::removal_stage());
    }
    Ok(plan)
}

/// Parses the plan of a find with this filter.
fn plan_of(args: &Args<'_>, filter: Filter) -> Result<Plan> {
    let (skip, limit) = (args.count("skip")?.unwrap_or(0), args.count("limit")?);
    let limit = limit.filter(|limit| 0 < *limit);
    let mut stages = Vec::new();
    let hint = with_bounds(parse_hint(args)?, args)?;
    if let Some(sort) = args.document("sort")?.filter(|sort| !sort.is_empty()) {
        match natural_order(sort)? {
            Some(_) if matches!(hint, Hint::Between { .. }) => return Err(natural_bounds()),
            Some(direction) => {
                let plan = Plan { hint: Hint::Natural(direction), ..Plan::new(filter) };
                return finish_plan(args, plan, stages, skip, limit);
            }
            None => {
                let sort = match filter.text_query() {
                    Some(_) => mongo_query::sort::parse_scored(sort)?,
                    None => mongo_query::sort::parse(sort)?,
                };
                // The evaluator makes the sort use the skip and limit after it.
                stages.push(Stage::Sort { sort, limit: None });
            }
        }
    }
    finish_plan(args, Plan { hint, ..Plan::new(filter) }, stages, skip, limit)
}

/// Adds the stages after the sort: skip, limit and projection.
fn finish_plan(
    args: &Args<'_>,
    plan: Plan,
    mut stages: Vec<Stage>,
    skip: u64,
    limit: Option<u64>,
) -> Result<Plan> {
    if 0 < skip {
        stages.push(Stage::Skip(skip));
    }
    if let Some(limit) = limit {
        stages.push(Stage::Limit(limit));
    }
    let output = output_of(args)?;
    if let Some(projection) = args.document("projection")?.filter(|it| !it.is_empty()) {
        let projection = mongo_query::projection::parse_find_over(projection, &plan.filter)?;
        // The key of an index is returned whole.
        if output != Output::IndexKey {
            stages.push(Stage::Project(projection.over_filter(&plan.filter)));
        }
    }
    Ok(Plan { output, ..plan.with_stages(stages) })
}

/// Returns whether the client wants a tailable cursor. On a missing collection the cursor ends
/// immediately. Clients match on the error text of a collection that is not capped, and continue
/// without a tailable cursor.
///
/// Fails with 9 if `awaitData` is set without `tailable`, and with 2 if the collection is not
/// capped, the sort is not `{$natural: 1}`, or `singleBatch` is set.
pub(super) fn check_tailable(
    found: Option<&Collection>,
    namespace: &Namespace,
    args: &Args<'_>,
) -> Result<bool> {
    let tailable = args.strict_bool("tailable")?.unwrap_or(false);
    if args.strict_bool("awaitData")?.unwrap_or(false) && !tailable {
        let message = "Cannot set 'awaitData' without also setting 'tailable'";
        return Err(Error::new(FailedToParse, message));
    }
    if !tailable {
        return Ok(false);
    }
    if let Some(sort) = args.document("sort")?.filter(|sort| !sort.is_empty())
        && natural_order(sort)? != Some(Direction::Forward)
    {
        let message = "cannot use tailable option with a sort other than {$natural: 1}";
        return Err(Error::new(BadValue, message));
    }
    if args.strict_bool("singleBatch")?.unwrap_or(false) {
        let message = "cannot use tailable option with the 'singleBatch' option";
        return Err(Error::new(BadValue, message));
    }
    if found.is_some_and(|collection| collection.state().record.capped.is_none()) {
        let message = format!(
            "error processing query: ns={namespace}: tailable cursor requested on non capped collection"
        );
        return Err(Error::new(BadValue, message));
    }
    Ok(true)
}

/// Checks options that have no effect here and only have to be booleans. `oplogReplay` has had no
/// effect in MongoDB since 4.4.
fn check_flags(args: &Args<'_>) -> Result<()> {
    for name in ["allowDiskUse", "allowPartialResults", "oplogReplay"] {
        args.strict_bool(name)?;
    }
    Ok(())
}

/// Returns the form of the results: with `returnKey` the key of the index alone, with
/// `showRecordId` the document with an identifier of its row.
fn output_of(args: &Args<'_>) -> Result<Output> {
    let (key, record) = (args.strict_bool("returnKey")?, args.strict_bool("showRecordId")?);
    Ok(match (key.unwrap_or(false), record.unwrap_or(false)) {
        (true, _) => Output::IndexKey,
        (false, true) => Output::WithRecordId,
        (false, false) => Output::Document,
    })
}

/// Returns the hint limited to the keys between `min` and `max`, if one of them is given.
///
/// Fails with 51173 if there is no hint, and with 291 if the hint is not an index.
fn with_bounds(hint: Hint, args: &Args<'_>) -> Result<Hint> {
    let bound = |name| -> Result<_> { Ok(args.document(name)?.map(DocRef::to_tree)) };
    let min = bound("min")?.unwrap_or_default();
    let max = bound("max")?.unwrap_or_default();
    if min.is_empty() && max.is_empty() {
        return Ok(hint);
    }
    match hint {
        Hint::None => {
            let message = "When using min()/max() a hint of which index to use must be provided";
            Err(Error::new(51173, message))
        }
        Hint::Natural(_) => Err(natural_bounds()),
        index => Ok(Hint::Between { index: Box::new(index), min, max }),
    }
}

/// Returns the error of bounds of keys together with `$natural`.
fn natural_bounds() -> Error {
    Error::new(NoQueryExecutionPlans, "min and max are incompatible with $natural")
}
