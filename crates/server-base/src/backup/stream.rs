//! A response body that a thread writes while the client reads it. The channel in between is
//! bounded: a slow client blocks the thread. If the client disconnects, or reads too slowly, the
//! thread ends.

use std::{
    io::{self, Write},
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use hyper::body::{Body, Frame};
use tokio::{runtime::Handle, sync::mpsc};

const CHUNK: usize = 256 << 10;
const WAITING: usize = 8;

/// The receiving end of the channel, which the HTTP response reads.
#[derive(Debug)]
pub struct Stream(mpsc::Receiver<Bytes>);

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

/// Time in which a client must accept the next chunk. With [`CHUNK`] this is the minimum rate at
/// which a backup is read: a client that reads nothing, or a byte now and then, must not occupy the
/// only backup permit.
const PATIENCE: Duration = Duration::from_secs(10);
/// Maximum bytes that socket buffers can accept before the client reads them.
const BUFFERED: u64 = 16 << 20;
/// Additional time limit per chunk accepted beyond [`BUFFERED`]: a client that forwards the backup
/// in large parts reads in bursts.
const EARNED: Duration = Duration::from_secs(1);
/// Maximum additional time that a client can earn by reading.
const MAX_EARNED: Duration = Duration::from_secs(50);

/// Computes, from the bytes that the client has accepted so far, how long the next chunk may wait.
#[derive(Debug, Default)]
struct Pace {
    accepted: u64,
    earned: Duration,
}

impl Pace {
    fn patience(&self) -> Duration {
        PATIENCE + self.earned
    }

    /// Records that the client has accepted a chunk, which had waited for this time.
    fn accept(&mut self, bytes: usize, waited: Duration) {
        self.accepted = self.accepted.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
        self.earned = self.earned.saturating_sub(waited.saturating_sub(PATIENCE));
        if BUFFERED < self.accepted {
            self.earned = MAX_EARNED.min(self.earned + EARNED);
        }
    }
}

/// Writer of the backup thread; it fails if the client has disconnected or reads too slowly.
struct StreamWriter {
    sender: mpsc::Sender<Bytes>,
    waiting: BytesMut,
    pace: Pace,
    /// The runtime whose timer enforces the time limit of a chunk.
    runtime: Handle,
}

impl StreamWriter {
    /// Sends the next bytes, at most a chunk.
    fn send(&mut self) -> io::Result<()> {
        let chunk = self.waiting.split_to(self.waiting.len().min(CHUNK)).freeze();
        if chunk.is_empty() {
            return Ok(());
        }
        let (began, bytes) = (clock::monotonic_time(), chunk.len());
        let patience = self.pace.patience();
        let place = async { tokio::time::timeout(patience, self.sender.reserve()).await };
        match self.runtime.block_on(place) {
            Ok(Ok(place)) => place.send(chunk),
            Ok(Err(_)) => {
                let text = "the client has closed the connection";
                return Err(io::Error::new(io::ErrorKind::BrokenPipe, text));
            }
            Err(_) => {
                let text = format!(
                    "the client has accepted less than {} KiB in {} s",
                    CHUNK >> 10,
                    patience.as_secs()
                );
                return Err(io::Error::new(io::ErrorKind::TimedOut, text));
            }
        }
        self.pace.accept(bytes, clock::monotonic_time().saturating_sub(began));
        Ok(())
    }
}

impl Write for StreamWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.waiting.extend_from_slice(bytes);
        while CHUNK <= self.waiting.len() {
            self.send()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        while !self.waiting.is_empty() {
            self.send()?;
        }
        Ok(())
    }
}

/// Starts a thread that writes; returns its output as a response body. Needs a runtime.
pub fn write_to_stream(
    write: impl FnOnce(&mut (dyn Write + Send)) + Send + 'static,
) -> io::Result<Stream> {
    let (sender, chunks) = mpsc::channel(WAITING);
    let (waiting, pace, runtime) = (BytesMut::new(), Pace::default(), Handle::current());
    let mut out = StreamWriter { sender, waiting, pace, runtime };
    std::thread::Builder::new().name("backup".to_owned()).spawn(move || write(&mut out))?;
    Ok(Stream(chunks))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn patience_is_earned_by_reading_and_used_up_by_waiting() {
        let mut pace = Pace::default();
        for _ in 0..BUFFERED / CHUNK as u64 {
            assert_eq!(pace.patience(), PATIENCE, "sockets may have taken all of it");
            pace.accept(CHUNK, Duration::ZERO);
        }
        pace.accept(CHUNK, Duration::ZERO);
        assert_eq!(pace.patience(), PATIENCE + SECOND);
        (0..100).for_each(|_| pace.accept(CHUNK, SECOND));
        assert_eq!(pace.patience(), PATIENCE + MAX_EARNED);
        pace.accept(CHUNK, PATIENCE + 20 * SECOND);
        assert_eq!(pace.patience(), PATIENCE + MAX_EARNED - 19 * SECOND);
        // A client that always uses its full time limit ends up at the minimum rate.
        (0..100).for_each(|_| pace.accept(CHUNK, pace.patience()));
        assert_eq!(pace.patience(), PATIENCE + SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_nothing_ends_the_thread() {
        let (told, ended) = tokio::sync::oneshot::channel();
        let stream = write_to_stream(move |out| {
            let wrote = out.write_all(&vec![0; CHUNK * (WAITING + 1)]);
            let _ = told.send(wrote.map_err(|error| error.kind()));
        });
        let stream = stream.unwrap();
        // The paused test clock advances automatically when all tasks are waiting.
        assert_eq!(ended.await.unwrap(), Err(io::ErrorKind::TimedOut));
        drop(stream);
    }

    #[tokio::test]
    async fn a_client_that_leaves_ends_the_thread() {
        let (told, ended) = tokio::sync::oneshot::channel();
        let stream = write_to_stream(move |out| {
            let wrote = out.write_all(&vec![0; CHUNK * (WAITING + 1)]);
            let _ = told.send(wrote.map_err(|error| error.kind()));
        });
        drop(stream.unwrap());
        assert_eq!(ended.await.unwrap(), Err(io::ErrorKind::BrokenPipe));
    }
}
