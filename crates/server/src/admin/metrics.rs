//! Prometheus metrics, gathered when they are asked for.

use axum::{extract::State, http::header, response::IntoResponse};
use prometheus_client::{
    encoding::text::encode,
    metrics::{counter::ConstCounter, gauge::ConstGauge},
    registry::{Registry, Unit},
};
use store::{Space, Store};

use super::Shared;

/// `GET /metrics`
pub(crate) async fn get(State(shared): State<Shared>) -> impl IntoResponse {
    let mut registry = Registry::default();
    let clock = shared.engine.clock().status();
    let offset = clock.offset_ms as f64 / 1000.0;
    registry.register_with_unit(
        "clock_offset",
        "Wall clock minus database time",
        Unit::Seconds,
        ConstGauge::new(offset),
    );
    let unconfirmed = ConstGauge::new(i64::from(clock.unconfirmed));
    registry.register("clock_unconfirmed", "A step of the wall clock waits", unconfirmed);
    let (passes, reaped) = shared.engine.reaped();
    registry.register("ttl_passes", "Passes of the reaper", ConstCounter::new(passes));
    registry.register(
        "ttl_reaped_documents",
        "Documents compacted away",
        ConstCounter::new(reaped),
    );
    registry.register_with_unit(
        "ttl_purge_lag",
        "How long a dead document can be seen: always 0",
        Unit::Seconds,
        ConstGauge::new(0_i64),
    );
    let store = shared.engine.store();
    let bytes: u64 = store.spaces().into_iter().map(|space: Space| store.space_bytes(space)).sum();
    let bytes = ConstGauge::new(i64::try_from(bytes).unwrap_or(i64::MAX));
    registry.register_with_unit("storage", "Bytes on disk", Unit::Bytes, bytes);
    if let Some(door) = &shared.door {
        let (connections, cursors) = door.open();
        registry.register("mongo_connections", "Open connections", ConstGauge::new(connections));
        let cursors = ConstGauge::new(i64::try_from(cursors).unwrap_or(i64::MAX));
        registry.register("mongo_cursors", "Open cursors", cursors);
        for (name, value) in door.counters() {
            let name = format!("mongo_{}", name.to_lowercase());
            registry.register(name, "Operations since the start", ConstCounter::new(value));
        }
    }
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = encode(&mut text, &registry);
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], text)
}
