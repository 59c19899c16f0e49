//! An operation under way: how long it may take, and whether it was told to stop. What it leaves in
//! a cursor goes on with the next `getMore`.
//!
//! Nothing interrupts an operation from outside. Evaluation and walks ask it every so often
//! (through `Watch`), and the one whose time is over ends itself. All fields are atomics, since
//! `killOp` and the connection's task reach it while another thread runs it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU8, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use document::DocBuf;
use evaluation::{Error, Kind, Looked};

use parking_lot::Mutex;

use crate::{
    command_row::CommandRow,
    errors::{
        ClientDisconnect, CursorKilled, Interrupted, InterruptedAtShutdown, MaxTimeMSExpired,
    },
    rights::Need,
};

/// Why an operation is to stop. The number says which error its client gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum StopReason {
    /// `killOp` named it: 11601.
    Killed = 1,
    /// `killCursors` named its cursor: 237.
    CursorKilled = 2,
    /// Its client has gone: 279, which nobody receives.
    ClientLeft = 3,
    /// The server stops and has waited for as long as it does: 11600, after which drivers try again
    /// on another connection.
    Stopping = 4,
}

/// Stands for no limit.
const FOREVER: u64 = u64::MAX;

/// What an operation may still do. It is shared by the operation, by those who may stop it and by
/// the cursor that it leaves.
#[derive(Debug)]
pub(crate) struct Operation {
    /// A [`StopReason`] as a number, 0 while nobody has told it to stop.
    why: AtomicU8,
    /// When it has to end, nanoseconds of the machine's monotonic clock. While it rests in a cursor
    /// this is the time that is left, so that waiting for the client costs nothing of it.
    deadline: AtomicU64,
    /// What it asks of its sender, where clients log in: a cursor asks again with each batch.
    needs: Mutex<Vec<Need>>,
    /// What it has looked at, for the log.
    pub(crate) looked: Looked,
}

impl Default for Operation {
    fn default() -> Self {
        Self {
            why: AtomicU8::new(0),
            deadline: AtomicU64::new(FOREVER),
            needs: Mutex::default(),
            looked: Looked::default(),
        }
    }
}

/// Nanoseconds of a time; what does not fit counts as no limit.
fn saturated_nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(FOREVER)
}

impl Operation {
    /// Notes what it asks of its sender, beside what was noted before.
    pub(crate) fn note_needs(&self, mut needs: Vec<Need>) {
        let mut noted = self.needs.lock();
        if noted.is_empty() {
            *noted = needs;
        } else {
            noted.append(&mut needs);
        }
    }

    /// What it asks of its sender.
    pub(crate) fn needs(&self) -> Vec<Need> {
        self.needs.lock().clone()
    }

    /// Sets when it has to end, on the machine's monotonic clock; `None`: never.
    pub(crate) fn end_at(&self, deadline: Option<Duration>) {
        self.deadline.store(deadline.map_or(FOREVER, saturated_nanos), Relaxed);
    }

    /// Whether it has to end at some time.
    pub(crate) fn has_limit(&self) -> bool {
        self.deadline.load(Relaxed) != FOREVER
    }

    /// Tells it to stop. It ends at its next look.
    pub(crate) fn tell_to_stop(&self, why: StopReason) {
        self.why.store(why as u8, Relaxed);
    }

    /// Whether it was told to stop and may still be running.
    pub(crate) fn is_stopped(&self) -> bool {
        self.why.load(Relaxed) != 0
    }

    /// Its cursor waits for the next request: from here to [`Self::resume_for`] the time is not its
    /// own.
    pub(crate) fn pause_clock(&self, now: Duration) {
        self.shift_deadline(|deadline| deadline.saturating_sub(saturated_nanos(now)));
    }

    /// It goes on for the request of `asking`, which may have been told to stop already: that is
    /// taken over, and what stopped an earlier request is forgotten.
    pub(crate) fn resume_for(&self, now: Duration, asking: &Self) {
        self.shift_deadline(|left| left.saturating_add(saturated_nanos(now)));
        self.why.store(asking.why.load(Relaxed), Relaxed);
        self.looked.begin_again();
    }

    /// Changes the limit, if there is one.
    fn shift_deadline(&self, to: impl Fn(u64) -> u64) {
        let held = self.deadline.load(Relaxed);
        if held != FOREVER {
            self.deadline.store(to(held), Relaxed);
        }
    }

    /// Fails when it has to end: by a stop, or with 50 when its time is over. A stop is looked at
    /// first, since reading the clock costs more.
    pub(crate) fn check_running(&self) -> Result<(), Error> {
        self.check_stopped()?;
        match self.deadline.load(Relaxed) {
            FOREVER => Ok(()),
            deadline if saturated_nanos(clock::monotonic_time()) < deadline => Ok(()),
            _ => Err(Error::new(Kind::Stopped, MaxTimeMSExpired, "operation exceeded time limit")),
        }
    }

    /// Fails when it was told to stop.
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

/// What a connection is doing, as `currentOp` shows it.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    /// The number by which `killOp` names it.
    pub(crate) id: i32,
    /// Its command.
    pub(crate) row: &'static CommandRow,
    /// As the client sent it. It shares the message's bytes.
    pub(crate) command: DocBuf,
    /// On the machine's monotonic clock.
    pub(crate) began: Duration,
    pub(crate) operation: Arc<Operation>,
    /// The cursor that it reads on.
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
            operation.tell_to_stop(why);
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
        held.tell_to_stop(StopReason::Killed);
        held.resume_for(Duration::ZERO, &Operation::default());
        assert_eq!(number(&held), None);
        let asking = Operation::default();
        asking.tell_to_stop(StopReason::ClientLeft);
        held.resume_for(Duration::ZERO, &asking);
        assert_eq!(number(&held), Some(279));
    }
}
