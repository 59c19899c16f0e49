//! Admin route of the statistics of the last day.

use axum::{Json, extract::State};
use serde_json::{Value, json};

use super::{
    Shared,
    error::{Error, Result},
};
use crate::figures::{CounterReadings, EVERY, Source};

/// Reads the server's current counters.
pub fn gathered(shared: &Shared) -> CounterReadings {
    CounterReadings::read(&Source {
        engine: &shared.engine,
        apis: &shared.apis,
        measured: shared.measured.as_deref(),
        temporary: shared.temporary.as_ref(),
        memory: &shared.memory,
    })
}

/// Handles `GET /_ebb/figures`: samples of the last day, oldest first; the last sample covers the
/// time since the one before it. [`crate::figures`] defines the fields.
///
/// ```text
/// {"interval_seconds": 60, "samples": [{"at_ms": 1798761600000, "span_ms": 60000, "first": true,
///  "operations": [{"api": "mongodb", "name": "find", "count": 12, "p50_us": 90, "p99_us": 400}], …}]}
/// ```
pub(crate) async fn get_figures(State(shared): State<Shared>) -> Result<Json<Value>> {
    if shared.subject.config.cluster.is_some() {
        return Err(Error::conflict(
            "a cluster node keeps no samples: collect /metrics of all nodes instead",
        ));
    }
    let samples = shared.figures.samples(&gathered(&shared));
    Ok(Json(json!({ "interval_seconds": EVERY.as_secs(), "samples": samples })))
}
