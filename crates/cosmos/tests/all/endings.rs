//! Long queries are cancelled when their client disconnects or the server stops.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use tokio::task::yield_now;

use crate::client::Client;

/// A query that takes about a minute, all of it for a single item.
const LONG: &str = "SELECT VALUE COUNT(1) FROM c JOIN x IN c.list JOIN y IN c.list JOIN z IN c.list \
                    WHERE x + y + z < 0";
/// Number of checks for cancellation within which a cancelled query must end; the whole query has
/// hundreds.
const SOON: u64 = 60;

/// Counts a check of the evaluation, and lets another thread take over this thread's tasks, as the
/// server does.
fn look(looks: &AtomicU64) {
    looks.fetch_add(1, Relaxed);
    tokio::task::block_in_place(|| std::thread::park_timeout(Duration::from_millis(1)));
}

/// Returns a client whose query is running and has been checked at least once.
async fn under_way(looks: &AtomicU64, look: fn()) -> Client {
    let mut client = Client::with_give_way(look).await;
    let list: Vec<String> = (0..1000).map(|at| at.to_string()).collect();
    let body = format!(r#"{{"id":"1","pk":"a","list":[{}]}}"#, list.join(","));
    assert_eq!(client.item("POST", "", &body).await.status, 201);
    client.begin(LONG).await;
    while looks.load(Relaxed) == 0 {
        yield_now().await;
    }
    client
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn with_the_client_that_left() {
    static LOOKS: AtomicU64 = AtomicU64::new(0);
    let client = under_way(&LOOKS, || look(&LOOKS)).await;
    let Client { stream, api, .. } = client;
    drop(stream);
    while 0 < api.strong_count() {
        yield_now().await;
    }
    assert!(LOOKS.load(Relaxed) < SOON, "{LOOKS:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn with_the_server() {
    static LOOKS: AtomicU64 = AtomicU64::new(0);
    let mut client = under_way(&LOOKS, || look(&LOOKS)).await;
    client.stop.send(true).unwrap();
    let answer = client.answer().await.unwrap();
    assert_eq!(answer.status, 503, "{answer:?}");
    assert!(answer.body.contains("The server is stopping."), "{answer:?}");
    assert!(client.answer().await.is_none());
}
