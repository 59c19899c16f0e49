//! Direct mode at a node of a cluster that does not own the data: requests are forwarded as frames,
//! and clients that took the node for the owner get 410.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use cosmos::{
    CurrentCertificate, ForwardConnection, Forwarded, Home, LocalEndpoint, NoSqlApi, OwnerLookup,
    RoutingEndpoint, Settings, ShardOwner, ShardRouter,
};
use parking_lot::Mutex;
use rntbd::{
    AnswerToken,
    OperationType::{Batch, Create, Query, Read, ReadFeed},
    RequestToken, ResourceType,
};
use tokio::{
    io::{AsyncReadExt, DuplexStream},
    sync::{Semaphore, watch},
};

use crate::client::{
    Client,
    frames::{Frame, FrameAnswer, FrameClient, tls_with},
    given,
};

const OWNER_PATH: &str = "/apps/ebb/services/owner/partitions/0/replicas/1p";

/// Less than the interval at which an idle connection looks for work.
const SOON: Duration = Duration::from_secs(9);

/// Who owns the data, in the node's view.
#[derive(Clone)]
enum Owner {
    /// No node owns the data at present.
    Absent,
    /// An API in this process, reached like one in another process.
    There(LocalEndpoint),
    /// A node that reads this many bytes and then fails.
    Failing(usize),
}

/// The routes of a node; the last owner stays.
#[derive(Clone)]
struct Routes {
    owners: Arc<Mutex<Vec<Owner>>>,
    lookups: Arc<AtomicUsize>,
    here: Arc<Mutex<Option<LocalEndpoint>>>,
}

impl Routes {
    fn to(owners: impl IntoIterator<Item = Owner>) -> Self {
        let owners = Arc::new(Mutex::new(owners.into_iter().collect()));
        Self { owners, lookups: Arc::default(), here: Arc::default() }
    }

    fn next(&self) -> Owner {
        self.lookups.fetch_add(1, SeqCst);
        let mut owners = self.owners.lock();
        match owners.len() {
            1 => owners[0].clone(),
            _ => owners.remove(0),
        }
    }
}

impl ShardRouter for Routes {
    fn shard_of(&self, _: &Home) -> u32 {
        0
    }

    fn local_endpoint(&self, _: u32) -> Option<LocalEndpoint> {
        self.here.lock().clone()
    }

    fn find_owner(&self, _: u32, client: SocketAddr, secure: bool) -> OwnerLookup<'_> {
        assert!(secure);
        let owner = self.next();
        Box::pin(async move {
            let (near, far) = tokio::io::duplex(64 * 1024);
            match owner {
                Owner::Absent => return None,
                Owner::There(there) => {
                    let about = Forwarded { peer: Some(client.ip()), scheme: "https", right: None };
                    tokio::spawn(cosmos::serve_forwarded(there, Box::new(far), about));
                }
                Owner::Failing(bytes) => drop(tokio::spawn(fail_after(far, bytes))),
            }
            Some(ShardOwner::Remote(ForwardConnection {
                stream: Box::new(near),
                over: Box::pin(std::future::pending()),
                permit: Arc::new(Semaphore::new(1)).try_acquire_owned().unwrap(),
            }))
        })
    }
}

/// Answers a context, reads this many bytes of requests and closes the connection.
async fn fail_after(mut far: DuplexStream, bytes: usize) {
    use tokio::io::AsyncWriteExt;
    let context = far.read_u32_le().await.unwrap() as usize;
    far.read_exact(&mut vec![0; context - 4]).await.unwrap();
    let mut answer = Vec::new();
    let server = rntbd::ServerContext { agent: "a", version: "v", idle_s: 1, unauthenticated_s: 1 };
    server.write(&mut answer, [0; 16], "2020-07-15");
    far.write_all(&answer).await.unwrap();
    far.read_exact(&mut vec![0; bytes]).await.unwrap();
}

/// An API with the container `c`, and the settings of a node with the same certificate.
async fn owner() -> (Client, Settings) {
    let mut certificate: Option<CurrentCertificate> = None;
    let mut client = Client::with_settings(|settings| {
        certificate.clone_from(&settings.certificate);
        settings
    })
    .await;
    assert_eq!(client.ask("POST", "/dbs", &[], r#"{"id":"d"}"#).await.status, 201);
    let container = r#"{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}"#;
    assert_eq!(client.ask("POST", "/dbs/d/colls", &[], container).await.status, 201);
    (client, Settings { certificate, ..given() })
}

fn api(client: &Client) -> Arc<NoSqlApi> {
    client.api.upgrade().unwrap()
}

/// Returns an owner that runs until the sender says that it stops.
fn there(client: &Client) -> (Owner, watch::Sender<bool>) {
    let (stop, stopping) = watch::channel(false);
    (Owner::There(LocalEndpoint::new(api(client), stopping)), stop)
}

/// Connects to a node with these routes.
async fn connect(client: &mut Client, settings: Settings, routes: &Routes) -> FrameClient {
    let endpoint = Arc::new(RoutingEndpoint::new(settings, routes.clone()));
    let stop = client.stop.subscribe();
    let peer = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
    let stream = tls_with(client, |far| drop(tokio::spawn(endpoint.serve(far, peer, stop)))).await;
    FrameClient::over(stream).await
}

fn item(id: &str) -> String {
    format!(r#"{{"id":"{id}","pk":"a"}}"#)
}

fn create(id: &str) -> Frame {
    Frame::of_item(Create, "").body(item(id))
}

fn text(answer: &FrameAnswer) -> &str {
    &answer.body
}

#[tokio::test]
async fn requests_are_executed_by_the_owner() {
    let (mut client, settings) = owner().await;
    let (there, _running) = there(&client);
    let routes = Routes::to([there]);
    let mut frames = connect(&mut client, settings, &routes).await;
    let query = Frame::of_item(Query, "").body(r#"{"query":"SELECT VALUE COUNT(1) FROM c"}"#);
    let operations = r#"[{"operationType":"Read","id":"1"}]"#;
    let batch = Frame::of_item(Batch, "").with(RequestToken::IsBatchAtomic, &[1]).body(operations);
    let large = format!(r#"{{"id":"3","pk":"a","text":"{}"}}"#, "x".repeat(300_000));
    let too_large = vec![b' '; 4 << 20];
    let databases = Frame::new(ResourceType::Database, Read).named(RequestToken::DatabaseName, "d");
    for (frame, want, part) in [
        (create("1"), (201, 0), r#""id":"1""#),
        (create("1"), (409, 0), "Conflict"),
        (Frame::of_item(Read, "1"), (200, 0), r#""id":"1""#),
        (Frame::of_item(Read, "2"), (404, 0), "NotFound"),
        (Frame::of_item(Read, "1").authorized("x".to_owned()), (401, 0), "Unauthorized"),
        (Frame::of_item(Create, "").body(large), (201, 0), "xxx"),
        (Frame::of_item(Read, "3"), (200, 0), "xxx"),
        (Frame::of_item(Create, "").body(too_large), (413, 0), "too large"),
        (query, (200, 0), "[2]"),
        (batch, (200, 0), r#""statusCode":200"#),
        (databases, (200, 0), r#""id":"d""#),
    ] {
        let answered = tokio::time::timeout(SOON, frames.ask(&frame)).await;
        let answer = answered.expect("a request is forwarded at once");
        assert_eq!(answer.code(), want, "{answer:?}");
        assert!(text(&answer).contains(part), "{answer:?}");
    }
    assert_eq!(routes.lookups.load(SeqCst), 1, "the connection is used again");
    let direct = api(&client).counters().into_iter().find(|(name, ..)| *name == "direct_requests");
    assert_eq!(direct.unwrap().2, 10, "all but the request that is too large to be forwarded");
    // The node becomes the owner while the client stays connected.
    let (_stop, stopping) = watch::channel(false);
    *routes.here.lock() = Some(LocalEndpoint::new(api(&client), stopping));
    assert_eq!(frames.ask(&create("4")).await.status, 201);
    assert_eq!(routes.lookups.load(SeqCst), 1);
}

#[tokio::test]
async fn the_first_request_may_have_a_large_body() {
    let (mut client, settings) = owner().await;
    let (there, _running) = there(&client);
    let mut frames = connect(&mut client, settings, &Routes::to([there])).await;
    // More in total than a client may send before its first request is complete.
    for id in 1..3 {
        let large = format!(r#"{{"id":"{id}","pk":"a","text":"{}"}}"#, "x".repeat(1_500_000));
        assert_eq!(frames.ask(&Frame::of_item(Create, "").body(large)).await.status, 201);
    }
}

#[tokio::test]
async fn databases_are_created_in_gateway_mode() {
    let (mut client, settings) = owner().await;
    let (there, _running) = there(&client);
    let routes = Routes::to([there]);
    let mut frames = connect(&mut client, settings, &routes).await;
    let database = Frame::new(ResourceType::Database, Create).body(r#"{"id":"e"}"#);
    let answer = frames.ask(&database).await;
    assert_eq!(answer.code(), (400, 0), "{answer:?}");
    assert!(text(&answer).contains("gateway mode"), "{answer:?}");
    // The node would otherwise execute it, for any database.
    let (_stop, stopping) = watch::channel(false);
    *routes.here.lock() = Some(LocalEndpoint::new(api(&client), stopping));
    assert_eq!(frames.ask(&database).await.code(), (400, 0));
    assert_eq!(client.ask("GET", "/dbs/e", &[], "").await.status, 404);
}

#[tokio::test]
async fn a_request_follows_the_data_to_another_owner() {
    let (mut client, settings) = owner().await;
    let (first, stop) = there(&client);
    let (second, _running) = there(&client);
    let routes = Routes::to([first, second, Owner::Absent]);
    let mut frames = connect(&mut client, settings, &routes).await;
    assert_eq!(frames.ask(&create("1")).await.status, 201);
    stop.send_replace(true);
    // The first owner says that it did not execute the request.
    assert_eq!(frames.ask(&create("2")).await.status, 201);
    assert_eq!(frames.ask(&Frame::of_item(Read, "2")).await.status, 200);
}

#[tokio::test]
async fn without_an_owner_clients_ask_again() {
    let (mut client, settings) = owner().await;
    let (back, _running) = there(&client);
    let routes = Routes::to([Owner::Absent, back]);
    let mut frames = connect(&mut client, settings, &routes).await;
    let answer = frames.ask(&create("1")).await;
    assert_eq!(answer.code(), (410, 0), "{answer:?}");
    assert!(text(&answer).contains("Cannot reach a node"), "{answer:?}");
    assert_eq!(frames.ask(&create("1")).await.status, 201);
}

#[tokio::test]
async fn a_write_is_not_repeated_if_its_outcome_is_unknown() {
    let (mut client, settings) = owner().await;
    let (there, _running) = there(&client);
    let frame = create("1").bytes(1).len();
    for (request, owners, want) in [
        // The node fails after the whole request has arrived.
        (create("1"), vec![Owner::Failing(frame)], 408),
        (Frame::of_item(Read, "1"), vec![Owner::Failing(100), there.clone()], 404),
        (create("1"), vec![there.clone()], 201),
        (Frame::of_item(Read, "1"), vec![Owner::Failing(100), there.clone()], 200),
    ] {
        let mut frames = connect(&mut client, settings.clone(), &Routes::to(owners)).await;
        let answer = frames.ask(&request).await;
        assert_eq!(answer.status, want, "{answer:?}");
    }
}

#[tokio::test]
async fn a_client_that_took_the_node_for_the_owner_is_told() {
    let (mut client, settings) = owner().await;
    let (there, _running) = there(&client);
    let routes = Routes::to([there]);
    let mut frames = connect(&mut client, settings, &routes).await;
    for frame in [create("1"), Frame::of_item(Read, "1")] {
        let answer = frames.ask(&frame.at(OWNER_PATH)).await;
        assert_eq!(answer.code(), (410, 0), "{answer:?}");
        assert!(text(&answer).contains("Another node owns"), "{answer:?}");
    }
    assert_eq!(routes.lookups.load(SeqCst), 0);
    // Databases are in all shards, so their address is that of no owner.
    let database = Frame::new(ResourceType::Database, Read).named(RequestToken::DatabaseName, "d");
    assert_eq!(frames.ask(&database.at(OWNER_PATH)).await.status, 200);
    assert_eq!(frames.ask(&create("1")).await.status, 201);
    // The owner itself serves such requests.
    let mut direct = FrameClient::beside(&mut client).await;
    assert_eq!(direct.ask(&Frame::of_item(Read, "1").at(OWNER_PATH)).await.status, 200);
}

#[tokio::test]
async fn bodies_of_unknown_senders_are_bounded() {
    let (mut client, settings) = owner().await;
    let (there, _running) = there(&client);
    let unknown_clients = memory::Account::new(200_000);
    let settings = Settings { unknown_clients: unknown_clients.clone(), ..settings };
    let mut frames = connect(&mut client, settings, &Routes::to([there])).await;
    let large = format!(r#"{{"id":"1","pk":"a","text":"{}"}}"#, "x".repeat(1_000_000));
    let answer = frames.ask(&Frame::of_item(Create, "").body(large)).await;
    assert!(matches!(answer.status, 429 | 503), "{answer:?}");
    assert!(answer.token(AnswerToken::TransportRequestId).is_some());
    let token = [b'x'; 60_000];
    let feed = Frame::of_item(ReadFeed, "").with(RequestToken::ContinuationToken, &token);
    let answer = frames.ask(&feed.with(RequestToken::SessionToken, &token)).await;
    assert!(matches!(answer.status, 429 | 503), "{answer:?}");
    assert_eq!(frames.ask(&create("1")).await.status, 201);
    assert!(unknown_clients.used_bytes() < 100_000, "{}", unknown_clients.used_bytes());
}
