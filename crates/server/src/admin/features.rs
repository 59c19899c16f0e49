//! The switches over HTTP: how they stand and why, and turning them.

use axum::{Json, body::Bytes, extract::State};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Shared,
    error::{Error, Result},
};
use crate::features::Source;

/// What may be turned.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    per_document_ttl: bool,
}

fn body(shared: &Shared) -> Json<Value> {
    let (on, source) = shared.features.state();
    let source = match source {
        Source::Default => "default",
        Source::Flag => "flag",
        Source::Stored => "stored",
    };
    Json(json!({ "per_document_ttl": { "on": on, "source": source } }))
}

/// `GET /_ebb/features`
pub(crate) async fn read(State(shared): State<Shared>) -> Json<Value> {
    body(&shared)
}

/// `PUT /_ebb/features` with `{"per_document_ttl": bool}`; durable when this answers.
pub(crate) async fn change(State(shared): State<Shared>, request: Bytes) -> Result<Json<Value>> {
    let wanted: Wanted = serde_json::from_slice(&request).map_err(|error| {
        Error::bad_request(format!("the body is {{\"per_document_ttl\": true or false}}: {error}"))
    })?;
    let turned = shared.features.turn(wanted.per_document_ttl).await;
    turned.map_err(|error| Error::failed(format!("the switch cannot be kept: {error}")))?;
    Ok(body(&shared))
}
