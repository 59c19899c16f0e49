//! When a request has to stop computing: its client has gone, the server stops, or it has taken too
//! long. Evaluation asks here every few milliseconds; nothing is computed here.
//!
//! Two limits hold at once. `OPERATION_TIME` is time on the wall, others' turns included, and bounds how
//! long a client waits. `EVALUATION_TIME` is time of the thread that evaluates, and bounds how long one
//! page may keep a processor.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use evaluation::{Error, Kind, Looked, Watch};

use crate::limits::{EVALUATION_TIME, OPERATION_TIME};

/// Number of the error with which an operation ends because the server stops: a client that reads
/// 503 tries again elsewhere or later.
pub(crate) const STOPPING: i32 = 2;

/// Why what a connection asked for is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum StopReason {
    /// Nobody waits for the response.
    ClientLeft = 1,
    /// The server stops and has waited for as long as it does.
    Stopping = STOPPING as u8,
}

/// The client of a connection, as its requests see it: one for all of them, so that they all end with
/// it.
#[derive(Debug, Default)]
pub(crate) struct Client {
    /// Why its requests are to end, as the number of a `StopReason`; 0 while they are not.
    why: AtomicU8,
    /// Where it comes from.
    peer: Option<IpAddr>,
    /// Whether it was answered while it still sent its request. Then closing the connection waits
    /// for it: see `http/linger`.
    sends: AtomicBool,
}

impl Client {
    /// The client that came from this address.
    pub(crate) fn from_peer(peer: Option<IpAddr>) -> Self {
        Self { peer, ..Self::default() }
    }

    /// Where it came from.
    pub(crate) fn peer(&self) -> Option<IpAddr> {
        self.peer
    }

    /// Ends what its requests compute: it is of no use any more.
    pub(crate) fn stop_requests(&self, why: StopReason) {
        self.why.store(why as u8, Relaxed);
    }

    /// Notes that it is answered although it has not sent all of its request.
    pub(crate) fn sends_on(&self) {
        self.sends.store(true, Relaxed);
    }

    /// Whether it was answered before it had sent all of its request.
    pub(crate) fn is_sending(&self) -> bool {
        self.sends.load(Relaxed)
    }

    /// Fails when the requests are to end. It is one load of an atomic number, because evaluation
    /// asks often.
    fn check_stopped(&self) -> Result<(), Error> {
        let why = i32::from(self.why.load(Relaxed));
        let text = match why {
            0 => return Ok(()),
            STOPPING => "The server is stopping.",
            _ => "The client has left.",
        };
        Err(Error::new(Kind::Stopped, why, text))
    }
}

/// Ends a client's requests when it is dropped: however the future of a connection ends, also when
/// it is just forgotten.
#[derive(Debug)]
pub(crate) struct StopOnDrop(pub(crate) Arc<Client>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop_requests(StopReason::ClientLeft);
    }
}

/// Ends the evaluation of one request in time.
#[derive(Debug)]
pub(crate) struct Interrupt {
    client: Arc<Client>,
    /// What the server does every few milliseconds of a long evaluation: it lets another thread
    /// have the worker.
    give_way: fn(),
    /// When it has to end, on the machine's monotonic clock.
    end: Duration,
    /// When a long evaluation was looked at last, in nanoseconds of its thread's time; 0 where it
    /// has let others run since, because the time until its next look is not all its own.
    looked: AtomicU64,
    /// Nanoseconds that long evaluations took.
    taken: AtomicU64,
    /// What the request has looked at, for the log.
    looked_at: Arc<Looked>,
}

impl Interrupt {
    /// One that begins now.
    pub(crate) fn new(client: Arc<Client>, give_way: fn()) -> Self {
        let end = clock::monotonic_time().saturating_add(OPERATION_TIME);
        let (looked, taken) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { client, give_way, end, looked, taken, looked_at: Arc::default() }
    }

    /// The same, which ends after this time, if that is earlier.
    pub(crate) fn within(self, most: Option<Duration>) -> Self {
        let now = clock::monotonic_time();
        let end = most.map_or(self.end, |most| self.end.min(now.saturating_add(most)));
        Self { end, ..self }
    }

    /// The same, which notes here what the request looks at.
    pub(crate) fn noting(self, looked_at: Arc<Looked>) -> Self {
        Self { looked_at, ..self }
    }

    /// Notes that an evaluation has come this far by its thread's own time, and adds what it took
    /// since the last look.
    fn note_progress(&self, now: Duration) {
        let now = as_nanos(now).max(1);
        let before = self.looked.swap(now, Relaxed);
        if before != 0 {
            self.taken.fetch_add(now.saturating_sub(before), Relaxed);
        }
    }

    /// Whether one of the two limits has passed.
    fn is_late(&self, now: Duration) -> bool {
        self.end <= now || as_nanos(EVALUATION_TIME) <= self.taken.load(Relaxed)
    }
}

/// Nanoseconds that fit into an atomic number; five hundred years are enough.
fn as_nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Watch for Interrupt {
    fn check_end(&self) -> Result<(), Error> {
        self.client.check_stopped()?;
        if self.is_late(clock::monotonic_time()) {
            return Err(Error::new(Kind::Stopped, 0, "The request took too long."));
        }
        Ok(())
    }

    fn give_way(&self) {
        self.note_progress(clock::thread_time());
        (self.give_way)();
    }

    fn has_rested(&self) {
        self.looked.store(0, Relaxed);
    }

    fn looked(&self) -> Option<&Looked> {
        Some(&self.looked_at)
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
            interrupt.note_progress(start + Duration::from_secs(at));
            if rests {
                interrupt.has_rested();
            }
            assert_eq!(interrupt.is_late(now), late, "{at}");
        }
        interrupt.note_progress(start + Duration::from_secs(11));
        assert!(interrupt.is_late(now));
        assert_eq!(number(&interrupt), Some(0));
    }
}
