//! The servers of a cluster's other shards, for commands whose answer is that of all shards. How they are
//! reached is not known here.

use std::{fmt, io, pin::Pin, sync::Arc};

use document::{DocBuf, Document};
use memory::{Account, Share, Short};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::{
    arguments::OF_SHARD,
    errors::{Error, Result, TemporarilyUnavailable},
    limits::MAX_MESSAGE_BYTES,
    wire::{HEADER_BYTES, Header, msg_reply},
};

/// The answers of other shards, each with its number; an error: one of them is not reached.
pub type Answers<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<(u32, DocBuf)>>> + Send + 'a>>;

/// The other shards.
pub trait AskSiblings: Send + Sync {
    /// Has a command run by the server of each, or of one if it is named, on database `admin`. What they
    /// answer counts in this share as it comes; where there is no room the error has kind `OutOfMemory`.
    fn ask<'a>(&'a self, command: Document, only: Option<u32>, held: &'a mut Share) -> Answers<'a>;
}

/// The servers of the other shards.
#[derive(Clone)]
pub struct Siblings(Arc<dyn AskSiblings>);

impl Siblings {
    /// Reached so.
    pub fn new(ask: impl AskSiblings + 'static) -> Self {
        Self(Arc::new(ask))
    }

    /// The answers of all others to a command, none of which is an error, and the memory that they take.
    pub(crate) async fn ask(
        &self,
        command: Document,
        memory: &Account,
    ) -> Result<(Vec<(u32, DocBuf)>, Share)> {
        let mut held = memory.share();
        let answers = self.ask_some(command, None, &mut held).await?;
        Ok((answers, held))
    }

    /// The same of one.
    pub(crate) async fn ask_one(
        &self,
        command: Document,
        shard: u32,
        memory: &Account,
    ) -> Result<()> {
        self.ask_some(command, Some(shard), &mut memory.share()).await.map(drop)
    }

    async fn ask_some(
        &self,
        mut command: Document,
        only: Option<u32>,
        held: &mut Share,
    ) -> Result<Vec<(u32, DocBuf)>> {
        command.push(OF_SHARD, true);
        let answers =
            self.0.ask(command, only, held).await.map_err(|error| match error.kind() {
                io::ErrorKind::OutOfMemory => Short.into(),
                _ => {
                    let text = format!("a shard of the cluster is not reached: {error}");
                    Error::new(TemporarilyUnavailable, text)
                }
            })?;
        for (_, answer) in &answers {
            if let Some(message) =
                answer.get("errmsg").and_then(|text| text.as_str().map(str::to_owned))
            {
                return Err(Error::new(
                    TemporarilyUnavailable,
                    format!("a shard of the cluster: {message}"),
                ));
            }
        }
        Ok(answers)
    }
}

impl fmt::Debug for Siblings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Siblings")
    }
}

/// Has one command run on database `admin` by a server at the other end of a stream. What it answers
/// counts in this share from its length on.
pub async fn ask_once(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    mut command: Document,
    held: &mut Share,
) -> io::Result<DocBuf> {
    command.push("$db", "admin");
    // A request has the form of a reply.
    stream.write_all(&msg_reply(1, 0, command.to_buf().bytes(), false, false)).await?;
    stream.flush().await?;
    let mut head = [0; HEADER_BYTES];
    stream.read_exact(&mut head).await?;
    let odd = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why.to_owned());
    let header = Header::read(&head).map_err(|_| odd("no reply"))?;
    if MAX_MESSAGE_BYTES < header.len {
        return Err(odd("a reply that is too long"));
    }
    let length = header.len - HEADER_BYTES;
    // It is there twice while its document is taken out.
    held.grow(2 * length)?;
    // As it comes: a length alone takes no memory.
    let mut payload = Vec::new();
    stream.take(length as u64).read_to_end(&mut payload).await?;
    if payload.len() < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let body =
        crate::repeatable::command_of(&header, &payload).ok_or_else(|| odd("no document"))?;
    let body = body.to_buf();
    drop(payload);
    held.shrink(length);
    Ok(body)
}

#[cfg(test)]
mod tests {
    use document::doc;

    use super::*;

    #[tokio::test]
    async fn answers_count_as_they_come() {
        let account = Account::new(1_000_000);
        let (mut near, mut far) = tokio::io::duplex(4_000_000);
        let reply = doc! { "ok": 1, "text": "x".repeat(100_000) }.to_buf();
        far.write_all(&msg_reply(1, 1, reply.bytes(), false, false)).await.unwrap();
        let mut held = account.share();
        let answer = ask_once(&mut near, doc! { "listDatabases": 1 }, &mut held).await.unwrap();
        assert_eq!(answer.bytes(), reply.bytes());
        assert!((100_000..150_000).contains(&held.held_bytes()), "{}", held.held_bytes());
        // One that says that it is long, and is more than there is.
        let mut long = msg_reply(1, 1, reply.bytes(), false, false);
        long.splice(..4, 40_000_000_i32.to_le_bytes());
        far.write_all(&long).await.unwrap();
        let refused =
            ask_once(&mut near, doc! { "listDatabases": 1 }, &mut held).await.unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::OutOfMemory, "{refused}");
        drop(held);
        assert_eq!(account.used_bytes(), 0);
    }
}
