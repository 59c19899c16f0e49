//! Integration tests of the embedded store, in one binary so that it is linked once. The test in
//! this file checks that the store counts its batches and the commits in each.
#![allow(clippy::unwrap_used, reason = "a failed assumption fails the test")]

mod archive;
mod bounds;
mod damage;
mod first_start;
mod journals;
mod kept;
mod kills;
mod laws;
mod views;

use store::{Commit, Condition, Mutation, Space, Store, laws::ManualTime};
use store_tree::{TreeOptions, TreeStore};

#[tokio::test]
async fn a_batch_is_one_wait_and_as_large_as_it_has_commits() {
    let directory = tempfile::tempdir().unwrap();
    let time = ManualTime::default();
    let store = TreeStore::open(&TreeOptions::new(directory.path()), time.commit_clock()).unwrap();
    let commit = |conditions: Vec<Condition>| {
        Commit::new(conditions, |_| {
            vec![Mutation::Put { space: Space::Catalog, key: "k".into(), value: "v".into() }]
        })
    };
    let late = vec![Condition::Before(i64::MIN)];
    let commits =
        vec![commit(Vec::new()), commit(Vec::new()), commit(late.clone()), commit(Vec::new())];
    store.commit(commits).await.unwrap();
    store.commit(vec![commit(late)]).await.unwrap();
    let measured = store.metrics();
    assert_eq!(measured.fsync_ns.read_distribution().measurement_count(), 1);
    let sizes = measured.group_size.read_distribution();
    assert_eq!((sizes.measurement_count(), sizes.sum), (1, 3));
}
