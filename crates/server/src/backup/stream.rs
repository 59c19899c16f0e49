//! The body of an answer that a thread writes while a client reads it. The channel between them is
//! bounded: a slow client makes the thread wait, one that leaves ends it.

use std::{
    io::{self, Write},
    pin::Pin,
    task::{Context, Poll},
};

use bytes::{Bytes, BytesMut};
use hyper::body::{Body, Frame};
use tokio::sync::mpsc;

/// Bytes that are sent at once; larger writes go as they are.
const CHUNK: usize = 256 << 10;
/// Chunks on the way.
const WAITING: usize = 8;

/// What the client reads.
pub(crate) struct Stream(mpsc::Receiver<Bytes>);

impl Body for Stream {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        self.0.poll_recv(context).map(|chunk| chunk.map(|chunk| Ok(Frame::data(chunk))))
    }
}

/// What the thread writes to. A client that has left is an error of writing.
struct StreamWriter {
    sender: mpsc::Sender<Bytes>,
    waiting: BytesMut,
}

impl StreamWriter {
    fn send(&mut self) -> io::Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let chunk = self.waiting.split().freeze();
        let left = |_| io::Error::new(io::ErrorKind::BrokenPipe, "whoever asked has left");
        self.sender.blocking_send(chunk).map_err(left)
    }
}

impl Write for StreamWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.waiting.extend_from_slice(bytes);
        if CHUNK <= self.waiting.len() {
            self.send()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.send()
    }
}

/// Starts a thread that writes, and returns what it writes as the body of an answer. The thread gives way
/// to all others of the process.
pub(crate) fn write_to_stream(
    write: impl FnOnce(&mut (dyn Write + Send)) + Send + 'static,
) -> io::Result<Stream> {
    let (sender, chunks) = mpsc::channel(WAITING);
    let mut out = StreamWriter { sender, waiting: BytesMut::new() };
    std::thread::Builder::new().name("backup".to_owned()).spawn(move || write(&mut out))?;
    Ok(Stream(chunks))
}
