//! Expiry over HTTP: per collection the number of live documents, forecasts of expirations, and
//! previews of another default time to live; for all collections together the expirations in each
//! of a series of time steps. The engine does the counting.

use std::sync::Arc;

use axum::{
    Json,
    body::Bytes,
    extract::{Path, Query, State, rejection::QueryRejection},
};
use engine::{
    Amount, Collection, DefaultTtl as Ttl, ExpiryPosition, Forecast, HorizonAmounts, Model,
    Namespace, Series, SeriesSteps, Unreaped,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Shared,
    error::{Error, Result},
};

/// Default number of items in a list of upcoming expirations.
const NEXT_ITEMS: usize = 100;
/// Maximum number of items in a list of upcoming expirations.
const MAX_NEXT_ITEMS: usize = 1_000;

/// Selects the API, `mongo` or `nosql`, if both have a collection of the requested name.
#[derive(Debug, Deserialize)]
pub(crate) struct ApiQuery {
    door: Option<String>,
}

/// Query parameters of a series (expirations per time step): `step` in seconds, and the number of
/// `steps`.
#[derive(Debug, Deserialize)]
pub(crate) struct SeriesQuery {
    step: Option<i64>,
    steps: Option<i64>,
}

impl SeriesQuery {
    /// Returns the steps, by default 24 of an hour. The engine refuses too many or too long ones.
    fn parse_steps(&self) -> Result<SeriesSteps> {
        Ok(SeriesSteps::new(self.step.unwrap_or(3_600), self.steps.unwrap_or(24))?)
    }
}

/// Returns the values of a query string; converts errors to a 400 in the format of the admin
/// address.
pub(super) fn parse_query<T>(query: std::result::Result<Query<T>, QueryRejection>) -> Result<T> {
    query.map(|Query(query)| query).map_err(|error| Error::bad_request(error.body_text()))
}

/// Returns the collection of a route. 404 if it does not exist; 409 if both APIs have a collection
/// of that name and the request names neither API.
pub(super) fn find_collection(
    shared: &Shared,
    namespace: &Namespace,
    which: &ApiQuery,
) -> Result<Arc<Collection>> {
    let of = |model| shared.engine.collection(model, namespace);
    let missing = || Error::not_found(format!("there is no collection {namespace}"));
    match which.door.as_deref() {
        Some("mongo") => of(Model::Documents).ok_or_else(missing),
        Some("nosql") => of(Model::Items).ok_or_else(missing),
        Some(_) => Err(Error::bad_request("door must be mongo or nosql")),
        None => match (of(Model::Documents), of(Model::Items)) {
            (Some(_), Some(_)) => Err(Error::in_both_apis()),
            (Some(found), None) | (None, Some(found)) => Ok(found),
            (None, None) => Err(missing()),
        },
    }
}

fn amount_json(amount: Amount) -> Value {
    json!({ "documents": amount.documents, "bytes": amount.bytes })
}

/// Returns the documents and bytes that expire within an hour, a day and a week. Each period
/// includes the shorter ones.
fn within_json(within: &HorizonAmounts) -> Value {
    json!({
        "hour": amount_json(within.hour),
        "day": amount_json(within.day),
        "week": amount_json(within.week),
    })
}

/// Returns the documents and bytes that have expired and are not removed yet, with the age of the
/// oldest in seconds.
fn unreaped_json(unreaped: Unreaped) -> Value {
    let mut shown = amount_json(unreaped.amount);
    shown["oldest_dead_seconds"] = json!(unreaped.oldest_expired_seconds);
    shown
}

/// Returns a series: the amount that expires in each step from now on.
///
/// ```text
/// {"now_ms": .., "step_seconds": 3600, "steps": [{"documents": 3, "bytes": 310}, ..],
///  "exact": true}
/// ```
fn series_json(series: &Series, steps: SeriesSteps) -> Value {
    json!({
        "now_ms": series.now.ms,
        "step_seconds": steps.seconds(),
        "steps": series.steps.iter().copied().map(amount_json).collect::<Vec<_>>(),
        "exact": true,
    })
}

/// Handles `GET .../expiry/series?step=seconds&steps=n`: the documents and bytes of one collection
/// that expire in each step.
pub(crate) async fn get_series(
    State(shared): State<Shared>,
    Path((database, collection)): Path<(String, String)>,
    which: std::result::Result<Query<ApiQuery>, QueryRejection>,
    asked: std::result::Result<Query<SeriesQuery>, QueryRejection>,
) -> Result<Json<Value>> {
    let steps = parse_query(asked)?.parse_steps()?;
    let collection =
        find_collection(&shared, &Namespace::new(database, collection), &parse_query(which)?)?;
    Ok(Json(series_json(&shared.engine.expiry_series(&collection, steps).await?, steps)))
}

/// Handles `GET /_ebb/expiry/series?step=seconds&steps=n`: the series over all collections, with
/// the documents and bytes that are live, and those expired but not removed yet.
pub(crate) async fn get_all_series(
    State(shared): State<Shared>,
    asked: std::result::Result<Query<SeriesQuery>, QueryRejection>,
) -> Result<Json<Value>> {
    let steps = parse_query(asked)?.parse_steps()?;
    let outlook = shared.engine.forecast_all(steps).await?;
    let mut body = series_json(&outlook.series, steps);
    body["collections"] = json!(outlook.collections);
    body["live"] = amount_json(outlook.live);
    body["unreaped_estimate"] = unreaped_json(outlook.unreaped);
    Ok(Json(body))
}

/// Handles `GET .../expiry`: a collection's default time to live, its live documents, and the
/// amounts that expire within an hour, a day and a week. All counts are exact except the unreaped
/// estimate.
///
/// ```text
/// {"default": 3600, "live": {"documents": 9, "bytes": 900}, "dies_within": {"hour": .., "day": ..,
///  "week": ..}, "unreaped_estimate": {.., "oldest_dead_seconds": 4}, "date_indexes": 1,
///  "exact": true}
/// ```
pub(crate) async fn get_forecast(
    State(shared): State<Shared>,
    Path((database, collection)): Path<(String, String)>,
    Query(which): Query<ApiQuery>,
) -> Result<Json<Value>> {
    let collection = find_collection(&shared, &Namespace::new(database, collection), &which)?;
    Ok(Json(forecast_json(&shared.engine.forecast_collection(&collection).await?)))
}

/// Returns a collection's default time to live, its live documents and upcoming expirations.
pub(super) fn forecast_json(forecast: &Forecast) -> Value {
    json!({
        "default": match forecast.default {
            Ttl::Off => Value::Null,
            Ttl::Infinite => json!(-1),
            Ttl::Seconds(n) => json!(n),
        },
        "live": amount_json(forecast.live),
        "dies_within": within_json(&forecast.expires_within),
        "unreaped_estimate": unreaped_json(forecast.unreaped),
        "date_indexes": forecast.date_indexes,
        "exact": true,
    })
}

/// Query parameters of a list: number of items, and the position after which it starts.
#[derive(Debug, Deserialize)]
pub(crate) struct NextItemsQuery {
    limit: Option<usize>,
    after: Option<String>,
}

/// Handles `GET .../expiry/next?limit=100&after=place`: a container's items in order of expiration,
/// earliest first, and the position for the next page. For collections of the MongoDB API, use
/// `ebbExpiry` with `next`.
///
/// ```text
/// {"now_ms": .., "items": [{"id": "a", "expires_at_ms": ..}, ..], "after": "1700000000000-0a"}
/// ```
pub(crate) async fn get_next(
    State(shared): State<Shared>,
    Path((database, collection)): Path<(String, String)>,
    asked: std::result::Result<Query<NextItemsQuery>, QueryRejection>,
) -> Result<Json<Value>> {
    let asked = parse_query(asked)?;
    let limit = asked.limit.unwrap_or(NEXT_ITEMS);
    if !(1..=MAX_NEXT_ITEMS).contains(&limit) {
        return Err(Error::bad_request(format!("limit must be from 1 to {MAX_NEXT_ITEMS}")));
    }
    let after =
        match asked.after.as_deref() {
            None => None,
            Some(text) => Some(ExpiryPosition::parse(text).ok_or_else(|| {
                Error::bad_request("after must be the value of an earlier answer")
            })?),
        };
    let which = ApiQuery { door: Some("nosql".to_owned()) };
    let container = find_collection(&shared, &Namespace::new(database, collection), &which)?;
    let engine = &shared.engine;
    let next =
        engine.next_to_expire(&container, "id", after.as_ref(), limit, &Default::default()).await?;
    let items = next.expiries.documents.iter().filter_map(|document| {
        let (at, _) = document.expiry.as_ref()?;
        let id = document.id.as_ref().as_str()?;
        Some(json!({ "id": id, "expires_at_ms": at.ms }))
    });
    Ok(Json(json!({
        "now_ms": next.now.ms,
        "items": items.collect::<Vec<_>>(),
        "after": next.after.map(|place| place.to_text()),
    })))
}

/// Parses the default TTL whose effect a preview shows.
fn parse_default(request: &Value) -> Result<Ttl> {
    match request.get("default") {
        Some(Value::Null) => Ok(Ttl::Off),
        Some(value) => match value.as_i64() {
            Some(-1) => Ok(Ttl::Infinite),
            Some(n) if (1..=i64::from(i32::MAX)).contains(&n) => Ok(Ttl::Seconds(n)),
            _ => Err(Error::bad_request("default must be null, -1 or 1 to 2147483647")),
        },
        None => Err(Error::bad_request("default is missing")),
    }
}

/// Handles `POST .../expiry/preview` with `{"default": n}` (seconds; -1: documents do not expire by
/// themselves; null: no time to live): the amounts that would expire at once and later under that
/// default. With `{"index": "name", "expire_after_seconds": n}` the same for a date index.
pub(crate) async fn get_preview(
    State(shared): State<Shared>,
    Path((database, collection)): Path<(String, String)>,
    Query(which): Query<ApiQuery>,
    request: Bytes,
) -> Result<Json<Value>> {
    let collection = find_collection(&shared, &Namespace::new(database, collection), &which)?;
    let request: Value = serde_json::from_slice(&request)
        .map_err(|error| Error::bad_request(format!("the body is not JSON: {error}")))?;
    let preview = match request.get("index") {
        Some(index) => {
            let index =
                index.as_str().ok_or_else(|| Error::bad_request("index is not a string"))?;
            let after = request.get("expire_after_seconds").and_then(Value::as_i64);
            let after = after.filter(|after| (0..=i64::from(i32::MAX)).contains(after));
            let after = after.ok_or_else(|| {
                Error::bad_request("expire_after_seconds of a date index must be 0 to 2147483647")
            })?;
            shared.engine.preview_date_index(&collection, index, after).await?
        }
        None => shared.engine.preview_default(&collection, parse_default(&request)?).await?,
    };
    Ok(Json(json!({
        "dies_now": amount_json(preview.expires_now),
        "dies_within": within_json(&preview.expires_within),
        "exact": true,
    })))
}
