//! The admin address of a node. Health, metrics and the cluster's state are served by the node
//! itself; requests about data go to the term (engine and APIs) of the shard's owner, here or on
//! another node.

use std::{collections::BTreeMap, net::SocketAddr, sync::Arc, time::Duration};

use admin::{
    pages::Pages,
    routes::{
        error::{Error, Result},
        health,
    },
};
use axum::{
    Json, Router,
    body::{Body, Bytes},
    extract::{ConnectInfo, Request, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde::Deserialize;
use serde_json::{Value, json};
use tower_service::Service;

use super::{
    hand_over,
    link::Purpose,
    metrics, progress_reports,
    route::{Destination, OwnerStream, Route},
    routes::{Routes, no_shard},
};

/// Paths that the receiving node serves itself. Requests for all other paths go to the owner.
const OWN: [&str; 7] =
    ["/livez", "/alive", "/readyz", "/ready", "/status", "/metrics", "/_ebb/cluster"];
/// Path prefix of operations on one shard, which the body names.
const OF_SHARD: &str = "/_ebb/cluster/";
/// Maximum size of a body that names a shard, in bytes.
const NAMED_MAX: usize = 64 << 10;
/// Maximum time that a request waits for a base (full copy of a shard).
const BASE: Duration = Duration::from_secs(10);

/// Returns the node's routes: its own inside the access control, and forwarding to the owner.
pub(super) fn routes(routes: Routes, pages: Arc<Pages>) -> Router {
    let own = Router::new()
        .route("/livez", get(get_liveness))
        .route("/alive", get(get_liveness))
        .route("/readyz", get(get_readiness))
        .route("/ready", get(get_readiness))
        .route("/status", get(get_status))
        .route("/metrics", get(metrics::get_metrics))
        .route("/_ebb/cluster", get(get_cluster))
        .route("/_ebb/cluster/hand-over", post(hand_over::hand_over))
        .route("/_ebb/cluster/base", post(make_base))
        .with_state(routes.clone());
    let own = portal::mount(pages, own);
    Router::new().fallback(dispatch).with_state(Dispatch { routes, own })
}

#[derive(Clone)]
struct Dispatch {
    routes: Routes,
    own: Router,
}

/// Sends a request to the routes of this node or to another node.
async fn dispatch(
    State(Dispatch { routes, mut own }): State<Dispatch>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let path = request.uri().path();
    if OWN.contains(&path) {
        return into_response(own.call(request).await);
    }
    // Operations on a shard go to its owner.
    let of_shard = path.starts_with(OF_SHARD);
    let (request, shard) = match of_shard {
        true => match named_shard(request).await {
            Ok(named) => named,
            Err(error) => return error.into_response(),
        },
        false => (request, 0),
    };
    let Some(route) = routes.shard(shard) else { return no_shard(shard).into_response() };
    match route.find(Purpose::Admin, peer, false).await {
        Some(Destination::Here(_)) if of_shard => into_response(own.call(request).await),
        Some(Destination::Here(term)) => match term.routes() {
            Some(mut routes) => into_response(routes.call(request).await),
            None => StatusCode::NOT_FOUND.into_response(),
        },
        Some(Destination::There(passage)) => pass_on(passage, request).await,
        None => unserved(),
    }
}

fn into_response(response: std::result::Result<Response, std::convert::Infallible>) -> Response {
    match response {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

fn unserved() -> Response {
    Error::unavailable("no node that owns the data can be reached").into_response()
}

/// Forwards a request to the owner of a shard and returns the owner's response.
pub(super) async fn pass_on(passage: OwnerStream, request: Request) -> Response {
    passage.exchange(request).await.unwrap_or_else(unserved)
}

/// Handles `/livez`, which succeeds while the node runs, in any role.
async fn get_liveness() -> Response {
    health::health_answer(true, "")
}

/// Handles `/readyz`: 200 if the node serves as owner or closely follows one.
async fn get_readiness(State(routes): State<Routes>) -> Response {
    let why = routes.why_unserved();
    health::health_answer(why.is_none(), why.as_deref().unwrap_or_default())
}

/// Handles `/status`: the status of the term served here, if any, and of the cluster.
async fn get_status(State(routes): State<Routes>) -> Response {
    let mut body = match routes.all().find_map(Route::here) {
        Some(term) => health::status_body(&term.shared),
        None => {
            let why = routes.why_unready();
            json!({
                "status": if why.is_none() { "ok" } else { "unavailable" },
                "reason": why,
                "version": env!("CARGO_PKG_VERSION"),
                "checks": health::checks_json(why.clone()),
            })
        }
    };
    if let Some(fields) = body.as_object_mut() {
        fields.insert("cluster".to_owned(), routes.cluster_state().to_json(&BTreeMap::new()));
        // `status_body` checks neither shards that other nodes serve nor writes that wait to be
        // committed.
        if let Some(why) = routes.why_waiting().or_else(|| routes.why_unready()) {
            merge_checks(fields, why);
        }
    }
    health::status_answer(body)
}

/// Adds a reason to the checks in a status response.
fn merge_checks(fields: &mut serde_json::Map<String, Value>, why: String) {
    let found = health::checks_json([why]);
    let Some(checks) = fields.get_mut("checks").and_then(Value::as_object_mut) else { return };
    for (check, found) in found.as_object().into_iter().flatten() {
        if found != "ok" {
            checks.insert(check.clone(), found.clone());
        }
    }
}

/// Handles `GET /_ebb/cluster`: the cluster as seen by this node, with the nodes' reports.
async fn get_cluster(State(routes): State<Routes>) -> Json<Value> {
    let progress_reports = progress_reports::of_all(&routes).await;
    Json(routes.cluster_state().to_json(&progress_reports))
}

/// Body of a request for a base (full copy of a shard); unknown fields are refused.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WantedBase {
    #[serde(default)]
    shard: u32,
    /// Number of the entry that the base has to include; by default the last committed one.
    entry: Option<u64>,
}

/// Handles `POST /_ebb/cluster/base`: writes a base. If that takes too long, the response names the
/// entry that the base has to include. A client that repeats the request with this entry continues
/// to wait.
async fn make_base(State(routes): State<Routes>, request: Bytes) -> Result<Json<Value>> {
    let wanted: WantedBase = serde_json::from_slice(&request).map_err(|error| {
        Error::bad_request(format!("the body must be {{\"shard\": 0, \"entry\": NUMBER}}: {error}"))
    })?;
    let shard = wanted.shard;
    let route = routes.shard(shard).ok_or_else(|| no_shard(shard))?;
    let begun = route.cluster_state.shard.make_base(wanted.entry).await;
    let (entry, made) =
        begun.ok_or_else(|| Error::unavailable(format!("this node does not own shard {shard}")))?;
    let base = tokio::time::timeout(BASE, made).await;
    let base = base.ok().and_then(|base| base.ok());
    Ok(Json(json!({ "shard": shard, "entry": entry, "base": base })))
}

/// Returns the shard that a request's body names, to find its owner; the rest of the body is parsed
/// by the handler.
async fn named_shard(request: Request) -> Result<(Request, u32)> {
    #[derive(Deserialize)]
    struct Named {
        #[serde(default)]
        shard: u32,
    }
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, NAMED_MAX).await;
    let body = body.map_err(|_| Error::bad_request("the body is too large".to_owned()))?;
    let shard = serde_json::from_slice(&body).map_or(0, |Named { shard }| shard);
    Ok((Request::from_parts(head, Body::from(body)), shard))
}
