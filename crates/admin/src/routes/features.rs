//! Admin routes of the feature switches: reading and changing them.

use std::sync::atomic::Ordering;

use axum::{Json, body::Bytes, extract::State};
use serde::Deserialize;
use serde_json::{Value, json};
use server_base::features::Source;

use super::{
    Shared,
    error::{Error, Result},
};

/// Body of a request that changes feature switches. Unknown names are refused, so that a misspelt
/// switch is an error.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FeaturesBody {
    per_document_ttl: Option<bool>,
    carry_timestamps: Option<bool>,
}

/// Returns the values of the switches, and the source of the value of `per_document_ttl`.
///
/// ```text
/// {"per_document_ttl": {"on": true, "source": "default"}, "carry_timestamps": {"on": false}}
/// ```
fn features_body(shared: &Shared) -> Json<Value> {
    let (on, source) = shared.features.state();
    let source = match source {
        Source::Default => "default",
        Source::Flag => "flag",
        Source::Stored => "stored",
    };
    let carry = shared.features.carry_timestamps().load(Ordering::Relaxed);
    Json(json!({
        "per_document_ttl": { "on": on, "source": source },
        "carry_timestamps": { "on": carry },
    }))
}

pub(crate) async fn get_features(State(shared): State<Shared>) -> Json<Value> {
    features_body(&shared)
}

/// Handles `PUT /_ebb/features` with `{"per_document_ttl": bool, "carry_timestamps": bool}` or one
/// of the two fields. `per_document_ttl` is durable on return; `carry_timestamps` is off again
/// after a restart.
pub(crate) async fn change_features(
    State(shared): State<Shared>,
    request: Bytes,
) -> Result<Json<Value>> {
    let wanted: FeaturesBody = serde_json::from_slice(&request).map_err(|error| {
        Error::bad_request(format!(
            "the body must be {{\"per_document_ttl\": true or false}}, or the same for \
             \"carry_timestamps\", or both: {error}"
        ))
    })?;
    if wanted.per_document_ttl.is_none() && wanted.carry_timestamps.is_none() {
        return Err(Error::bad_request("the body names no feature to switch on or off"));
    }
    if let Some(on) = wanted.per_document_ttl {
        let turned = shared.features.turn_per_document_ttl(on).await;
        turned.map_err(|error| Error::failed(format!("cannot persist the switch: {error}")))?;
    }
    if let Some(on) = wanted.carry_timestamps {
        shared.features.set_carrying(on);
    }
    Ok(features_body(&shared))
}
