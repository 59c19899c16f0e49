//! A collection's expiry: what is live, what dies when, what another default would do.

use std::sync::Arc;

use axum::{
    Json,
    body::Bytes,
    extract::{Path, Query, State},
};
use engine::{Amount, Collection, DefaultTtl as Ttl, Model, Namespace, Within};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Shared,
    error::{Error, Result},
};

/// Which door's database is meant, where both have one of that name.
#[derive(Debug, Deserialize)]
pub(crate) struct Which {
    door: Option<String>,
}

fn find(shared: &Shared, namespace: &Namespace, which: &Which) -> Result<Arc<Collection>> {
    let of = |model| shared.engine.collection(model, namespace);
    let missing = || Error::not_found(format!("there is no collection {namespace}"));
    match which.door.as_deref() {
        Some("mongo") => of(Model::Documents).ok_or_else(missing),
        Some("nosql") => of(Model::Items).ok_or_else(missing),
        Some(_) => Err(Error::bad_request("door is mongo or nosql")),
        None => match (of(Model::Documents), of(Model::Items)) {
            (Some(_), Some(_)) => Err(Error::conflict("both doors have it: add ?door=")),
            (Some(found), None) | (None, Some(found)) => Ok(found),
            (None, None) => Err(missing()),
        },
    }
}

fn amount(amount: Amount) -> Value {
    json!({ "documents": amount.documents, "bytes": amount.bytes })
}

fn within(within: &Within) -> Value {
    json!({
        "hour": amount(within.hour),
        "day": amount(within.day),
        "week": amount(within.week),
    })
}

/// `GET .../expiry`
pub(crate) async fn forecast(
    State(shared): State<Shared>,
    Path((database, collection)): Path<(String, String)>,
    Query(which): Query<Which>,
) -> Result<Json<Value>> {
    let collection = find(&shared, &Namespace::new(database, collection), &which)?;
    let forecast = shared.engine.forecast(&collection).await?;
    let mut unreaped = amount(forecast.unreaped.amount);
    unreaped["oldest_dead_seconds"] = json!(forecast.unreaped.oldest_dead_seconds);
    Ok(Json(json!({
        "default": match forecast.default {
            Ttl::Off => Value::Null,
            Ttl::Infinite => json!(-1),
            Ttl::Seconds(n) => json!(n),
        },
        "live": amount(forecast.live),
        "dies_within": within(&forecast.dies_within),
        "unreaped_estimate": unreaped,
        "exact": forecast.exact,
    })))
}

/// `POST .../expiry/preview` with `{"default": n}`
pub(crate) async fn preview(
    State(shared): State<Shared>,
    Path((database, collection)): Path<(String, String)>,
    Query(which): Query<Which>,
    request: Bytes,
) -> Result<Json<Value>> {
    let collection = find(&shared, &Namespace::new(database, collection), &which)?;
    let request: Value = serde_json::from_slice(&request)
        .map_err(|error| Error::bad_request(format!("the body is not JSON: {error}")))?;
    let default = match request.get("default") {
        Some(Value::Null) => Ttl::Off,
        Some(value) => match value.as_i64() {
            Some(-1) => Ttl::Infinite,
            Some(n) if (1..=i64::from(i32::MAX)).contains(&n) => Ttl::Seconds(n),
            _ => return Err(Error::bad_request("default is null, -1 or 1..2147483647")),
        },
        None => return Err(Error::bad_request("default is missing")),
    };
    let preview = shared.engine.preview(&collection, default).await?;
    Ok(Json(json!({
        "dies_now": amount(preview.dies_now),
        "dies_within": within(&preview.dies_within),
        "exact": preview.exact,
    })))
}
