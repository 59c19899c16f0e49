//! Logs when a data directory was copied and both copies run: to the cluster they are one node, and
//! each ends the other's lease, so that neither keeps a shard for long. No data are lost.

use std::time::Duration;

use server_base::sleep;
use tokio::sync::watch;
use uuid::Uuid;

use super::{cluster_state::ClusterState, routes::Routes};

const EVERY: Duration = Duration::from_secs(1);
/// Number of checks between repeated log lines.
const AGAIN: u32 = 60;

/// Starts the task that detects a second process of the same node, until `stop`.
pub(super) fn start(routes: &Routes, stop: &watch::Receiver<bool>) -> tokio::task::JoinHandle<()> {
    tokio::spawn(run(routes.cluster_state().clone(), stop.clone()))
}

async fn run(cluster_state: ClusterState, mut stop: watch::Receiver<bool>) {
    let mut rests = 0;
    while sleep::has_waited(EVERY, &mut stop).await {
        let duplicates: Vec<Uuid> = cluster_state.duplicates();
        rests = if duplicates.is_empty() { 0 } else { rests };
        if !duplicates.is_empty() && rests == 0 {
            for node in duplicates {
                tracing::error!(%node, name = cluster_state.name_of(node), "{}", WHAT);
            }
            rests = AGAIN;
        }
        rests = rests.saturating_sub(1);
    }
}

/// Text of the log line: the problem, and its remedy.
pub(super) const WHAT: &str = "two processes run as the same node, on a data directory and a copy \
                               of it: stop one and remove its directory";
