//! The format of an explanation, with MongoDB's stage names and number types, since tools and
//! application tests read its fields by name: `winningPlan.stage`, `inputStage`,
//! `totalDocsExamined`.

use document::{DocBuf, DocRef, Document, Value, doc};
use engine::{Explain, Namespace};

use super::query_shape::query_shape_hash;
use crate::{call::Call, errors::Result, limits::SERVER_VERSION, replies::ok};

/// The counts of an explained execution.
#[derive(Default)]
pub(super) struct Stats {
    /// Number of documents that the command would return.
    pub(super) returned: usize,
    /// Duration of the execution in milliseconds.
    pub(super) millis: u128,
    /// Number of index keys examined.
    pub(super) keys: u64,
    pub(super) documents: u64,
    /// The tree of stages with their counts.
    pub(super) stage: Document,
}

/// Returns a 32-bit number if the value fits, as MongoDB does.
pub(super) fn shortest_int(value: u64) -> Value {
    match i32::try_from(value) {
        Ok(value) => Value::Int32(value),
        Err(_) => Value::Int64(i64::try_from(value).unwrap_or(i64::MAX)),
    }
}

/// Returns `queryPlanner`: the filter as given, the hash of its shape as `queryHash` and as
/// `planCacheShapeHash`, and the chosen plan. Rejected plans are not kept, so none is shown.
pub(super) fn planner_section(
    namespace: &Namespace,
    filter: Document,
    shape_hash: String,
    winning: Document,
) -> Document {
    doc! {
        "namespace": namespace.to_string(),
        "indexFilterSet": false,
        "parsedQuery": filter,
        "queryHash": shape_hash.as_str(),
        "planCacheShapeHash": shape_hash,
        "winningPlan": winning,
        "rejectedPlans": Value::Array(Vec::new()),
    }
}

/// Returns the reply: the plan, the counts if the plan was executed, and the command.
pub(super) fn build_reply(
    call: &Call<'_>,
    namespace: &Namespace,
    planned: Document,
    stats: Option<Stats>,
    command: DocRef<'_>,
) -> Result<DocBuf> {
    let mut reply = doc! { "explainVersion": "1", "queryPlanner": planned };
    if let Some(stats) = stats {
        let mut run = doc! {
            "executionSuccess": true,
            "nReturned": shortest_int(stats.returned as u64),
            "executionTimeMillis": shortest_int(u64::try_from(stats.millis).unwrap_or(u64::MAX)),
            "totalKeysExamined": shortest_int(stats.keys),
            "totalDocsExamined": shortest_int(stats.documents),
            "executionStages": stats.stage,
        };
        // Only one plan is ever tried, so the list of executions of other plans is empty.
        if call.args().str("verbosity")? != Some("executionStats") {
            run.push("allPlansExecution", Value::Array(Vec::new()));
        }
        reply.push("executionStats", run);
    }
    if let Some(hash) = query_shape_hash(namespace, command) {
        reply.push("queryShapeHash", hash);
    }
    reply.push("command", command.to_tree());
    reply.push(
        "serverInfo",
        doc! {
            "host": call.api.settings.host.as_str(),
            "version": SERVER_VERSION,
        },
    );
    ok(reply)
}

/// The access path of a query, as it is shown.
pub(super) struct Shown<'e> {
    pub(super) explain: &'e Explain,
    /// Whether the collection is clustered, so that a range of `_id` is one of its rows.
    pub(super) clustered: bool,
    /// Whether stages sort, since the access path has another order.
    pub(super) sorts: bool,
}

/// Returns the plan with MongoDB's stage names, from the access path outwards. After a run, `found`
/// is the number of documents returned by the last of these stages; `top` is the command's own
/// stage.
pub(super) fn winning_plan(
    shown: &Shown<'_>,
    stages: &[&'static str],
    found: Option<usize>,
    top: Option<Document>,
) -> Document {
    let mut plan = access_stage(shown.explain, shown.clustered, found.is_some());
    for (place, stage) in stages.iter().enumerate() {
        let name = match *stage {
            // A leading sort is not shown if the access path already yields the documents in order.
            "$sort" if !shown.sorts && place == 0 => continue,
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
    // The number of results is shown in the outermost stage of the search.
    if let Some(found) = found {
        plan.push("nReturned", shortest_int(found as u64));
    }
    match top {
        None => plan,
        Some(mut top) => {
            top.push("inputStage", plan);
            top
        }
    }
}

/// Returns the stage of the access path. An `IXSCAN` is always below a `FETCH`, unless documents
/// are only counted. A `CLUSTERED_IXSCAN` reads the documents themselves. `COUNT_SCAN` is mongod's name for counting one range. Several access paths are
/// shown side by side, as input stages of one stage.
fn access_stage(explain: &Explain, clustered: bool, run: bool) -> Document {
    let direction = if explain.backward { "backward" } else { "forward" };
    let (keys, documents) =
        (shortest_int(explain.keys_examined), shortest_int(explain.documents_examined));
    if !explain.branches.is_empty() {
        let path = |path| Value::Document(access_stage(path, clustered, run));
        let paths = explain.branches.iter().map(path);
        let stage = if explain.merged { "SORT_MERGE" } else { "OR" };
        return doc! { "stage": stage, "inputStages": Value::Array(paths.collect()) };
    }
    if let (Some(kind), Some(name)) = (explain.near, &explain.index) {
        let stage = if kind == "2d" { "GEO_NEAR_2D" } else { "GEO_NEAR_2DSPHERE" };
        let mut plan = doc! {
            "stage": stage,
            "keyPattern": explain.pattern.clone(),
            "indexName": name.as_str(),
            "indexVersion": 2,
        };
        if run {
            plan.push("keysExamined", keys);
            plan.push("docsExamined", documents);
        }
        return plan;
    }
    let by_primary_key = explain.by_id || explain.index.as_deref() == Some("_id_");
    let mut plan = if clustered && by_primary_key && !explain.counted {
        doc! { "stage": "CLUSTERED_IXSCAN", "direction": direction }
    } else if explain.by_id {
        doc! { "stage": "IDHACK", "keyPattern": doc! { "_id": 1 }, "indexName": "_id_" }
    } else if let Some(name) = &explain.index {
        let traits = explain.traits;
        let counts = explain.counted && explain.ranges == 1;
        let mut scan = doc! {
            "stage": if counts { "COUNT_SCAN" } else { "IXSCAN" },
            "keyPattern": explain.pattern.clone(),
            "indexName": name.as_str(),
            "isMultiKey": traits.multikey,
            "isUnique": traits.unique,
            "isSparse": traits.sparse,
            "isPartial": traits.partial,
            "indexVersion": 2,
        };
        if !counts {
            scan.push("direction", direction);
        }
        if run {
            scan.push("keysExamined", keys.clone());
        }
        if explain.counted {
            return scan;
        }
        doc! { "stage": "FETCH", "inputStage": scan }
    } else {
        doc! { "stage": "COLLSCAN", "direction": direction }
    };
    if run {
        if explain.by_id && !clustered {
            plan.push("keysExamined", keys);
        }
        plan.push("docsExamined", documents);
    }
    plan
}
