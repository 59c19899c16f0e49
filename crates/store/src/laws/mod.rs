//! The conformance tests ("laws") for stores, run by one function that each store's tests call.

mod commits;
mod model;
mod scans;
mod time;
mod whole;

use std::{future::Future, ops::Deref};

pub use time::ManualTime;

use crate::contract::Store;

/// Opens the store under test, and reopens it after simulated crashes.
pub trait Bench {
    /// The store type that is tested.
    type Store: Store;
    /// An open store, with all values that must live as long as it is open.
    type Opened: Deref<Target = Self::Store> + Sync;

    /// Opens a store without any data.
    fn open(&mut self) -> impl Future<Output = Self::Opened>;

    /// Reopens the store after a crash; everything acknowledged must still exist.
    fn crash(&mut self, store: Self::Opened) -> impl Future<Output = Self::Opened>;

    /// Returns whether reaped rows stay deleted after a crash. False for stores that may restore
    /// older data from disk and replay the journal on top; such a store never reports its data as
    /// filtered.
    fn reaped_stays_gone(&self) -> bool {
        true
    }

    /// Returns the clock that stamps commits of the stores this bench opens.
    fn time(&self) -> &ManualTime;
}

/// Runs all conformance tests; panics at the first failure.
pub async fn check(bench: &mut impl Bench) {
    commits::commits_are_all_or_nothing(bench).await;
    commits::conditions_see_every_commit_before(bench).await;
    commits::a_fence_closes_before_the_stamp_and_ends_its_batch(bench).await;
    commits::sums_fold_and_vanish_at_zero(bench).await;
    commits::stamps_go_on_after_a_crash(bench).await;
    commits::large_bodies_and_keys_at_the_limit(bench).await;
    scans::pages_of_every_size_in_both_directions(bench).await;
    scans::snapshots_do_not_move(bench).await;
    scans::spaces_are_apart_and_can_be_dropped(bench).await;
    scans::a_new_space_is_empty(bench).await;
    scans::two_creators_of_a_space_get_one(bench).await;
    scans::reaping_drops_what_the_predicate_says(bench).await;
    whole::snapshots_are_whole_beside_reaping(bench).await;
    for seed in 0..20 {
        model::random_histories_agree_with_a_map(bench, seed).await;
    }
}
