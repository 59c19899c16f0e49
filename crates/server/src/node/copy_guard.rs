//! Says in the log when a data directory was copied and both run: to the cluster they are one node, whose
//! incarnations end each other, so that neither keeps a shard for long. Nothing is lost by it.

use std::time::Duration;

use tokio::sync::watch;
use uuid::Uuid;

use super::{facts::Facts, routes::Routes};
use crate::background;

/// How often it is looked.
const EVERY: Duration = Duration::from_secs(1);
/// The pause before the same is said again.
const AGAIN: u32 = 60;

/// Looks until `stop`.
pub(super) fn start(routes: &Routes, stop: &watch::Receiver<bool>) -> tokio::task::JoinHandle<()> {
    tokio::spawn(run(routes.facts().clone(), stop.clone()))
}

async fn run(facts: Facts, mut stop: watch::Receiver<bool>) {
    let mut rests = 0;
    while background::has_waited(EVERY, &mut stop).await {
        let doubled: Vec<Uuid> = facts.doubled();
        rests = if doubled.is_empty() { 0 } else { rests };
        if !doubled.is_empty() && rests == 0 {
            for node in doubled {
                tracing::error!(%node, name = facts.name_of(node), "{}", WHAT);
            }
            rests = AGAIN;
        }
        rests = rests.saturating_sub(1);
    }
}

/// What is wrong, and what to do.
pub(super) const WHAT: &str = "two processes run as one node, on a data directory and on a copy of it: stop one \
    of them and remove its directory";
