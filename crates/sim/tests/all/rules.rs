//! Tests the simulation: without any one of the engine's rules for views and commit order,
//! histories must fail.

use engine::Rules;

/// Number of histories within which a missing rule has to be detected.
const HISTORIES: u64 = 10_000;

fn check(name: &str, rules: Rules) {
    let failed = (0..HISTORIES).any(|seed| sim::run_caught(seed, rules).is_err());
    assert!(failed, "without {name}, nothing fails");
}

macro_rules! rules {
    ($($test:ident: $rule:ident,)*) => {$(
        #[test]
        fn $test() {
            check(stringify!($rule), Rules { $rule: false, ..Rules::default() });
        }
    )*};
}

rules! {
    without_waiting_for_the_last_moments_the_law_breaks: last_moments,
    without_the_condition_on_death_the_law_breaks: before_expiry,
    without_the_fence_the_law_breaks: fence,
    without_the_epoch_the_law_breaks: epoch,
    without_versions_the_law_breaks: versions,
    without_read_guards_the_law_breaks: read_guards,
    without_floors_the_law_breaks: floors,
}

/// Checks that histories of transactions fail without a rule.
fn check_transactions(name: &str, rules: Rules) {
    let failed = (0..HISTORIES).any(|seed| sim::run_transactions(seed, rules).is_err());
    assert!(failed, "without {name}, nothing fails");
}

macro_rules! transaction_rules {
    ($($test:ident: $rule:ident,)*) => {$(
        #[test]
        fn $test() {
            let rules = Rules { $rule: false, ..Rules::default() };
            check_transactions(stringify!($rule), rules);
        }
    )*};
}

transaction_rules! {
    without_the_interval_transactions_break_the_law: interval,
    without_a_look_for_renewals_transactions_break_the_law: renewals,
    without_reliance_transactions_break_the_law: reliance,
    without_epochs_transactions_break_the_law: transaction_epochs,
    without_own_lifetimes_transactions_break_the_law: own_lifetimes,
}
