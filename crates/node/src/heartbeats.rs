//! Tracks when this node last saw a heartbeat of each other node. Records have no age, so a
//! heartbeat seen for the first time may be old.

use std::{collections::BTreeMap, time::Duration};

use cluster::View;
use uuid::Uuid;

/// Time without a new heartbeat after which a node counts as possibly down.
const SILENCE: Duration = Duration::from_secs(4);

/// The last heartbeat of a node, and the time at which this node first saw it.
#[derive(Clone, Copy, Debug)]
struct Heartbeat {
    number: (u64, u64),
    seen: Duration,
    /// Start of the current period in which heartbeats came without long gaps.
    since: Duration,
}

/// The last heartbeats of all nodes.
#[derive(Debug, Default)]
pub(super) struct Heartbeats(BTreeMap<Uuid, Heartbeat>);

impl Heartbeats {
    /// Records the heartbeats in a view of the cluster that was read at `now`.
    pub(super) fn record(&mut self, view: &View, now: Duration) {
        self.0.retain(|node, _| view.nodes.iter().any(|record| record.node == *node));
        for record in &view.nodes {
            let number = (record.incarnation, record.beat);
            let first = Heartbeat { number, seen: Duration::ZERO, since: Duration::ZERO };
            let beat = self.0.entry(record.node).or_insert(first);
            if beat.number != number {
                if beat.seen.is_zero() || SILENCE <= now.saturating_sub(beat.seen) {
                    beat.since = now;
                }
                (beat.number, beat.seen) = (number, now);
            }
        }
    }

    /// Returns how long ago a node's last heartbeat was seen; `None` if none was.
    pub(super) fn age(&self, node: Uuid, now: Duration) -> Option<Duration> {
        let beat = self.0.get(&node).filter(|beat| !beat.seen.is_zero())?;
        Some(now.saturating_sub(beat.seen))
    }

    /// Returns whether any other node has a recent heartbeat.
    pub(super) fn has_other(&self, own: Uuid, now: Duration) -> bool {
        self.living(now, Duration::ZERO).iter().any(|node| *node != own)
    }

    /// Returns the nodes that have sent heartbeats without interruption for this long.
    pub(super) fn living(&self, now: Duration, for_long: Duration) -> Vec<Uuid> {
        let lives = |(node, beat): (&Uuid, &Heartbeat)| {
            let is_fresh = self.age(*node, now).is_some_and(|age| age < SILENCE);
            (is_fresh && for_long <= now.saturating_sub(beat.since)).then_some(*node)
        };
        self.0.iter().filter_map(lives).collect()
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use cluster::{NodeRecord, NodeState};

    use super::*;

    const NONE: [Uuid; 0] = [];

    fn view(heartbeats: &[(u128, u64)]) -> View {
        let record = |(node, beat): &(u128, u64)| NodeRecord {
            node: Uuid::from_u128(*node),
            incarnation: 1,
            beat: *beat,
            state: NodeState::Up,
            about: Bytes::new(),
            terms: Vec::new(),
        };
        View { nodes: heartbeats.iter().map(record).collect(), ..View::default() }
    }

    #[test]
    fn a_node_lives_while_its_beats_are_seen() {
        let mut heartbeats = Heartbeats::default();
        let second = Duration::from_secs;
        let one = Uuid::from_u128(1);
        heartbeats.record(&view(&[(1, 7), (2, 7)]), second(100));
        // Heartbeats seen for the first time have an unknown age.
        assert_eq!(
            (heartbeats.age(one, second(100)), heartbeats.living(second(100), second(0))),
            (None, vec![])
        );
        for at in 101..110 {
            heartbeats.record(&view(&[(1, at), (2, 7)]), second(at));
        }
        assert_eq!(heartbeats.age(one, second(110)), Some(second(1)));
        assert_eq!(heartbeats.living(second(110), second(9)), [one]);
        assert_eq!(heartbeats.living(second(110), second(10)), NONE);
        assert_eq!(heartbeats.living(second(113), second(0)), NONE);
        // After a silence the period starts over.
        heartbeats.record(&view(&[(1, 200)]), second(120));
        assert_eq!(heartbeats.living(second(121), second(1)), [one]);
        assert_eq!(heartbeats.living(second(121), second(2)), NONE);
        heartbeats.record(&view(&[]), second(121));
        assert_eq!(heartbeats.living(second(121), second(0)), NONE);
    }
}
