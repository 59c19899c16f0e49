//! Owners whose wall clocks disagree take over from each other: the shard's time never goes back, and
//! goes on about as fast as time passes.

use std::sync::Arc;

use clock::{Clock, ClockMode, ClockSource, Instant};
use store::{Commit, Mutation, Outcome, Space, Stamp, Store as _, laws::ManualTime};
use store_shared::{Role, ShardClock, ShardClockOptions, SharedNode};

use crate::nodes::{BootTime, LEASE_MS, Machine, Nodes, wait_for};

/// The machine's clocks, with another wall clock.
#[derive(Debug)]
struct Ahead {
    boot: BootTime,
    ms: i64,
}

impl ClockSource for Ahead {
    fn boot_ns(&self) -> i64 {
        i64::try_from(self.boot.now_ns()).unwrap()
    }

    fn wall_ms(&self) -> i64 {
        wall_ms(&self.boot) + self.ms
    }
}

/// The time of day, and what the test has skipped.
fn wall_ms(boot: &BootTime) -> i64 {
    clock::wall_ms() + boot.skipped_ms()
}

/// A node with a clock of its own.
pub(crate) struct Timed {
    pub(crate) node: SharedNode,
    pub(crate) machine: Machine,
    pub(crate) clock: Arc<ShardClock>,
}

/// Starts one whose wall clock is so far ahead of others. Each has a boot id of its own, as another
/// machine has.
pub(crate) fn start(nodes: &Nodes, mode: ClockMode, ahead_ms: i64) -> Timed {
    let boot = nodes.boot.clone();
    let clock = ShardClock::new(ShardClockOptions {
        mode,
        sources: Arc::new(move || Box::new(Ahead { boot: boot.clone(), ms: ahead_ms })),
        boot_id: fastrand::u128(..).to_le_bytes(),
        lease_ms: LEASE_MS,
    });
    let machine = Machine::new();
    let node = nodes.start_with(&machine, clock.clone(), clock.clone());
    Timed { node, machine, clock }
}

impl Timed {
    fn serve(&self, nodes: &Nodes) -> Arc<Clock> {
        nodes.take_over(&self.node);
        self.clock.current().unwrap()
    }

    async fn stamp(&self) -> Stamp {
        let put = Commit::new(vec![], |_| {
            vec![Mutation::Put { space: Space::Catalog, key: "k".into(), value: "v".into() }]
        });
        match self.node.tree().commit(vec![put]).await.unwrap()[..] {
            [Outcome::Committed(stamp)] => stamp,
            _ => panic!("a refused put"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn time_never_goes_back_over_owners_whose_wall_clocks_disagree() {
    let nodes = Nodes::new(ManualTime::default());
    let mut owner = start(&nodes, ClockMode::System, 0);
    let mut last: Option<(Instant, Stamp, i64)> = None;
    for round in 0..20_i64 {
        let clock = owner.serve(&nodes);
        let (now, wall) = (clock.now().await.unwrap(), wall_ms(&nodes.boot));
        let stamp = owner.stamp().await;
        if let Some((before, stamped, then)) = last {
            assert!(before <= now && stamped.at_ms <= stamp.at_ms, "round {round}");
            assert!(stamped.seq < stamp.seq, "round {round}");
            let (passed, elapsed) = (now.ms - before.ms, wall - then);
            // By the boot clock, and at most a lease more; a step of up to five seconds may follow.
            let most = elapsed + LEASE_MS + 5_100;
            assert!(passed <= most, "round {round}: {passed} ms in {elapsed}");
        }
        let next = start(&nodes, ClockMode::System, if round % 2 == 0 { 5_000 } else { -5_000 });
        // Used to the end.
        let (mut used, mut stamped) = (clock.now().await.unwrap(), stamp);
        let then = wall_ms(&nodes.boot);
        if round % 3 == 0 {
            owner.node.hand_over();
            wait_for(&owner.node, |role| *role == Role::Following).await;
            assert_eq!(clock.try_now(), None, "its clock has ended");
            used = used.max(clock.last_used());
        } else {
            stamped = owner.stamp().await;
            used = used.max(clock.now().await.unwrap());
        }
        last = Some((used, stamped, then));
        owner.node.stop();
        owner = next;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_manual_clock_stands_where_it_stood_on_every_owner() {
    let nodes = Nodes::new(ManualTime::default());
    let mut owner = start(&nodes, ClockMode::Manual, 0);
    let mut expected = owner.serve(&nodes).now().await.unwrap();
    for round in 0..6 {
        let clock = owner.serve(&nodes);
        assert_eq!(clock.now().await.unwrap(), expected, "round {round}");
        expected = expected.plus_ms(7_776_000_000);
        let moved = clock.move_to(expected).unwrap();
        assert!(owner.clock.persist(moved).await);
        assert_eq!(clock.now().await.unwrap(), expected);
        let next = start(&nodes, ClockMode::Manual, 5_000);
        if round % 2 == 0 {
            owner.node.hand_over();
            wait_for(&owner.node, |role| *role == Role::Following).await;
        }
        owner.node.stop();
        owner = next;
    }
}
