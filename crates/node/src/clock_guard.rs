//! Keeps the data on nodes whose wall clocks agree with database time. Instants are exact on every
//! node, since database time advances by boot clocks across changes of owner; but an owner whose
//! wall clock is wrong waits for an operator to confirm it, while another node could continue.
//!
//! If the shard has no owner, a node with a deviating clock lets other nodes claim it first. An
//! owner whose wall clock stepped hands over once, if another node is alive. Manual clocks have no
//! wall clock.

use std::{sync::atomic::Ordering, time::Duration};

use clock::{Checkpoint, ClockMode, ClockSource, monotonic_time};
use server_base::sleep;
use store_shared::ClockSources;
use tokio::sync::watch;
use tracing::Instrument as _;

use super::{heartbeats::Heartbeats, route::Route};

const EVERY: Duration = Duration::from_secs(1);
/// Deviation of a wall clock that is tolerated, in milliseconds.
const MOST_OFF_MS: i64 = 60_000;
/// Time for which a deviating node lets other nodes claim the shard first; they take over within
/// seconds.
const HELD_BACK: Duration = Duration::from_secs(10);

/// Compares the wall clocks of this node and of the other nodes with database time.
pub(super) struct ClockGuard {
    route: Route,
    source: Box<dyn ClockSource>,
    heartbeats: Heartbeats,
    /// Whether this node has handed the data over because of a clock step that is not yet
    /// confirmed.
    handed_over: bool,
}

impl ClockGuard {
    pub(super) fn new(route: Route, source: Box<dyn ClockSource>) -> Self {
        Self { route, source, heartbeats: Heartbeats::default(), handed_over: false }
    }

    /// Compares the clocks periodically until `stop`.
    pub(super) async fn run(mut self, mut stop: watch::Receiver<bool>) {
        self.check(monotonic_time()).await;
        while sleep::has_waited(EVERY, &mut stop).await {
            self.check(monotonic_time()).await;
        }
    }

    async fn check(&mut self, now: Duration) {
        self.heartbeats.record(&self.route.cluster_state.seen(), now);
        match self.route.here() {
            Some(term) => {
                self.route.cluster_state.counts.off_ms.store(0, Ordering::Relaxed);
                let status = term.shared.engine.clock().status();
                // `unconfirmed` reports a step forward only. A step back needs no confirmation,
                // since database time then only runs more slowly, and is detected by the offset.
                let is_behind = status.mode == ClockMode::System && status.offset_ms < -MOST_OFF_MS;
                if !status.unconfirmed && !is_behind {
                    self.handed_over = false;
                } else if !self.handed_over
                    && self.heartbeats.has_other(self.route.cluster_state.node, now)
                {
                    self.handed_over = true;
                    let offset_ms = status.offset_ms;
                    tracing::warn!(
                        offset_ms,
                        "the wall clock stepped: handing over to another node"
                    );
                    self.route.hand_over().await;
                }
            }
            None => self.judge(now),
        }
    }

    /// Compares this node's wall clock with the database time in the owner's last heartbeat. Does
    /// nothing if that heartbeat is old.
    fn judge(&self, now: Duration) {
        let Some(owner_ms) = self.owner_ms(now) else { return };
        let off_ms = self.source.wall_ms().saturating_sub(owner_ms);
        let is_off = off_ms.checked_abs().is_none_or(|off| MOST_OFF_MS < off);
        let counts = &self.route.cluster_state.counts;
        let was_off = counts.off_ms.swap(if is_off { off_ms } else { 0 }, Ordering::Relaxed) != 0;
        match (was_off, is_off) {
            (false, false) => {}
            (true, false) => self.route.cluster_state.shard.defer_claim(Duration::ZERO),
            (was_off, true) => {
                self.route.cluster_state.shard.defer_claim(HELD_BACK);
                if !was_off {
                    tracing::warn!(off_ms, "the wall clock differs from the cluster's: correct it");
                }
            }
        }
    }

    /// Returns the database time in the owner's last heartbeat; `None` if that heartbeat is old.
    fn owner_ms(&self, now: Duration) -> Option<i64> {
        let view = self.route.cluster_state.seen();
        let shard = self.route.cluster_state.number;
        let (owner, epoch) = view.owner(shard)?;
        if EVERY < self.heartbeats.age(owner, now)? {
            return None;
        }
        let record = view.nodes.iter().find(|record| record.node == owner)?;
        let term = record.terms.iter().find(|term| (term.shard, term.epoch) == (shard, epoch))?;
        let checkpoint = Checkpoint::decode_whole(&term.clock)?;
        (!checkpoint.manual).then_some(checkpoint.ms)
    }
}

/// Starts the comparison of clocks in the background.
pub(super) fn start(
    route: &Route,
    sources: &ClockSources,
    stop: &watch::Receiver<bool>,
) -> tokio::task::JoinHandle<()> {
    let guard = ClockGuard::new(route.clone(), sources());
    tokio::spawn(guard.run(stop.clone()).in_current_span())
}
