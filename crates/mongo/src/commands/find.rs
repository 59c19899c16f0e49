//! `find`: a filter, a sort, a part of the result, a projection.
//!
//! ```text
//! {find: "c", filter: {..}, sort: {..}, skip: n, limit: n, projection: {..}, batchSize: n}
//! => {cursor: {firstBatch: [..], id: long, ns: "db.c"}, ok: 1}
//! ```
//!
//! Without a sort documents come in the order of `_id`, whatever order they were inserted in. A
//! `limit` of 0 is none. What a batch holds is the smaller of `batchSize` and what fits.

use document::DocBuf;
use engine::{Hint, Namespace, Plan, Store};
use pipeline::exec::Stage;

use crate::{
    arguments::Args,
    call::Call,
    counters::Counters,
    errors::{BadValue, CommandNotSupported, Error, FailedToParse, Result},
    limits::DUMPING,
    parsers::hint::{natural_order, parse_hint},
    query::begin_query,
    replies::cursor::{FirstBatch, reply_with_cursor},
};

/// Arguments of `find`. Those that are not supported are known, to be refused by name where they
/// ask for something.
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
/// A client that calls itself [`DUMPING`] gets each document's `_ts` too, while that is switched
/// on: a dump without it would begin every document's life anew when it is restored.
///
/// Errors: those of the arguments, of filter, sort and projection, and 115 for options that are not
/// supported. All of them come before the first document is read; a `batchSize` of 0 still gets
/// them.
pub(super) async fn run<S: Store>(call: &Call<'_, S>) -> Result<DocBuf> {
    Counters::add(&call.connection.counters.query, 1);
    let namespace = call.namespace_of_documents()?;
    let args = call.args().with_noted_names();
    check_tailable(call, &namespace, &args)?;
    let plan = parse_plan(&args)?;
    let context = call.evaluation_context().await?;
    let wanted = FirstBatch {
        size: args.count("batchSize")?,
        single: args.strict_bool("singleBatch")?.unwrap_or(false),
        keep: args.strict_bool("noCursorTimeout")?.unwrap_or(false),
    };
    let mut cursor = begin_query(call, &namespace, plan, context)?;
    let dumps = || call.connection.app_name().as_deref() == Some(DUMPING);
    if call.door.carries_timestamps() && dumps() {
        cursor.add_write_second();
    }
    reply_with_cursor(call, &namespace, cursor, wanted).await
}

/// The plan of a find's arguments: filter, hint, and the stages sort, skip, limit and project in
/// this order.
///
/// A sort by `$natural` is not a stage but the direction of the walk, so a hint beside it means
/// nothing.
pub(super) fn parse_plan(args: &Args<'_>) -> Result<Plan> {
    refuse_unsupported(args)?;
    args.simple_collation()?;
    let filter = match args.document("filter")? {
        Some(filter) => mongo_query::filter::parse(filter)?,
        None => pipeline::Filter::always(),
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
                // The evaluator lets the sort look ahead to the skip and limit after it.
                stages.push(Stage::Sort { sort, limit: None });
            }
        }
    }
    finish_plan(args, Plan { hint, ..Plan::new(filter) }, stages, skip, limit)
}

/// Adds what comes after the sort: skip, limit and projection.
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
        let projection = mongo_query::projection::parse_find(projection)?;
        let projection = projection.over_filter(&plan.filter);
        stages.push(Stage::Project(projection));
    }
    Ok(plan.with_stages(stages))
}

/// Refuses a tailable cursor as mongod does where a collection is not capped, which none is here. One that
/// is not there has nothing to wait for, and its cursor ends at once. Clients look for the text: they go
/// on without such a cursor.
///
/// Errors: 9 for `awaitData` without `tailable`, 2 for a collection that is there.
pub(super) fn check_tailable<S: Store>(
    call: &Call<'_, S>,
    namespace: &Namespace,
    args: &Args<'_>,
) -> Result<()> {
    let tailable = args.strict_bool("tailable")?.unwrap_or(false);
    if args.strict_bool("awaitData")?.unwrap_or(false) && !tailable {
        let message = "Cannot set 'awaitData' without also setting 'tailable'";
        return Err(Error::new(FailedToParse, message));
    }
    if tailable && call.find_collection(namespace).is_some() {
        let message = format!(
            "error processing query: ns={namespace}: tailable cursor requested on non capped collection"
        );
        return Err(Error::new(BadValue, message));
    }
    Ok(())
}

/// Refuses what would change the result and is not supported: record ids and bounds of index keys. Options
/// that change nothing here only have to be booleans; `oplogReplay` is one since MongoDB 4.4.
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
