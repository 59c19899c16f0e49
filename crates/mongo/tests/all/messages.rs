//! Messages as bytes: what is answered, and what is not.

use crate::client::{Client, number};
use document::doc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const MORE_TO_COME: u32 = 2;

/// An OP_MSG with this body.
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

/// A body whose text is not UTF-8.
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
