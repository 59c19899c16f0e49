//! A client with its own server, connected by a pipe.

use std::sync::Arc;

use document::{DocRef, Document, Value, doc};
use mongo::{MongoApi, Peer, Settings};
use test_kit::Kit;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

/// A client with its own server; its database `db` has a collection `c`.
pub(crate) struct Client {
    pub(crate) stream: DuplexStream,
    pub(crate) api: Arc<MongoApi>,
    stop: tokio::sync::watch::Sender<bool>,
}

impl Client {
    pub(crate) fn new() -> Self {
        Self::with(Settings::default())
    }

    pub(crate) fn with(settings: Settings) -> Self {
        Self::of(MongoApi::new(Kit::default().engine, settings))
    }

    /// Returns another client of the same server.
    pub(crate) fn beside(&self) -> Self {
        Self::of(Arc::clone(&self.api))
    }

    /// Returns a client of an existing server.
    pub(crate) fn of(api: Arc<MongoApi>) -> Self {
        Self::known_as(api, "test".to_owned().into())
    }

    /// Returns a client of an existing server, connected from this peer.
    pub(crate) fn known_as(api: Arc<MongoApi>, peer: Peer) -> Self {
        let (stream, far) = tokio::io::duplex(1 << 20);
        let (stop, stopped) = tokio::sync::watch::channel(false);
        tokio::spawn(mongo::serve(Arc::clone(&api), far, peer, stopped));
        Self { stream, api, stop }
    }

    /// Sends a command with document sequences and reads the reply.
    pub(crate) async fn send(
        &mut self,
        body: Document,
        sequences: &[(&str, &[Document])],
    ) -> Document {
        self.ask(body, sequences).await;
        self.reply().await
    }

    /// Sends a command without waiting for the reply.
    pub(crate) async fn ask(&mut self, body: Document, sequences: &[(&str, &[Document])]) {
        let mut message = vec![0; 16];
        message.extend_from_slice(&0_u32.to_le_bytes());
        message.push(0);
        message.extend_from_slice(body.to_buf().bytes());
        for (name, documents) in sequences {
            message.push(1);
            let mut section = name.as_bytes().to_vec();
            section.push(0);
            documents.iter().for_each(|it| section.extend_from_slice(it.to_buf().bytes()));
            message.extend_from_slice(&u32::try_from(section.len() + 4).unwrap().to_le_bytes());
            message.extend_from_slice(&section);
        }
        let len = i32::try_from(message.len()).unwrap();
        for (at, number) in [(0, len), (4, 1), (8, 0), (12, 2013)] {
            message[at..at + 4].copy_from_slice(&number.to_le_bytes());
        }
        self.stream.write_all(&message).await.unwrap();
    }

    pub(crate) fn stop(&self) {
        self.stop.send(true).unwrap();
    }

    /// Waits until the server has closed the connection without another reply.
    pub(crate) async fn ended(&mut self) {
        let mut rest = Vec::new();
        self.stream.read_to_end(&mut rest).await.unwrap();
        assert!(rest.is_empty(), "{rest:?}");
    }

    pub(crate) async fn reply(&mut self) -> Document {
        let mut head = [0; 16];
        self.stream.read_exact(&mut head).await.unwrap();
        let len = u32::from_le_bytes(head[..4].try_into().unwrap());
        let mut payload = vec![0; usize::try_from(len).unwrap() - 16];
        self.stream.read_exact(&mut payload).await.unwrap();
        DocRef::Raw(&payload[5..]).to_tree()
    }

    pub(crate) async fn run(&mut self, body: Document) -> Document {
        self.send(body, &[]).await
    }

    /// Sends a bulk write as drivers do: with two sequences.
    pub(crate) async fn bulk(&mut self, options: Document, ops: &[Document]) -> Document {
        let mut body = doc! { "bulkWrite": 1, "$db": "admin" };
        options.into_iter().for_each(|(name, value)| body.push(name, value));
        let namespaces = [doc! { "ns": "db.a" }, doc! { "ns": "db.b" }];
        self.send(body, &[("ops", ops), ("nsInfo", &namespaces)]).await
    }

    /// Returns all documents of a collection of `db`, by `_id`.
    pub(crate) async fn all(&mut self, collection: &str) -> Vec<Document> {
        let find = doc! { "find": collection, "sort": doc! { "_id": 1 }, "$db": "db" };
        first_batch(&self.run(find).await)
    }
}

/// Returns the cursor of a reply.
pub(crate) fn cursor(reply: &Document) -> &Document {
    let Some(Value::Document(cursor)) = reply.get("cursor") else { panic!("{reply:?}") };
    cursor
}

pub(crate) fn cursor_id(reply: &Document) -> i64 {
    number(cursor(reply), "id")
}

pub(crate) fn first_batch(reply: &Document) -> Vec<Document> {
    let cursor = cursor(reply);
    let batch = cursor.get("firstBatch").or_else(|| cursor.get("nextBatch"));
    let Some(Value::Array(batch)) = batch else { panic!("{reply:?}") };
    let document = |value: &Value| value.as_ref().as_document().unwrap().to_tree();
    batch.iter().map(document).collect()
}

pub(crate) fn number(reply: &Document, name: &str) -> i64 {
    document::Number::of(reply.get(name).unwrap_or_else(|| panic!("{name} of {reply:?}")).as_ref())
        .unwrap()
        .to_i64_exact()
        .unwrap()
}
