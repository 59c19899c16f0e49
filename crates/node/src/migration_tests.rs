//! Conversion of a directory to a cluster and back: documents, indexes, instants and switches are
//! preserved, and expired documents stay expired. An interrupted conversion leaves no cluster and
//! can be repeated.

use std::{path::Path, sync::Arc};

use cluster::{LedgerFault, MemoryLedger};
use document::{Document, doc};
use server::verify;
use server_base::{
    config::{ClockMode, Config},
    failure::Failure,
    features::Features,
};
use tempfile::TempDir;
use test_server::Server;
use tokio::sync::watch;

use super::{
    dump::dump_cluster,
    from_directory::make_of_directory,
    ledger::read_cluster,
    tests::{cluster_config, ledger, start, try_start},
    verification::verify_node,
};
use crate::serve::start_node;

/// State of a server as a client sees it: documents, indexes, database time, a switch.
#[derive(Debug, PartialEq)]
struct Seen {
    documents: Document,
    indexes: Document,
    now_ms: i64,
    count: Document,
}

async fn seen(server: &Server) -> Seen {
    // Nodes of a cluster report no cluster times.
    let ask = async |command| {
        let mut reply = server.run_command(command).await;
        reply.remove("$clusterTime");
        reply.remove("operationTime");
        reply
    };
    let clock = server.ask_well("GET", "/_ebb/clock", "").await;
    Seen {
        documents: ask(doc! { "find": "c", "sort": doc! { "_id": 1 }, "$db": "test" }).await,
        indexes: ask(doc! { "listIndexes": "c", "$db": "test" }).await,
        now_ms: clock["now_ms"].as_i64().unwrap(),
        count: ask(doc! { "count": "c", "$db": "test" }).await,
    }
}

fn config_of(path: &Path) -> Config {
    Config { data_dir: Some(path.to_owned()), ..Config::for_tests() }
}

/// Fills a directory with documents, half of which have expired. Returns the visible state.
async fn filled(path: &Path) -> Seen {
    let server = Server::new(&config_of(path)).await;
    let index = doc! { "key": doc! { "at": 1 }, "name": "ttl", "expireAfterSeconds": 3600 };
    let create = doc! { "createIndexes": "c", "indexes": vec![index], "$db": "test" };
    server.run_command(create).await;
    let now_ms = server.ask_well("GET", "/_ebb/clock", "").await["now_ms"].as_i64().unwrap();
    for id in 0..20 {
        let at = document::Value::DateTime(now_ms + if id % 2 == 0 { 0 } else { 7_200_000 });
        let document = doc! { "_id": id, "at": at, "text": "x".repeat(1000) };
        let insert = doc! { "insert": "c", "documents": vec![document], "$db": "test" };
        server.run_command(insert).await;
    }
    server.move_forward(5_000.0).await;
    let seen = seen(&server).await;
    server.stop().await;
    Features::store_in(path, false).unwrap();
    seen
}

async fn make(ledger: &MemoryLedger, path: &Path) -> Result<(), Failure> {
    make_of_directory(ledger, "ebb", path, &mut |_| {}).await.map(drop)
}

async fn dump(ledger: &MemoryLedger, path: &Path) -> Result<u64, Failure> {
    let record = read_cluster(ledger).await?;
    dump_cluster(ledger, (&record, 0), path, &mut |_| {}).await
}

fn verified(path: &Path) -> impl Future<Output = u64> {
    let path = path.to_owned();
    let walked = tokio::task::spawn_blocking(move || verify(&path).unwrap());
    async move { walked.await.unwrap().iter().map(|found| found.count).sum() }
}

/// Dumps a ledger, and compares the result with the expected state.
async fn assert_dumped(ledger: &MemoryLedger, path: &Path, want: &Seen) {
    dump(ledger, path).await.unwrap();
    assert!(dump(ledger, path).await.unwrap_err().to_string().contains("not empty"));
    assert_eq!(Features::stored_in(path).unwrap(), Some(false));
    assert_eq!(verified(path).await, 0);
    let server = Server::new(&config_of(path)).await;
    assert_eq!(&seen(&server).await, want);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_directory_becomes_a_cluster_and_one_again() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    let before = filled(&at("from")).await;
    let ledger = Arc::new(MemoryLedger::new());
    make(&ledger, &at("from")).await.unwrap();
    let refusal = make(&ledger, &at("from")).await.unwrap_err().to_string();
    assert!(refusal.contains("already holds a cluster"), "{refusal}");
    assert_dumped(&ledger, &at("unserved"), &before).await;
    let one = start(&ledger, "one").await;
    assert_eq!(seen(&one.server).await, before);
    let switches = one.server.ask_well("GET", "/_ebb/features", "").await;
    assert_eq!(switches["per_document_ttl"]["on"], false, "{switches}");
    let two = start(&ledger, "two").await;
    for id in 100..110 {
        two.insert(id).await;
    }
    two.server.move_forward(3_700.0).await;
    let moved = seen(&two.server).await;
    assert_ne!(moved, before);
    assert_dumped(&ledger, &at("running"), &moved).await;
    one.server.stop().await;
    two.wait_for("owner").await;
    assert_eq!(seen(&two.server).await, moved);
    // An entry that the owner's heartbeats do not cover yet.
    two.insert(110).await;
    let moved = seen(&two.server).await;
    assert_dumped(&ledger, &at("taken over"), &moved).await;
    two.server.stop().await;
    assert_dumped(&ledger, &at("released"), &moved).await;
    // The copies of both nodes match a replay; other directories are refused.
    let record = read_cluster(&*ledger).await.unwrap();
    for node in [&one.directory, &two.directory] {
        let path = node.path().join("data");
        let found = verify_node(&*ledger, &record, &path, &mut |_| {}).await.unwrap().remove(0);
        assert_eq!(found.compared.differences.listed, Vec::<String>::new());
        assert!(10 < found.compared.rows, "{found:?}");
        assert!(!path.join("replayed").exists());
    }
    let refusal = verify_node(&*ledger, &record, &at("released"), &mut |_| {}).await.unwrap_err();
    assert!(refusal.to_string().contains("not the data directory of a cluster node"), "{refusal}");
    // Convert once more, with a switch changed in between.
    Features::store_in(&at("released"), true).unwrap();
    let second = Arc::new(MemoryLedger::new());
    make(&second, &at("released")).await.unwrap();
    let node = start(&second, "one").await;
    assert_eq!(seen(&node.server).await, moved);
    node.server.stop().await;
    dump(&second, &at("again")).await.unwrap();
    assert_eq!(Features::stored_in(&at("again")).unwrap(), Some(true));
}

/// Runs a conversion until request `number`, which is never answered; returns false if the
/// conversion succeeded before that.
async fn interrupted(ledger: &MemoryLedger, path: &Path, number: u32, done: bool) -> bool {
    let (reached, mut wait) = watch::channel(false);
    let mut requests = 0;
    ledger.set_faults(move |_| {
        requests += 1;
        if requests == number {
            reached.send_replace(true);
        }
        match requests.cmp(&number) {
            std::cmp::Ordering::Less => LedgerFault::None,
            std::cmp::Ordering::Equal if done => LedgerFault::AnswerLost,
            _ => LedgerFault::RequestLost,
        }
    });
    let ended = tokio::select! {
        made = make(ledger, path) => made.is_err(),
        _ = wait.wait_for(|reached| *reached) => true,
    };
    ledger.set_faults(|_| LedgerFault::None);
    ended
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_interrupted_is_no_cluster_and_can_be_made_again() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("from");
    let before = filled(&path).await;
    let other = folder.path().join("other");
    filled(&other).await;
    let server = Server::new(&config_of(&other)).await;
    server.run_command(doc! { "delete": "c", "deletes": vec![doc! { "q": doc! {}, "limit": 0 }], "$db": "test" }).await;
    server.stop().await;
    let ledger = Arc::new(MemoryLedger::new());
    let mut number = 1;
    // The last request completes the conversion, whether its reply arrives or not.
    while interrupted(&ledger, &other, number, false).await {
        let refusal = read_cluster(&*ledger).await.unwrap_err().to_string();
        assert!(refusal.contains("cluster init"), "{number}: {refusal}");
        let directory = TempDir::new().unwrap();
        try_start(&ledger, "one", &directory).await.unwrap_err();
        number += 1;
    }
    assert!(10 < number, "{number}");
    for done in [false, true] {
        for stop in 1.. {
            let ledger = Arc::new(MemoryLedger::new());
            interrupted(&ledger, &other, stop, done).await;
            if read_cluster(&*ledger).await.is_ok() {
                assert!(10 < stop, "{stop}");
                break;
            }
            // None of the other directory's documents is left.
            make(&ledger, &path).await.unwrap();
            let to = folder.path().join(format!("{done}{stop}"));
            assert_dumped(&ledger, &to, &before).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_directory_that_cannot_become_one_is_refused() {
    let folder = TempDir::new().unwrap();
    let refusal = async |path: &Path| {
        let ledger = MemoryLedger::new();
        let refusal = make(&ledger, path).await.unwrap_err();
        assert!(matches!(refusal, Failure::Refused(_)), "{refusal}");
        let text = read_cluster(&ledger).await.unwrap_err().to_string();
        assert!(text.contains("holds no cluster"), "{text}");
        refusal.to_string()
    };
    let path = folder.path().join("none");
    assert!(refusal(&path).await.contains("is not an ebb data directory"));
    assert!(!path.exists());
    let path = folder.path().join("served");
    let server = Server::new(&config_of(&path)).await;
    assert!(refusal(&path).await.contains("in use"));
    server.stop().await;
    std::fs::remove_file(path.join("clock")).unwrap();
    assert!(refusal(&path).await.contains("clock"));
    let node = folder.path().join("node");
    let ledger = ledger("manual").await;
    let config = config_of(&node);
    let server = Server(start_node(&config, &cluster_config("one"), ledger).await.unwrap());
    server.stop().await;
    assert!(refusal(&node).await.contains("cluster node"));
}

/// A system clock never goes back, in either direction of the conversion.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn time_goes_on_into_a_cluster_and_out_of_it() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    let config = |name: &str| Config { clock: ClockMode::System, ..config_of(&at(name)) };
    let now = async |server: &Server| {
        server.ask_well("GET", "/_ebb/clock", "").await["now_ms"].as_i64().unwrap()
    };
    let server = Server::new(&config("from")).await;
    let mut last = now(&server).await;
    server.stop().await;
    let ledger = Arc::new(MemoryLedger::new());
    make(&ledger, &at("from")).await.unwrap();
    let started = start_node(&config("node"), &cluster_config("one"), Arc::clone(&ledger)).await;
    let node = Server(started.unwrap());
    let here = now(&node).await;
    assert!(last <= here && here < last + 60_000, "{last} {here}");
    last = here;
    let mut node = Some(node);
    for name in ["running", "released"] {
        if name == "released" {
            node.take().unwrap().stop().await;
        }
        dump(&ledger, &at(name)).await.unwrap();
        let server = Server::new(&config(name)).await;
        let there = now(&server).await;
        assert!(last <= there && there < last + 60_000, "{last} {there}");
        server.stop().await;
    }
}
