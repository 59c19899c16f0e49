//! Reports of nodes on their progress, requested over the link, because the ledger does not record
//! which journal entries a node has applied.

use std::{collections::BTreeMap, sync::atomic::Ordering, time::Duration};

use cosmos::Duplex;
use memory::Account;
use tokio::{io::AsyncWriteExt, task::JoinSet};
use uuid::Uuid;

use super::{
    cluster_state::ClusterState,
    link::{Purpose, read_frame, write_frame},
    progress_report::ProgressReport,
    route::Route,
    routes::Routes,
};

/// Time limit for a report. A node that exceeds it is listed without a report.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time that a hand-over waits for a newer record of its target. Nodes write and read records with
/// every heartbeat, every 750 ms: this is the time of four heartbeats.
const NEWER_RECORD: Duration = Duration::from_secs(3);
/// Maximum size of a report, in bytes; there are at most 64 shards.
const ANSWER_MAX: usize = 64 << 10;

/// Returns this node's report of its progress.
fn own(routes: &Routes) -> ProgressReport {
    let unready = |route: &Route| {
        let why = route.here().is_none().then(|| route.cluster_state.why_unready()).flatten();
        why.map(|why| (route.cluster_state.number, why))
    };
    ProgressReport {
        applied: routes.all().map(|route| route.cluster_state.seen_shard().applied).collect(),
        roles: routes.all().map(|route| route.cluster_state.role_word().to_owned()).collect(),
        unready: routes.all().filter_map(unready).collect(),
    }
}

/// Sends this node's report to another node.
pub(super) async fn send(routes: &Routes, mut stream: Box<dyn Duplex>) {
    let text = serde_json::to_vec(&own(routes)).unwrap_or_default();
    let written = async {
        write_frame(&mut *stream, &text).await?;
        stream.flush().await
    };
    // On failure the caller finds the report incomplete.
    let _ = tokio::time::timeout(PATIENCE, written).await;
}

/// Requests a node's report; `None` if the node does not answer or does not support reports.
pub(super) async fn ask(route: &Route, peer: &str) -> Option<ProgressReport> {
    let asked = async {
        let mut stream = route.dialer.call(peer, Purpose::Standing, None).await.ok()?;
        let account = Account::new(ANSWER_MAX);
        let text = read_frame(&mut *stream, &mut account.share()).await.ok()?;
        serde_json::from_slice(&text).ok()
    };
    tokio::time::timeout(PATIENCE, asked).await.ok().flatten()
}

/// Returns the reports of all nodes that answer, including this one.
pub(super) async fn of_all(routes: &Routes) -> BTreeMap<Uuid, ProgressReport> {
    let cluster_state = routes.cluster_state();
    let mut asking = JoinSet::new();
    for (node, peer) in cluster_state.other_peers() {
        let route = routes.first().clone();
        asking.spawn(async move { (node, ask(&route, &peer).await) });
    }
    let mut found = BTreeMap::from([(cluster_state.node, own(routes))]);
    while let Some(asked) = asking.join_next().await {
        if let Ok((node, Some(progress_report))) = asked {
            found.insert(node, progress_report);
        }
    }
    found
}

/// Checks that a node can own a shard now; the error contains the reason. A node that has just
/// started or resumed may be ready before this node has read its newest record, so this function
/// waits for that record.
pub(super) async fn may_own(route: &Route, target: Uuid, name: &str) -> Result<(), String> {
    let cluster_state = &route.cluster_state;
    let peer_of_live = |cluster_state: &ClusterState| {
        cluster_state
            .node_state(target)
            .filter(|state| state.is_up())
            .and_then(|_| cluster_state.peer_of(target))
    };
    let Some(mut peer) = newer_record(cluster_state, peer_of_live).await else {
        let state = cluster_state.node_state(target).map_or("unknown", |state| state.word());
        return Err(format!("node {name} is {state}: its heartbeat has stopped"));
    };
    let progress_report = loop {
        if let Some(progress_report) = ask(route, &peer).await {
            break progress_report;
        }
        // A node of an older version does not report but still answers control messages.
        if route.send_control(&peer, Purpose::Look, PATIENCE).await {
            return Ok(());
        }
        // A restarted node may listen on a port other than in the record seen here.
        let moved = |cluster_state: &ClusterState| {
            cluster_state.peer_of(target).filter(|moved| *moved != peer)
        };
        match newer_record(cluster_state, moved).await {
            Some(moved) => peer = moved,
            None => return Err(format!("node {name} does not answer on the link at {peer}")),
        }
    };
    match progress_report.unready.get(&cluster_state.number) {
        Some(why) => Err(format!("node {name} cannot take over the shard now: {why}")),
        None => Ok(()),
    }
}

/// Waits until `wanted` returns a value from the nodes' records; `None` after [`NEWER_RECORD`].
async fn newer_record<T>(
    cluster_state: &ClusterState,
    wanted: impl Fn(&ClusterState) -> Option<T>,
) -> Option<T> {
    let mut view = cluster_state.view.clone();
    let found = async {
        loop {
            // Marked as seen before reading, so that a change in between is not missed.
            view.borrow_and_update();
            match wanted(cluster_state) {
                Some(found) => return Some(found),
                None => view.changed().await.ok()?,
            }
        }
    };
    tokio::time::timeout(NEWER_RECORD, found).await.ok().flatten()
}

/// Records whether a control message assigns the shard to this node or takes it away.
pub(super) fn record_assignment(route: &Route, message: Purpose) {
    match message {
        Purpose::Keep => route.kept.store(true, Ordering::SeqCst),
        Purpose::GoFirst | Purpose::HoldBack => route.kept.store(false, Ordering::SeqCst),
        _ => {}
    }
}
