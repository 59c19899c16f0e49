//! The first start with a directory is killed while it creates the tree; the next one continues.

use store::{Commit, Mutation, Space, Store as _, laws::ManualTime};
use store_tree::{TreeOptions, TreeStore};
use tempfile::TempDir;

use crate::laws::copy_of_one_moment;

fn open(directory: &TempDir) -> TreeStore {
    let time = ManualTime::default().commit_clock();
    TreeStore::open(&TreeOptions::new(directory.path()), time).unwrap()
}

#[tokio::test]
async fn half_of_the_tree_is_made_anew() {
    let directory = TempDir::new().unwrap();
    let store = open(&directory);
    let killed = copy_of_one_moment(directory.path());
    drop(store);
    let tree = killed.path().join("trees");
    // The file that makes the tree valid is written last, and the mark after it.
    std::fs::remove_file(killed.path().join("mark")).unwrap();
    std::fs::remove_file(tree.join("current-1")).unwrap();
    let mut left: Vec<_> =
        std::fs::read_dir(&tree).unwrap().map(|entry| entry.unwrap().path()).collect();
    left.sort();
    while !left.is_empty() {
        let again = copy_of_one_moment(killed.path());
        let store = open(&again);
        let put = Mutation::Put { space: Space::Catalog, key: "a".into(), value: "v".into() };
        store.commit(vec![Commit::new(vec![], move |_| vec![put])]).await.unwrap();
        drop(store);
        let found = open(&again).snapshot().get(Space::Catalog, b"a").await;
        assert_eq!(found.unwrap().as_deref(), Some(&b"v"[..]), "{left:?}");
        let last = left.pop().unwrap();
        match last.is_dir() {
            true => std::fs::remove_dir_all(&last).unwrap(),
            false => std::fs::remove_file(&last).unwrap(),
        }
    }
}
