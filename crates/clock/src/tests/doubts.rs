//! Tests of implausible clocks: boot clocks that stall or belong to another machine, and steps of
//! the wall clock that no operator has accepted.

use super::*;

/// Returns the pace checks over this many seconds of an independent clock, with the boot clock at
/// `percent` of its pace and a correct wall clock.
fn keeps_pace_at(percent: i64, seconds: i64) -> Vec<bool> {
    let fake = Fake::at(0, START);
    let clock = fake.start(1, None);
    let half_seconds = 0..=2 * seconds;
    let looks = half_seconds.map(|half| {
        fake.boot_ms.store(half * 5 * percent, Ordering::SeqCst);
        fake.wall_ms.store(START + half * 500, Ordering::SeqCst);
        clock.mark_persisted(&clock.tick());
        clock.check_pace(|| std::time::Duration::from_millis(half.unsigned_abs() * 500))
    });
    looks.collect()
}

#[test]
fn a_boot_clock_that_stands_still_or_is_slow_is_noticed() {
    for (percent, good) in [(100, true), (60, true), (45, false), (0, false)] {
        let looks = keeps_pace_at(percent, 200);
        // The first second is inconclusive; after it the stall is detected, and steps of the wall
        // clock do not hide it.
        assert!(looks[2..].iter().all(|look| *look == good), "{percent}: {looks:?}");
    }
}

#[test]
fn a_process_that_was_stopped_while_it_compared_clocks_keeps_pace() {
    let fake = Fake::at(0, START);
    let clock = fake.start(1, None);
    let monotonic = Arc::new(AtomicI64::new(0));
    let read = || {
        let ms = monotonic.load(Ordering::SeqCst).unsigned_abs();
        std::time::Duration::from_millis(ms)
    };
    let pass = |ms: i64| {
        fake.run(ms);
        monotonic.fetch_add(ms, Ordering::SeqCst);
        clock.mark_persisted(&clock.tick());
    };
    pass(1_000);
    assert!(clock.check_pace(read));
    pass(1_000);
    // The process stops for a minute between the reading of the independent clock and that of the
    // boot clock.
    let stopped = || {
        let before = read();
        pass(60_000);
        before
    };
    assert!(clock.check_pace(stopped));
    pass(1_000);
    assert!(clock.check_pace(read));
}

#[test]
fn a_boot_clock_behind_that_of_the_last_run_is_another_one() {
    let fake = Fake::at(7_200_000, START);
    let last = ticks(&fake.start(1, None), &fake, 10);
    for ran in [0, 1_999, 600_000] {
        let moved = Fake::at(5_000, START + 10_000 + ran);
        let again = moved.start(1, Some(last));
        assert!(again.status().boot_disagrees);
        // No later instant was used, and the wall clock gives the elapsed time.
        assert_eq!(again.last_used(), Instant::from_ms(last.ms + LEASE_MS));
        ticks(&again, &moved, 1);
        assert_eq!(again.status().unconfirmed, 60_000 < ran, "{ran}");
    }
}

#[test]
fn a_step_that_grows_waits_anew() {
    let fake = Fake::at(0, START);
    let clock = fake.start(1, None);
    ticks(&clock, &fake, 1);
    fake.step(3_600_000);
    ticks(&clock, &fake, 599);
    assert!(clock.status().unconfirmed);
    let century = 100 * 31_557_600_000;
    fake.step(century);
    ticks(&clock, &fake, 590);
    assert!(clock.status().unconfirmed, "the larger step has not lasted");
    assert!(clock.last_used().ms < START + 3_600_000);
    ticks(&clock, &fake, 15);
    assert!(START + century < clock.last_used().ms, "now it has");
}

#[test]
fn what_was_accepted_is_that_step_and_no_other() {
    let fake = Fake::at(0, START);
    let clock = fake.start(1, None);
    ticks(&clock, &fake, 1);
    clock.accept_jump();
    fake.step(3_600_000);
    ticks(&clock, &fake, 3);
    assert!(clock.status().unconfirmed, "nothing waited when it was accepted");
    // The step is accepted and reverted before the next tick.
    clock.accept_jump();
    fake.step(-3_600_000);
    ticks(&clock, &fake, 3);
    assert!(!clock.status().unconfirmed);
    fake.step(86_400_000);
    ticks(&clock, &fake, 3);
    assert!(clock.status().unconfirmed, "this is another step");
    // The step is accepted and grows before the next tick.
    clock.accept_jump();
    fake.step(31_557_600_000);
    ticks(&clock, &fake, 3);
    assert!(clock.status().unconfirmed && clock.last_used().ms < START + 86_400_000);
}

#[test]
fn a_small_step_that_could_not_be_written_is_decided_again() {
    let fake = Fake::at(0, START);
    let clock = fake.start(1, None);
    ticks(&clock, &fake, 1);
    fake.step(40_000);
    for _ in 0..5 {
        clock.tick();
    }
    assert!(!clock.status().unconfirmed, "what was not written has spent nothing");
    clock.mark_persisted(&clock.tick());
    assert!(clock.status().offset_ms.abs() < 2);
    fake.step(30_000);
    ticks(&clock, &fake, 1);
    assert!(clock.status().unconfirmed, "and what was, has");
}

#[test]
fn a_start_says_how_long_the_database_was_off() {
    let fake = Fake::at(0, START);
    let clock = fake.start(1, None);
    assert_eq!((clock.status().started.last, clock.status().started.off_ms()), (None, 0));
    let last = ticks(&clock, &fake, 10);
    let later = Fake::at(0, START + 86_400_000);
    let started = later.start(2, Some(last)).status().started;
    assert_eq!(started.last, Some(Instant::from_ms(last.ms)));
    assert_eq!(started.off_ms(), 86_400_000 - 10_000);
}
