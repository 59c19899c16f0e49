//! Has another node own a shard whose owner's disk is full: here writes are refused until somebody makes
//! room, and another node may have some. A node whose own copy cannot be written does not stand for the
//! shard, so it does not come back before there is room.

use std::time::Duration;

use clock::monotonic_time;
use store::{Health, Kind};
use tokio::sync::watch;
use tracing::Instrument as _;

use super::{beats::Beats, route::Route};
use crate::background;

/// How often it is looked.
const EVERY: Duration = Duration::from_secs(1);

/// Looks until `stop`.
pub(super) fn start(route: &Route, stop: &watch::Receiver<bool>) -> tokio::task::JoinHandle<()> {
    let guard = DiskGuard { route: route.clone(), beats: Beats::default(), handed_over: false };
    tokio::spawn(guard.run(stop.clone()).in_current_span())
}

/// What it has seen.
struct DiskGuard {
    route: Route,
    beats: Beats,
    /// The data were handed over since there was room here: where they come back others have none either.
    handed_over: bool,
}

impl DiskGuard {
    async fn run(mut self, mut stop: watch::Receiver<bool>) {
        while background::has_waited(EVERY, &mut stop).await {
            self.look(monotonic_time()).await;
        }
    }

    async fn look(&mut self, now: Duration) {
        self.beats.note(&self.route.facts.seen(), now);
        let Some(term) = self.route.here() else { return };
        let full = match term.shared.engine.store().health() {
            Health::Refusing(error) if error.kind == Kind::Full => Some(error),
            _ => None,
        };
        drop(term);
        match full {
            None => self.handed_over = false,
            Some(error)
                if !self.handed_over && self.beats.has_other(self.route.facts.node, now) =>
            {
                self.handed_over = true;
                tracing::warn!(%error, "the disk is full: another node is to go on");
                self.route.hand_over().await;
            }
            Some(_) => {}
        }
    }
}
