//! Cluster nodes in one process on a ledger in memory, tested over their sockets: every node gives
//! access to the same data, across hand-overs and failures of an owner.

use std::{sync::Arc, time::Duration};

use auth::Secret;
use cluster::{ClusterRecord, Ledger, MemoryLedger, Reply, Request, Unanswered};
use document::{Document, doc};
use serde_json::{Value, json};
use server_base::{
    config::{ClockMode, ClusterConfig, Config},
    failure::Failure,
    sleep,
};
use tempfile::TempDir;
use test_server::{Server, send_request};
use uuid::Uuid;

use crate::serve::start_node;

/// Time limit for events that take at most the duration of a lease.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

pub(super) fn cluster_config(name: &str) -> ClusterConfig {
    ClusterConfig {
        contact_points: Vec::new(),
        keyspace: "ebb".to_owned(),
        datacenter: None,
        login: None,
        cassandra_tls: None,
        accept_unsynced: false,
        peer_addr: "127.0.0.1:0".to_owned(),
        peer_advertise: None,
        peer_tls: None,
        node_name: Some(name.to_owned()),
    }
}

pub(super) async fn ledger(clock: &str) -> Arc<MemoryLedger> {
    ledger_of_shards(clock, 1).await
}

pub(super) async fn ledger_of_shards(clock: &str, shards: u32) -> Arc<MemoryLedger> {
    let ledger = MemoryLedger::new();
    let record = ClusterRecord {
        format: 1,
        id: Uuid::from_u128(7),
        shards,
        clock: clock.to_owned(),
        secret: Secret::from_bytes(vec![7; 32]),
    };
    ledger.execute(Request::MakeCluster(record)).await.unwrap();
    Arc::new(ledger)
}

/// A node, and the directory it can be restarted on.
pub(super) struct Node {
    pub(super) server: Server,
    pub(super) directory: TempDir,
}

pub(super) async fn try_start(
    ledger: &Arc<MemoryLedger>,
    name: &str,
    directory: &TempDir,
) -> Result<Server, Failure> {
    let config = Config { data_dir: Some(directory.path().join("data")), ..Config::for_tests() };
    start_node(&config, &cluster_config(name), Arc::clone(ledger)).await.map(Server)
}

pub(super) async fn start(ledger: &Arc<MemoryLedger>, name: &str) -> Node {
    let directory = TempDir::new().unwrap();
    let server = try_start(ledger, name, &directory).await.unwrap();
    Node { server, directory }
}

impl Node {
    pub(super) async fn insert(&self, id: i32) {
        self.server
            .run_command(doc! {
                "insert": "c", "documents": vec![doc! { "_id": id }], "$db": "test",
            })
            .await;
    }

    pub(super) async fn ids(&self) -> Vec<i32> {
        let reply = self
            .server
            .run_command(doc! { "find": "c", "sort": doc! { "_id": 1 }, "$db": "test" })
            .await;
        first_batch(&reply)
    }

    async fn role(&self) -> String {
        let cluster = self.server.ask_well("GET", "/_ebb/cluster", "").await;
        cluster["node"]["role"].as_str().unwrap().to_owned()
    }

    async fn wait_until_ready_is(&self, status: u16, text: &str) {
        let waits = async {
            loop {
                let ready = self.server.ask_admin("GET", "/readyz", "").await;
                if ready.status == status && ready.body.contains(text) {
                    return;
                }
                sleep::wait_for(Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(PATIENCE, waits).await.unwrap();
    }

    /// Makes this node hand its shard over to another one.
    pub(super) async fn hand_over_to(&self, name: &str) {
        let body = json!({ "shard": 0, "to": name }).to_string();
        let hand_over = async {
            loop {
                let path = "/_ebb/cluster/hand-over";
                let answer = self.server.ask_admin("POST", path, &body).await;
                // A node that has just started is refused until it follows the owner.
                if answer.status != 409 {
                    break answer;
                }
                sleep::wait_for(Duration::from_millis(20)).await;
            }
        };
        let answer = tokio::time::timeout(PATIENCE, hand_over).await.unwrap();
        assert_eq!(answer.status, 200, "{answer:?}");
        let told = answer.json();
        assert_eq!(told["shards"][0]["owner"], name, "{told}");
    }

    /// Waits until the node has this role in the shard.
    pub(super) async fn wait_for(&self, role: &str) {
        let waits = async {
            while self.role().await != role {
                sleep::wait_for(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(PATIENCE, waits).await.unwrap();
    }
}

fn first_batch(reply: &Document) -> Vec<i32> {
    use document::Value;
    let Some(Value::Document(cursor)) = reply.get("cursor") else { panic!("{reply:?}") };
    let Some(Value::Array(batch)) = cursor.get("firstBatch") else { panic!("{reply:?}") };
    let id = |document: &Value| match document {
        Value::Document(document) => match document.get("_id") {
            Some(Value::Int32(id)) => *id,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    batch.iter().map(id).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whichever_node_is_asked_the_same_data_answer() {
    let ledger = ledger("manual").await;
    let (one, two) = (start(&ledger, "one").await, start(&ledger, "two").await);
    assert_eq!((one.role().await, two.role().await), ("owner".to_owned(), "follower".to_owned()));
    one.insert(1).await;
    two.insert(2).await;
    assert_eq!(one.ids().await, [1, 2]);
    assert_eq!(two.ids().await, [1, 2]);
    for node in [&one, &two] {
        // Drivers accept any number of nodes as routers of one cluster.
        let hello = node.server.run_command(doc! { "hello": 1, "$db": "admin" }).await;
        assert_eq!(hello.get("msg"), Some(&document::Value::from("isdbgrid")));
    }
    // The clock is the owner's, whichever node gets the request.
    two.server.move_forward(60.0).await;
    let [here, there] = [&one, &two].map(|node| node.server.ask_well("GET", "/_ebb/clock", ""));
    assert_eq!(here.await["now_ms"], there.await["now_ms"]);
    // NoSQL requests are also forwarded to the owner: only its API rejects the missing signature.
    for node in [&one, &two] {
        let address = node.server.0.cosmos().unwrap();
        let answer = send_request(address, "GET", "/dbs", &[], "").await;
        assert_eq!(answer.status, 401, "{answer:?}");
        let status = node.server.ask_well("GET", "/status", "").await;
        assert_eq!(status["cluster"]["shards"][0]["owner"], "one", "{status}");
        assert_eq!(node.server.ask_admin("GET", "/readyz", "").await.status, 200);
        let figures = node.server.ask_admin("GET", "/metrics", "").await.body;
        assert!(figures.contains("ebb_cluster_epoch{shard=\"0\"} 1\n"), "{figures}");
    }
    // Copies on other nodes reap by themselves, so reaping cannot be paused.
    let refused = two.server.ask_admin("POST", "/_ebb/ttl/pause", "").await;
    assert!(refused.status == 409 && refused.body.contains("in a cluster"), "{refused:?}");
    assert_eq!(two.server.ask_well("GET", "/_ebb/ttl", "").await["paused"], false);
    one.server.stop().await;
    two.wait_for("owner").await;
    assert_eq!(two.ids().await, [1, 2]);
    two.server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn data_are_handed_over_to_the_node_that_is_named() {
    let ledger = ledger("manual").await;
    let nodes =
        [start(&ledger, "one").await, start(&ledger, "two").await, start(&ledger, "three").await];
    for (count, name) in (0..).zip(["three", "two", "three", "one"]) {
        nodes[0].insert(count).await;
        nodes[1].hand_over_to(name).await;
        for node in &nodes {
            assert_eq!(node.ids().await, (0..=count).collect::<Vec<_>>());
        }
    }
    for (body, status) in [
        (r#"{"to": "one"}"#, 400),
        (r#"{"to": "four"}"#, 400),
        (r#"{"shard": 1}"#, 400),
        (r#"{"shards": 0}"#, 400),
    ] {
        let answer = nodes[1].server.ask_admin("POST", "/_ebb/cluster/hand-over", body).await;
        assert_eq!(answer.status, status, "{body}: {answer:?}");
    }
    for node in nodes {
        node.server.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owner_that_is_gone_is_followed_by_another_and_comes_back() {
    let ledger = ledger("manual").await;
    let (one, two) = (start(&ledger, "one").await, start(&ledger, "two").await);
    one.insert(1).await;
    // The node ends like a killed process, without a hand-over.
    let Node { server, directory } = one;
    drop(server);
    two.insert(2).await;
    assert_eq!(two.ids().await, [1, 2]);
    let server = try_start(&ledger, "one", &directory).await.unwrap();
    let one = Node { server, directory };
    assert_eq!(one.role().await, "follower");
    assert_eq!(one.ids().await, [1, 2]);
    one.server.stop().await;
    two.server.stop().await;
}

/// A ledger whose replies are slow and depend on the workers that serve clients.
struct Slow {
    ledger: Arc<MemoryLedger>,
    workers: tokio::runtime::Handle,
}

impl Ledger for Slow {
    async fn execute(&self, request: Request) -> Result<Reply, Unanswered> {
        let ledger = Arc::clone(&self.ledger);
        let answered = self.workers.spawn(async move {
            if matches!(request, Request::Append { .. }) {
                sleep::wait_for(Duration::from_millis(50)).await;
            }
            ledger.execute(request).await
        });
        answered.await.unwrap_or_else(|error| Err(Unanswered(error.to_string())))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn whoever_makes_collections_leaves_workers_to_those_who_answer() {
    let workers = tokio::runtime::Handle::current();
    let ledger = Arc::new(Slow { ledger: ledger("manual").await, workers });
    let directory = TempDir::new().unwrap();
    let config = Config { data_dir: Some(directory.path().to_owned()), ..Config::for_tests() };
    let node = start_node(&config, &cluster_config("one"), ledger).await.unwrap();
    let server = Arc::new(Server(node));
    let mut clients = tokio::task::JoinSet::new();
    for client in 0..6 {
        let server = Arc::clone(&server);
        clients.spawn(async move {
            let name = format!("c{client}");
            let create = doc! { "create": name.as_str(), "$db": "test" };
            for command in [create.clone(), doc! { "drop": name, "$db": "test" }, create] {
                server.run_command(command).await;
            }
        });
    }
    let all = tokio::time::timeout(PATIENCE, clients.join_all()).await;
    assert_eq!(all.unwrap().len(), 6);
    Arc::into_inner(server).unwrap().stop().await;
}

/// Starts a node on a system clock whose deviation is in a file in its directory.
async fn start_off(ledger: &Arc<MemoryLedger>, name: &str, off_ms: i64) -> Node {
    let directory = TempDir::new().unwrap();
    let wall = directory.path().join("wall");
    std::fs::write(&wall, off_ms.to_string()).unwrap();
    let config = Config {
        data_dir: Some(directory.path().join("data")),
        test_wall: Some(wall),
        clock: ClockMode::System,
        ..Config::for_tests()
    };
    let started = start_node(&config, &cluster_config(name), Arc::clone(ledger)).await;
    Node { server: Server(started.unwrap()), directory }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_whose_wall_clock_is_off_lets_others_go_first() {
    let ledger = ledger("system").await;
    let one = start_off(&ledger, "one", 0).await;
    let off = start_off(&ledger, "off", -3_600_000).await;
    let three = start_off(&ledger, "three", 5_000).await;
    off.wait_until_ready_is(503, "wall clock").await;
    assert_eq!(three.server.ask_admin("GET", "/readyz", "").await.status, 200);
    let at = |clock: Value| clock["now_ms"].as_i64().unwrap();
    let before = at(one.server.ask_well("GET", "/_ebb/clock", "").await);
    drop(one.server);
    three.wait_for("owner").await;
    for node in [&off, &three] {
        let after = at(node.server.ask_well("GET", "/_ebb/clock", "").await);
        assert!(before <= after && after < before + 60_000, "{before} {after}");
    }
    // An owner with a deviating clock hands over to one without.
    std::fs::write(off.directory.path().join("wall"), "0").unwrap();
    off.wait_until_ready_is(200, "ok").await;
    std::fs::write(three.directory.path().join("wall"), "7200000").unwrap();
    off.wait_for("owner").await;
    off.server.stop().await;
    three.server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_cannot_be_one_is_refused() {
    let ledger = ledger("system").await;
    let directory = TempDir::new().unwrap();
    let refusal = try_start(&ledger, "one", &directory).await.unwrap_err();
    assert!(refusal.to_string().contains("other clock mode"), "{refusal}");
    let config = Config { data_dir: None, ..Config::for_tests() };
    let refusal = start_node(&config, &cluster_config("one"), Arc::clone(&ledger)).await;
    assert!(refusal.unwrap_err().to_string().contains("--data-dir"));
    let mut cluster = cluster_config("one");
    cluster.peer_addr = "0.0.0.0:0".to_owned();
    let refusal = start_node(&config, &cluster, Arc::clone(&ledger)).await.unwrap_err();
    assert!(refusal.to_string().contains("--peer-ca"), "{refusal}");
}
