//! The laws every store has to pass, as one function a store's own tests call.

mod commits;
mod model;
mod scans;
mod time;
mod whole;

use std::future::Future;

pub use time::ManualTime;

use crate::contract::Store;

/// Opens an empty store, and opens it again after a crash: what was acknowledged has to be there.
pub trait Bench {
    /// The store under test.
    type Store: Store;

    /// An empty store.
    fn open(&mut self) -> impl Future<Output = Self::Store>;

    /// The same store after the process died without a clean stop.
    fn crash(&mut self, store: Self::Store) -> impl Future<Output = Self::Store>;

    /// Whether what was reaped is gone after a crash. It is not where a store may find less on its disk
    /// then and has it applied again; such a store never says that all on its disk was filtered.
    fn reaped_stays_gone(&self) -> bool {
        true
    }

    /// The clock that stamps the commits of stores this bench opens.
    fn time(&self) -> &ManualTime;
}

/// Checks all laws; panics on the first that does not hold.
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
