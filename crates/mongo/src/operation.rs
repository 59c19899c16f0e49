//! An operation in progress: its time limit and stop requests. A cursor keeps them for the next
//! `getMore`.
//!
//! Nothing interrupts an operation from outside. Evaluation and scans check it periodically
//! (through `Watch`), and an operation that has to stop ends itself. All fields are atomics or
//! locked, since `killOp` and the connection's task access it while another thread runs it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use document::DocBuf;
use evaluation::{Error, ExecutionStats, Kind};

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::{
    command_row::CommandRow,
    errors::{
        ClientDisconnect, CursorKilled, Interrupted, InterruptedAtShutdown, MaxTimeMSExpired,
    },
    rights::Requirement,
};

/// Reason why an operation has to stop. It decides which error the client gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum StopReason {
    /// `killOp` named the operation; it fails with error 11601.
    Killed = 1,
    /// `killCursors` named the operation's cursor; it fails with error 237.
    CursorKilled = 2,
    /// The operation's client disconnected: error 279, which no client receives.
    ClientLeft = 3,
    /// The server stops and its grace period has passed: 11600, after which drivers retry on
    /// another connection.
    Stopping = 4,
}

/// Value of a deadline that means no time limit.
const FOREVER: u64 = u64::MAX;

/// The time limit and stop request of an operation, shared by the operation, the connections that
/// may stop it, and the cursor that it leaves open.
#[derive(Debug)]
pub(crate) struct Operation {
    /// The [`StopReason`] as a number; 0 while none is set.
    why: AtomicU8,
    /// Deadline in nanoseconds of the machine's monotonic clock. While the operation's cursor is
    /// idle, this is the remaining time instead, so that the time in which the client is awaited
    /// does not count.
    deadline: AtomicU64,
    /// The rights that the command required. Each batch of its cursor requires them again.
    needs: Mutex<Vec<Requirement>>,
    /// Counts of keys and documents examined, for the slow log and for the charge.
    pub(crate) stats: ExecutionStats,
    /// Cost of the documents of an `insert`, in hundredths of request units.
    insert_units: AtomicU64,
    /// Whether the connection is closed instead of replying, by a fail point.
    loses_reply: AtomicBool,
    /// Whether a commit of a retryable write was made.
    has_written: AtomicBool,
    /// Notified when the operation is requested to stop.
    stop_requested: Notify,
    /// Whether the operation waits for documents, so that nothing is lost if it stops at once.
    is_waiting: AtomicBool,
    /// Time in nanoseconds that the current request has waited for documents.
    waited: AtomicU64,
}

impl Default for Operation {
    fn default() -> Self {
        Self {
            why: AtomicU8::new(0),
            deadline: AtomicU64::new(FOREVER),
            needs: Mutex::default(),
            stats: ExecutionStats::default(),
            insert_units: AtomicU64::new(0),
            loses_reply: AtomicBool::new(false),
            has_written: AtomicBool::new(false),
            stop_requested: Notify::new(),
            is_waiting: AtomicBool::new(false),
            waited: AtomicU64::new(0),
        }
    }
}

/// Returns a time in nanoseconds. A time that does not fit counts as no limit.
fn saturated_nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(FOREVER)
}

impl Operation {
    /// Adds to the rights that the operation requires.
    pub(crate) fn record_requirements(&self, mut needs: Vec<Requirement>) {
        let mut noted = self.needs.lock();
        if noted.is_empty() {
            *noted = needs;
        } else {
            noted.append(&mut needs);
        }
    }

    /// Returns the rights that the operation requires.
    pub(crate) fn needs(&self) -> Vec<Requirement> {
        self.needs.lock().clone()
    }

    /// Sets the cost of the documents of an `insert`, in hundredths of request units.
    pub(crate) fn set_insert_units(&self, units: u64) {
        self.insert_units.store(units, Relaxed);
    }

    /// Returns the cost of the documents of an `insert`, in hundredths of request units.
    pub(crate) fn insert_units(&self) -> u64 {
        self.insert_units.load(Relaxed)
    }

    /// Closes the connection when the operation ends, without a reply.
    pub(crate) fn lose_reply(&self) {
        self.loses_reply.store(true, Relaxed);
    }

    /// Returns whether the connection is closed without a reply.
    pub(crate) fn loses_reply(&self) -> bool {
        self.loses_reply.load(Relaxed)
    }

    /// Records that a commit of a retryable write was made.
    pub(crate) fn record_write(&self) {
        self.has_written.store(true, Relaxed);
    }

    /// Returns whether a commit of a retryable write was made.
    pub(crate) fn has_written(&self) -> bool {
        self.has_written.load(Relaxed)
    }

    /// Sets the deadline on the machine's monotonic clock; `None`: no limit.
    pub(crate) fn end_at(&self, deadline: Option<Duration>) {
        self.deadline.store(deadline.map_or(FOREVER, saturated_nanos), Relaxed);
    }

    /// Returns whether the operation has a time limit.
    pub(crate) fn has_limit(&self) -> bool {
        self.deadline.load(Relaxed) != FOREVER
    }

    /// Requests that the operation stops at its next check, with this reason.
    pub(crate) fn request_stop(&self, why: StopReason) {
        self.why.store(why as u8, Relaxed);
        self.stop_requested.notify_waiters();
    }

    /// Waits until the operation is requested to stop.
    pub(crate) async fn until_stopped(&self) {
        loop {
            // Created before the check, so that no request in between is missed.
            let requested = self.stop_requested.notified();
            if self.is_stopped() {
                return;
            }
            requested.await;
        }
    }

    /// Records whether the operation waits for documents; at the end of a wait with the time that it
    /// took.
    pub(crate) fn record_wait(&self, is_waiting: bool, took: Duration) {
        self.is_waiting.store(is_waiting, Relaxed);
        self.waited.fetch_add(saturated_nanos(took), Relaxed);
    }

    /// Returns whether the operation waits for documents.
    pub(crate) fn is_waiting(&self) -> bool {
        self.is_waiting.load(Relaxed)
    }

    /// Returns the time that the current request has waited for documents, and resets it.
    pub(crate) fn take_waited(&self) -> Duration {
        Duration::from_nanos(self.waited.swap(0, Relaxed))
    }

    /// Returns whether the operation was cancelled; it may still be running.
    pub(crate) fn is_stopped(&self) -> bool {
        self.why.load(Relaxed) != 0
    }

    /// Suspends the operation's time limit while its cursor waits for the next request, until
    /// [`Self::resume_for`].
    pub(crate) fn pause_clock(&self, now: Duration) {
        self.shift_deadline(|deadline| deadline.saturating_sub(saturated_nanos(now)));
    }

    /// Resumes the operation's time limit for a request that continues its cursor. `asking` is the
    /// operation of that request. A stop request that `asking` has received applies to this
    /// operation, too; a stop request from an earlier request is cleared.
    pub(crate) fn resume_for(&self, now: Duration, asking: &Self) {
        self.shift_deadline(|left| left.saturating_add(saturated_nanos(now)));
        self.why.store(asking.why.load(Relaxed), Relaxed);
        self.stats.begin_again();
    }

    /// Changes the deadline, unless the operation has no time limit.
    fn shift_deadline(&self, to: impl Fn(u64) -> u64) {
        let held = self.deadline.load(Relaxed);
        if held != FOREVER {
            self.deadline.store(to(held), Relaxed);
        }
    }

    /// Fails if the operation has to end: after a stop request, or with 50 after its deadline. Stop
    /// requests are checked first, since reading the clock costs more.
    pub(crate) fn check_running(&self) -> Result<(), Error> {
        self.check_stopped()?;
        match self.deadline.load(Relaxed) {
            FOREVER => Ok(()),
            deadline if saturated_nanos(clock::monotonic_time()) < deadline => Ok(()),
            _ => Err(Error::new(Kind::Stopped, MaxTimeMSExpired, "operation exceeded time limit")),
        }
    }

    /// Fails if the operation was cancelled.
    pub(crate) fn check_stopped(&self) -> Result<(), Error> {
        let (number, text) = match self.why.load(Relaxed) {
            0 => return Ok(()),
            why if why == StopReason::ClientLeft as u8 => {
                (ClientDisconnect, "operation was interrupted because a client disconnected")
            }
            why if why == StopReason::CursorKilled as u8 => {
                (CursorKilled, "operation was interrupted")
            }
            why if why == StopReason::Stopping as u8 => {
                (InterruptedAtShutdown, "interrupted at shutdown")
            }
            _ => (Interrupted, "operation was interrupted"),
        };
        Err(Error::new(Kind::Stopped, number, text))
    }
}

/// The current command of a connection, as `currentOp` shows it.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    /// The id by which `killOp` refers to the operation.
    pub(crate) id: i32,
    pub(crate) row: &'static CommandRow,
    /// The command's body as the client sent it. It shares the message's bytes.
    pub(crate) command: DocBuf,
    /// Start time on the machine's monotonic clock.
    pub(crate) began: Duration,
    pub(crate) operation: Arc<Operation>,
    /// The cursor that a `getMore` continues.
    pub(crate) cursor: Option<i64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(operation: &Operation) -> Option<i32> {
        operation.check_running().err().map(|error| error.number)
    }

    #[test]
    fn it_ends_with_its_time_or_when_it_is_told_to() {
        let operation = Operation::default();
        assert_eq!(number(&operation), None);
        operation.end_at(Some(clock::monotonic_time() + Duration::from_secs(3600)));
        assert_eq!(number(&operation), None);
        operation.end_at(Some(clock::monotonic_time()));
        assert_eq!(number(&operation), Some(50));
        for (why, want) in [
            (StopReason::Killed, 11601),
            (StopReason::CursorKilled, 237),
            (StopReason::ClientLeft, 279),
            (StopReason::Stopping, 11600),
        ] {
            operation.request_stop(why);
            assert_eq!((number(&operation), operation.is_stopped()), (Some(want), true));
        }
    }

    #[test]
    fn the_time_between_two_requests_is_not_its_own() {
        let hour = Duration::from_secs(3600);
        let operation = Operation::default();
        let now = clock::monotonic_time() + hour;
        operation.end_at(Some(now + hour));
        operation.pause_clock(now);
        operation.resume_for(now + 10 * hour, &Operation::default());
        assert_eq!(operation.deadline.load(Relaxed), saturated_nanos(now + 11 * hour));
        let free = Operation::default();
        free.pause_clock(now);
        free.resume_for(now, &Operation::default());
        assert_eq!(free.deadline.load(Relaxed), FOREVER);
    }

    #[test]
    fn what_stopped_one_request_does_not_stop_the_next() {
        let held = Operation::default();
        held.request_stop(StopReason::Killed);
        held.resume_for(Duration::ZERO, &Operation::default());
        assert_eq!(number(&held), None);
        let asking = Operation::default();
        asking.request_stop(StopReason::ClientLeft);
        held.resume_for(Duration::ZERO, &asking);
        assert_eq!(number(&held), Some(279));
    }
}
