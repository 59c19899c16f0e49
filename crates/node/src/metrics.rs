//! Metrics of a node as a whole; each shard that it owns has metrics of its own.

use std::sync::atomic::Ordering;

use admin::routes::metrics::{metrics_answer, register_readiness, registry_of_all};
use axum::{extract::State, response::Response};
use prometheus_client::{
    metrics::{
        counter::Counter,
        family::Family,
        gauge::{ConstGauge, Gauge},
    },
    registry::Registry,
};

use super::{route::Route, routes::Routes};

pub(super) async fn get_metrics(State(routes): State<Routes>) -> Response {
    let terms: Vec<_> = routes.all().filter_map(Route::here).collect();
    let served: Vec<_> = terms.iter().map(|term| term.shared.clone()).collect();
    let mut registry = registry_of_all(&served);
    of_node(&routes, &mut registry);
    register_readiness(&mut registry, routes.why_unserved().is_none());
    metrics_answer(&registry)
}

/// A metric of each shard: name, description, and the function that reads it.
type Figure<T> = (&'static str, &'static str, fn(&Route) -> T);

const STANDING: [Figure<u64>; 4] = [
    ("cluster_owner", "Whether this node owns the data and serves it", |route| {
        u64::from(route.here().is_some())
    }),
    ("cluster_epoch", "Epoch of the current owner of the data; 0: no owner", |route| {
        route.cluster_state.seen_shard().owner.map_or(0, |(_, epoch)| epoch)
    }),
    ("cluster_applied_entry", "Number of the last entry that this node has applied", |route| {
        route.cluster_state.seen_shard().applied
    }),
    (
        "cluster_behind_entries",
        "Number of committed entries that this node has not applied yet",
        |route| route.cluster_state.lag(),
    ),
];

const COUNTED: [Figure<u64>; 3] = [
    ("cluster_terms", "Number of times that this node became the owner", |route| {
        route.cluster_state.counts.terms.load(Ordering::Relaxed)
    }),
    ("cluster_passed_on", "Number of connections and requests forwarded to the owner", |route| {
        route.cluster_state.counts.passed.load(Ordering::Relaxed)
    }),
    ("cluster_received", "Number of connections and requests forwarded by other nodes", |route| {
        route.cluster_state.counts.received.load(Ordering::Relaxed)
    }),
];

/// Registers the node's metrics. Those of a shard have its number as a label.
fn of_node(routes: &Routes, registry: &mut Registry) {
    let labels = |route: &Route| vec![("shard", route.cluster_state.number.to_string())];
    for (name, what, read) in STANDING {
        let family = Family::<Labels, Gauge>::default();
        for route in routes.all() {
            let figure = i64::try_from(read(route)).unwrap_or(i64::MAX);
            family.get_or_create(&labels(route)).set(figure);
        }
        registry.register(name, what, family);
    }
    let reached = ConstGauge::new(i64::from(routes.cluster_state().reaches_ledger()));
    registry.register("cluster_reached", "Whether Cassandra replies to this node", reached);
    for (name, what, read) in COUNTED {
        let family = Family::<Labels, Counter>::default();
        for route in routes.all() {
            family.get_or_create(&labels(route)).inc_by(read(route));
        }
        registry.register(name, what, family);
    }
}

type Labels = Vec<(&'static str, String)>;
