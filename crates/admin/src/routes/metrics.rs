//! Prometheus metrics, gathered on each scrape; the counting is done at the source. All names start
//! with `ebb_`, are stable, and are documented in `docs/metrics.md`.
//!
//! To add a metric, count it at its source, export the value from that crate, and register it in
//! its group's function below. The registry appends the unit and, for counters, `_total` to the
//! name:
//!
//! ```text
//! register_with_unit("fsync", .., Unit::Seconds, ..)   →  ebb_fsync_seconds
//! register("ttl_passes", .., ConstCounter)             →  ebb_ttl_passes_total
//! ```

use std::sync::Arc;

use ::metrics::Distribution;
use axum::{
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use prometheus_client::{
    encoding::{EncodeMetric, MetricEncoder, NoLabelSet, text::encode},
    metrics::{MetricType, counter::ConstCounter, gauge::ConstGauge, info::Info},
    registry::{Registry, Unit},
};
use server_base::machine;
use store::Health;
use store_tree::TreeMetrics;

use super::{Shared, health::why_unready};

use crate::relayed::Apis;

/// Handles `GET /metrics`, in the OpenMetrics text format.
pub async fn get_metrics(State(shared): State<Shared>) -> Response {
    let mut registry = registry_of(&shared);
    register_readiness(&mut registry, why_unready(&shared).is_none());
    metrics_answer(&registry)
}

/// Registers the gauge that is 1 while the server is ready.
pub fn register_readiness(registry: &mut Registry, is_ready: bool) {
    let ready = ConstGauge::new(i64::from(is_ready));
    registry.register("ready", "Whether operations are served, as in /readyz", ready);
}

/// Encodes a registry as a response.
pub fn metrics_answer(registry: &Registry) -> Response {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = encode(&mut text, registry);
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

/// Gathers all metrics of a server.
pub(crate) fn registry_of(shared: &Shared) -> Registry {
    registry_of_all(std::slice::from_ref(shared))
}

/// Gathers the metrics of all engines of a process: amounts are added up, of ages the maximum is
/// taken, and the clock is that of the first engine.
pub fn registry_of_all(all: &[Shared]) -> Registry {
    let mut registry = Registry::with_prefix("ebb");
    registry.register(
        "build",
        "Version of the running server",
        Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]),
    );
    let Some(first) = all.first() else { return registry };
    let clock = first.engine.clock().status();
    let offset = clock.offset_ms as f64 / 1000.0;
    registry.register_with_unit(
        "clock_offset",
        "Wall clock minus database time",
        Unit::Seconds,
        ConstGauge::new(offset),
    );
    let unconfirmed = ConstGauge::new(i64::from(clock.unconfirmed));
    registry.register("clock_unconfirmed", "Whether a wall clock step is pending", unconfirmed);
    let keeps_pace = ConstGauge::new(i64::from(clock.keeps_pace));
    registry.register("clock_keeps_pace", "Whether the database clock keeps pace", keeps_pace);
    let held = ConstGauge::new(i64::from(clock.reap_until.is_some()));
    registry.register(
        "clock_jump_unaccepted",
        "Whether documents that a clock jump expired are kept until the jump is accepted",
        held,
    );
    of_expiry(all, &mut registry);
    of_store(all, &mut registry);
    of_apis(all, &mut registry);
    of_cosmos(all, &mut registry);
    register_operations(all, &mut registry);
    of_memory(first, &mut registry);
    registry
}

/// Registers the reaper's counters, and the number and age of expired documents that it has not
/// removed yet.
fn of_expiry(all: &[Shared], registry: &mut Registry) {
    let done = all.iter().map(|shared| shared.engine.reap_statistics());
    let (passes, reaped) = done.fold((0, 0), |(passes, reaped), of| (passes + of.0, reaped + of.1));
    registry.register("ttl_passes", "Number of passes of the reaper", ConstCounter::new(passes));
    registry.register(
        "ttl_reaped_documents",
        "Number of documents compacted away",
        ConstCounter::new(reaped),
    );
    let is_paused = all.iter().any(|shared| shared.engine.is_reaping_paused());
    registry.register(
        "ttl_reaping_paused",
        "Whether reaping is paused: expired documents are invisible but stay on disk",
        ConstGauge::new(i64::from(is_paused)),
    );
    let backlogs: Vec<_> = all.iter().map(|shared| shared.engine.reap_backlog()).collect();
    registry.register(
        "ttl_purge_backlog",
        "Approximate number of expired, invisible documents not yet compacted away",
        ConstGauge::new(backlogs.iter().map(|backlog| backlog.amount.documents).sum::<i64>()),
    );
    let oldest = backlogs.iter().map(|backlog| backlog.oldest_expired_seconds).max();
    registry.register_with_unit(
        "ttl_purge_lag",
        "Approximate time since the oldest document of the backlog expired",
        Unit::Seconds,
        ConstGauge::new(oldest.unwrap_or_default()),
    );
}

fn gauge_of(bytes: impl Iterator<Item = u64>) -> ConstGauge<i64> {
    ConstGauge::new(i64::try_from(bytes.sum::<u64>()).unwrap_or(i64::MAX))
}

/// Registers the size of stores and temporary files in bytes, whether a store refuses writes, and,
/// for stores on disk, the latency and batch size of syncs.
fn of_store(all: &[Shared], registry: &mut Registry) {
    let stores = || all.iter().map(|shared| shared.engine.store());
    registry.register_with_unit(
        "storage",
        "Bytes of the store, including its journal",
        Unit::Bytes,
        gauge_of(stores().map(|store| store.disk_bytes())),
    );
    if let Some(area) = all.first().and_then(|shared| shared.temporary.as_ref()) {
        let bytes = ConstGauge::new(i64::try_from(area.used_bytes()).unwrap_or(i64::MAX));
        registry.register_with_unit("temporary", "Bytes of temporary files", Unit::Bytes, bytes);
    }
    let refusing = i64::from(stores().any(|store| store.health() != Health::Good));
    registry.register(
        "store_refusing",
        "Whether the store refuses writes",
        ConstGauge::new(refusing),
    );
    let measured: Vec<_> = all.iter().filter_map(|shared| shared.measured.as_ref()).collect();
    if measured.is_empty() {
        return;
    }
    let stored: Vec<_> = measured.iter().map(|measured| measured.stored_bytes()).collect();
    for (kind, what, bytes) in [
        ("storage_journal", "Bytes of the store's journal, including preallocated space", {
            gauge_of(stored.iter().map(|stored| stored.journal))
        }),
        ("storage_tables", "Bytes of the store's tables", {
            gauge_of(stored.iter().map(|stored| stored.tables))
        }),
        ("storage_garbage", "Bytes of tables waiting for deletion", {
            gauge_of(stored.iter().map(|stored| stored.garbage))
        }),
    ] {
        registry.register_with_unit(kind, what, Unit::Bytes, bytes);
    }
    of_views(&measured, registry);
    let waits = measured.iter().map(|measured| measured.fsync_ns.read_distribution());
    registry.register_with_unit(
        "fsync",
        "Duration of writing a batch of commits until it is durable",
        Unit::Seconds,
        Measurement::sum(waits, NANOSECONDS),
    );
    registry.register(
        "group_commit_size",
        "Number of commits per batch",
        Measurement::sum(measured.iter().map(|it| it.group_size.read_distribution()), 1.0),
    );
}

/// Registers the age of the oldest view (snapshot) of these stores, and memory and disk space held
/// by views.
fn of_views(measured: &[&Arc<TreeMetrics>], registry: &mut Registry) {
    let views: Vec<_> = measured.iter().map(|measured| measured.old_views()).collect();
    registry.register_with_unit(
        "storage_oldest_view",
        "Age of the oldest snapshot held by a read or backup",
        Unit::Seconds,
        ConstGauge::new(views.iter().map(|views| views.age.as_secs_f64()).fold(0.0, f64::max)),
    );
    for (kind, what, bytes) in [
        ("storage_held_memory", "Bytes of flushed memtables that reads still hold", {
            gauge_of(views.iter().map(|views| views.memory))
        }),
        (
            "storage_oldest_view_kept",
            "Bytes of replaced versions in tables written since the oldest snapshot was the newest",
            { gauge_of(views.iter().map(|views| views.kept)) },
        ),
        ("storage_held_tables", "Bytes of replaced versions of documents in tables", {
            gauge_of(views.iter().map(|views| views.tables))
        }),
    ] {
        registry.register_with_unit(kind, what, Unit::Bytes, bytes);
    }
    registry.register(
        "storage_ended_views",
        "Number of snapshots ended because too much disk space was kept for them",
        ConstCounter::new(views.iter().map(|views| views.ended).sum::<u64>()),
    );
}

/// Registers memory limits and use of process and operations in bytes, and the number of refused
/// reservations. Without `/proc` the resident size is left out.
fn of_memory(shared: &Shared, registry: &mut Registry) {
    let account = &shared.memory;
    let gauges = [
        ("memory_limit", "Memory limit of the process", shared.plan.process),
        ("memory_operations_limit", "Memory limit of operations", account.limit()),
        ("memory_operations", "Memory reserved by operations", account.used_bytes()),
        (
            "memory_operations_withheld",
            "Reduction of the memory limit of operations while the process is near its limit",
            account.withheld_bytes(),
        ),
        (
            "memory_operations_peak",
            "Peak of the memory reserved by operations",
            account.peak_bytes(),
        ),
    ];
    let resident = ("memory_resident", "Resident memory of the process");
    let resident = machine::resident_bytes().map(|bytes| (resident.0, resident.1, bytes));
    for (name, help, bytes) in gauges.into_iter().chain(resident) {
        let bytes = ConstGauge::new(i64::try_from(bytes).unwrap_or(i64::MAX));
        registry.register_with_unit(name, help, Unit::Bytes, bytes);
    }
    let refused = ConstCounter::new(account.refused_count());
    registry.register("memory_refused", "Memory reservations that failed", refused);
}

/// Registers connections, cursors and counters of the MongoDB API. The counters are named as in
/// `serverStatus`, with underscores.
fn of_apis(all: &[Shared], registry: &mut Registry) {
    let apis: Vec<_> = all.iter().filter_map(|shared| shared.apis.mongo.as_ref()).collect();
    if apis.is_empty() {
        return;
    }
    let open = apis.iter().map(|api| api.open());
    let (connections, cursors) = open.fold((0, 0), |sums, of| (sums.0 + of.0, sums.1 + of.1));
    registry.register("mongo_connections", "Open connections", ConstGauge::new(connections));
    let cursors = ConstGauge::new(i64::try_from(cursors).unwrap_or(i64::MAX));
    registry.register("mongo_cursors", "Open cursors", cursors);
    let counters = apis.iter().map(|api| api.counters());
    let counters = added(counters, |(_, sum), (_, more)| *sum += more);
    for (name, value) in counters {
        let name = format!("mongo_{}", with_underscores(name));
        registry.register(name, "Operations since the start", ConstCounter::new(value));
    }
}

/// Converts a name like `documentsReturned` to `documents_returned`.
fn with_underscores(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 2);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}

/// Registers the latencies of commands and requests: one metric for both APIs, with labels
/// `protocol` and `command`.
fn register_operations(all: &[Shared], registry: &mut Registry) {
    let mut of: Vec<(Vec<(&'static str, &'static str)>, Distribution)> = Vec::new();
    for Apis { mongo, cosmos } in all.iter().map(|shared| &shared.apis) {
        let commands = mongo.as_ref().map(|api| api.latencies()).unwrap_or_default();
        let requests = cosmos.as_ref().map(|api| api.latencies()).unwrap_or_default();
        let commands = commands.into_iter().map(|it| ("mongodb", it));
        for (protocol, (command, more)) in
            commands.chain(requests.into_iter().map(|it| ("nosql", it)))
        {
            let labels = vec![("protocol", protocol), ("command", command)];
            match of.iter_mut().find(|(known, _)| *known == labels) {
                Some((_, sum)) => sum.add(&more),
                None => of.push((labels, more)),
            }
        }
    }
    registry.register_with_unit(
        "operation",
        "Duration of commands and requests",
        Unit::Seconds,
        Measurement { of, parts: NANOSECONDS },
    );
}

/// Registers connections and counters of the NoSQL API, which supplies names and descriptions.
fn of_cosmos(all: &[Shared], registry: &mut Registry) {
    let apis: Vec<_> = all.iter().filter_map(|shared| shared.apis.cosmos.as_ref()).collect();
    let Some(first) = apis.first() else { return };
    // The APIs of all shards share one count of connections.
    registry.register("nosql_connections", "Open connections", ConstGauge::new(first.open()));
    let counters = apis.iter().map(|api| api.counters());
    for (name, help, sum) in added(counters, |(.., sum), (.., more)| *sum += more) {
        registry.register(format!("nosql_{name}"), help, ConstCounter::new(sum));
    }
}

/// Adds up lists of equal length element by element, using `add`.
fn added<T>(lists: impl Iterator<Item = Vec<T>>, add: impl Fn(&mut T, T)) -> Vec<T> {
    let sums = lists.reduce(|mut sums, list| {
        sums.iter_mut().zip(list).for_each(|(sum, more)| add(sum, more));
        sums
    });
    sums.unwrap_or_default()
}

/// Nanoseconds per second: latencies are counted in nanoseconds and exported in seconds.
const NANOSECONDS: f64 = 1e9;

/// A histogram metric: distributions under one name, each with its labels.
#[derive(Debug)]
struct Measurement {
    of: Vec<(Vec<(&'static str, &'static str)>, Distribution)>,
    /// Number of counted units per exported unit: 1e9 for nanoseconds exported as seconds.
    parts: f64,
}

impl Measurement {
    /// Returns the metric for the sum of distributions without labels. `parts` is the number of
    /// counted units per unit of the metric.
    fn sum(distributions: impl Iterator<Item = Distribution>, parts: f64) -> Self {
        let sum = distributions.reduce(|mut sum, more| {
            sum.add(&more);
            sum
        });
        Self { of: sum.into_iter().map(|sum| (Vec::new(), sum)).collect(), parts }
    }
}

impl EncodeMetric for Measurement {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), std::fmt::Error> {
        for (labels, of) in &self.of {
            let bounds =
                // The last bucket has no upper bound.
                of.bounds.iter().map(|bound| *bound as f64 / self.parts).chain([f64::INFINITY]);
            let buckets: Vec<(f64, u64)> = bounds.zip(of.counts.iter().copied()).collect();
            let (sum, count) = (of.sum as f64 / self.parts, of.measurement_count());
            let put = |encoder: &mut MetricEncoder<'_>| {
                encoder.encode_histogram::<NoLabelSet>(sum, count, &buckets, None)
            };
            if labels.is_empty() {
                put(&mut encoder)?;
            } else {
                put(&mut encoder.encode_family(labels)?)?;
            }
        }
        Ok(())
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }
}
