//! Hands over a shard whose owner's disk is full: writes are refused here until space is freed,
//! while another node may have free space. A node that cannot write its copy does not become a
//! candidate, so it does not get the shard back until it has free space.

use std::time::Duration;

use clock::monotonic_time;
use server_base::sleep;
use store::{Health, Kind};
use tokio::sync::watch;
use tracing::Instrument as _;

use super::{heartbeats::Heartbeats, route::Route};

const EVERY: Duration = Duration::from_secs(1);

/// Starts the task that hands shards over when the disk is full, until `stop`.
pub(super) fn start(route: &Route, stop: &watch::Receiver<bool>) -> tokio::task::JoinHandle<()> {
    let guard =
        DiskGuard { route: route.clone(), heartbeats: Heartbeats::default(), handed_over: false };
    tokio::spawn(guard.run(stop.clone()).in_current_span())
}

struct DiskGuard {
    route: Route,
    heartbeats: Heartbeats,
    /// Whether the shard was handed over since this node last had enough disk space. If the shard
    /// comes back, the other nodes have no space either, and it is not handed over again.
    handed_over: bool,
}

impl DiskGuard {
    async fn run(mut self, mut stop: watch::Receiver<bool>) {
        while sleep::has_waited(EVERY, &mut stop).await {
            self.check(monotonic_time()).await;
        }
    }

    async fn check(&mut self, now: Duration) {
        self.heartbeats.record(&self.route.cluster_state.seen(), now);
        let Some(term) = self.route.here() else { return };
        let full = match term.shared.engine.store().health() {
            Health::Refusing(error) if error.kind == Kind::Full => Some(error),
            _ => None,
        };
        drop(term);
        match full {
            None => self.handed_over = false,
            Some(error)
                if !self.handed_over
                    && self.heartbeats.has_other(self.route.cluster_state.node, now) =>
            {
                self.handed_over = true;
                tracing::warn!(%error, "the disk is full: handing over to another node");
                self.route.hand_over().await;
            }
            Some(_) => {}
        }
    }
}
