//! Reports finished requests: a log line for each slow one, and an event for the tracer. Both
//! describe the operation and its cost, but contain no values of items or queries. Slow requests
//! are also kept in memory with their query text.

use std::time::Duration;

use evaluation::ExecutionStats;
use traces::told;

use crate::{
    api::NoSqlApi,
    link::Link,
    operation::{Metric, Operation},
    reply::Reply,
    transport::Transport,
};

/// A finished request, for the slow request log.
pub(crate) struct FinishedRequest<'a> {
    pub(crate) operation: Option<Operation>,
    pub(crate) transport: Transport,
    /// The path of the request, without the query string.
    pub(crate) path: &'a str,
    pub(crate) stats: &'a ExecutionStats,
    pub(crate) agent: &'a str,
    pub(crate) activity: &'a str,
    /// Whether the portal sent the request; see `http/relay`.
    pub(crate) relayed: bool,
    /// Trace context of the client (`traceparent`).
    pub(crate) parent: Option<&'a str>,
    pub(crate) query: Option<&'a [u8]>,
    pub(crate) took: Duration,
    pub(crate) reply: &'a Reply,
}

/// Sends an event to the tracer, and writes a log line if the request took at least the configured
/// time. Text chosen by clients is escaped.
pub(crate) fn report_end(api: &NoSqlApi, ended: &FinishedRequest<'_>) {
    let settings = &api.settings;
    let ms = u64::try_from(ended.took.as_millis()).unwrap_or(u64::MAX);
    let slow = settings.slow.as_ref().filter(|slow| slow.is_slow(ended.took));
    if slow.is_none() && settings.tracer.is_none() {
        return;
    }
    let metric = ended.operation.and_then(|it| Metric::ALL.get(it.row().metric as usize));
    // The path is parsed again, but only for requests that are reported, so that other requests
    // need not keep the names.
    let owners = Link::parse(ended.path).map(|link| link.owners).unwrap_or_default();
    let known = traces::Operation {
        system: "azure.cosmosdb",
        name: metric.map_or("", |(_, name)| name),
        database: owners.first().map_or("", |name| told(name)),
        collection: owners.get(1).map_or("", |name| told(name)),
        took: ended.took,
        code: i64::from(ended.reply.status),
        failed: 400 <= ended.reply.status,
        examined: ended.stats.examined(),
        returned: ended.reply.count.unwrap_or_default() as u64,
        plan: ended.stats.access().unwrap_or_default(),
        charge: Some(ended.reply.request_units as f64 / 100.0),
        client: told(ended.agent),
        request: told(ended.activity),
        protocol: ended.transport.name(),
        relayed: ended.relayed,
        parent: ended.parent,
    };
    if let Some(tracer) = &settings.tracer {
        tracer.note(&known);
    }
    if let Some(slow) = slow {
        let query = ended.query.and_then(|body| str::from_utf8(body).ok()).map(str::to_owned);
        slow.keep("nosql", &known, clock::wall_ms(), query);
        tracing::info!(
            api = "nosql",
            protocol = known.protocol,
            command = known.name,
            namespace = ?format!("{}.{}", known.database, known.collection).trim_matches('.'),
            ms,
            examined = known.examined,
            returned = known.returned,
            plan = ?if known.plan.is_empty() { "none" } else { known.plan },
            units = known.charge,
            status = known.code,
            app = ?known.client,
            request = ?known.request,
            "slow operation"
        );
    }
}
