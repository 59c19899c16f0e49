//! Hand-over of a shard on an operator's request, to a node that can take it, which keeps it until
//! the set of live nodes changes. Obstacles are detected before the shard is given up.

use std::{collections::BTreeMap, time::Duration};

use admin::routes::error::{Error, Result};
use axum::{Json, body::Bytes, extract::State};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    cluster_state::{ClusterState, node_called},
    link::Purpose,
    progress_reports,
    route::Route,
    routes::{Routes, no_shard},
};

/// Maximum time until another node owns the shard.
const HAND_OVER: Duration = Duration::from_secs(10);
/// Maximum time to wait for a node of the requested name to appear, if none is known.
const SEEN: Duration = Duration::from_secs(1);

/// Body of a hand-over request; unknown fields are refused.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct HandOver {
    #[serde(default)]
    shard: u32,
    /// Name or id of the new owner; defaults to any other node.
    to: Option<String>,
}

/// Handles `POST /_ebb/cluster/hand-over`: gives the shard up once everything is committed, and
/// responds with the new owner's name. If the target cannot take the shard now, the request is
/// refused and nothing changes.
pub(super) async fn hand_over(State(routes): State<Routes>, request: Bytes) -> Result<Json<Value>> {
    let wanted: HandOver = serde_json::from_slice(&request).map_err(|error| {
        Error::bad_request(format!("the body must be {{\"shard\": 0, \"to\": NODE}}: {error}"))
    })?;
    let route = routes.shard(wanted.shard).ok_or_else(|| no_shard(wanted.shard))?;
    let cluster_state = &route.cluster_state;
    let target = match &wanted.to {
        Some(name) => named(route, name).await?,
        None => any(route).await?,
    };
    let began = clock::monotonic_time();
    if !route.move_to(target, Purpose::Keep).await {
        return Err(Error::conflict("the new owner of the shard does not answer"));
    }
    let mut view = cluster_state.view.clone();
    let (node, shard) = (cluster_state.node, cluster_state.number);
    let is_another = |(owner, _)| owner != node;
    let owned = view.wait_for(|view| view.owner(shard).is_some_and(is_another));
    let owned = tokio::time::timeout(HAND_OVER, owned).await;
    let Ok(Ok(owner)) = owned.map(|owned| owned.map(|view| view.owner(shard))) else {
        return Err(Error::failed("no other node has taken over".to_owned()));
    };
    let owner = owner.map(|(owner, _)| owner);
    let took = clock::monotonic_time().saturating_sub(began);
    let mut cluster = cluster_state.to_json(&BTreeMap::new());
    let shards = cluster.get_mut("shards").map(Value::take).unwrap_or_default();
    Ok(Json(json!({
        "owner": owner.map(|owner| cluster_state.name_of(owner)),
        "wanted": cluster_state.name_of(target),
        "took_ms": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        "shards": shards,
    })))
}

/// Returns the node with this name or id if it can take the shard.
async fn named(route: &Route, name: &str) -> Result<Uuid> {
    let target = find_node(&route.cluster_state, name).await;
    let target = target.ok_or_else(|| Error::bad_request(format!("there is no node {name}")))?;
    if target == route.cluster_state.node {
        return Err(Error::bad_request(format!("{name} already owns the data")));
    }
    progress_reports::may_own(route, target, name).await.map_err(|why| Error::conflict(&why))?;
    Ok(target)
}

/// Returns the node that owns the fewest shards among the nodes that can take this shard. Nodes
/// that appear down come last, since each costs a timeout.
async fn any(route: &Route) -> Result<Uuid> {
    let cluster_state = &route.cluster_state;
    let view = cluster_state.seen();
    let owned = |node: Uuid| {
        let owners = view.shards.iter().filter_map(|shard| shard.owner);
        owners.filter(|(owner, _)| *owner == node).count()
    };
    let mut others: Vec<Uuid> =
        cluster_state.other_peers().into_iter().map(|(node, _)| node).collect();
    let is_up = |node: Uuid| cluster_state.node_state(node).is_some_and(|state| state.is_up());
    others.sort_by_key(|node| (!is_up(*node), owned(*node)));
    let mut why = "there is no other node".to_owned();
    for node in others {
        match progress_reports::may_own(route, node, &cluster_state.name_of(node)).await {
            Ok(()) => return Ok(node),
            Err(not) => why = not,
        }
    }
    Err(Error::conflict(&why))
}

/// Finds a node by its name or id. If no such node is known, waits up to [`SEEN`] for it to appear.
async fn find_node(cluster_state: &ClusterState, name: &str) -> Option<Uuid> {
    let mut view = cluster_state.view.clone();
    let is_seen = view.wait_for(|view| node_called(view, name).is_some());
    let seen = tokio::time::timeout(SEEN, is_seen).await.ok()?.ok()?;
    node_called(&seen, name)
}
