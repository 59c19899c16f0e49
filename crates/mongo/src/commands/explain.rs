//! `explain`: the access path that was chosen and, when asked for, what it looked at.

use document::{DocBuf, DocRef, Document, Value, doc};
use engine::Store;
use engine::{BatchLimit, Explain, Model, Namespace, Plan};
use query::exec::Stage;

use super::{Call, aggregate, count::means_all, find, ok};
use crate::{
    args::{Args, named},
    errors::{BadValue, CommandNotSupported, Error, FailedToParse, Result},
    limits::SERVER_VERSION,
    names,
};

pub(super) async fn run<S: Store>(call: Call<'_, S>) -> Result<DocBuf> {
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
    let name = command.iter().next().map_or("", |(name, _)| name);
    let args = Args::new(name, command);
    let namespace = match name {
        "aggregate" => aggregate::source(&Call { body: command, ..call.clone() })?,
        _ => names::collection(call.database, named(command, name)?)?,
    };
    let plan = plan_of(name, &args)?;
    if name == "count" && plan.filter.is_always() && means_all(&plan.hint) {
        return of_books(&call, &namespace, command, execute).await;
    }
    answer(&call, &namespace, plan, command, execute).await
}

/// A count without a filter, which looks at no document.
async fn of_books<S: Store>(
    call: &Call<'_, S>,
    namespace: &Namespace,
    command: DocRef<'_>,
    execute: bool,
) -> Result<DocBuf> {
    let there = call.find(namespace).is_some();
    let mut stage = doc! { "stage": if there { "RECORD_STORE_FAST_COUNT" } else { "EOF" } };
    let planned = planner(namespace, stage.clone());
    let stats = if execute {
        let counted = super::count::run(Call { name: "count", body: command, ..call.clone() });
        let counted = counted.await?;
        if let Some(n) = counted.get("n") {
            stage.push("nCounted", n.to_value());
        }
        Some(Stats { stage, ..Stats::default() })
    } else {
        None
    };
    finish(call, planned, stats, command)
}

/// The plan behind a command: writes are explained by the search they begin with.
fn plan_of(name: &str, args: &Args<'_>) -> Result<Plan> {
    let by_filter = |args: &Args<'_>, name: &str| -> Result<Plan> {
        let filter = match args.document(name)? {
            Some(filter) => mongo_query::filter::parse(filter)?,
            None => query::Filter::always(),
        };
        Ok(Plan { hint: find::hint(args)?, ..Plan::new(filter) })
    };
    let statement = |list: &str| -> Result<Plan> {
        let first = args.documents(list)?.into_iter().next();
        let first = first.ok_or_else(|| args.missing(list))?;
        by_filter(&Args::new(list, first), "q")
    };
    match name {
        "find" => find::plan(args),
        "aggregate" => aggregate::plan(args),
        "count" | "distinct" | "findAndModify" => by_filter(args, "query"),
        "update" => statement("updates"),
        "delete" => statement("deletes"),
        other => {
            Err(Error::new(CommandNotSupported, format!("explain of '{other}' is not supported")))
        }
    }
}

/// `aggregate` with `explain: true`.
pub(super) async fn of_aggregate<S: Store>(
    call: &Call<'_, S>,
    namespace: &Namespace,
) -> Result<DocBuf> {
    let plan = aggregate::plan(&call.args())?;
    answer(call, namespace, plan, call.body, false).await
}

async fn answer<S: Store>(
    call: &Call<'_, S>,
    namespace: &Namespace,
    plan: Plan,
    command: DocRef<'_>,
    execute: bool,
) -> Result<DocBuf> {
    let context = call.context().await?;
    let stages: Vec<&'static str> = plan.stages.iter().map(Stage::name).collect();
    let mut cursor = call.door.engine.query(Model::Documents, namespace, plan, context)?;
    let sorts = cursor.sorts();
    let mut returned = 0;
    let started = clock::monotonic();
    if execute {
        loop {
            let limit = BatchLimit { documents: 10_000, bytes: 16 * 1024 * 1024 };
            let batch = cursor.next(limit).await?;
            returned += batch.documents.len();
            if batch.done {
                break;
            }
        }
    }
    let millis = clock::monotonic().saturating_sub(started).as_millis();
    let explain = cursor.explain();
    let stage = winning(&explain, &stages, sorts);
    let planned = planner(namespace, stage.clone());
    let (keys, documents) = (explain.keys_examined, explain.documents_examined);
    let stats = execute.then_some(Stats { returned, millis, keys, documents, stage });
    finish(call, planned, stats, command)
}

/// What a run looked at.
#[derive(Default)]
struct Stats {
    returned: usize,
    millis: u128,
    keys: u64,
    documents: u64,
    stage: Document,
}

fn planner(namespace: &Namespace, winning: Document) -> Document {
    doc! {
        "namespace": namespace.to_string(),
        "indexFilterSet": false,
        "winningPlan": winning,
        "rejectedPlans": Value::Array(Vec::new()),
    }
}

fn finish<S: Store>(
    call: &Call<'_, S>,
    planned: Document,
    stats: Option<Stats>,
    command: DocRef<'_>,
) -> Result<DocBuf> {
    let mut reply = doc! { "explainVersion": "1", "queryPlanner": planned };
    if let Some(stats) = stats {
        let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        reply.push(
            "executionStats",
            doc! {
                "executionSuccess": true,
                "nReturned": i64::try_from(stats.returned).unwrap_or(i64::MAX),
                "executionTimeMillis": i64::try_from(stats.millis).unwrap_or(i64::MAX),
                "totalKeysExamined": number(stats.keys),
                "totalDocsExamined": number(stats.documents),
                "executionStages": stats.stage,
            },
        );
    }
    reply.push("command", command.to_tree());
    reply.push(
        "serverInfo",
        doc! {
            "host": call.door.settings.host.as_str(),
            "version": SERVER_VERSION,
        },
    );
    ok(reply)
}

/// MongoDB's names for what was chosen.
fn winning(explain: &Explain, stages: &[&'static str], sorts: bool) -> Document {
    let direction = if explain.backward { "backward" } else { "forward" };
    let mut plan = match &explain.index {
        _ if explain.by_id => doc! { "stage": "IDHACK" },
        Some(name) => doc! {
            "stage": "FETCH",
            "inputStage": doc! {
                "stage": "IXSCAN",
                "keyPattern": explain.pattern.clone(),
                "indexName": name.as_str(),
                "direction": direction,
            },
        },
        None => doc! { "stage": "COLLSCAN", "direction": direction },
    };
    for stage in stages {
        let name = match *stage {
            "$sort" if !sorts => continue,
            "$sort" => "SORT",
            "$limit" => "LIMIT",
            "$skip" => "SKIP",
            "$project" => "PROJECTION_DEFAULT",
            "$group" => "GROUP",
            "$lookup" => "EQ_LOOKUP",
            other => other,
        };
        plan = doc! { "stage": name, "inputStage": plan };
    }
    plan
}
