//! The receipts of retryable writes survive a restart on the same directory.

use std::{path::Path, sync::Arc};

use crate::{
    client::{Client, number},
    numbered_writes::{numbered, plain},
};
use clock::{Checkpoint, Clock};
use document::{Document, array, doc};
use engine::{DiscardCheckpoints, Engine, Options};
use mongo::{MongoApi, MongoDialect, Settings, Topology};
use store_tree::{TreeOptions, TreeStore};

/// Returns a client of a server over the store in a directory, and its clock.
pub(crate) async fn open(
    path: &Path,
    last: Option<Checkpoint>,
    topology: Topology,
) -> (Client, Arc<Clock>) {
    let clock = test_kit::start_clock(last);
    let options = TreeOptions { segment_bytes: 1 << 20, ..TreeOptions::new(path) };
    let store = TreeStore::open(&options, Engine::commit_clock(&clock)).unwrap();
    let options =
        Options::new(Arc::clone(&clock), Arc::new(MongoDialect), Arc::new(DiscardCheckpoints));
    let engine = Engine::open(Arc::new(store), options).await.unwrap();
    engine.resume_builds().await.unwrap();
    let settings = Settings { topology, in_cluster: true, ..Settings::default() };
    (Client::of(MongoApi::new(engine, settings)), clock)
}

/// Ends a server without a clean shutdown, and returns when its store is released.
pub(crate) async fn crash(mut client: Client) {
    client.stop();
    client.ended().await;
    let api = Arc::downgrade(&client.api);
    drop(client);
    while api.strong_count() != 0 {
        tokio::task::yield_now().await;
    }
}

fn steps() -> Vec<Document> {
    let inc = || doc! { "$inc": doc! { "a": 1 } };
    let update = |id: i32| doc! { "q": doc! { "_id": id }, "u": inc(), "upsert": true };
    vec![
        doc! { "insert": "c", "documents": array![doc! { "_id": 1, "a": 1 }, doc! { "_id": 2 }] },
        doc! { "update": "c", "updates": array![update(1), update(3)] },
        doc! { "findAndModify": "c", "query": doc! { "_id": 1 }, "update": inc() },
        doc! { "delete": "c", "deletes": array![doc! { "q": doc! { "_id": 2 }, "limit": 1 }] },
    ]
}

#[tokio::test]
async fn a_repeat_after_a_start_is_answered_from_what_was_done_before() {
    let directory = tempfile::tempdir().unwrap();
    let (mut client, mut clock) = open(directory.path(), None, Topology::Router).await;
    for (at, command) in (1..).zip(steps()) {
        let command = numbered(command, 1, at);
        let first = client.run(command.clone()).await;
        assert_eq!(number(&first, "ok"), 1, "{first:?}");
        let after = client.all("c").await;
        crash(client).await;
        (client, clock) = open(directory.path(), Some(clock.tick()), Topology::Router).await;
        let repeat = client.run(command.clone()).await;
        assert_ne!(plain(repeat.clone()), repeat, "{repeat:?}");
        assert_eq!((plain(repeat), client.all("c").await), (first, after), "{command:?}");
    }
}
