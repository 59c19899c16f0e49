//! `explain`: reports the chosen access path and, on request, the numbers of keys and documents
//! examined. For a write it explains the search of the documents, and changes nothing.
//!
//! The inner command is parsed by the same parsers as when it runs, into a plan and an [`Outcome`],
//! which is the command's operation on the documents found. With `executionStats` the plan runs to
//! its end, and the operation only counts the documents that it would affect.
//!
//! ```text
//! {explain: {find: "c", filter: {a: 1}}, verbosity: "executionStats"}
//! => {queryPlanner: {namespace: "db.c", parsedQuery: {a: 1}, winningPlan: {stage: "FETCH", ..}},
//!     executionStats: {nReturned: 1, totalKeysExamined: 1, totalDocsExamined: 1, ..},
//!     queryShapeHash: "5F3A..", ok: 1}
//! ```

/// The hashes of the shape of a query.
mod query_shape;
/// The format of the reply.
mod shape;
/// Writes, which are counted instead of applied.
mod write;

use std::sync::Arc;

use collation::Collation;
use document::{DocBuf, DocRef, Document, ValueRef, doc};
use engine::{BatchLimit, Collection, Hint, Namespace, Plan};
use pipeline::exec::Stage;

use self::{
    query_shape::plan_cache_shape_hash,
    shape::{Shown, Stats, build_reply, planner_section, winning_plan},
    write::PlannedWrite,
};

use super::{COMMANDS, aggregate, count, find, views};
use crate::{
    arguments::{Args, collection_argument},
    call::{Call, default_collation},
    errors::{BadValue, CommandNotSupported, Error, FailedToParse, InvalidOptions, Result},
    names,
    parsers::{
        api_version,
        collation::parse_collation,
        hint::{covers_all, parse_hint},
    },
    query::begin_query,
    rights::{CommandRequest, Requirement},
    stored_view::{is_view, not_on_view},
};

/// A parsed command: its search, and its operation on the documents found.
struct Explained {
    plan: Plan,
    /// Whether the plan's last stage is a limit implied by the command, which is not shown.
    bounded: bool,
    /// The filter as given, for `parsedQuery`.
    filter: Document,
    then: Outcome,
    /// The order of texts in the explained command.
    collation: Option<Arc<Collation>>,
}

/// The operation of the explained command on the documents that it finds.
enum Outcome {
    /// Returns the documents to the client.
    Answer,
    Count,
    /// Changes or removes the documents.
    Write(Box<PlannedWrite>),
}

impl Outcome {
    /// Returns the command's own stage above the search; `None` if the documents are the reply.
    fn planned_stage(&self) -> Option<Document> {
        match self {
            Self::Answer => None,
            Self::Count => Some(doc! { "stage": "COUNT" }),
            Self::Write(change) => Some(doc! { "stage": change.stage_name() }),
        }
    }

    /// Returns the command's own stage with its counts after a run that found `found` documents;
    /// `None` if the documents are the reply.
    fn counted_stage(&self, found: usize) -> Option<Document> {
        match self {
            Self::Answer => None,
            Self::Count => {
                let counted = shape::shortest_int(found as u64);
                Some(doc! { "stage": "COUNT", "nReturned": 0, "nCounted": counted })
            }
            Self::Write(change) => Some(change.stage_stats()),
        }
    }

    /// Returns the number of documents that the explained command would return.
    fn returned_count(&self, found: usize) -> usize {
        match self {
            Self::Answer => found,
            Self::Count => 0,
            Self::Write(change) => change.returned_count(),
        }
    }
}

/// Returns whether the inner command is an aggregate that writes. Other inner commands change
/// nothing when they are explained.
pub(super) fn changes_data(command: DocRef<'_>) -> bool {
    let explained = command.get("explain").and_then(ValueRef::as_document);
    explained.is_some_and(aggregate::changes_data)
}

/// Requires the rights of the explained command.
pub(super) fn needs(request: &CommandRequest<'_>) -> Result<Vec<Requirement>> {
    let Some(body) = request.args().document("explain")? else { return Ok(Vec::new()) };
    // An unknown command and `explain` itself require no rights: they are refused by their name.
    let inner = COMMANDS.find_body(body).filter(|known| known.row.name != request.name);
    let Some(known) = inner else { return Ok(Vec::new()) };
    let inner = known.row.request(body, request.database, request.message);
    known.row.rights.needs(&inner)
}

/// Runs `explain`. Without a verbosity the plan is executed, as in mongod.
pub(super) async fn run(call: &Call<'_>) -> Result<DocBuf> {
    let Some(command) = call.args().document("explain")? else {
        return Err(Error::new(FailedToParse, "explain takes a command"));
    };
    let execute = match call.args().str("verbosity")? {
        None | Some("allPlansExecution" | "executionStats") => true,
        Some("queryPlanner") => false,
        Some(other) => {
            let message = format!(
                "verbosity '{other}' is not one of queryPlanner, executionStats, allPlansExecution"
            );
            return Err(Error::new(BadValue, message));
        }
    };
    // The inner command has no `$db`; it runs on the database of `explain`.
    let name = command.iter().next().map_or("", |(name, _)| name);
    check_api(call.body, name, command)?;
    let args = Args::new(name, command);
    let namespace = match name {
        "aggregate" => aggregate::source_namespace(&call.inner_call(name, command))?,
        _ => names::parse_collection(call.database, collection_argument(command, name)?)?,
    };
    let found = call.find_collection(&namespace);
    if name == "find" {
        views::check_find(found.as_deref(), &args)?;
        find::check_tailable(found.as_deref(), &namespace, &args)?;
    }
    if execute && aggregate::changes_data(command) {
        let message = "an aggregate with $out or $merge can be explained with verbosity \
                       'queryPlanner' only: others would run it";
        return Err(Error::new(InvalidOptions, message));
    }
    let default = default_collation(found.as_deref());
    let explained = explained_command(name, &args, default.as_ref())?;
    let plan = &explained.plan;
    let on_view = found.as_deref().is_some_and(is_view);
    if on_view && matches!(explained.then, Outcome::Write(_)) {
        return Err(not_on_view(&namespace));
    }
    // The same test as in `count` itself.
    if name == "count" && !on_view && plan.filter.is_always() && covers_all(&plan.hint) {
        return explain_fast_count(call, &namespace, command, execute).await;
    }
    reply_with_plan(call, &namespace, found, explained, command, execute).await
}

/// Checks that the inner command conforms to version 1 of the Stable API, if `explain` requires
/// this version.
fn check_api(explain: DocRef<'_>, name: &str, command: DocRef<'_>) -> Result<()> {
    if !api_version::is_strict(explain) {
        return Ok(());
    }
    if let Some(known) = COMMANDS.find(name) {
        api_version::check_arguments(known.row, command)?;
    }
    match command.get("pipeline").and_then(ValueRef::as_array) {
        Some(pipeline) => api_version::check_stages(pipeline),
        None => Ok(()),
    }
}

/// Explains a count without a filter, which reads no document: mongod's `RECORD_STORE_FAST_COUNT`.
async fn explain_fast_count(
    call: &Call<'_>,
    namespace: &Namespace,
    command: DocRef<'_>,
    execute: bool,
) -> Result<DocBuf> {
    // mongod shows a missing collection as a plan that ends at once.
    let there = call.find_collection(namespace).is_some();
    let mut stage = doc! { "stage": if there { "RECORD_STORE_FAST_COUNT" } else { "EOF" } };
    let hash = plan_cache_shape_hash(DocRef::Tree(&Document::new()), command);
    let planned = planner_section(namespace, Document::new(), hash, stage.clone());
    let stats = if execute {
        let inner = call.inner_call("count", command);
        let counted = count::run(&inner);
        let counted = counted.await?;
        if let Some(n) = counted.get("n") {
            stage.push("nCounted", n.to_value());
        }
        Some(Stats { stage, ..Stats::default() })
    } else {
        None
    };
    build_reply(call, namespace, planned, stats, command)
}

/// Parses the inner command. For `update` and `delete` the first statement is explained, as mongod
/// accepts no other.
fn explained_command(
    name: &str,
    args: &Args<'_>,
    default: Option<&Arc<Collation>>,
) -> Result<Explained> {
    let filter_of = |field: &str| -> Result<Document> {
        Ok(args.document(field)?.map(DocRef::to_tree).unwrap_or_default())
    };
    let collation = |args: &Args<'_>| -> Result<Option<Arc<Collation>>> {
        Ok(parse_collation(args)?.or_default(default.cloned()))
    };
    let plain = |plan: Plan, filter: Document, then: Outcome| {
        Ok(Explained { plan, bounded: false, filter, then, collation: collation(args)? })
    };
    match name {
        "find" => plain(find::parse_plan(args)?, filter_of("filter")?, Outcome::Answer),
        "aggregate" => {
            let (plan, _) = aggregate::parse_plan(args, collation(args)?.as_deref())?;
            plain(plan, first_match(args), Outcome::Answer)
        }
        "count" => plain(count::parse_plan(args)?, filter_of("query")?, Outcome::Count),
        "distinct" => plain(by_query(args)?, filter_of("query")?, Outcome::Answer),
        "findAndModify" | "findandmodify" => write::explain_find_and_modify(args, collation(args)?),
        "update" => {
            let statement = first_statement(args, "updates")?;
            write::explain_update(&statement, collation(&statement)?)
        }
        "delete" => {
            let statement = first_statement(args, "deletes")?;
            write::explain_delete(&statement, collation(&statement)?)
        }
        other => {
            Err(Error::new(CommandNotSupported, format!("explain of '{other}' is not supported")))
        }
    }
}

/// Returns the plan of a command whose filter is in `query`.
fn by_query(args: &Args<'_>) -> Result<Plan> {
    let filter = match args.document("query")? {
        Some(filter) => mongo_query::filter::parse(filter)?,
        None => pipeline::Filter::always(),
    };
    Ok(Plan { hint: parse_hint(args)?, ..Plan::new(filter) })
}

/// Returns the first statement of a list.
fn first_statement<'a>(args: &Args<'a>, list: &'a str) -> Result<Args<'a>> {
    let first = args.documents(list)?.into_iter().next();
    Ok(Args::new(list, first.ok_or_else(|| args.missing_field(list))?))
}

/// Returns the filter of a leading `$match`.
fn first_match(args: &Args<'_>) -> Document {
    let stages = args.body.get("pipeline").and_then(ValueRef::as_array);
    let first = stages.and_then(|stages| stages.get(0)).and_then(ValueRef::as_document);
    let filter = first.and_then(|stage| stage.get("$match")).and_then(ValueRef::as_document);
    filter.map(DocRef::to_tree).unwrap_or_default()
}

/// Returns the plan of a search for one document or, if `many`, for all. Also returns whether its
/// last stage is the limit of one document.
fn search_plan(find: engine::Find, many: bool) -> (Plan, bool) {
    let filter = Arc::unwrap_or_clone(find.filter);
    let hint: Hint = find.hint;
    let mut stages = Vec::new();
    stages.extend(find.sort.map(|sort| Stage::Sort { sort, limit: None }));
    if !many {
        stages.push(Stage::Limit(1));
    }
    (Plan { hint, ..Plan::new(filter).with_stages(stages) }, !many)
}

/// Runs `aggregate` with `explain: true`, the older form: it plans and does not execute.
pub(super) async fn explain_aggregate(call: &Call<'_>, namespace: &Namespace) -> Result<DocBuf> {
    let args = call.args();
    let found = call.find_collection(namespace);
    let collation = parse_collation(&args)?.or_default(default_collation(found.as_deref()));
    let (plan, _) = aggregate::parse_plan(&args, collation.as_deref())?;
    let filter = first_match(&args);
    let explained = Explained { plan, bounded: false, filter, then: Outcome::Answer, collation };
    reply_with_plan(call, namespace, found, explained, call.body, false).await
}

/// Makes the plan, executes it on request, and builds the reply. Reads batches as a client would,
/// so that the operation can be stopped between them.
async fn reply_with_plan(
    call: &Call<'_>,
    namespace: &Namespace,
    found: Option<Arc<Collection>>,
    explained: Explained,
    command: DocRef<'_>,
    execute: bool,
) -> Result<DocBuf> {
    let Explained { plan, bounded, filter, mut then, collation } = explained;
    let context = call.context_with(collation).await?;
    // The stages of a count implement the command itself and are not shown. Nor is the limit that a
    // search for one document implies.
    let hidden = match then {
        Outcome::Count => plan.stages.len(),
        _ => usize::from(bounded),
    };
    let searched = plan.filter.clone();
    let mut cursor = begin_query(call, namespace, found, plan, Arc::clone(&context))?;
    cursor.leave_uncounted();
    let mut stages: Vec<&'static str> = cursor.stages().iter().map(Stage::name).collect();
    stages.truncate(stages.len().saturating_sub(hidden));
    let sorts = cursor.sorts_in_stages();
    let mut found = 0;
    let started = clock::monotonic_time();
    if execute {
        loop {
            // Batches are discarded; their size is bounded so that a large result is never held
            // whole.
            let limit = BatchLimit { documents: 10_000, bytes: 16 * 1024 * 1024 };
            let batch = cursor.next_batch(limit).await?;
            found += match then {
                Outcome::Count => {
                    let counted = count::counted_of(batch.documents.first().map(|row| &row[..]));
                    usize::try_from(counted).unwrap_or(usize::MAX)
                }
                _ => batch.documents.len(),
            };
            if let Outcome::Write(change) = &mut then {
                for document in &batch.documents {
                    change.count_found(DocRef::Raw(document), &searched, &context)?;
                }
            }
            if batch.done {
                break;
            }
        }
    }
    let millis = clock::monotonic_time().saturating_sub(started).as_millis();
    let explain = cursor.explain();
    let shown = Shown { explain: &explain, clustered: cursor.is_clustered(), sorts };
    let plan = winning_plan(&shown, &stages, None, then.planned_stage());
    let hash = plan_cache_shape_hash(DocRef::Tree(&filter), command);
    let planned = planner_section(namespace, filter, hash, plan);
    let stats = execute.then(|| {
        let (keys, documents) = (explain.keys_examined, explain.documents_examined);
        let stage = winning_plan(&shown, &stages, Some(found), then.counted_stage(found));
        Stats { returned: then.returned_count(found), millis, keys, documents, stage }
    });
    build_reply(call, namespace, planned, stats, command)
}
