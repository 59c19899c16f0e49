//! A client whose messages are forwarded to a server that stops at the worst moment, and to the
//! next one. The servers are pipes, so that every byte they receive can be checked.

use std::{pin::pin, time::Duration};

use document::{DocRef, Document, doc};
use memory::Account;
use mongo::{ClientStream, ForwardAccounts, ServeEnd, serve_movable};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex},
    sync::{oneshot, watch},
};

use crate::client::Client;

const ROOM: usize = 1 << 20;

fn rooms(bytes: usize) -> ForwardAccounts {
    ForwardAccounts { messages: Account::new(bytes), unknown_clients: Account::new(bytes) }
}

fn message(body: &Document) -> Vec<u8> {
    let mut bytes = vec![0; 20];
    bytes.push(0);
    bytes.extend_from_slice(body.to_buf().bytes());
    let len = i32::try_from(bytes.len()).unwrap();
    for (at, number) in [(0, len), (4, 7), (12, 2013)] {
        bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
    }
    bytes
}

async fn read_message(stream: &mut DuplexStream) -> Vec<u8> {
    let mut head = [0; 4];
    stream.read_exact(&mut head).await.unwrap();
    let mut bytes = head.to_vec();
    bytes.resize(usize::try_from(u32::from_le_bytes(head)).unwrap(), 0);
    stream.read_exact(&mut bytes[4..]).await.unwrap();
    bytes
}

fn body(message: &[u8]) -> Document {
    DocRef::Raw(&message[21..]).to_tree()
}

/// A client and the server that its messages currently go to.
struct Passed {
    client: DuplexStream,
    server: DuplexStream,
    /// Completed when another server has become the owner.
    over: Option<oneshot::Sender<()>>,
    ended: tokio::task::JoinHandle<(ClientStream<DuplexStream>, ServeEnd)>,
    rooms: ForwardAccounts,
}

impl Passed {
    fn new(rooms: ForwardAccounts) -> Self {
        let (client, far) = duplex(ROOM);
        Self::on(client, ClientStream::movable(far), rooms)
    }

    fn on(
        client: DuplexStream,
        mut stream: ClientStream<DuplexStream>,
        rooms: ForwardAccounts,
    ) -> Self {
        let (server, near) = duplex(ROOM);
        let (over, is_over) = oneshot::channel::<()>();
        let held = rooms.clone();
        let ended = tokio::spawn(async move {
            let over = pin!(async {
                if is_over.await.is_err() {
                    std::future::pending::<()>().await;
                }
            });
            let ended = stream.pass_on(near, over, &held, None).await;
            (stream, ended)
        });
        Self { client, server, over: Some(over), ended, rooms }
    }

    async fn say(&mut self, body: &Document) {
        self.client.write_all(&message(body)).await.unwrap();
    }

    /// Reads the server's next message, and sends a reply.
    async fn answer(&mut self, reply: &Document) -> Document {
        let heard = read_message(&mut self.server).await;
        self.server.write_all(&message(reply)).await.unwrap();
        body(&heard)
    }

    /// Stops the server. Returns the client with the next server if its messages may be sent to
    /// one, `None` if its connection ends.
    async fn server_ends(self) -> Option<Self> {
        let Self { client, server, ended, rooms, over } = self;
        drop(server);
        let (stream, ended) = ended.await.unwrap();
        drop(over);
        (ended == ServeEnd::Moves).then(|| Self::on(client, stream, rooms))
    }

    /// Checks that the client's connection was closed without another byte.
    async fn client_ended(mut self) {
        drop(self.ended.await.unwrap());
        let mut rest = Vec::new();
        self.client.read_to_end(&mut rest).await.unwrap();
        assert!(rest.is_empty(), "{rest:?}");
    }
}

fn hello() -> Document {
    doc! { "hello": 1, "client": doc! { "driver": doc! { "name": "d", "version": "1" } }, "$db": "admin" }
}

fn find() -> Document {
    doc! { "find": "c", "$db": "db" }
}

fn insert(number: Option<i64>) -> Document {
    let mut insert = doc! { "insert": "c", "documents": vec![doc! { "_id": 1 }], "$db": "db" };
    number.into_iter().for_each(|number| insert.push("txnNumber", number));
    insert
}

fn ok() -> Document {
    doc! { "ok": 1 }
}

#[tokio::test]
async fn what_may_be_done_again_is_answered_by_the_next_server() {
    for asked in [find(), insert(Some(1))] {
        let mut passed = Passed::new(rooms(ROOM));
        passed.say(&hello()).await;
        assert_eq!(passed.answer(&ok()).await, hello());
        read_message(&mut passed.client).await;
        passed.say(&asked).await;
        assert_eq!(body(&read_message(&mut passed.server).await), asked);
        let mut passed = passed.server_ends().await.unwrap();
        // The next server receives the handshake first.
        assert_eq!(passed.answer(&ok()).await, hello());
        let reply = doc! { "n": 1, "ok": 1 };
        assert_eq!(passed.answer(&reply).await, asked);
        assert_eq!(body(&read_message(&mut passed.client).await), reply);
        assert_eq!(passed.rooms.messages.used_bytes(), 0);
    }
}

/// An unanswered handshake is sent once to the next server: a second one would be an error.
#[tokio::test]
async fn a_hello_that_was_not_answered_is_said_once_to_the_next_server() {
    let mut passed = Passed::new(rooms(ROOM));
    passed.say(&hello()).await;
    assert_eq!(body(&read_message(&mut passed.server).await), hello());
    let mut passed = passed.server_ends().await.unwrap();
    assert_eq!(body(&read_message(&mut passed.server).await), hello());
    let Passed { mut client, server, ended, over, .. } = passed;
    drop(server);
    let (mut stream, _) = ended.await.unwrap();
    drop(over);
    let (_stop, stopped) = watch::channel(false);
    let api = Client::new().api;
    let served = serve_movable(api, &mut stream, "test".to_owned(), stopped);
    tokio::select! {
        reply = read_message(&mut client) => {
            let reply = body(&reply);
            assert_eq!(reply.get("ok"), Some(&document::Value::Double(1.0)), "{reply:?}");
        }
        ended = served => panic!("{ended:?}"),
    }
}

/// A login control frame is for the forwarding server and not for the client.
#[tokio::test]
async fn who_is_logged_in_is_known_to_whoever_passes_the_client_on() {
    let mut passed = Passed::new(rooms(ROOM));
    let id = document::Value::Binary { subtype: 0, bytes: vec![7; 16] };
    for told in [doc! { "user": "ann", "db": "admin", "id": id }, doc! {}, doc! { "user": "x" }] {
        passed.say(&find()).await;
        read_message(&mut passed.server).await;
        let told = told.to_buf();
        let mut word = vec![0; 16];
        word[0] = u8::try_from(16 + told.bytes().len()).unwrap();
        word[12..].copy_from_slice(&0x6562_6201_i32.to_le_bytes());
        word.extend_from_slice(told.bytes());
        passed.server.write_all(&[word, message(&ok())].concat()).await.unwrap();
        assert_eq!(body(&read_message(&mut passed.client).await), ok());
        let Passed { client, server, ended, over, rooms } = passed;
        drop(server);
        let (stream, _) = ended.await.unwrap();
        drop(over);
        let ann = mongo::KnownUser { user: "ann".into(), database: "admin".into(), id: [7; 16] };
        let is_ann = told.get("id").is_some();
        assert_eq!(stream.user(), is_ann.then_some(&ann));
        passed = Passed::on(client, stream, rooms);
        // The next server receives a handshake first, since the client has been answered before.
        passed.answer(&ok()).await;
    }
}

#[tokio::test]
async fn what_may_not_ends_the_client() {
    for asked in [insert(None), doc! { "getMore": 1_i64, "collection": "c", "$db": "db" }] {
        let mut passed = Passed::new(rooms(ROOM));
        passed.say(&asked).await;
        read_message(&mut passed.server).await;
        assert!(passed.server_ends().await.is_none(), "{asked:?}");
    }
}

/// Sends the NOT_STARTED control frame.
async fn send_not_started(server: &mut DuplexStream) {
    let mut word = vec![0; 16];
    word[0] = 16;
    word[12..].copy_from_slice(&0x6562_6200_i32.to_le_bytes());
    server.write_all(&word).await.unwrap();
}

#[tokio::test]
async fn what_was_not_begun_is_answered_by_the_next_server_whatever_it_is() {
    let get_more = doc! { "getMore": 1_i64, "collection": "c", "$db": "db" };
    for asked in [insert(None), get_more, find()] {
        let mut passed = Passed::new(rooms(ROOM));
        passed.say(&asked).await;
        read_message(&mut passed.server).await;
        send_not_started(&mut passed.server).await;
        let mut passed = passed.server_ends().await.unwrap();
        assert_eq!(passed.answer(&ok()).await, asked);
        assert_eq!(body(&read_message(&mut passed.client).await), ok());
    }
    // A client that has sent nothing, or that compresses, does not receive the control frame.
    let mut passed = Passed::new(rooms(ROOM));
    send_not_started(&mut passed.server).await;
    let mut passed = passed.server_ends().await.unwrap();
    let mut compressed = message(&find());
    compressed[12..16].copy_from_slice(&2012_i32.to_le_bytes());
    passed.client.write_all(&compressed).await.unwrap();
    read_message(&mut passed.server).await;
    passed.server.write_all(&compressed).await.unwrap();
    assert_eq!(read_message(&mut passed.client).await, compressed);
    send_not_started(&mut passed.server).await;
    passed.client_ended().await;
}

#[tokio::test]
async fn a_message_that_ends_its_servers_ends_four_of_them() {
    let mut passed = Passed::new(rooms(ROOM));
    passed.say(&find()).await;
    for _ in 0..3 {
        assert_eq!(body(&read_message(&mut passed.server).await), find());
        passed = passed.server_ends().await.unwrap();
    }
    read_message(&mut passed.server).await;
    assert!(passed.server_ends().await.is_none());
}

#[tokio::test]
async fn a_server_that_is_not_the_right_one_any_more_is_not_waited_for() {
    let mut passed = Passed::new(rooms(ROOM));
    passed.say(&find()).await;
    read_message(&mut passed.server).await;
    passed.over.take().unwrap().send(()).unwrap();
    let (_, ended) = passed.ended.await.unwrap();
    assert_eq!(ended, ServeEnd::Moves);
    // The rest of a reply that the client has received in part is not awaited either.
    let mut passed = Passed::new(rooms(ROOM));
    passed.say(&find()).await;
    read_message(&mut passed.server).await;
    let reply = message(&doc! { "text": "x".repeat(100_000) });
    passed.server.write_all(&reply[..70_000]).await.unwrap();
    let mut part = vec![0; 60_000];
    passed.client.read_exact(&mut part).await.unwrap();
    passed.over.take().unwrap().send(()).unwrap();
    let (_, ended) =
        tokio::time::timeout(Duration::from_secs(20), passed.ended).await.unwrap().unwrap();
    assert_eq!(ended, ServeEnd::Closed);
}

#[tokio::test]
async fn long_messages_go_through_and_those_without_room_are_refused() {
    let mut passed = Passed::new(rooms(100_000));
    passed.say(&hello()).await;
    passed.answer(&ok()).await;
    read_message(&mut passed.client).await;
    // A message longer than `MAX_KEPT_BYTES` is streamed and takes no memory.
    let long = doc! { "insert": "c", "text": "x".repeat(5 << 20), "$db": "db" };
    let sent = message(&long);
    let (mut client, mut server) = (passed.client, passed.server);
    let writing = tokio::spawn(async move {
        client.write_all(&sent).await.unwrap();
        client
    });
    assert_eq!(body(&read_message(&mut server).await), long);
    server.write_all(&message(&ok())).await.unwrap();
    passed.client = writing.await.unwrap();
    passed.server = server;
    assert_eq!(body(&read_message(&mut passed.client).await), ok());
    passed.say(&doc! { "find": "c", "comment": "x".repeat(500_000), "$db": "db" }).await;
    let refusal = body(&read_message(&mut passed.client).await);
    assert_eq!(refusal.get("code"), Some(&document::Value::Int32(365)), "{refusal:?}");
    // The next message is served.
    passed.say(&find()).await;
    assert_eq!(passed.answer(&ok()).await, find());
    assert_eq!(body(&read_message(&mut passed.client).await), ok());
}

#[tokio::test]
async fn a_client_that_compresses_ends_with_its_server() {
    let mut passed = Passed::new(rooms(ROOM));
    let mut compressed = message(&find());
    compressed[12..16].copy_from_slice(&2012_i32.to_le_bytes());
    passed.client.write_all(&compressed).await.unwrap();
    assert_eq!(read_message(&mut passed.server).await, compressed);
    assert!(passed.server_ends().await.is_none());
}

#[tokio::test]
async fn a_stranger_may_not_say_much() {
    let mut passed = Passed::new(rooms(ROOM));
    passed.say(&doc! { "find": "c", "comment": "x".repeat(70_000), "$db": "db" }).await;
    passed.client_ended().await;
}

/// A server stops while it reads a message: it does not execute the message, and the next server
/// gets all of it.
#[tokio::test]
async fn a_message_that_comes_while_a_server_stops_goes_to_the_next() {
    let whole = message(&insert(None));
    for cut in [0, 1, 15, 16, 40, whole.len() - 1, whole.len()] {
        let (mut client, far) = duplex(ROOM);
        let mut stream = ClientStream::movable(far);
        let (stop, stopped) = watch::channel(false);
        let api = Client::new().api;
        client.write_all(&whole[..cut]).await.unwrap();
        let served = tokio::spawn(async move {
            let ended = serve_movable(api, &mut stream, "test".to_owned(), stopped).await;
            (stream, ended)
        });
        if cut < whole.len() {
            tokio::task::yield_now().await;
        }
        stop.send_replace(true);
        // A server that has received nothing stops at once: the next one reads what follows.
        client.write_all(&whole[cut..]).await.unwrap();
        let (stream, ended) = served.await.unwrap();
        assert_eq!(ended, ServeEnd::Moves, "{cut}");
        let mut passed = Passed::on(client, stream, rooms(ROOM));
        assert_eq!(passed.answer(&ok()).await, insert(None), "{cut}");
        assert_eq!(body(&read_message(&mut passed.client).await), ok(), "{cut}");
    }
}
