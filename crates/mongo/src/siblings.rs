//! The servers of a cluster's other shards, for commands whose answer is that of all shards. How they are
//! reached is not known here.

use std::{fmt, io, pin::Pin, sync::Arc};

use document::{DocBuf, Document};
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
    /// Has a command run by the server of each, or of one if it is named, on database `admin`.
    fn ask(&self, command: Document, only: Option<u32>) -> Answers<'_>;
}

/// The servers of the other shards.
#[derive(Clone)]
pub struct Siblings(Arc<dyn AskSiblings>);

impl Siblings {
    /// Reached so.
    pub fn new(ask: impl AskSiblings + 'static) -> Self {
        Self(Arc::new(ask))
    }

    /// The answers of all others to a command, none of which is an error.
    pub(crate) async fn ask(&self, command: Document) -> Result<Vec<(u32, DocBuf)>> {
        self.ask_some(command, None).await
    }

    /// The same of one.
    pub(crate) async fn ask_one(&self, command: Document, shard: u32) -> Result<()> {
        self.ask_some(command, Some(shard)).await.map(drop)
    }

    async fn ask_some(
        &self,
        mut command: Document,
        only: Option<u32>,
    ) -> Result<Vec<(u32, DocBuf)>> {
        command.push(OF_SHARD, true);
        let answers = self.0.ask(command, only).await.map_err(|error| {
            let text = format!("a shard of the cluster is not reached: {error}");
            Error::new(TemporarilyUnavailable, text)
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

/// Has one command run on database `admin` by a server at the other end of a stream.
pub async fn ask_once(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    mut command: Document,
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
    let mut payload = vec![0; header.len - HEADER_BYTES];
    stream.read_exact(&mut payload).await?;
    let body =
        crate::repeatable::command_of(&header, &payload).ok_or_else(|| odd("no document"))?;
    Ok(body.to_buf())
}
