//! Tests of the database clock with simulated machine clocks.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use super::*;

mod doubts;

#[derive(Clone, Debug, Default)]
struct Fake {
    boot_ms: Arc<AtomicI64>,
    wall_ms: Arc<AtomicI64>,
}

impl ClockSource for Fake {
    fn boot_ns(&self) -> i64 {
        self.boot_ms.load(Ordering::SeqCst) * 1_000_000
    }

    fn wall_ms(&self) -> i64 {
        self.wall_ms.load(Ordering::SeqCst)
    }
}

impl Fake {
    fn at(boot_ms: i64, wall_ms: i64) -> Self {
        let fake = Self::default();
        fake.boot_ms.store(boot_ms, Ordering::SeqCst);
        fake.wall_ms.store(wall_ms, Ordering::SeqCst);
        fake
    }

    fn run(&self, ms: i64) {
        self.boot_ms.fetch_add(ms, Ordering::SeqCst);
        self.wall_ms.fetch_add(ms, Ordering::SeqCst);
    }

    fn step(&self, ms: i64) {
        self.wall_ms.fetch_add(ms, Ordering::SeqCst);
    }

    fn start(&self, boot: u8, last: Option<Checkpoint>) -> Clock {
        Clock::start(ClockMode::System, Box::new(self.clone()), [boot; 16], last).unwrap()
    }
}

impl Fake {
    fn leased(&self, boot: u8, last: Option<Checkpoint>, least: i64) -> Clock {
        let lease = ClusterLease { ms: 3_000, least: Instant::from_ms(least) };
        let source = Box::new(self.clone());
        Clock::start_leased(ClockMode::System, source, [boot; 16], last, Some(lease)).unwrap()
    }
}

/// Ticks the clock every second for this long.
fn ticks(clock: &Clock, fake: &Fake, seconds: i64) -> Checkpoint {
    let mut checkpoint = clock.tick();
    for _ in 0..seconds {
        clock.mark_persisted(&checkpoint);
        fake.run(1000);
        checkpoint = clock.tick();
    }
    clock.mark_persisted(&checkpoint);
    checkpoint
}

const START: i64 = 1_795_248_000_000;

#[test]
fn nothing_is_used_before_or_beyond_a_durable_checkpoint() {
    let fake = Fake::at(5_000, START);
    let clock = fake.start(1, None);
    assert_eq!(clock.try_now(), None);
    clock.mark_persisted(&clock.tick());
    assert_eq!(clock.try_now(), Some(Instant::from_ms(START)));
    fake.run(LEASE_MS);
    assert_eq!(clock.try_now(), Some(Instant::from_ms(START + LEASE_MS)));
    fake.run(1);
    assert_eq!(clock.try_now(), None);
    assert_eq!(clock.last_used(), Instant::from_ms(START + LEASE_MS));
    clock.mark_persisted(&clock.tick());
    assert_eq!(clock.try_now(), Some(Instant::from_ms(START + LEASE_MS + 1)));
}

#[test]
fn a_wall_clock_set_back_only_slows_time() {
    let fake = Fake::at(0, START);
    let clock = fake.start(1, None);
    ticks(&clock, &fake, 10);
    fake.step(-3_600_000);
    let before = clock.try_now().unwrap();
    ticks(&clock, &fake, 1000);
    let gained = clock.try_now().unwrap().since_ms(before);
    assert!((999_400..1_000_000).contains(&gained), "{gained}");
}

#[test]
fn small_steps_are_adopted_within_a_budget_and_large_ones_wait() {
    let fake = Fake::at(0, START);
    let clock = fake.start(1, None);
    ticks(&clock, &fake, 1);
    fake.step(40_000);
    ticks(&clock, &fake, 1);
    assert!(clock.status().offset_ms.abs() < 2);
    fake.step(40_000);
    ticks(&clock, &fake, 1);
    assert!(clock.status().unconfirmed, "80 s within 10 minutes is over the budget");
    fake.step(50_000);
    ticks(&clock, &fake, 601);
    assert!(!clock.status().unconfirmed);
    assert!(clock.status().offset_ms.abs() < 2, "it lasted, so it was adopted");
    let before_jump = clock.status().reap_until.unwrap();
    assert!(before_jump < clock.last_used());
    clock.accept_jump();
    assert_eq!(clock.reap_until(), Instant::MAX);
}

#[test]
fn an_accepted_step_is_adopted_at_once_and_may_be_reaped() {
    let fake = Fake::at(0, START);
    let clock = fake.start(1, None);
    ticks(&clock, &fake, 1);
    fake.step(86_400_000);
    ticks(&clock, &fake, 3);
    assert!(clock.status().unconfirmed);
    assert!(clock.reap_until() <= clock.last_used());
    clock.accept_jump();
    // A checkpoint that did not become durable does not end the step.
    clock.tick();
    assert!(clock.status().unconfirmed);
    clock.mark_persisted(&clock.tick());
    assert!(!clock.status().unconfirmed, "at once");
    assert!(clock.status().offset_ms.abs() < 2);
    assert_eq!(clock.reap_until(), Instant::MAX);
}

#[test]
fn a_jump_is_reaped_by_itself_after_a_day() {
    let fake = Fake::at(0, START);
    let clock = fake.start(1, None);
    ticks(&clock, &fake, 1);
    fake.step(86_400_000);
    ticks(&clock, &fake, 605);
    assert_ne!(clock.reap_until(), Instant::MAX);
    for _ in 0..24 * 60 {
        clock.mark_persisted(&clock.tick());
        fake.run(60_000);
    }
    clock.mark_persisted(&clock.tick());
    assert_eq!(clock.reap_until(), Instant::MAX);
}

#[test]
fn a_restart_on_the_same_boot_follows_the_boot_clock_whatever_the_wall_says() {
    let fake = Fake::at(0, START);
    let clock = fake.start(1, None);
    let last = ticks(&clock, &fake, 10);
    fake.run(5_000);
    fake.step(-9_000_000);
    let again = fake.start(1, Some(last));
    again.mark_persisted(&again.tick());
    let now = again.try_now().unwrap().ms;
    assert!((last.ms + 5_000..last.ms + 5_010).contains(&now));
}

#[test]
fn time_is_not_ahead_of_the_wall_clock_after_a_long_stop() {
    for stopped_ms in [1, 1_999, 2_000, 300_000, 86_400_000] {
        let fake = Fake::at(0, START);
        let clock = fake.start(1, None);
        // A wall clock that is ahead makes time run at its maximum rate.
        fake.step(400);
        let last = ticks(&clock, &fake, 10);
        fake.run(stopped_ms.min(LEASE_MS));
        let used = clock.last_used();
        fake.run(stopped_ms - stopped_ms.min(LEASE_MS));
        let again = fake.start(1, Some(last));
        assert!(used <= again.last_used(), "{stopped_ms} ms: time went back");
        let ahead = again.last_used().ms - (last.ms + stopped_ms);
        assert!((0..=2).contains(&ahead), "{ahead} ms ahead after a stop of {stopped_ms} ms");
    }
}

#[test]
fn a_boot_clock_that_runs_far_ahead_of_the_wall_at_a_start_is_not_believed() {
    let fake = Fake::at(0, START);
    let last = ticks(&fake.start(1, None), &fake, 10);
    fake.run(5_000);
    let year = 31_536_000_000;
    fake.boot_ms.fetch_add(year, Ordering::SeqCst);
    let again = fake.start(1, Some(last));
    assert!(again.status().boot_disagrees);
    assert_eq!(again.last_used(), Instant::from_ms(last.ms + 5_000));
    // If the wall clock was also set back before the restart, time resumes one lease after the last
    // checkpoint.
    fake.step(-9_000_000);
    let again = fake.start(1, Some(last));
    assert_eq!(again.last_used(), Instant::from_ms(last.ms + LEASE_MS));
    // If the checkpoint has no wall clock, the boot clock cannot be checked and is used.
    let older = Checkpoint { wall_ms: None, ..last };
    let again = fake.start(1, Some(older));
    assert!(!again.status().boot_disagrees && last.ms + year < again.last_used().ms);
}

#[test]
fn after_a_reboot_time_is_past_the_lease_and_a_long_gap_waits_to_be_reaped() {
    let fake = Fake::at(0, START);
    let last = ticks(&fake.start(1, None), &fake, 10);
    let set_back = Fake::at(0, START - 1_000_000);
    let clock = set_back.start(2, Some(last));
    assert_eq!(clock.last_used(), Instant::from_ms(last.ms + LEASE_MS));
    assert_eq!(clock.reap_until(), Instant::MAX);
    let much_later = Fake::at(0, START + 86_400_000);
    let clock = much_later.start(2, Some(last));
    assert_eq!(clock.last_used(), Instant::from_ms(START + 86_400_000));
    assert_eq!(clock.reap_until(), Instant::from_ms(last.ms + LEASE_MS));
}

#[test]
fn a_manual_clock_stands_still_and_never_goes_back() {
    let fake = Fake::at(0, START + 789);
    let clock = Clock::start(ClockMode::Manual, Box::new(fake.clone()), [1; 16], None).unwrap();
    clock.mark_persisted(&clock.tick());
    fake.run(90_000);
    assert_eq!(clock.try_now(), Some(Instant::from_ms(START)));
    let moved = clock.move_to(Instant::from_ms(START + 5)).unwrap();
    assert_eq!(clock.try_now(), Some(Instant::from_ms(START)), "not before it is durable");
    clock.mark_persisted(&moved);
    assert_eq!(clock.try_now(), Some(Instant::from_ms(START + 5)));
    let now = Instant::from_ms(START + 5);
    assert_eq!(clock.move_to(Instant::from_ms(START)), Err(ClockRefusal::Backwards { now }));
    let again =
        Clock::start(ClockMode::Manual, Box::new(fake.clone()), [9; 16], Some(moved)).unwrap();
    again.mark_persisted(&again.tick());
    assert_eq!(again.try_now(), Some(now), "a restart shows exactly that instant");
    let other = Clock::start(ClockMode::System, Box::new(fake), [1; 16], Some(moved));
    assert_eq!(other.unwrap_err(), ClockRefusal::OtherMode);
}

#[test]
fn checkpoints_round_trip_and_far_instants_saturate() {
    let fake = Fake::at(7, START);
    let checkpoint = fake.start(3, None).tick();
    let [new, old] = Checkpoint::decode(&checkpoint.encode());
    assert_eq!(new, Some(checkpoint));
    let without = Checkpoint { wall_ms: None, ..checkpoint };
    assert_eq!(old, Some(without));
    assert_eq!(Checkpoint::decode(&without.encode()), [None, Some(without)]);
    assert_eq!(Checkpoint::decode(&[0; 5]), [None, None]);
    assert_eq!(Instant::from_seconds(i64::MAX).ms, i64::MAX);
    assert_eq!(Instant::from_ms(-1).seconds(), -1);
    assert_eq!(Instant::MAX.plus_ms(5), Instant::MAX);
}

#[test]
fn readings_of_many_threads_never_go_back() {
    let clock = Clock::start(ClockMode::System, Box::new(Machine), [1; 16], None).unwrap();
    clock.mark_persisted(&clock.tick());
    let newest = AtomicI64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..20_000 {
                    let floor = newest.load(Ordering::SeqCst);
                    let now = clock.now_blocking().unwrap().ms;
                    assert!(floor <= now);
                    newest.fetch_max(now, Ordering::SeqCst);
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..2_000 {
                clock.mark_persisted(&clock.tick());
            }
        });
    });
}

#[test]
fn a_lease_ends_by_the_boot_clock_of_the_tick_that_asked_for_it() {
    let fake = Fake::at(5_000, START);
    let clock = fake.leased(1, None, 0);
    assert_eq!(clock.try_now(), None);
    let asked = clock.tick();
    fake.run(2_000);
    assert_eq!(clock.try_now(), None, "it is not answered yet");
    clock.mark_persisted(&asked);
    assert_eq!(clock.try_now(), Some(Instant::from_ms(START + 2_000)));
    fake.run(999);
    assert!(clock.try_now().is_some());
    fake.run(1);
    assert_eq!(clock.try_now(), None, "a late answer lengthens nothing");
    assert_eq!(clock.last_used(), Instant::from_ms(START + 3_000));
    fake.run(60_000);
    assert_eq!(clock.last_used(), Instant::from_ms(START + 3_000), "nothing was used since");
    clock.mark_persisted(&clock.tick());
    assert_eq!(clock.try_now(), Some(Instant::from_ms(START + 63_000)), "nobody else took over");
}

#[test]
fn a_step_of_the_wall_clock_lengthens_no_lease() {
    let fake = Fake::at(5_000, START);
    let clock = fake.leased(1, None, 0);
    clock.mark_persisted(&clock.tick());
    fake.step(10_000);
    let step = clock.tick();
    clock.mark_persisted(&step);
    assert_eq!(clock.try_now(), Some(Instant::from_ms(START + 10_000)));
    fake.run(3_000);
    assert_eq!(clock.try_now(), None);
}

#[test]
fn a_manual_clock_has_a_lease_too() {
    let fake = Fake::at(5_000, START);
    let lease = ClusterLease { ms: 3_000, least: Instant::from_ms(START + 7) };
    let source = Box::new(fake.clone());
    let clock = Clock::start_leased(ClockMode::Manual, source, [1; 16], None, Some(lease)).unwrap();
    clock.mark_persisted(&clock.tick());
    assert_eq!(clock.try_now(), Some(Instant::from_ms(START + 7)));
    fake.run(3_000);
    assert_eq!(clock.try_now(), None);
    assert_eq!(clock.last_used(), Instant::from_ms(START + 7));
}

#[test]
fn whoever_takes_over_begins_where_the_owner_before_could_have_stopped() {
    let owner = Fake::at(5_000, START);
    let clock = owner.leased(1, None, 0);
    let beat = clock.tick();
    clock.mark_persisted(&beat);
    // Another machine, whose wall clock is a minute behind, sees the heartbeat by its own boot
    // clock.
    let taker = Fake::at(900_000, START - 60_000);
    let seen = Checkpoint { boot_id: [2; 16], boot_ns: 900_000 * 1_000_000, ..beat };
    for waited in [0, 3_500, 20_000] {
        taker.boot_ms.store(900_000 + waited, Ordering::SeqCst);
        let least = beat.ms + 3_000;
        let next = taker.leased(2, Some(Checkpoint { wall_ms: None, ..seen }), least);
        next.mark_persisted(&next.tick());
        let begins = next.try_now().unwrap().ms;
        assert!(least <= begins && START + waited <= begins, "{waited}: {begins}");
        assert!(begins <= START + waited.max(3_000) + waited / 1_000 + 1, "{waited}: {begins}");
    }
}

#[tokio::test]
async fn whoever_waits_for_a_clock_that_ends_hears_of_it() {
    let fake = Fake::at(5_000, START);
    let clock = Arc::new(fake.start(1, None));
    let waiting = Arc::clone(&clock);
    let thread = std::thread::spawn(move || waiting.now_blocking());
    let mut waits = Box::pin(clock.now());
    let polled = std::future::poll_fn(|context| {
        std::task::Poll::Ready(waits.as_mut().poll(context).is_pending())
    });
    assert!(polled.await);
    clock.end();
    assert_eq!(waits.await, Err(ClockEnded));
    assert_eq!(thread.join().unwrap(), Err(ClockEnded));
    clock.mark_persisted(&clock.tick());
    assert_eq!((clock.try_now(), clock.has_ended()), (None, true), "an end is for good");
}
