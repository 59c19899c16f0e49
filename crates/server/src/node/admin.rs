//! The admin address of a node. Health, figures and the cluster are its own; what is asked of the data
//! goes to the term that serves, here or at another node.

use std::{net::SocketAddr, sync::Arc, time::Duration};

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
use uuid::Uuid;

use super::{
    facts::{Facts, node_called},
    link::Purpose,
    metrics,
    route::{Passage, Route, Way},
    routes::Routes,
};
use crate::admin::{
    Pages,
    error::{Error, Result},
    health,
};

/// Paths that are answered by the node that is asked; all others by the owner.
const OWN: [&str; 7] =
    ["/livez", "/alive", "/readyz", "/ready", "/status", "/metrics", "/_ebb/cluster"];
/// What begins the paths of what is done with one shard, which the body names.
const OF_SHARD: &str = "/_ebb/cluster/";
/// Bytes of such a body at the most.
const NAMED_MAX: usize = 64 << 10;
/// How long a hand-over may take, until the other node serves.
const HAND_OVER: Duration = Duration::from_secs(10);
/// How long a request waits for a base.
const BASE: Duration = Duration::from_secs(10);
/// How long a node is looked for that is not known.
const SEEN: Duration = Duration::from_secs(1);

/// The routes of a node: its own, inside the portal's rules, and the way to the owner's.
pub(super) fn routes(routes: Routes, pages: Arc<Pages>) -> Router {
    let own = Router::new()
        .route("/livez", get(get_liveness))
        .route("/alive", get(get_liveness))
        .route("/readyz", get(get_readiness))
        .route("/ready", get(get_readiness))
        .route("/status", get(get_status))
        .route("/metrics", get(metrics::get_metrics))
        .route("/_ebb/cluster", get(get_cluster))
        .route("/_ebb/cluster/hand-over", post(hand_over))
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

/// Sends a request where it is answered.
async fn dispatch(
    State(Dispatch { routes, mut own }): State<Dispatch>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let path = request.uri().path();
    if OWN.contains(&path) {
        return into_response(own.call(request).await);
    }
    // What is done with a shard is its owner's business.
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
        Some(Way::Here(_)) if of_shard => into_response(own.call(request).await),
        Some(Way::Here(term)) => match term.routes() {
            Some(mut routes) => into_response(routes.call(request).await),
            None => StatusCode::NOT_FOUND.into_response(),
        },
        Some(Way::There(passage)) => pass_on(passage, request).await,
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

/// Has the owner answer a request.
pub(super) async fn pass_on(passage: Passage, request: Request) -> Response {
    passage.exchange(request).await.unwrap_or_else(unserved)
}

/// Handles `/livez`: whatever the node is to the data, it runs.
async fn get_liveness() -> Response {
    health::health_answer(true, "")
}

/// Handles `/readyz`: 200 if the node owns the data and serves them, or follows the owner closely.
async fn get_readiness(State(routes): State<Routes>) -> Response {
    let why = routes.why_unserved();
    health::health_answer(why.is_none(), why.as_deref().unwrap_or_default())
}

/// Handles `/status`: that of the term, if one serves here, and the cluster.
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
        fields.insert("cluster".to_owned(), routes.facts().to_json());
        // Of shards that others serve.
        if let Some(why) = routes.why_unready() {
            merge_checks(fields, why);
        }
    }
    health::status_answer(body)
}

/// Adds a reason to the checks of a status.
fn merge_checks(fields: &mut serde_json::Map<String, Value>, why: String) {
    let found = health::checks_json([why]);
    let Some(checks) = fields.get_mut("checks").and_then(Value::as_object_mut) else { return };
    for (check, found) in found.as_object().into_iter().flatten() {
        if found != "ok" {
            checks.insert(check.clone(), found.clone());
        }
    }
}

/// Handles `GET /_ebb/cluster`: the cluster as this node sees it.
async fn get_cluster(State(routes): State<Routes>) -> Json<Value> {
    Json(routes.facts().to_json())
}

/// The body of a hand-over. An unknown name is refused.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct HandOver {
    #[serde(default)]
    shard: u32,
    /// Name or id of the node that is to own it; any other node otherwise.
    to: Option<String>,
}

/// Handles `POST /_ebb/cluster/hand-over`: gives the data up once all is committed, and answers when
/// another node owns them.
async fn hand_over(State(routes): State<Routes>, request: Bytes) -> Result<Json<Value>> {
    let wanted: HandOver = serde_json::from_slice(&request).map_err(|error| {
        Error::bad_request(format!("the body is {{\"shard\": 0, \"to\": NODE}}: {error}"))
    })?;
    let route = routes.shard(wanted.shard).ok_or_else(|| no_shard(wanted.shard))?;
    let facts = &route.facts;
    if let Some(name) = &wanted.to {
        let target = find_node(facts, name).await;
        let target =
            target.ok_or_else(|| Error::bad_request(format!("there is no node {name}")))?;
        if target == facts.node {
            return Err(Error::bad_request(format!("{name} owns the data already")));
        }
        // Another may be faster; the answer says who owns the data then.
        route.ask_to_own(target).await;
    } else if facts.other_peers().is_empty() {
        return Err(Error::conflict("there is no other node"));
    }
    let began = clock::monotonic_time();
    route.hand_over().await;
    let mut view = facts.view.clone();
    let (node, shard) = (facts.node, facts.number);
    let is_another = |(owner, _)| owner != node;
    let owned = view.wait_for(|view| view.owner(shard).is_some_and(is_another));
    let owned = tokio::time::timeout(HAND_OVER, owned).await.is_ok_and(|owned| owned.is_ok());
    if !owned {
        return Err(Error::failed("no other node has taken over".to_owned()));
    }
    let took = clock::monotonic_time().saturating_sub(began);
    Ok(Json(answer(facts, took)))
}

/// The body of a request for a base. An unknown name is refused.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WantedBase {
    #[serde(default)]
    shard: u32,
    /// The entry that it is to have; all that is committed now otherwise.
    entry: Option<u64>,
}

/// Handles `POST /_ebb/cluster/base`: has a base made. Where that takes longer than a request may, the
/// answer says so, and the same with the entry in it goes on waiting.
async fn make_base(State(routes): State<Routes>, request: Bytes) -> Result<Json<Value>> {
    let wanted: WantedBase = serde_json::from_slice(&request).map_err(|error| {
        Error::bad_request(format!("the body is {{\"shard\": 0, \"entry\": NUMBER}}: {error}"))
    })?;
    let shard = wanted.shard;
    let route = routes.shard(shard).ok_or_else(|| no_shard(shard))?;
    let begun = route.facts.shard.make_base(wanted.entry).await;
    let (entry, made) =
        begun.ok_or_else(|| Error::unavailable("the node does not own the data"))?;
    let base = tokio::time::timeout(BASE, made).await;
    let base = base.ok().and_then(|base| base.ok());
    Ok(Json(json!({ "shard": shard, "entry": entry, "base": base })))
}

fn no_shard(shard: u32) -> Error {
    Error::bad_request(format!("there is no shard {shard}"))
}

/// The shard that the body of a request names, for whoever finds its owner; what else it says is read
/// there.
async fn named_shard(request: Request) -> Result<(Request, u32)> {
    #[derive(Deserialize)]
    struct Named {
        #[serde(default)]
        shard: u32,
    }
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, NAMED_MAX).await;
    let body = body.map_err(|_| Error::bad_request("the body is too long".to_owned()))?;
    let shard = serde_json::from_slice(&body).map_or(0, |Named { shard }| shard);
    Ok((Request::from_parts(head, Body::from(body)), shard))
}

/// Finds a node by its name or id. One that has just started may not have been seen yet.
async fn find_node(facts: &Facts, name: &str) -> Option<Uuid> {
    let mut view = facts.view.clone();
    let is_seen = view.wait_for(|view| node_called(view, name).is_some());
    let seen = tokio::time::timeout(SEEN, is_seen).await.ok()?.ok()?;
    node_called(&seen, name)
}

fn answer(facts: &Facts, took: Duration) -> Value {
    let mut cluster = facts.to_json();
    let shards = cluster.get_mut("shards").map(Value::take).unwrap_or_default();
    json!({ "shards": shards, "took_ms": u64::try_from(took.as_millis()).unwrap_or(u64::MAX) })
}
