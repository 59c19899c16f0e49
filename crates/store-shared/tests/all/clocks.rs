//! Owners with different wall clocks take over from each other: the shard's time never goes back,
//! and advances at about the rate of real time.

use std::sync::Arc;

use bytes::Bytes;
use clock::{Checkpoint, Clock, ClockMode, ClockSource, Instant};
use cluster::{ClockLowerBounds, TermRecord};
use store::{Commit, Mutation, Outcome, Space, Stamp, Store as _, laws::ManualTime};
use store_shared::{NodeClock as _, Role, ShardClock, ShardClockOptions};

use crate::nodes::{BootTime, LEASE_MS, Machine, Nodes, OneShard, wait_for};

/// The machine's clocks, with an offset of the wall clock.
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

/// Returns the time of day plus the time that the test has skipped.
fn wall_ms(boot: &BootTime) -> i64 {
    clock::wall_ms() + boot.skipped_ms()
}

/// A node with its own clock.
pub(crate) struct Timed {
    pub(crate) node: OneShard,
    pub(crate) machine: Machine,
    pub(crate) clock: Arc<ShardClock>,
}

/// Starts a node whose wall clock is ahead by `ahead_ms`, with a boot id of its own as on another
/// machine.
pub(crate) fn start(nodes: &Nodes, mode: ClockMode, ahead_ms: i64) -> Timed {
    start_in(nodes, Machine::new(), fastrand::u128(..), mode, ahead_ms)
}

/// Like `start`, on an existing machine that was booted with this boot id.
fn start_in(
    nodes: &Nodes,
    machine: Machine,
    boot_id: u128,
    mode: ClockMode,
    ahead_ms: i64,
) -> Timed {
    let boot = nodes.boot.clone();
    let clock = ShardClock::new(ShardClockOptions {
        mode,
        sources: Arc::new(move || Box::new(Ahead { boot: boot.clone(), ms: ahead_ms })),
        boot_id: boot_id.to_le_bytes(),
        lease_ms: LEASE_MS,
    });
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
            // Time follows the boot clock, plus at most a lease and a step of five seconds.
            let most = elapsed + LEASE_MS + 5_100;
            assert!(passed <= most, "round {round}: {passed} ms in {elapsed}");
        }
        let next = start(&nodes, ClockMode::System, if round % 2 == 0 { 5_000 } else { -5_000 });
        // Uses the clock until the end of the node's term as the owner.
        let (mut used, mut stamped) = (clock.now().await.unwrap(), stamp);
        let then = wall_ms(&nodes.boot);
        if round % 3 == 0 {
            owner.node.hand_over();
            // Uses the clock while it returns instants; the next owner may start right after.
            while let Some(now) = clock.try_now() {
                used = used.max(now);
                std::thread::yield_now();
            }
            wait_for(&owner.node, |role| *role == Role::Following).await;
            assert_eq!(clock.try_now(), None, "its clock has ended");
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

const DAYS: i64 = 3 * 86_400_000;
/// Maximum delay on a busy machine, in milliseconds.
const SLACK: i64 = 20_000;

/// Stops an owner and lets a node take over that was not running before, so that it only knows the
/// shard record.
async fn after_a_stop(ahead_ms: i64) -> (Instant, Instant, i64, clock::ClockStatus) {
    let nodes = Nodes::new(ManualTime::default());
    let owner = start(&nodes, ClockMode::System, 0);
    let clock = owner.serve(&nodes);
    owner.stamp().await;
    let used = clock.now().await.unwrap();
    owner.node.stop();
    let next = start(&nodes, ClockMode::System, ahead_ms);
    let clock = next.serve(&nodes);
    let now = clock.now().await.unwrap();
    (used, now, wall_ms(&nodes.boot), clock.status())
}

/// Only the wall clock knows how long the cluster was off. Time advances as after a reboot, and
/// documents that expire by this are not reaped yet.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_that_was_off_for_days_goes_on_at_the_time_of_day() {
    let (used, now, wall, status) = after_a_stop(DAYS).await;
    assert!((wall + DAYS - SLACK..wall + DAYS + SLACK).contains(&now.ms), "{now:?} at {wall}");
    let reap_until = status.reap_until.unwrap();
    assert!(used < reap_until && reap_until.ms < used.ms + LEASE_MS + SLACK, "{status:?}");
    // A wall clock that is behind never moves time back.
    let (used, now, _, status) = after_a_stop(-DAYS).await;
    assert!(used <= now && now.ms < used.ms + LEASE_MS + SLACK, "{used:?} {now:?}");
    assert_eq!(status.reap_until, None);
}

/// A node that has seen the owner's heartbeats continues by its boot clock, not its wall clock.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_seen_the_owner_alive_goes_on_by_its_boot_clock() {
    let nodes = Nodes::new(ManualTime::default());
    let owner = start(&nodes, ClockMode::System, 0);
    let clock = owner.serve(&nodes);
    let next = start(&nodes, ClockMode::System, DAYS);
    live_on(&owner, &nodes).await;
    let used = clock.now().await.unwrap();
    let skipped = nodes.boot.skipped_ms();
    owner.node.stop();
    let clock = next.serve(&nodes);
    let now = clock.now().await.unwrap();
    let passed = nodes.boot.skipped_ms() - skipped + SLACK;
    assert!(used <= now && now.ms <= used.ms + passed, "{used:?} {now:?}");
}

/// Commits for two seconds, so that the owner sends heartbeats.
async fn live_on(owner: &Timed, nodes: &Nodes) {
    let until = nodes.boot.now_ns() + 2_000_000_000;
    while nodes.boot.now_ns() < until {
        owner.stamp().await;
    }
}

/// A node that has seen the owner release the shard continues by the boot clock, too: another node
/// with a wrong wall clock, or the node that has released it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_seen_the_shard_given_up_goes_on_by_its_boot_clock() {
    for ahead_ms in [DAYS, -DAYS] {
        let nodes = Nodes::new(ManualTime::default());
        let owner = start(&nodes, ClockMode::System, 0);
        let clock = owner.serve(&nodes);
        let next = start(&nodes, ClockMode::System, ahead_ms);
        live_on(&owner, &nodes).await;
        let skipped = nodes.boot.skipped_ms();
        let used = clock.now().await.unwrap();
        owner.node.hand_over();
        wait_for(&owner.node, |role| *role == Role::Following).await;
        owner.node.stop();
        let clock = next.serve(&nodes);
        let now = clock.now().await.unwrap();
        let passed = nodes.boot.skipped_ms() - skipped + SLACK;
        assert!(used <= now && now.ms <= used.ms + passed, "{ahead_ms}: {used:?} {now:?}");
        assert_eq!(clock.status().reap_until, None);
        // The owner releases the shard, and no other node claims it.
        live_on(&next, &nodes).await;
        let skipped = nodes.boot.skipped_ms();
        let used = clock.now().await.unwrap();
        next.node.hand_over();
        wait_for(&next.node, |role| *role == Role::Following).await;
        let clock = next.serve(&nodes);
        let now = clock.now().await.unwrap();
        let passed = nodes.boot.skipped_ms() - skipped + SLACK;
        assert!(used <= now && now.ms <= used.ms + passed, "{ahead_ms}, again: {used:?} {now:?}");
    }
}

/// In the same boot of its machine, a node knows the age of its own last checkpoint.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owner_that_is_started_again_in_the_same_boot_goes_on_by_its_boot_clock() {
    let nodes = Nodes::new(ManualTime::default());
    let owner = start_in(&nodes, Machine::new(), 5, ClockMode::System, 0);
    let used = owner.serve(&nodes).now().await.unwrap();
    owner.node.stop();
    let machine = owner.machine;
    drop(owner.node);
    nodes.boot.skip(3_600_000);
    let again = start_in(&nodes, machine, 5, ClockMode::System, 0);
    let clock = again.serve(&nodes);
    let (now, wall) = (clock.now().await.unwrap(), wall_ms(&nodes.boot));
    assert!(used.ms + 3_600_000 <= now.ms && now.ms.abs_diff(wall) < 20_000, "{now:?} at {wall}");
    // The advance does not count as a clock jump, so reaping is not delayed.
    assert_eq!(clock.status().reap_until, None);
}

/// The restarted owner takes over at once, without waiting for its lease to expire; its clock must
/// not get ahead by that.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owner_that_is_killed_again_and_again_is_not_ahead_of_the_time_of_day() {
    let nodes = Nodes::new(ManualTime::default());
    let mut machine = Machine::new();
    let mut used = None;
    for round in 0..6 {
        let owner = start_in(&nodes, machine, 5, ClockMode::System, 0);
        let now = owner.serve(&nodes).now().await.unwrap();
        let ahead = now.ms - wall_ms(&nodes.boot);
        assert!(ahead < LEASE_MS / 3, "{ahead} ms ahead after start {round}");
        assert!(used < Some(now), "{used:?} {now:?}");
        used = Some(now);
        owner.node.stop();
        machine = owner.machine;
    }
}

#[tokio::test]
async fn the_last_word_of_a_manual_clock_has_every_move_that_may_be_answered() {
    let clock = ShardClock::new(ShardClockOptions {
        mode: ClockMode::Manual,
        sources: Arc::new(|| Box::new(Ahead { boot: BootTime::default(), ms: 0 })),
        boot_id: [1; 16],
        lease_ms: LEASE_MS,
    });
    let said = |bytes: &[u8]| Checkpoint::decode_whole(bytes).unwrap();
    let lower_bounds =
        ClockLowerBounds { beat: None, least: Bytes::new(), seen_alive: false, released: false };
    for answered_before in [true, false] {
        clock.open(&lower_bounds).unwrap();
        let before = said(&clock.checkpoint());
        let moved = Checkpoint { number: before.number + 1, ms: before.ms + 60_000, ..before };
        let moving = tokio::spawn({
            let clock = Arc::clone(&clock);
            async move { clock.persist(moved).await }
        });
        while !clock.has_new_checkpoint() {
            tokio::task::yield_now().await;
        }
        assert_eq!(said(&clock.checkpoint()).ms, moved.ms);
        // The heartbeat or its reply is in flight: the clock itself has not moved yet.
        if answered_before {
            clock.confirm_checkpoint();
        }
        assert_eq!(said(&clock.finish()).ms, moved.ms);
        clock.confirm_checkpoint();
        assert!(moving.await.unwrap());
        // No further move is possible.
        assert!(!clock.persist(Checkpoint { ms: moved.ms + 1, ..moved }).await);
        clock.end();
    }
}

/// A node reads a checkpoint slightly after its creation; its clock does not lag by that time.
#[tokio::test]
async fn a_clock_that_goes_on_from_a_look_begins_with_the_wall_clock_where_that_is_near() {
    for (late_ms, behind_ms) in [(300, 0), (2_000, 2_000), (-300, -300)] {
        let boot = BootTime::default();
        let sources = boot.clone();
        let clock = ShardClock::new(ShardClockOptions {
            mode: ClockMode::System,
            sources: Arc::new(move || Box::new(Ahead { boot: sources.clone(), ms: 0 })),
            boot_id: [1; 16],
            lease_ms: LEASE_MS,
        });
        let elapsed_ms = 2 * LEASE_MS;
        let wall = wall_ms(&boot);
        let made = Checkpoint {
            number: 1,
            boot_id: [2; 16],
            boot_ns: 0,
            ms: wall - elapsed_ms - late_ms,
            reap_until_ms: i64::MAX,
            accepted_at_ms: 0,
            manual: false,
            wall_ms: None,
        };
        let noted = boot.now_ns() - u64::try_from(elapsed_ms * 1_000_000).unwrap();
        let term = TermRecord { shard: 0, epoch: 1, committed: 0, clock: made.encode().into() };
        let lower_bounds = ClockLowerBounds {
            beat: Some((term, noted)),
            least: Bytes::new(),
            seen_alive: true,
            released: false,
        };
        clock.open(&lower_bounds).unwrap();
        let begins = clock.current().unwrap().last_used().ms;
        let about = wall - behind_ms - 50..wall - behind_ms + 200;
        assert!(about.contains(&begins), "{late_ms}: {}", begins - wall);
    }
}

/// A new clock's first checkpoint is sent with a heartbeat at once, because readers wait for it.
#[test]
fn the_next_beat_carries_a_clock_that_has_just_begun_at_once() {
    for mode in [ClockMode::System, ClockMode::Manual] {
        let clock = ShardClock::new(ShardClockOptions {
            mode,
            sources: Arc::new(|| Box::new(clock::Machine)),
            boot_id: [1; 16],
            lease_ms: LEASE_MS,
        });
        assert!(!clock.has_new_checkpoint());
        clock
            .open(&ClockLowerBounds {
                beat: None,
                seen_alive: false,
                released: false,
                least: Bytes::new(),
            })
            .unwrap();
        assert!(clock.has_new_checkpoint());
        assert!(!clock.checkpoint().is_empty());
        assert!(!clock.has_new_checkpoint());
        clock.confirm_checkpoint();
        clock.current().unwrap().now_blocking().unwrap();
        clock.finish();
        assert!(!clock.has_new_checkpoint());
        clock.end();
        assert!(!clock.has_new_checkpoint());
    }
}
