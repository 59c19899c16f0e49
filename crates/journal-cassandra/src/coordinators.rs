//! Which node of Cassandra a request is sent to. A node from which nothing has come for some time although
//! it was asked is avoided, for a second at first and for longer each time it proves silent again, so
//! that its silence delays a request now and then, and not a third of all.

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

/// For how long a silent node is avoided at first, and at most.
const AVOIDED: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(8));
/// For how long it is avoided after that by all requests but one, which finds out whether it answers.
const TRIAL: Duration = Duration::from_millis(500);
/// The average of a request's time follows new ones by this part.
const SMOOTHING: u32 = 8;

/// What is known of one node.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// When it answered last.
    heard_at: Instant,
    /// Until when it is avoided, and for how long that was.
    avoided: Option<(Instant, Duration)>,
}

/// What is known of all nodes of Cassandra.
#[derive(Debug)]
pub(crate) struct Coordinators {
    near: Arc<dyn LoadBalancingPolicy>,
    known: Mutex<HashMap<Uuid, Known>>,
    /// The average time of an answer.
    usual: Mutex<Duration>,
}

impl Coordinators {
    /// Knows nothing yet; `near` gives the order of nodes that are not avoided.
    pub(crate) fn new(near: Arc<dyn LoadBalancingPolicy>) -> Arc<Self> {
        let (known, usual) = (Mutex::default(), Mutex::default());
        Arc::new(Self { near, known, usual })
    }

    /// A delay after which an answer is late: at least this long, and longer where all of Cassandra is
    /// slow, as asking twice would make it slower.
    pub(crate) fn patience(&self, least: Duration) -> Duration {
        let usual = *self.usual.lock();
        (usual * 3).clamp(least, least.max(Duration::from_secs(1)))
    }

    /// Notes that a node has answered.
    fn heard(&self, node: Uuid, took: Option<Duration>) {
        let known = Known { heard_at: Instant::now(), avoided: None };
        self.known.lock().insert(node, known);
        if let Some(took) = took {
            let mut usual = self.usual.lock();
            *usual = (*usual * (SMOOTHING - 1) + took) / SMOOTHING;
        }
    }

    /// Notes that a node was asked then and has not answered in time: it is avoided if it has answered
    /// nothing else since.
    fn note_late(&self, node: Uuid, asked_at: Instant) {
        let mut all = self.known.lock();
        let known = all.entry(node).or_insert(Known { heard_at: asked_at, avoided: None });
        // Requests that were on their way when it fell silent tell one silence.
        let is_told = known.avoided.is_some_and(|(until, pause)| asked_at + pause < until);
        if asked_at < known.heard_at || is_told {
            return;
        }
        let (first, longest) = AVOIDED;
        let pause = known.avoided.map_or(first, |(_, pause)| (pause * 2).min(longest));
        known.avoided = Some((Instant::now() + pause, pause));
    }

    /// Whether a request should go elsewhere.
    fn avoids(&self, node: Uuid) -> bool {
        let known = self.known.lock();
        let avoided = known.get(&node).and_then(|known| known.avoided);
        avoided.is_some_and(|(until, _)| Instant::now() < until)
    }

    /// Notes that a node is asked. One that was avoided until now is tried by this request alone.
    fn note_asked(&self, node: Uuid) {
        if let Some(known) = self.known.lock().get_mut(&node)
            && let Some((until, _)) = &mut known.avoided
        {
            *until = (*until).max(Instant::now() + TRIAL);
        }
    }
}

/// The way of one request: each attempt goes to a node that was not asked yet.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    coordinators: Arc<Coordinators>,
    asked: Arc<Mutex<Vec<(Uuid, Instant)>>>,
}

impl Way {
    /// Of a request of which no node was asked.
    pub(crate) fn new(coordinators: &Arc<Coordinators>) -> Self {
        Self { coordinators: Arc::clone(coordinators), asked: Arc::default() }
    }

    /// Notes that the last attempt is late.
    pub(crate) fn note_late(&self) {
        if let Some((node, asked_at)) = self.asked.lock().last() {
            self.coordinators.note_late(*node, *asked_at);
        }
    }

    /// The better of nodes that can be asked comes first: not asked before, not avoided.
    fn rank(&self, node: Uuid) -> (bool, bool) {
        let asked = self.asked.lock().iter().any(|(asked, _)| *asked == node);
        (asked, self.coordinators.avoids(node))
    }
}

impl LoadBalancingPolicy for Way {
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
                // The first of those that are equally good.
                usual.into_iter().chain(others).min_by_key(|(node, _)| self.rank(node.host_id))
            }
        };
        if let Some((node, _)) = chosen {
            self.coordinators.note_asked(node.host_id);
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
        self.coordinators.heard(node.host_id, Some(latency));
    }

    fn on_request_failure(
        &self,
        _: &RoutingInfo,
        _: Duration,
        node: NodeRef<'_>,
        error: &RequestAttemptError,
    ) {
        // A node that cannot do what it is asked has still answered.
        if matches!(error, RequestAttemptError::DbError(..)) {
            self.coordinators.heard(node.host_id, None);
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
        all.heard(node, None);
        for seconds in [1, 2, 4, 8, 8] {
            let asked_at = Instant::now();
            all.note_asked(node);
            advance(Duration::from_millis(100)).await;
            all.note_late(node, asked_at);
            advance(Duration::from_millis(seconds * 1_000 - 1)).await;
            assert!(all.avoids(node), "{seconds}");
            advance(Duration::from_millis(1)).await;
            assert!(!all.avoids(node), "{seconds}");
        }
        // One request tries it, the others go on elsewhere.
        all.note_asked(node);
        assert!(all.avoids(node));
        all.heard(node, None);
        assert!(!all.avoids(node));
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_answer_of_a_node_that_answers_others_is_no_silence() {
        let (all, node) = (coordinators(), Uuid::from_u128(1));
        let asked_at = Instant::now();
        advance(Duration::from_millis(100)).await;
        all.heard(node, None);
        all.note_late(node, asked_at);
        assert!(!all.avoids(node));
    }

    /// Many requests are on their way when a node falls silent.
    #[tokio::test(start_paused = true)]
    async fn requests_of_one_silence_count_once() {
        let (all, node) = (coordinators(), Uuid::from_u128(1));
        all.heard(node, None);
        let asked_at = Instant::now();
        for _ in 0..20 {
            advance(Duration::from_millis(10)).await;
            all.note_late(node, asked_at);
        }
        advance(Duration::from_millis(900)).await;
        assert!(!all.avoids(node));
    }

    #[tokio::test(start_paused = true)]
    async fn patience_grows_where_all_are_slow() {
        let (all, node, least) = (coordinators(), Uuid::from_u128(1), Duration::from_millis(100));
        assert_eq!(all.patience(least), least);
        for _ in 0..100 {
            all.heard(node, Some(Duration::from_millis(20)));
        }
        assert_eq!(all.patience(least), least);
        for _ in 0..100 {
            all.heard(node, Some(Duration::from_millis(500)));
        }
        assert_eq!(all.patience(least), Duration::from_secs(1));
    }
}
