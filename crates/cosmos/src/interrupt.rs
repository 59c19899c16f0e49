//! Decides when a request must stop computing: its client has disconnected, the server is stopping,
//! or a time limit has passed. The evaluation of a query calls this check every few milliseconds.
//!
//! There are two time limits. `OPERATION_TIME` is wall-clock time, waiting included, and bounds how
//! long a client waits. `EVALUATION_TIME` is thread time of the evaluation, and bounds how long the
//! computation of one page of results may occupy a processor.

use std::{
    net::IpAddr,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use evaluation::{Error, ExecutionStats, Kind, Watch};
use tokio::sync::watch;

use crate::limits::{EVALUATION_TIME, OPERATION_TIME, STOP_TIME};

/// Error number of an operation that ends because the server is stopping: the response is 503, and
/// clients retry on another server or later.
pub(crate) const STOPPING: i32 = 2;

/// Reason why the requests of a connection are cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum StopReason {
    ClientLeft = 1,
    /// The server is stopping and its grace period has passed.
    Stopping = STOPPING as u8,
}

/// The client of a connection, shared by all its requests, so that they can be cancelled together.
#[derive(Debug, Default)]
pub(crate) struct Client {
    /// Number of the `StopReason` for which the client's requests were cancelled; 0 if they were
    /// not.
    why: AtomicU8,
    peer: Option<IpAddr>,
    /// Whether the client got a response while it was still sending its request. Closing the
    /// connection then waits for the client to finish (see `http/linger`).
    sends: AtomicBool,
}

impl Client {
    /// Creates the state of a client with this address.
    pub(crate) fn from_peer(peer: Option<IpAddr>) -> Self {
        Self { peer, ..Self::default() }
    }

    pub(crate) fn peer(&self) -> Option<IpAddr> {
        self.peer
    }

    /// Cancels the computations of the client's requests.
    pub(crate) fn stop_requests(&self, why: StopReason) {
        self.why.store(why as u8, Relaxed);
    }

    /// Records that the client gets a response before it has sent its whole request.
    pub(crate) fn sends_on(&self) {
        self.sends.store(true, Relaxed);
    }

    /// Returns whether the client got a response before it had sent its whole request.
    pub(crate) fn is_sending(&self) -> bool {
        self.sends.load(Relaxed)
    }

    /// Fails if the client's requests are cancelled. The check is a single atomic load, because
    /// evaluation polls often.
    fn check_stopped(&self) -> Result<(), Error> {
        let why = i32::from(self.why.load(Relaxed));
        let text = match why {
            0 => return Ok(()),
            STOPPING => "The server is stopping.",
            _ => "The client closed the connection.",
        };
        Err(Error::new(Kind::Stopped, why, text))
    }
}

/// Cancels a client's requests when it is dropped, that is, when the future of the client's
/// connection ends or is dropped.
#[derive(Debug)]
pub(crate) struct StopOnDrop(pub(crate) Arc<Client>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop_requests(StopReason::ClientLeft);
    }
}

/// Waits for the answer to a request of `client`, whose computation is cancelled a while after
/// `stopping` has become true.
pub(crate) async fn answer_before_stop<T>(
    client: &Client,
    mut stopping: watch::Receiver<bool>,
    request: impl Future<Output = T>,
) -> T {
    let mut request = pin!(request);
    let stopped = async {
        // An error means that the channel is closed: the endpoint has stopped already.
        let _ = stopping.wait_for(|stopping| *stopping).await;
        let _ = tokio::time::timeout(STOP_TIME, std::future::pending::<()>()).await;
    };
    tokio::select! {
        answer = &mut request => answer,
        () = stopped => {
            client.stop_requests(StopReason::Stopping);
            request.await
        }
    }
}

/// Enforces the cancellation and time limits of one request.
#[derive(Debug)]
pub(crate) struct Interrupt {
    client: Arc<Client>,
    /// Yields the thread to other tasks. It is provided by the server and called every few
    /// milliseconds of a long evaluation.
    give_way: fn(),
    /// Deadline of the request on the monotonic clock.
    end: Duration,
    /// Thread time of the last check during a long evaluation, in nanoseconds; 0 if the evaluation
    /// has yielded after that check. The thread time until the next check then includes other tasks
    /// and is not counted.
    checked_at: AtomicU64,
    /// Processor time that long evaluations have taken so far, in nanoseconds.
    taken: AtomicU64,
    /// Rows examined and access path of the request, for the log.
    stats: Arc<ExecutionStats>,
}

impl Interrupt {
    /// Creates the limits of a request, whose time starts now.
    pub(crate) fn new(client: Arc<Client>, give_way: fn()) -> Self {
        let end = clock::monotonic_time().saturating_add(OPERATION_TIME);
        let (checked_at, taken) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { client, give_way, end, checked_at, taken, stats: Arc::default() }
    }

    /// Shortens the deadline to `most` from now, if that is earlier.
    pub(crate) fn within(self, most: Option<Duration>) -> Self {
        let now = clock::monotonic_time();
        let end = most.map_or(self.end, |most| self.end.min(now.saturating_add(most)));
        Self { end, ..self }
    }

    /// Makes the interrupt record examined rows and the access path in `stats`.
    pub(crate) fn with_stats(self, stats: Arc<ExecutionStats>) -> Self {
        Self { stats, ..self }
    }

    /// Adds the thread time since the evaluation's last check to its processor time. `now` is the
    /// current thread time.
    fn record_progress(&self, now: Duration) {
        let now = as_nanos(now).max(1);
        let before = self.checked_at.swap(now, Relaxed);
        if before != 0 {
            self.taken.fetch_add(now.saturating_sub(before), Relaxed);
        }
    }

    /// Returns whether the request has passed its deadline or used up its processor time.
    fn is_late(&self, now: Duration) -> bool {
        self.end <= now || as_nanos(EVALUATION_TIME) <= self.taken.load(Relaxed)
    }
}

/// Converts a duration to nanoseconds in 64 bits, which hold five hundred years.
fn as_nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Watch for Interrupt {
    fn check_end(&self) -> Result<(), Error> {
        self.client.check_stopped()?;
        if self.is_late(clock::monotonic_time()) {
            return Err(Error::new(Kind::Stopped, 0, "The request timed out."));
        }
        Ok(())
    }

    fn give_way(&self) {
        self.record_progress(clock::thread_time());
        (self.give_way)();
    }

    fn has_rested(&self) {
        self.checked_at.store(0, Relaxed);
    }

    fn stats(&self) -> Option<&ExecutionStats> {
        Some(&self.stats)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(interrupt: &Interrupt) -> Option<i32> {
        interrupt.check_end().err().map(|error| error.number)
    }

    #[test]
    fn it_ends_when_its_client_has_gone_or_the_server_stops() {
        let client = Arc::new(Client::default());
        let interrupt = Interrupt::new(Arc::clone(&client), || {});
        assert_eq!(number(&interrupt), None);
        client.stop_requests(StopReason::Stopping);
        assert_eq!(number(&interrupt), Some(STOPPING));
        drop(StopOnDrop(client));
        assert_eq!(number(&interrupt), Some(1));
    }

    #[test]
    fn it_ends_by_its_own_time() {
        let interrupt = Interrupt::new(Arc::default(), || {});
        let now = clock::monotonic_time();
        assert!(!interrupt.is_late(now));
        assert!(interrupt.is_late(now + OPERATION_TIME + OPERATION_TIME));
        let start = Duration::from_secs(100);
        for (at, rests, late) in [(0, false, false), (3, true, false), (9, false, false)] {
            interrupt.record_progress(start + Duration::from_secs(at));
            if rests {
                interrupt.has_rested();
            }
            assert_eq!(interrupt.is_late(now), late, "{at}");
        }
        interrupt.record_progress(start + Duration::from_secs(11));
        assert!(interrupt.is_late(now));
        assert_eq!(number(&interrupt), Some(0));
    }
}
