//! Messages as bytes: whether they are answered.

use crate::client::{Client, number};
use document::{DocRef, Value, doc};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const MORE_TO_COME: u32 = 2;

/// Returns an OP_MSG with this body.
fn message(flags: u32, body: &[u8]) -> Vec<u8> {
    let mut message = vec![0; 16];
    message.extend_from_slice(&flags.to_le_bytes());
    message.push(0);
    message.extend_from_slice(body);
    let len = i32::try_from(message.len()).unwrap();
    for (at, number) in [(0, len), (4, 7), (8, 0), (12, 2013)] {
        message[at..at + 4].copy_from_slice(&number.to_le_bytes());
    }
    message
}

/// Returns a body with text that is not UTF-8.
fn broken() -> Vec<u8> {
    let mut body = doc! { "ping": 1, "$db": "test" }.to_buf().bytes().to_vec();
    let at = body.windows(4).position(|part| part == b"test").unwrap();
    body[at] = 0xff;
    body
}

#[tokio::test]
async fn broken_content_is_refused_and_the_connection_goes_on() {
    let mut client = Client::new();
    client.stream.write_all(&message(0, &broken())).await.unwrap();
    assert_eq!(number(&client.reply().await, "code"), 22);
    assert_eq!(number(&client.run(doc! { "ping": 1, "$db": "db" }).await, "ok"), 1);
}

#[tokio::test]
async fn broken_content_that_wants_no_answer_gets_none() {
    let mut client = Client::new();
    client.stream.write_all(&message(MORE_TO_COME, &broken())).await.unwrap();
    assert_eq!(number(&client.run(doc! { "ping": 1, "$db": "db" }).await, "ok"), 1);
}

#[tokio::test]
async fn a_message_of_an_unknown_kind_ends_the_connection() {
    let mut client = Client::new();
    let mut noise = vec![0x16, 3, 1, 0];
    noise.extend_from_slice(&[9; 12]);
    client.stream.write_all(&noise).await.unwrap();
    assert_eq!(client.stream.read_to_end(&mut Vec::new()).await.unwrap(), 0);
}

/// Returns an OP_QUERY on `admin.$cmd` with this body.
fn query(body: &[u8]) -> Vec<u8> {
    let mut message = vec![0; 20];
    message.extend_from_slice(b"admin.$cmd\0");
    message.extend_from_slice(&0_i32.to_le_bytes());
    message.extend_from_slice(&(-1_i32).to_le_bytes());
    message.extend_from_slice(body);
    let len = i32::try_from(message.len()).unwrap();
    for (at, number) in [(0, len), (4, 7), (8, 0), (12, 2004)] {
        message[at..at + 4].copy_from_slice(&number.to_le_bytes());
    }
    message
}

#[tokio::test]
async fn logins_of_old_drivers_are_understood() {
    let first = b"n,,n=nobody,r=abcdefghijklmnopqrstuvwx".to_vec();
    let payload = |bytes: Vec<u8>| Value::Binary { subtype: 0, bytes };
    for (command, refused) in [
        (doc! { "hello": 1 }, false),
        (doc! { "buildInfo": 1 }, false),
        (doc! { "saslStart": 1, "mechanism": "SCRAM-SHA-256", "payload": payload(first) }, false),
        (doc! { "saslContinue": 1, "conversationId": 1, "payload": payload(Vec::new()) }, false),
        (doc! { "authenticate": 1, "mechanism": "MONGODB-X509" }, false),
        (doc! { "ping": 1 }, true),
        (doc! { "find": "c" }, true),
    ] {
        let mut client = Client::new();
        client.stream.write_all(&query(command.to_buf().bytes())).await.unwrap();
        let mut head = [0; 16];
        client.stream.read_exact(&mut head).await.unwrap();
        let len = u32::from_le_bytes(head[..4].try_into().unwrap());
        let mut reply = vec![0; usize::try_from(len).unwrap() - 16];
        client.stream.read_exact(&mut reply).await.unwrap();
        let reply = DocRef::Raw(&reply[20..]).to_tree();
        assert_eq!(reply.get("code") == Some(&352.into()), refused, "{command:?}: {reply:?}");
    }
}
