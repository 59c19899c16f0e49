//! `aggregate`: a pipeline over a collection, or over no collection at all.

use document::{ArrayRef, DocBuf, Value, ValueRef};
use engine::Store;
use engine::{Model, Namespace, Plan};
use query::{Filter, exec::Stage};

use super::{
    Call,
    cursor_reply::{FirstBatch, first},
    find::hint,
};
use crate::{
    args::Args,
    door::Counters,
    errors::{CommandNotSupported, Error, FailedToParse, Result, TypeMismatch},
    names,
};

pub(super) const FIELDS: &[&str] = &[
    "pipeline",
    "cursor",
    "explain",
    "allowDiskUse",
    "bypassDocumentValidation",
    "collation",
    "hint",
    "let",
    "isMapReduceCommand",
    "exchange",
];

pub(super) async fn run<S: Store>(call: Call<'_, S>) -> Result<DocBuf> {
    Counters::add(&call.connection.counters.query, 1);
    let args = call.args();
    let namespace = source(&call)?;
    if args.bool("explain")?.unwrap_or(false) {
        return super::explain::of_aggregate(&call, &namespace).await;
    }
    let Some(cursor) = args.document("cursor")? else {
        let message =
            "The 'cursor' option is required, except for aggregate with the explain argument";
        return Err(Error::new(FailedToParse, message));
    };
    let size = Args::new("cursor", cursor).count("batchSize")?;
    let first_stage = args.need_array("pipeline")?.get(0).and_then(ValueRef::as_document);
    let plan = match first_stage.and_then(|stage| stage.get("$collStats")) {
        Some(ValueRef::Document(spec)) => with_stats(&call, &namespace, spec).await?,
        _ => plan(&args, call.generic.deadline)?,
    };
    let context = call.context().await?;
    let cursor = call.door.engine.query(Model::Documents, &namespace, plan, context)?;
    first(&call, &namespace, cursor, FirstBatch { size, single: false, keep: false }).await
}

/// A pipeline that begins with `$collStats`: one document with counts and sizes, and then the
/// other stages.
async fn with_stats<S: Store>(
    call: &Call<'_, S>,
    namespace: &Namespace,
    spec: document::DocRef<'_>,
) -> Result<Plan> {
    let stats = super::stats::stage(call, namespace, spec).await?;
    let rest: Vec<Value> =
        call.args().need_array("pipeline")?.iter().skip(1).map(ValueRef::to_value).collect();
    let computed = Value::Array(vec![Value::Document(stats)]);
    let mut stages = vec![Stage::Documents(query::Expr::Literal(computed))];
    stages.extend(mongo_query::pipeline::parse(ArrayRef::Tree(&rest))?);
    // No document of the collection is looked at.
    Ok(Plan::new(Filter::Never).with_stages(stages))
}

/// The collection a pipeline reads; `{aggregate: 1}` reads none.
pub(super) fn source<S: Store>(call: &Call<'_, S>) -> Result<Namespace> {
    match call.body.get("aggregate") {
        Some(ValueRef::String(name)) => names::collection(call.database, name),
        Some(value) if value.is_number() => Ok(Namespace::new(call.database, "$cmd.aggregate")),
        _ => Err(Error::new(TypeMismatch, "collection name has to be text or 1")),
    }
}

/// The plan of an aggregate's arguments: a leading `$match` becomes the filter, so that an index
/// can serve it.
pub(super) fn plan(args: &Args<'_>, deadline: Option<std::time::Duration>) -> Result<Plan> {
    args.simple_collation()?;
    if args.get("exchange").is_some() {
        return Err(Error::new(CommandNotSupported, "aggregate with 'exchange' is not supported"));
    }
    let mut stages = mongo_query::pipeline::parse(args.need_array("pipeline")?)?;
    let mut filter = Filter::always();
    if matches!(stages.first(), Some(Stage::Match(_)))
        && let Stage::Match(first) = stages.remove(0)
    {
        filter = first;
    }
    Ok(Plan { hint: hint(args)?, deadline, ..Plan::new(filter).with_stages(stages) })
}
