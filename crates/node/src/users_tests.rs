//! MongoDB users on cluster nodes that require logins: a login on one node is valid wherever the
//! data are, and changes on one node apply to all.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use auth::{Key, Secret};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use cluster::MemoryLedger;
use document::{Document, Value, doc};
use server_base::{
    config::{Config, RootUser},
    sleep,
};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;
use test_server::{Answer, MongoClient, Server, send_request};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::{
    shards_tests::{DATABASES, SHARDS, database, write_all},
    tests::{Node, PATIENCE, cluster_config, ledger, ledger_of_shards},
};
use crate::serve::start_node;

const ROOT: &str = "root";
/// Error code after which drivers retry.
const SHUTDOWN: i32 = 91;
const PASSWORD: &str = "a long password";
/// Documented time limit for changes of users and roles to take effect.
const BOUND: Duration = Duration::from_secs(1);

/// Starts nodes that require logins, concurrently.
async fn start_all<const N: usize>(ledger: &Arc<MemoryLedger>) -> [Node; N] {
    let starts = std::array::from_fn::<_, N, _>(|number| {
        let ledger = Arc::clone(ledger);
        tokio::spawn(async move {
            let directory = TempDir::new().unwrap();
            let password = Secret::from_text(PASSWORD.to_owned());
            let config = Config {
                data_dir: Some(directory.path().join("data")),
                mongo_auth: true,
                root_user: Some(RootUser { name: ROOT.to_owned(), password }),
                ..Config::for_tests()
            };
            let name = format!("node{number}");
            let server = start_node(&config, &cluster_config(&name), ledger).await.map(Server);
            Node { server: server.unwrap(), directory }
        })
    });
    let mut nodes = Vec::new();
    for start in starts {
        nodes.push(start.await.unwrap());
    }
    nodes.try_into().unwrap_or_else(|_| panic!("a node is missing"))
}

/// Sends an admin request to a node with the key in its directory.
async fn ask(node: &Node, method: &str, path: &str, body: &str) -> Answer {
    let text = std::fs::read_to_string(node.directory.path().join("data/admin.key")).unwrap();
    let key = text.lines().find_map(|line| line.strip_prefix("primary = ")).unwrap();
    let header = format!("Bearer {key}");
    let headers = [("authorization", header.as_str())];
    send_request(node.server.0.admin().unwrap(), method, path, &headers, body).await
}

/// Returns the owners of all shards, as a node sees them.
async fn owners(node: &Node) -> Vec<String> {
    let cluster = ask(node, "GET", "/_ebb/cluster", "").await.json();
    let shards = cluster["shards"].as_array().unwrap().iter();
    shards.map(|shard| shard["owner"].as_str().unwrap_or_default().to_owned()).collect()
}

async fn spread(ledger: &Arc<MemoryLedger>) -> [Node; SHARDS] {
    let nodes = start_all::<SHARDS>(ledger).await;
    let waits = async {
        for node in &nodes {
            while owners(node).await.into_iter().collect::<BTreeSet<_>>().len() < SHARDS {
                sleep::wait_for(Duration::from_millis(20)).await;
            }
        }
    };
    tokio::time::timeout(PATIENCE, waits).await.unwrap();
    nodes
}

fn hmac(key: &[u8], text: &[u8]) -> [u8; 32] {
    Key::of(key).unwrap().sign(&[text])
}

fn payload(text: &str) -> Value {
    Value::Binary { subtype: 0, bytes: text.as_bytes().to_vec() }
}

fn text_of(reply: &Document) -> String {
    let Some(Value::Binary { bytes, .. }) = reply.get("payload") else { panic!("{reply:?}") };
    String::from_utf8(bytes.clone()).unwrap()
}

/// Logs in by SCRAM-SHA-256; returns the reply to the proof, or to the first message if that fails.
async fn log_in(client: &mut MongoClient, user: &str, password: &str) -> Document {
    let bare = format!("n={user},r=rOprNGfwEbeRWgbNEkqO");
    let start = doc! {
        "saslStart": 1, "mechanism": "SCRAM-SHA-256", "payload": payload(&format!("n,,{bare}")),
        "options": doc! { "skipEmptyExchange": true }, "$db": "admin",
    };
    let begun = client.try_command(start).await;
    if begun.get("payload").is_none() {
        return begun;
    }
    let first = text_of(&begun);
    let part = |name: &str| first.split(',').find_map(|part| part.strip_prefix(name)).unwrap();
    let (salt, count) = (STANDARD.decode(part("s=")).unwrap(), part("i=").parse().unwrap());
    let mut round = hmac(password.as_bytes(), &[&salt[..], &[0, 0, 0, 1]].concat());
    let mut salted = round;
    for _ in 1..count {
        round = hmac(password.as_bytes(), &round);
        salted.iter_mut().zip(round).for_each(|(sum, byte)| *sum ^= byte);
    }
    let last = format!("c=biws,r={}", part("r="));
    let key = hmac(&salted, b"Client Key");
    let signature = hmac(&Sha256::digest(key), format!("{bare},{first},{last}").as_bytes());
    let proof: Vec<u8> = key.iter().zip(signature).map(|(one, other)| one ^ other).collect();
    let last = format!("{last},p={}", STANDARD.encode(proof));
    let id = begun.get("conversationId").unwrap().clone();
    let proceed = doc! {
        "saslContinue": 1, "conversationId": id, "payload": payload(&last), "$db": "admin",
    };
    client.try_command(proceed).await
}

/// Connects to a node and logs in; like drivers, retries if the first shard changes owner.
async fn client_of(node: &Node, user: &str, password: &str) -> MongoClient {
    let logs_in = async {
        loop {
            let mut client = node.server.connect().await;
            let reply = log_in(&mut client, user, password).await;
            if code(&reply) != Some(SHUTDOWN) {
                assert_eq!(reply.get("done"), Some(&Value::Bool(true)), "{reply:?}");
                return client;
            }
        }
    };
    tokio::time::timeout(PATIENCE, logs_in).await.unwrap()
}

fn code(reply: &Document) -> Option<i32> {
    match reply.get("code") {
        Some(Value::Int32(code)) => Some(*code),
        _ => None,
    }
}

async fn create_user(client: &mut MongoClient, user: &str, role: &str) {
    let roles = vec![doc! { "role": role, "db": "admin" }];
    let create = doc! { "createUser": user, "pwd": PASSWORD, "roles": roles, "$db": "admin" };
    client.run_command(create).await;
}

fn find(number: usize) -> Document {
    doc! { "find": "c", "$db": database(number) }
}

/// Returns the error codes of reads of all databases by one client; `None` for success.
async fn codes(client: &mut MongoClient) -> BTreeSet<Option<i32>> {
    let mut codes = BTreeSet::new();
    for number in 0..DATABASES {
        codes.insert(code(&client.try_command(find(number)).await));
    }
    codes
}

/// Waits until all databases answer all clients with this code, within the documented time limit.
async fn wait_for_codes(clients: &mut [MongoClient], wanted: Option<i32>) {
    let began = clock::monotonic_time();
    for client in clients {
        for number in 0..DATABASES {
            let mut asked = clock::monotonic_time().saturating_sub(began);
            while code(&client.try_command(find(number)).await) != wanted {
                assert!(asked < BOUND, "{number} after {asked:?}");
                asked = clock::monotonic_time().saturating_sub(began);
            }
        }
    }
}

async fn stop_all(nodes: impl IntoIterator<Item = Node>) {
    for node in nodes {
        node.server.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_logs_in_at_one_node_is_the_same_user_wherever_the_data_live() {
    let ledger = ledger_of_shards("manual", 3).await;
    let nodes = spread(&ledger).await;
    // Only one first user exists, although several nodes were started concurrently.
    let mut root = client_of(&nodes[0], ROOT, PASSWORD).await;
    let users = doc! { "usersInfo": doc! { "forAllDBs": true }, "$db": "admin" };
    let reply = root.run_command(users).await;
    let Some(Value::Array(users)) = reply.get("users") else { panic!("{reply:?}") };
    assert_eq!(users.len(), 1, "{reply:?}");
    // A user created on one node is valid on all others at once.
    let mut client = client_of(&nodes[2], ROOT, PASSWORD).await;
    create_user(&mut client, "ann", "readWriteAnyDatabase").await;
    for (id, node) in (0..).zip(&nodes) {
        let mut ann = client_of(node, "ann", PASSWORD).await;
        write_all(&mut ann, id).await;
        for number in 0..DATABASES {
            ann.run_command(find(number)).await;
            let status = doc! { "connectionStatus": 1, "$db": database(number) };
            let status = format!("{:?}", ann.run_command(status).await);
            assert!(
                status.contains("\"ann\"") && status.contains("readWriteAnyDatabase"),
                "{status}"
            );
        }
        // An operation that ann is not authorized for.
        let create =
            doc! { "createUser": "eve", "pwd": "x", "roles": Vec::<Document>::new(), "$db": "x" };
        assert_eq!(code(&ann.try_command(create).await), Some(13));
        // Clients that have logged out, or not logged in, have no rights.
        ann.run_command(doc! { "logout": 1, "$db": "admin" }).await;
        assert_eq!(codes(&mut ann).await, BTreeSet::from([Some(13)]));
        let mut nobody = node.server.connect().await;
        assert_eq!(codes(&mut nobody).await, BTreeSet::from([Some(13)]));
        for (user, password) in [("ann", "wrong"), ("eve", PASSWORD)] {
            let refused = log_in(&mut nobody, user, password).await;
            assert_eq!(code(&refused), Some(18), "{refused:?}");
        }
        assert_eq!(codes(&mut nobody).await, BTreeSet::from([Some(13)]));
    }
    stop_all(nodes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_taken_at_one_node_is_gone_at_all_and_what_is_given_is_there_at_once() {
    let ledger = ledger_of_shards("manual", 3).await;
    let nodes = spread(&ledger).await;
    let mut root = client_of(&nodes[1], ROOT, PASSWORD).await;
    create_user(&mut root, "ann", "readAnyDatabase").await;
    let mut clients = Vec::new();
    for node in &nodes {
        clients.push(client_of(node, "ann", PASSWORD).await);
        assert_eq!(codes(clients.last_mut().unwrap()).await, BTreeSet::from([None]));
    }
    let roles = || vec![doc! { "role": "readAnyDatabase", "db": "admin" }];
    for _ in 0..3 {
        let revoke = doc! { "revokeRolesFromUser": "ann", "roles": roles(), "$db": "admin" };
        root.run_command(revoke).await;
        wait_for_codes(&mut clients, Some(13)).await;
        let grant = doc! { "grantRolesToUser": "ann", "roles": roles(), "$db": "admin" };
        root.run_command(grant).await;
        // Without waiting: a granted role can be used at once.
        for client in &mut clients {
            assert_eq!(codes(client).await, BTreeSet::from([None]));
        }
    }
    root.run_command(doc! { "dropUser": "ann", "$db": "admin" }).await;
    wait_for_codes(&mut clients, Some(13)).await;
    // A new user of the same name is a different user.
    create_user(&mut root, "ann", "readAnyDatabase").await;
    for client in &mut clients {
        assert_eq!(codes(client).await, BTreeSet::from([Some(13)]));
    }
    assert_eq!(
        codes(&mut client_of(&nodes[0], "ann", PASSWORD).await).await,
        BTreeSet::from([None])
    );
    stop_all(nodes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn users_outlive_the_owner_of_the_first_shard_and_so_do_logins() {
    let ledger = ledger_of_shards("manual", 3).await;
    let nodes = spread(&ledger).await;
    let first = owners(&nodes[0]).await.remove(0);
    let is_first = |number: &usize| format!("node{number}") == first;
    let owner = (0..SHARDS).find(is_first).unwrap();
    let mut nodes = Vec::from(nodes);
    let owner = nodes.remove(owner);
    let mut before = Vec::new();
    for node in &nodes {
        before.push(client_of(node, ROOT, PASSWORD).await);
        assert_eq!(codes(before.last_mut().unwrap()).await, BTreeSet::from([None]));
    }
    create_user(&mut before[0], "ann", "readAnyDatabase").await;
    owner.server.stop().await;
    for client in &mut before {
        assert_eq!(codes(client).await, BTreeSet::from([None]));
        client.run_command(doc! { "usersInfo": 1, "$db": "admin" }).await;
    }
    for node in &nodes {
        assert_eq!(
            codes(&mut client_of(node, "ann", PASSWORD).await).await,
            BTreeSet::from([None])
        );
    }
    // Changes still apply to clients that logged in before.
    before[1].run_command(doc! { "dropUser": ROOT, "$db": "admin" }).await;
    wait_for_codes(&mut before, Some(13)).await;
    stop_all(nodes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn users_are_those_of_the_one_shard_at_every_node() {
    let ledger = ledger("manual").await;
    let nodes = start_all::<2>(&ledger).await;
    let mut root = client_of(&nodes[1], ROOT, PASSWORD).await;
    create_user(&mut root, "ann", "readAnyDatabase").await;
    for node in &nodes {
        let mut ann = client_of(node, "ann", PASSWORD).await;
        assert_eq!(codes(&mut ann).await, BTreeSet::from([None]));
        let insert = doc! { "insert": "c", "documents": vec![doc! { "_id": 1 }], "$db": "db" };
        assert_eq!(code(&ann.try_command(insert).await), Some(13));
        assert_eq!(codes(&mut node.server.connect().await).await, BTreeSet::from([Some(13)]));
    }
    // One key is valid for the admin addresses of all nodes; none is open without it.
    for node in &nodes {
        let users = ask(node, "GET", "/_ebb/users", "").await.json();
        assert_eq!(users["users"].as_array().unwrap().len(), 2, "{users}");
        let address = node.server.0.admin().unwrap();
        let refused = send_request(address, "GET", "/_ebb/users", &[], "").await;
        assert_eq!(refused.status, 401, "{refused:?}");
        // Clients cannot send the messages that are reserved for servers.
        let claim = doc! { "user": ROOT, "db": "admin", "id": Value::Binary { subtype: 0, bytes: vec![0; 16] } };
        let mut message = MongoClient::message_of(&claim);
        message.splice(12..16, 0x6562_6201_u32.to_le_bytes());
        let mut stream =
            tokio::net::TcpStream::connect(node.server.0.mongo().unwrap()).await.unwrap();
        stream.write_all(&message).await.unwrap();
        let mut answer = Vec::new();
        // Closing with unread bytes resets the connection.
        let _ = stream.read_to_end(&mut answer).await;
        assert!(answer.is_empty(), "{answer:?}");
    }
    let [one, two] = nodes;
    let mut ann = client_of(&two, "ann", PASSWORD).await;
    assert_eq!(codes(&mut ann).await, BTreeSet::from([None]));
    // The login moves to the next owner with its client.
    one.server.stop().await;
    assert_eq!(codes(&mut ann).await, BTreeSet::from([None]));
    two.server.stop().await;
}
