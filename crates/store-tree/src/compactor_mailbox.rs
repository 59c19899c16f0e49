//! Messages to the compactor thread: that there may be work, and failures to report.

use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use store::Error;

/// Interval between two passes while there is work.
const PAUSE: Duration = Duration::from_millis(50);
/// Interval between two passes of an idle thread: a view that ends makes work without a message.
const IDLE_PAUSE: Duration = Duration::from_secs(1);

/// The mailbox of the compactor thread.
#[derive(Default)]
pub(crate) struct CompactorMailbox {
    messages: Mutex<Messages>,
    wake: Condvar,
}

/// Messages that have arrived since the last pass.
#[derive(Default)]
struct Messages {
    /// Whether files or spaces have changed.
    changed: bool,
    /// The last failure of a flush or a compaction, kept until the next `tick` returns it.
    failure: Option<Error>,
    /// Whether the thread must stop.
    closed: bool,
}

impl CompactorMailbox {
    /// Records that a flush has added tables, or that a space was dropped.
    pub(crate) fn record_change(&self) {
        self.messages.lock().changed = true;
        self.wake.notify_one();
    }

    /// Stops the thread after its current work.
    pub(crate) fn close(&self) {
        self.messages.lock().closed = true;
        self.wake.notify_one();
    }

    /// Records the failure of a flush or a compaction, if any.
    pub(crate) fn record_result(&self, result: Result<(), Error>) {
        if let Err(error) = result {
            self.messages.lock().failure = Some(error);
        }
    }

    /// Returns the last failure of a flush or a compaction and forgets it.
    pub(crate) fn take_failure(&self) -> Option<Error> {
        self.messages.lock().failure.take()
    }

    /// Waits until the next pass is due; returns false if the thread must stop.
    pub(crate) fn wait(&self, idle: bool) -> bool {
        let mut messages = self.messages.lock();
        let waits = |messages: &mut Messages| !(messages.closed || idle && messages.changed);
        self.wake.wait_while_for(&mut messages, waits, if idle { IDLE_PAUSE } else { PAUSE });
        messages.changed = false;
        !messages.closed
    }
}
