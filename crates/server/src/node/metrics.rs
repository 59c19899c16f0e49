//! Figures of a node, beside those of the term that serves here.

use std::sync::atomic::Ordering;

use axum::{extract::State, response::Response};
use cluster::ShardView;
use prometheus_client::{
    metrics::{counter::ConstCounter, gauge::ConstGauge},
    registry::Registry,
};

use super::{route::Route, routes::Routes};
use crate::admin::metrics::{metrics_answer, registry_of};

/// Handles `GET /metrics`.
pub(super) async fn get_metrics(State(routes): State<Routes>) -> Response {
    let mut registry = match routes.all().find_map(Route::here) {
        Some(term) => registry_of(&term.shared),
        None => Registry::default(),
    };
    of_node(routes.first(), &mut registry);
    metrics_answer(&registry)
}

/// Adds what the node is to the cluster.
fn of_node(route: &Route, registry: &mut Registry) {
    let facts = &route.facts;
    let ShardView { owner, applied, committed, .. } = facts.seen_shard();
    let epoch = owner.map_or(0, |(_, epoch)| epoch);
    let count = |number: u64| ConstGauge::new(i64::try_from(number).unwrap_or(i64::MAX));
    for (name, what, figure) in [
        ("ebb_cluster_owner", "This node owns the data and serves them", {
            u64::from(route.here().is_some())
        }),
        (
            "ebb_cluster_epoch",
            "Which owner of the data the present one is; 0: there is none",
            epoch,
        ),
        ("ebb_cluster_applied_entry", "The last entry that this node has applied", applied),
        ("ebb_cluster_behind_entries", "Committed entries that it has not applied yet", {
            committed.saturating_sub(applied)
        }),
        ("ebb_cluster_reached", "Cassandra answers this node", u64::from(facts.hears())),
    ] {
        registry.register(name, what, count(figure));
    }
    let counts = &facts.counts;
    for (name, what, counted) in [
        ("ebb_cluster_terms", "Times in which this node became the owner", &counts.terms),
        (
            "ebb_cluster_passed_on",
            "Connections and requests passed on to the owner",
            &counts.passed,
        ),
        ("ebb_cluster_received", "Connections and requests of other nodes", &counts.received),
    ] {
        registry.register(name, what, ConstCounter::new(counted.load(Ordering::Relaxed)));
    }
}
