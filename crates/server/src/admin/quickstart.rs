//! `POST /_ebb/quickstart`: the sample, made or begun anew.

use axum::{Json, extract::State};
use serde_json::{Value, json};

use super::{
    Shared,
    error::{Error, Result},
};
use crate::{
    quickstart::{COLLECTION, DATABASE, Failure, make},
    relayed::Relayed,
};

/// Makes it; each session counts from the moment at which it is written.
pub(crate) async fn run_quickstart(State(shared): State<Shared>) -> Result<Json<Value>> {
    let doors = Relayed { doors: shared.doors.clone(), stop: shared.stopping.clone() };
    let made = make(&doors, shared.engine.now().await).await.map_err(|failure| match &failure {
        Failure::NoDoor | Failure::Taken(_) => Error::conflict(failure.to_string()),
        Failure::Refused(_) => Error::failed(failure.to_string()),
    })?;
    let now = shared.engine.now().await;
    Ok(Json(json!({
        "database": DATABASE,
        "nosql": made.nosql.map(|it| json!({ "container": COLLECTION, "items": it.count })),
        "mongo": made.mongo.map(|it| json!({ "collection": COLLECTION, "documents": it.count })),
        "now_ms": now.ms,
        "last_dies_ms": made.last_dies().unwrap_or(now).ms,
    })))
}
