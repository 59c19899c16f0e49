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

use document::DocBuf;
use engine::{Direction, Hint, Namespace, Plan};
use pipeline::{Filter, exec::Stage};

use super::views;
use crate::{
    arguments::Args,
    call::Call,
    counters::Counters,
    errors::{BadValue, CommandNotSupported, Error, FailedToParse, Result},
    limits::DUMP_APP_NAME,
    parsers::hint::{natural_order, parse_hint},
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
/// Fails with the errors of the arguments, of filter, sort and projection, and with 115 for
/// unsupported options; all of them before the first document is read, even if `batchSize` is 0.
pub(super) async fn run(call: &Call<'_>) -> Result<DocBuf> {
    Counters::add(&call.connection.counters.query, 1);
    let namespace = call.namespace_of_documents()?;
    let args = call.args().with_noted_names();
    views::check_find(call, &namespace, &args)?;
    let follows = check_tailable(call, &namespace, &args)?;
    let mut plan = parse_plan(&args)?;
    if follows {
        plan.hint = Hint::Natural(Direction::Forward);
    }
    let context = call.evaluation_context().await?;
    let wanted = FirstBatch {
        size: args.count("batchSize")?,
        single: args.strict_bool("singleBatch")?.unwrap_or(false),
        keep: args.strict_bool("noCursorTimeout")?.unwrap_or(false),
        sorts: plan.sorts(),
    };
    let is_never = matches!(plan.filter, Filter::Never);
    let mut cursor = begin_query(call, &namespace, plan, context)?;
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
    refuse_unsupported(args)?;
    args.simple_collation()?;
    let filter = match args.document("filter")? {
        Some(filter) => mongo_query::filter::parse(filter)?,
        None => Filter::always(),
    };
    let (skip, limit) = (args.count("skip")?.unwrap_or(0), args.count("limit")?);
    let limit = limit.filter(|limit| 0 < *limit);
    let mut stages = Vec::new();
    let hint = parse_hint(args)?;
    if let Some(sort) = args.document("sort")?.filter(|sort| !sort.is_empty()) {
        match natural_order(sort)? {
            Some(direction) => {
                let plan = Plan { hint: Hint::Natural(direction), ..Plan::new(filter) };
                return finish_plan(args, plan, stages, skip, limit);
            }
            None => {
                let sort = mongo_query::sort::parse(sort)?;
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
    if let Some(projection) = args.document("projection")?.filter(|it| !it.is_empty()) {
        let projection = mongo_query::projection::parse_find_over(projection, &plan.filter)?;
        stages.push(Stage::Project(projection.over_filter(&plan.filter)));
    }
    Ok(plan.with_stages(stages))
}

/// Returns whether the client wants a tailable cursor. On a missing collection the cursor ends
/// immediately. Clients match on the error text of a collection that is not capped, and continue
/// without a tailable cursor.
///
/// Fails with 9 for `awaitData` without `tailable`, and with 2 for a collection that is not capped,
/// for a sort other than `{$natural: 1}`, and for `singleBatch`.
pub(super) fn check_tailable(
    call: &Call<'_>,
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
    let held = call.find_collection(namespace);
    if held.is_some_and(|collection| collection.state().record.capped.is_none()) {
        let message = format!(
            "error processing query: ns={namespace}: tailable cursor requested on non capped collection"
        );
        return Err(Error::new(BadValue, message));
    }
    Ok(true)
}

/// Refuses unsupported options that would change the result: record ids and bounds of index keys.
/// Options without effect here only have to be booleans. `oplogReplay` has had no effect in MongoDB
/// since 4.4.
fn refuse_unsupported(args: &Args<'_>) -> Result<()> {
    args.strict_bool("allowDiskUse")?;
    args.strict_bool("allowPartialResults")?;
    args.strict_bool("oplogReplay")?;
    for name in ["returnKey", "showRecordId"] {
        if args.strict_bool(name)?.unwrap_or(false) {
            let message = format!("find with '{name}' is not supported");
            return Err(Error::new(CommandNotSupported, message));
        }
    }
    for name in ["min", "max"] {
        if args.document(name)?.is_some_and(|bound| !bound.is_empty()) {
            let message = format!("find with '{name}' is not supported");
            return Err(Error::new(CommandNotSupported, message));
        }
    }
    Ok(())
}
