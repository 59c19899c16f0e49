//! `POST /_ebb/quickstart`: makes the sample, or begins it anew. What the sample is stands in
//! `quickstart/`.

use axum::{Json, extract::State};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::{
    Shared,
    error::{Error, Result},
};
use crate::{
    quickstart::{COLLECTION, DATABASE, Failure, make},
    relayed::Relayed,
};

/// Makes the sample and tells where it is and when its last session expires (`last_dies_ms`). 409
/// where no API is on or something else has the sample's name.
pub(crate) async fn run_quickstart(State(shared): State<Shared>) -> Result<Json<Value>> {
    let (_, doors) = watch::channel(shared.doors.clone());
    let elsewhere = shared.elsewhere.clone();
    let doors = Relayed { doors, elsewhere, stop: shared.stopping.clone() };
    let made =
        make(&doors, shared.engine.now().await?).await.map_err(|failure| match &failure {
            Failure::NoDoor | Failure::Taken(_) => Error::conflict(failure.to_string()),
            Failure::Refused(_) => Error::failed(failure.to_string()),
        })?;
    // Read again: a page counts down from here, and writing took some time.
    let now = shared.engine.now().await?;
    Ok(Json(json!({
        "database": DATABASE,
        "nosql": made.nosql.map(|it| json!({ "container": COLLECTION, "items": it.count })),
        "mongo": made.mongo.map(|it| json!({ "collection": COLLECTION, "documents": it.count })),
        "now_ms": now.ms,
        "last_dies_ms": made.last_dies().unwrap_or(now).ms,
    })))
}
