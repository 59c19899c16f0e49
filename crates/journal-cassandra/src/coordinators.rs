//! Selection of the coordinator for a request. A node that was sent requests and has not responded
//! for some time is avoided, for a second at first and longer each time it is silent again. So an
//! unresponsive node delays an occasional request rather than a third of all.

use std::{collections::HashMap, sync::Arc, time::Duration};

use parking_lot::Mutex;
use scylla::{
    cluster::{ClusterState, NodeRef},
    errors::RequestAttemptError,
    policies::load_balancing::{FallbackPlan, LoadBalancingPolicy, RoutingInfo},
    routing::Shard,
};
use tokio::time::Instant;
use uuid::Uuid;

/// Minimum and maximum time for which a node that does not respond is avoided.
const AVOIDED: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(8));
/// Extension of the avoidance while a single request checks whether the node responds.
const TRIAL: Duration = Duration::from_millis(500);
/// Weight divisor of the moving average of latencies.
const SMOOTHING: u32 = 8;

#[derive(Clone, Copy, Debug)]
struct NodeHealth {
    /// Time of the last response.
    heard_at: Instant,
    /// While the node is avoided: when the avoidance ends, and for how long it was set.
    avoided: Option<(Instant, Duration)>,
}

/// State of all Cassandra nodes.
#[derive(Debug)]
pub(crate) struct Coordinators {
    near: Arc<dyn LoadBalancingPolicy>,
    known: Mutex<HashMap<Uuid, NodeHealth>>,
    /// Moving average of the latency of all responses.
    usual: Mutex<Duration>,
}

impl Coordinators {
    /// Creates the state of nodes that have not been used yet; `near` orders the nodes that are not
    /// avoided.
    pub(crate) fn new(near: Arc<dyn LoadBalancingPolicy>) -> Arc<Self> {
        let (known, usual) = (Mutex::default(), Mutex::default());
        Arc::new(Self { near, known, usual })
    }

    /// Returns the delay after which a reply is late: at least `least`, and longer if all of
    /// Cassandra is slow, because a second request would add load.
    pub(crate) fn late_after(&self, least: Duration) -> Duration {
        let usual = *self.usual.lock();
        (usual * 3).clamp(least, least.max(Duration::from_secs(1)))
    }

    fn record_response(&self, node: Uuid, took: Option<Duration>) {
        let known = NodeHealth { heard_at: Instant::now(), avoided: None };
        self.known.lock().insert(node, known);
        if let Some(took) = took {
            let mut usual = self.usual.lock();
            *usual = (*usual * (SMOOTHING - 1) + took) / SMOOTHING;
        }
    }

    /// Records that a request sent at `asked_at` has no reply in time. The node is avoided if it
    /// has responded to nothing since.
    fn record_timeout(&self, node: Uuid, asked_at: Instant) {
        let mut all = self.known.lock();
        let known = all.entry(node).or_insert(NodeHealth { heard_at: asked_at, avoided: None });
        // Timeouts of requests that were in flight when the node fell silent count as one.
        let already_counted = known.avoided.is_some_and(|(until, pause)| asked_at + pause < until);
        if asked_at < known.heard_at || already_counted {
            return;
        }
        let (first, longest) = AVOIDED;
        let pause = known.avoided.map_or(first, |(_, pause)| (pause * 2).min(longest));
        known.avoided = Some((Instant::now() + pause, pause));
    }

    /// Returns whether requests should be sent to other nodes, because this one does not respond.
    fn is_avoided(&self, node: Uuid) -> bool {
        let known = self.known.lock();
        let avoided = known.get(&node).and_then(|known| known.avoided);
        avoided.is_some_and(|(until, _)| Instant::now() < until)
    }

    /// Records that a request is sent to a node. If the node was avoided, other requests avoid it
    /// for `TRIAL` more, until this one shows whether it responds.
    fn record_request(&self, node: Uuid) {
        if let Some(known) = self.known.lock().get_mut(&node)
            && let Some((until, _)) = &mut known.avoided
        {
            *until = (*until).max(Instant::now() + TRIAL);
        }
    }
}

/// The load-balancing policy of one request: each attempt is sent to a node not tried yet.
#[derive(Clone, Debug)]
pub(crate) struct CoordinatorPolicy {
    coordinators: Arc<Coordinators>,
    asked: Arc<Mutex<Vec<(Uuid, Instant)>>>,
}

impl CoordinatorPolicy {
    /// Creates the load balancing policy for a new request.
    pub(crate) fn new(coordinators: &Arc<Coordinators>) -> Self {
        Self { coordinators: Arc::clone(coordinators), asked: Arc::default() }
    }

    /// Records that the node of the request's last attempt has not responded in time.
    pub(crate) fn record_timeout(&self) {
        if let Some((node, asked_at)) = self.asked.lock().last() {
            self.coordinators.record_timeout(*node, *asked_at);
        }
    }

    /// Returns the sort key of a node: untried nodes before tried ones, then nodes that are not
    /// avoided.
    fn rank(&self, node: Uuid) -> (bool, bool) {
        let asked = self.asked.lock().iter().any(|(asked, _)| *asked == node);
        (asked, self.coordinators.is_avoided(node))
    }
}

impl LoadBalancingPolicy for CoordinatorPolicy {
    fn pick<'a>(
        &'a self,
        request: &'a RoutingInfo,
        cluster: &'a ClusterState,
    ) -> Option<(NodeRef<'a>, Option<Shard>)> {
        let near = &self.coordinators.near;
        let usual = near.pick(request, cluster);
        let is_good = |(node, _): &(NodeRef<'_>, _)| self.rank(node.host_id) == (false, false);
        let chosen = match usual.filter(is_good) {
            Some(usual) => Some(usual),
            None => {
                let others = near.fallback(request, cluster);
                // `min_by_key` returns the first of equal nodes, so the order of `near` is kept.
                usual.into_iter().chain(others).min_by_key(|(node, _)| self.rank(node.host_id))
            }
        };
        if let Some((node, _)) = chosen {
            self.coordinators.record_request(node.host_id);
            self.asked.lock().push((node.host_id, Instant::now()));
        }
        chosen
    }

    fn fallback<'a>(
        &'a self,
        request: &'a RoutingInfo,
        cluster: &'a ClusterState,
    ) -> FallbackPlan<'a> {
        let mut others: Vec<_> = self.coordinators.near.fallback(request, cluster).collect();
        others.sort_by_key(|(node, _)| self.rank(node.host_id));
        Box::new(others.into_iter())
    }

    fn on_request_success(&self, _: &RoutingInfo, latency: Duration, node: NodeRef<'_>) {
        self.coordinators.record_response(node.host_id, Some(latency));
    }

    fn on_request_failure(
        &self,
        _: &RoutingInfo,
        _: Duration,
        node: NodeRef<'_>,
        error: &RequestAttemptError,
    ) {
        // An error of the database is a response, too.
        if matches!(error, RequestAttemptError::DbError(..)) {
            self.coordinators.record_response(node.host_id, None);
        }
    }

    fn name(&self) -> String {
        "nodes that answer first".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use scylla::policies::load_balancing::DefaultPolicy;
    use tokio::time::advance;

    use super::*;

    fn coordinators() -> Arc<Coordinators> {
        Coordinators::new(Arc::new(DefaultPolicy::default()))
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_node_is_avoided_for_longer_each_time() {
        let (all, node) = (coordinators(), Uuid::from_u128(1));
        all.record_response(node, None);
        for seconds in [1, 2, 4, 8, 8] {
            let asked_at = Instant::now();
            all.record_request(node);
            advance(Duration::from_millis(100)).await;
            all.record_timeout(node, asked_at);
            advance(Duration::from_millis(seconds * 1_000 - 1)).await;
            assert!(all.is_avoided(node), "{seconds}");
            advance(Duration::from_millis(1)).await;
            assert!(!all.is_avoided(node), "{seconds}");
        }
        // A single request checks whether the node responds; the others are sent to other nodes.
        all.record_request(node);
        assert!(all.is_avoided(node));
        all.record_response(node, None);
        assert!(!all.is_avoided(node));
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_answer_of_a_node_that_answers_others_is_no_silence() {
        let (all, node) = (coordinators(), Uuid::from_u128(1));
        let asked_at = Instant::now();
        advance(Duration::from_millis(100)).await;
        all.record_response(node, None);
        all.record_timeout(node, asked_at);
        assert!(!all.is_avoided(node));
    }

    /// The timeouts of requests that are in flight when a node falls silent lead to one avoidance.
    #[tokio::test(start_paused = true)]
    async fn requests_of_one_silence_count_once() {
        let (all, node) = (coordinators(), Uuid::from_u128(1));
        all.record_response(node, None);
        let asked_at = Instant::now();
        for _ in 0..20 {
            advance(Duration::from_millis(10)).await;
            all.record_timeout(node, asked_at);
        }
        advance(Duration::from_millis(900)).await;
        assert!(!all.is_avoided(node));
    }

    #[tokio::test(start_paused = true)]
    async fn patience_grows_where_all_are_slow() {
        let (all, node, least) = (coordinators(), Uuid::from_u128(1), Duration::from_millis(100));
        assert_eq!(all.late_after(least), least);
        for _ in 0..100 {
            all.record_response(node, Some(Duration::from_millis(20)));
        }
        assert_eq!(all.late_after(least), least);
        for _ in 0..100 {
            all.record_response(node, Some(Duration::from_millis(500)));
        }
        assert_eq!(all.late_after(least), Duration::from_secs(1));
    }
}
