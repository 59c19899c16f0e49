//! `aggregate`: a pipeline over a collection, or over none.
//!
//! Some stages report on the server instead of reading the engine's documents: `$collStats`,
//! `$indexStats`, `$currentOp`, `$listLocalSessions` and `$listSessions`. As the first stage of a
//! pipeline they are replaced by the documents they produce, and the rest of the pipeline runs over
//! these.
//!
//! ```text
//! {aggregate: "c", pipeline: [..], cursor: {batchSize: n}}    over a collection
//! {aggregate: 1, pipeline: [{$documents: [..]}, ..], cursor: {}}    over none
//! => {cursor: {firstBatch: [..], id: long, ns: "db.c"}, ok: 1}
//! ```

use collation::Collation;
use document::{ArrayRef, DocBuf, DocRef, Document, Value, ValueRef};
use engine::{Namespace, Plan};
use mongo_query::{
    pipeline::output::{Output, WRITING_STAGES, parse_with_output},
    text_score,
};
use pipeline::{Filter, exec::Stage};

use super::{
    change_stream::open_stream,
    explain, index_stats, list_sessions, operations,
    output::{self, write_output},
    snapshot_read::check_stage_levels,
    stats,
};
use crate::{
    access::Action,
    arguments::Args,
    call::{Call, default_collation},
    change_stream::stage_needs,
    counters::Counters,
    errors::{
        CommandNotSupported, Error, FailedToParse, InvalidNamespace, NotImplemented, Result,
        TypeMismatch,
    },
    names,
    parsers::{
        api_version::{check_stages, is_strict},
        collation::parse_collation,
        hint::parse_hint,
    },
    query::begin_query,
    replies::cursor::{FirstBatch, reply_with_cursor},
    rights::{CommandRequest, Requirement},
};

/// Arguments of `aggregate`. Some have no effect and are accepted because drivers send them.
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

/// Returns whether the pipeline has a writing stage, at any position. A read-only sender is refused
/// then before the pipeline is parsed.
pub(super) fn changes_data(command: DocRef<'_>) -> bool {
    let pipeline = command.get("pipeline").and_then(ValueRef::as_array);
    pipeline.is_some_and(|stages| {
        let mut stages = stages.iter().filter_map(ValueRef::as_document);
        stages.any(|stage| stage.iter().any(|(name, _)| WRITING_STAGES.contains(&name)))
    })
}

/// Returns the rights that `aggregate` requires: to read the collection, or those of a first stage
/// that reports on the server, and to write the target of a last stage that writes. Joined
/// collections are checked when the query starts.
pub(super) fn needs(request: &CommandRequest<'_>) -> Result<Vec<Requirement>> {
    let mut needs = source_needs(request)?;
    needs.extend(output::output_needs(request)?);
    Ok(needs)
}

/// Returns the rights that the source of a pipeline requires.
fn source_needs(request: &CommandRequest<'_>) -> Result<Vec<Requirement>> {
    let pipeline = request.body.get("pipeline").and_then(ValueRef::as_array);
    let first = pipeline.and_then(|stages| stages.get(0)).and_then(ValueRef::as_document);
    let need = match first.and_then(|stage| stage.iter().next()) {
        Some(("$currentOp", spec)) => return Ok(operations::current_op_stage_needs(spec)),
        Some((list_sessions::LOCAL | list_sessions::STORED, spec)) => {
            return Ok(list_sessions::stage_needs(spec));
        }
        Some(("$changeStream", spec)) => return stage_needs(request, spec),
        Some(("$collStats", _)) => Requirement::of(Action::CollStats, request.collection()?),
        Some(("$indexStats", _)) => Requirement::of(Action::IndexStats, request.collection()?),
        // `{aggregate: 1}` takes its documents from the command itself, and so requires no right.
        _ if !matches!(request.body.get("aggregate"), Some(ValueRef::String(_))) => {
            return Ok(Vec::new());
        }
        _ => Requirement::of(Action::Find, request.collection()?),
    };
    Ok(vec![need])
}

/// Runs `aggregate`; replies with the first batch and a cursor. `cursor` is required except for
/// `explain`, as since MongoDB 3.6. Options are read before the pipeline, in mongod's order.
///
/// Fails with 9 if `cursor` is missing or the source has a wrong type, 73 if the name is invalid or
/// the pipeline does not match its source, 115 if there is an `exchange`, and with the errors of
/// the stages.
pub(super) async fn run(call: &Call<'_>) -> Result<DocBuf> {
    Counters::add(&call.connection.counters.query, 1);
    let args = call.args();
    let namespace = source_namespace(call)?;
    args.strict_bool("allowDiskUse")?;
    args.lax_bool("bypassDocumentValidation")?;
    if args.strict_bool("explain")?.unwrap_or(false) {
        return explain::explain_aggregate(call, &namespace).await;
    }
    let Some(cursor) = args.document("cursor")? else {
        let message =
            "The 'cursor' option is required, except for aggregate with the explain argument";
        return Err(Error::new(FailedToParse, message));
    };
    let cursor = Args::new("cursor", cursor);
    cursor.allow_only(&["batchSize"])?;
    let size = cursor.count("batchSize")?;
    let pipeline = args.need_array("pipeline")?;
    if is_strict(call.body) {
        check_stages(pipeline)?;
    }
    check_stage_levels(call, pipeline)?;
    let first_stage = pipeline.get(0).and_then(ValueRef::as_document);
    let names = first_stage.map_or(0, |stage| stage.iter().count());
    let first_stage = first_stage.and_then(|stage| stage.iter().next());
    if first_stage.is_some() && names != 1 {
        let message = "A pipeline stage specification object must contain exactly one field.";
        return Err(Error::new(40323, message));
    }
    let found = call.find_collection(&namespace);
    let collation = parse_collation(&args)?.or_default(default_collation(found.as_deref()));
    if let Some(("$changeStream", spec)) = first_stage {
        let whole_database = call.body.get("aggregate").is_some_and(ValueRef::is_number);
        let of = (&namespace, whole_database);
        return open_stream(call, of, pipeline, spec, (collation, size)).await;
    }
    let made = match first_stage {
        Some(stage) => make_documents(call, &args, &namespace, stage).await?,
        None => None,
    };
    let (plan, output, made) = match made {
        Some(documents) => plan_after_source(&args, documents, collation.as_deref())?,
        None => {
            let (plan, output) = parse_plan(&args, collation.as_deref())?;
            (plan, output, 0)
        }
    };
    let context = call.context_with(collation).await?;
    // The cursor holds the documents, so their memory is reserved until the operation ends.
    context.operation_memory.keep_for_operation(made)?;
    if let Some(output) = output {
        return write_output(call, &namespace, found, plan, output, context).await;
    }
    let wanted = FirstBatch { size, single: false, keep: false, sorts: plan.sorts() };
    let cursor = begin_query(call, &namespace, found, plan, context)?;
    reply_with_cursor(call, &namespace, cursor, wanted).await
}

/// Returns the documents of a first stage that reports on the server; `None` for any other stage.
async fn make_documents(
    call: &Call<'_>,
    args: &Args<'_>,
    namespace: &Namespace,
    stage: (&str, ValueRef<'_>),
) -> Result<Option<Vec<Document>>> {
    Ok(Some(match stage {
        ("$collStats", ValueRef::Document(spec)) => {
            check_source(args)?;
            vec![stats::stats_stage(call, namespace, spec).await?]
        }
        ("$indexStats", spec) => {
            check_source(args)?;
            index_stats::index_stats_stage(call, namespace, spec)?
        }
        ("$currentOp", spec) => operations::current_op_stage(call, spec).await?,
        (name @ (list_sessions::LOCAL | list_sessions::STORED), spec) => {
            list_sessions::list_stage(call, namespace, name, spec).await?
        }
        _ => return Ok(None),
    }))
}

/// Returns the plan of a pipeline whose first stage was replaced by these documents, its last stage
/// if that writes, and the memory that the documents take.
fn plan_after_source(
    args: &Args<'_>,
    documents: Vec<Document>,
    collation: Option<&Collation>,
) -> Result<(Plan, Option<Output>, usize)> {
    let pipeline = args.need_array("pipeline")?;
    let rest: Vec<Value> = pipeline.iter().skip(1).map(ValueRef::to_value).collect();
    let documents = Value::Array(documents.into_iter().map(Value::Document).collect());
    let bytes = evaluation::memory_of(documents.as_ref());
    let mut stages = vec![Stage::Documents(pipeline::Expr::Literal(documents))];
    let (rest, output) = parse_with_output(ArrayRef::Tree(&rest), true, collation)?;
    stages.extend(rest);
    // The filter excludes all documents of the collection: only the given documents are read.
    Ok((Plan::new(Filter::Never).with_stages(stages), output, bytes))
}

/// Returns the collection that a pipeline reads; for `{aggregate: 1}` a placeholder named
/// `$cmd.aggregate`.
pub(super) fn source_namespace(call: &Call<'_>) -> Result<Namespace> {
    match call.body.get("aggregate") {
        Some(ValueRef::String(name)) => names::parse_collection(call.database, name),
        Some(value) if value.is_number() => {
            let one = document::Number::of(value).and_then(document::Number::to_i64_exact);
            if one != Some(1) {
                let message = "Invalid command format: the 'aggregate' field must specify a \
                               collection name or 1";
                return Err(Error::new(FailedToParse, message));
            }
            Ok(Namespace::new(call.database, "$cmd.aggregate"))
        }
        _ => Err(Error::new(TypeMismatch, "collection name has to be text or 1")),
    }
}

/// Checks that a pipeline over no collection starts with `$documents`, and that no other pipeline
/// does. Fails with 73.
fn check_source(args: &Args<'_>) -> Result<()> {
    let pipeline = args.need_array("pipeline")?;
    let no_collection = args.body.get("aggregate").is_some_and(ValueRef::is_number);
    let first = pipeline.get(0).and_then(ValueRef::as_document);
    let message = match first.and_then(|stage| stage.iter().next()) {
        None if no_collection => "{aggregate: 1} is not valid for an empty pipeline.".to_owned(),
        Some(("$documents", _)) if !no_collection => {
            "'$documents' can only be run with {aggregate: 1}".to_owned()
        }
        Some((name, _)) if no_collection && name != "$documents" => {
            format!("{{aggregate: 1}} is not valid for '{name}'; a collection is required.")
        }
        _ => return Ok(()),
    };
    Err(Error::new(InvalidNamespace, message))
}

/// Parses the plan of an aggregate that compares texts by `collation`, and its last stage if that
/// writes. A leading `$match` becomes the filter, so that an index can serve it.
pub(super) fn parse_plan(
    args: &Args<'_>,
    collation: Option<&Collation>,
) -> Result<(Plan, Option<Output>)> {
    if args.get("exchange").is_some() {
        return Err(Error::new(CommandNotSupported, "aggregate with 'exchange' is not supported"));
    }
    let pipeline = args.need_array("pipeline")?;
    let first = pipeline.get(0).and_then(ValueRef::as_document);
    if first.is_some_and(|stage| stage.get("$changeStream").is_some()) {
        let message = "explain of a $changeStream pipeline is not supported";
        return Err(Error::new(CommandNotSupported, message));
    }
    if text_score::uses_score(ValueRef::Array(pipeline)) {
        check_source(args)?;
        let (plan, output) = scored_plan(pipeline, collation)?;
        return Ok((Plan { hint: parse_hint(args)?, ..plan }, output));
    }
    let (mut stages, output) = parse_with_output(pipeline, false, collation)?;
    check_source(args)?;
    let mut filter = Filter::always();
    if matches!(stages.first(), Some(Stage::Match(_)))
        && let Stage::Match(first) = stages.remove(0)
    {
        filter = first;
    }
    let plan = Plan { hint: parse_hint(args)?, ..Plan::new(filter).with_stages(stages) };
    Ok((plan, output))
}

/// Stages after which documents still have the field of the score of a search.
const KEEPING_SCORE: &[&str] =
    &["$match", "$sort", "$skip", "$limit", "$addFields", "$set", "$unset", "$unwind", "$lookup"];
/// Stages that may use the score of a search.
const USING_SCORE: &[&str] = &[
    "$match",
    "$sort",
    "$addFields",
    "$set",
    "$project",
    "$group",
    "$sortByCount",
    "$bucket",
    "$bucketAuto",
];

/// Parses the plan of a pipeline that uses the score of its search. The score is computed before the
/// second stage, and removed after the last stage that uses it.
///
/// Fails with 40218 if the pipeline does not begin with a search, and with 238 if the score is used
/// by a stage that cannot, after documents were reshaped, or next to a whole document.
fn scored_plan(
    pipeline: ArrayRef<'_>,
    collation: Option<&Collation>,
) -> Result<(Plan, Option<Output>)> {
    let stages: Vec<Value> = pipeline.iter().map(ValueRef::to_value).collect();
    let uses = |stage: &Value| text_score::uses_score(stage.as_ref());
    let last = stages.iter().rposition(uses).unwrap_or_default();
    let (head, rest) = stages.split_at(last + 1);
    for (place, stage) in head.iter().enumerate().skip(1) {
        let name = stage.as_ref().as_document().and_then(|stage| stage.iter().next());
        let name = name.map_or("", |(name, _)| name);
        let kept = place == last || KEEPING_SCORE.contains(&name);
        let used = !uses(stage) || USING_SCORE.contains(&name);
        let whole = text_score::uses_whole_document(stage.as_ref());
        if !kept || !used || whole {
            let message =
                format!("{{$meta: 'textScore'}} in or after this {name} is not supported");
            return Err(Error::new(NotImplemented, message));
        }
    }
    let parsed = mongo_query::pipeline::parse_scored(ArrayRef::Tree(head), collation);
    let mut parsed = parsed?.into_iter();
    let filter = match parsed.next() {
        Some(Stage::Match(filter)) => filter,
        _ => Filter::always(),
    };
    let Some(query) = filter.text_query() else { return Err(text_score::no_score().into()) };
    let mut all = vec![text_score::score_stage(query)];
    all.extend(parsed);
    all.push(text_score::removal_stage());
    let (rest, output) = parse_with_output(ArrayRef::Tree(rest), true, collation)?;
    all.extend(rest);
    Ok((Plan::new(filter).with_stages(all), output))
}
