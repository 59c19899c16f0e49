//! A simulation of the protocol: the invariants hold in histories with all kinds of faults, and are
//! violated when any one of the rules is disabled. `HISTORIES=n` runs n histories starting with
//! `FIRST=n`; `SIM_SEED=n` runs a single one.

mod checker;
mod claim;
mod faults;
mod network;
mod node;
mod replicas;
mod world;

use world::{Summary, run, run_with_forgetting};

use crate::rules::Rules;

/// Number of histories of an ordinary run.
const HISTORIES: u64 = 150;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Runs every `step`-th history, starting with `first`.
fn histories(first: u64, step: usize) {
    if let Some(seed) = number("SIM_SEED") {
        run(seed, Rules::default()).unwrap_or_else(|failure| panic!("{failure}"));
        return;
    }
    let begin = number("FIRST").unwrap_or(0);
    let (mut sum, mut slowest) = (Summary::default(), (0, 0));
    for seed in (begin + first..begin + number("HISTORIES").unwrap_or(HISTORIES)).step_by(step) {
        let one = run(seed, Rules::default()).unwrap_or_else(|failure| panic!("{failure}"));
        slowest = slowest.max((one.events, seed));
        sum.takeovers += one.takeovers;
        sum.acknowledgements += one.acknowledgements;
        sum.reads += one.reads;
        sum.events += one.events;
    }
    println!("{sum:?}, longest history (events, seed): {slowest:?}");
    assert!(0 < sum.takeovers && 0 < sum.acknowledgements && 0 < sum.reads);
}

#[test]
fn what_is_promised_holds_in_even_histories() {
    histories(0, 2);
}

#[test]
fn what_is_promised_holds_in_odd_histories() {
    histories(1, 2);
}

/// Serving nodes are removed too: their shard is taken over, and they return.
#[test]
fn nodes_may_be_forgotten_at_any_moment() {
    let (first, count) = (number("FIRST").unwrap_or(0), number("HISTORIES").unwrap_or(HISTORIES));
    let mut sum = Summary::default();
    for seed in first..first + count {
        let forgetting = run_with_forgetting(seed, Rules::default());
        let one = forgetting.unwrap_or_else(|failure| panic!("{failure}"));
        sum.takeovers += one.takeovers;
        sum.acknowledgements += one.acknowledgements;
    }
    println!("{sum:?}");
    assert!(0 < sum.takeovers && 0 < sum.acknowledgements);
}

/// Number of histories in which a disabled rule has to be detected.
const RULE_HISTORIES: u64 = 400;

/// Checks that at least one of the histories starting with `first` fails if a rule is disabled.
fn fails_without(rule: &str, rules: Rules, first: u64) {
    let first = number("FIRST").unwrap_or(first);
    let histories = number("HISTORIES").unwrap_or(0).max(RULE_HISTORIES);
    let failure = (first..first + histories).find_map(|seed| run(seed, rules).err());
    println!("without {rule}: {failure:?}");
    assert!(failure.is_some(), "without {rule}, nothing fails in {histories} histories");
}

macro_rules! rules {
    ($($test:ident: $rule:ident from $first:literal,)*) => {$(
        #[test]
        fn $test() {
            let rules = Rules { $rule: false, ..Rules::default() };
            fails_without(stringify!($rule), rules, $first);
        }
    )*};
}

// Earlier histories do not detect the missing rule and are skipped to save time.
rules! {
    a_write_without_a_check_may_be_lost: check_after_write from 0,
    entries_committed_out_of_order_may_be_lost: commit_in_order from 0,
    an_epoch_that_is_not_cut_at_the_gap_has_a_hole: cut_at_gap from 0,
    a_tail_that_is_not_written_again_may_be_lost: write_tail_again from 0,
    an_end_that_no_swap_has_set_is_not_the_end: end_by_swap from 0,
    an_owner_that_was_not_fenced_reads_what_is_old: fence_first from 0,
    a_lease_that_counts_from_the_answer_is_too_long: until_by_tick from 0,
    followers_that_apply_what_is_not_committed_fork: follow_committed from 0,
    a_clock_that_does_not_go_on_from_the_beat_goes_back: clock_of_beat from 0,
    a_margin_is_what_clocks_of_different_pace_need: margin from 1_590,
}
