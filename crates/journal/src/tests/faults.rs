//! Fails every disk call once, with a full disk and with an I/O error; and runs random histories
//! with failures, kills and power cuts.

use super::run::Run;

/// Starts four segments, truncates the journal, reuses a segment, and opens the journal twice.
fn script(run: &mut Run) {
    for sizes in [&[10, 20][..], &[5_000], &[3_000], &[6_000], &[9_000], &[100, 200, 300]] {
        run.append(sizes);
        run.reopen_if_stopped();
    }
    run.truncate_before(5);
    run.reopen_if_stopped();
    for bytes in [8_000, 9_000, 10, 14_000] {
        run.append(&[bytes]);
        run.reopen_if_stopped();
    }
    run.journal = None;
    run.open();
    run.truncate_before(8);
    run.reopen_if_stopped();
    run.append(&[15_000]);
    run.reopen_if_stopped();
}

/// Runs the script with a failure of each call in turn (with `stays`, of all calls from that one
/// on), and continues in each possible way.
fn fail_each_call(full: bool, stays: bool) {
    for nth in 1.. {
        let mut any = false;
        for way in 0..4 {
            let mut random = fastrand::Rng::with_seed(nth * 4 + way);
            let mut run = Run::new();
            run.fail_nth(nth, full, stays);
            script(&mut run);
            if way == 0 {
                // The journal is used further by the same process.
                any = run.heal();
                run.reopen_if_stopped();
            } else if way == 1 {
                any |= run.heal();
                run.kill();
            } else {
                any |= run.heal();
                run.cut_power(&mut random);
            }
            assert!(run.open(), "call {nth}, way {way}");
            script(&mut run);
            run.cut_power(&mut random);
            assert!(run.open(), "call {nth}, way {way}");
        }
        if !any {
            assert!(100 < nth, "only {nth} calls");
            return;
        }
    }
}

#[test]
fn each_call_fails_once_with_a_full_disk() {
    fail_each_call(true, false);
}

#[test]
fn each_call_fails_once_with_a_broken_disk() {
    fail_each_call(false, false);
}

#[test]
fn all_calls_fail_from_each_on() {
    fail_each_call(true, true);
    fail_each_call(false, true);
}

#[test]
fn a_failed_call_leaves_nothing_that_a_power_cut_could_bring_back() {
    for nth in 1.. {
        let mut failed = false;
        for at in 1..=5 {
            let mut random = fastrand::Rng::with_seed(nth * 5 + at);
            let mut run = Run::new();
            run.append(&[9_000, 10]);
            run.append(&[9_000]);
            run.fail_nth(nth, false, false);
            run.append(&[8_000]);
            failed = run.heal();
            run.reopen_if_stopped();
            assert!(run.open(), "call {nth}");
            // Cut the power during the next change of the header.
            run.fail_nth(at, false, true);
            run.truncate_before(4);
            run.append(&[3]);
            run.cut_power(&mut random);
            assert!(run.open(), "call {nth}, cut at {at}");
        }
        if !failed {
            assert!(5 < nth, "only {nth} calls");
            return;
        }
    }
}

#[test]
fn a_power_cut_in_the_second_of_two_cuts_leaves_a_header() {
    for seed in 0..200 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut run = Run::new();
        for _ in 0..4 {
            run.append(&[12_000]);
        }
        run.truncate_before(2);
        run.fail_nth(1 + seed % 4, false, true);
        run.truncate_before(3);
        run.cut_power(&mut random);
        assert!(run.open(), "seed {seed}");
    }
}

#[test]
fn random_histories_with_failures_kills_and_power_cuts() {
    for seed in 0..200 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut run = Run::new();
        for _ in 0..80 {
            match random.u32(..20) {
                0 => run.kill(),
                1 => run.cut_power(&mut random),
                2 | 3 => {
                    let end = run.list.len() as u64;
                    run.truncate_before(random.u64(..end + 2));
                }
                4 => run.fail_nth(random.u64(1..12), random.bool(), false),
                5 => {
                    run.heal();
                }
                6 => run.journal = None,
                7 => {
                    run.compare();
                }
                _ => {
                    let sizes = [(); 3].map(|()| random.usize(..5_000));
                    run.append(&sizes[..random.usize(1..=3)]);
                }
            }
            run.reopen_if_stopped();
        }
        run.heal();
        run.cut_power(&mut random);
        assert!(run.open(), "seed {seed}");
    }
}
