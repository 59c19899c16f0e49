//! An operation under way: how long it may take, and whether it was told to stop. What it leaves
//! behind in a cursor goes on with the next `getMore`.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU8, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use document::DocBuf;
use query::{Error, Kind};

use crate::{
    command_row::CommandRow,
    errors::{ClientDisconnect, CursorKilled, Interrupted, MaxTimeMSExpired},
};

/// Why an operation is to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum StopReason {
    /// `killOp` named it.
    Killed = 1,
    /// `killCursors` named its cursor.
    CursorKilled = 2,
    /// Its client has gone.
    ClientLeft = 3,
}

/// No limit.
const FOREVER: u64 = u64::MAX;

/// Shared by the operation, by whoever may stop it and by the cursor it leaves behind.
#[derive(Debug)]
pub(crate) struct Operation {
    why: AtomicU8,
    /// When it has to end, nanoseconds of the machine's monotonic clock; what is left while it
    /// rests in a cursor.
    deadline: AtomicU64,
}

impl Default for Operation {
    fn default() -> Self {
        Self { why: AtomicU8::new(0), deadline: AtomicU64::new(FOREVER) }
    }
}

fn saturated_nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(FOREVER)
}

impl Operation {
    /// It has to end at this instant of the machine's monotonic clock.
    pub(crate) fn end_at(&self, deadline: Option<Duration>) {
        self.deadline.store(deadline.map_or(FOREVER, saturated_nanos), Relaxed);
    }

    /// Tells it to stop.
    pub(crate) fn tell_to_stop(&self, why: StopReason) {
        self.why.store(why as u8, Relaxed);
    }

    /// Whether it was told to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.why.load(Relaxed) != 0
    }

    /// Its cursor waits for the next request: that time is not its own.
    pub(crate) fn pause_clock(&self, now: Duration) {
        self.shift_deadline(|deadline| deadline.saturating_sub(saturated_nanos(now)));
    }

    /// It goes on, by the request of `asking`, which may have been told to stop already.
    pub(crate) fn resume_for(&self, now: Duration, asking: &Self) {
        self.shift_deadline(|left| left.saturating_add(saturated_nanos(now)));
        self.why.store(asking.why.load(Relaxed), Relaxed);
    }

    fn shift_deadline(&self, to: impl Fn(u64) -> u64) {
        let held = self.deadline.load(Relaxed);
        if held != FOREVER {
            self.deadline.store(to(held), Relaxed);
        }
    }

    /// Fails when it has to end.
    pub(crate) fn check_running(&self) -> Result<(), Error> {
        self.check_stopped()?;
        match self.deadline.load(Relaxed) {
            FOREVER => Ok(()),
            deadline if saturated_nanos(clock::monotonic()) < deadline => Ok(()),
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
            _ => (Interrupted, "operation was interrupted"),
        };
        Err(Error::new(Kind::Stopped, number, text))
    }
}

/// What a connection is doing.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    pub(crate) id: i32,
    pub(crate) row: &'static CommandRow,
    /// As the client sent it.
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
        operation.check().err().map(|error| error.number)
    }

    #[test]
    fn it_ends_with_its_time_or_when_it_is_told_to() {
        let operation = Operation::default();
        assert_eq!(number(&operation), None);
        operation.end_at(Some(clock::monotonic() + Duration::from_secs(3600)));
        assert_eq!(number(&operation), None);
        operation.end_at(Some(clock::monotonic()));
        assert_eq!(number(&operation), Some(50));
        for (why, want) in [
            (StopReason::Killed, 11601),
            (StopReason::CursorKilled, 237),
            (StopReason::ClientLeft, 279),
        ] {
            operation.stop(why);
            assert_eq!((number(&operation), operation.is_stopped()), (Some(want), true));
        }
    }

    #[test]
    fn the_time_between_two_requests_is_not_its_own() {
        let hour = Duration::from_secs(3600);
        let operation = Operation::default();
        let now = clock::monotonic() + hour;
        operation.end_at(Some(now + hour));
        operation.rest(now);
        operation.go_on(now + 10 * hour, &Operation::default());
        assert_eq!(operation.deadline.load(Relaxed), saturated_nanos(now + 11 * hour));
        let free = Operation::default();
        free.rest(now);
        free.go_on(now, &Operation::default());
        assert_eq!(free.deadline.load(Relaxed), FOREVER);
    }

    #[test]
    fn what_stopped_one_request_does_not_stop_the_next() {
        let held = Operation::default();
        held.stop(StopReason::Killed);
        held.go_on(Duration::ZERO, &Operation::default());
        assert_eq!(number(&held), None);
        let asking = Operation::default();
        asking.stop(StopReason::ClientLeft);
        held.go_on(Duration::ZERO, &asking);
        assert_eq!(number(&held), Some(279));
    }
}
