//! What the compactor is told: which spaces were written, which keyspaces are left over.

use std::{collections::HashSet, time::Duration};

use fjall::Keyspace;
use parking_lot::{Condvar, Mutex};
use store::{Error, Space};

/// How often keyspaces that were written lately are looked at.
const PAUSE: Duration = Duration::from_millis(50);

/// What the thread is told.
#[derive(Default)]
pub(crate) struct CompactorMailbox {
    mail: Mutex<Mail>,
    wake: Condvar,
}

/// What has come since the last look.
#[derive(Default)]
struct Mail {
    /// Spaces, each once.
    written: HashSet<Space>,
    /// Keyspaces without a space that have something left in them.
    leftovers: Vec<Keyspace>,
    /// Kept until the store's user asks; see `tick`.
    failure: Option<Error>,
    /// The thread ends at its next look.
    closed: bool,
    /// The thread sleeps until it is woken.
    asleep: bool,
}

impl CompactorMailbox {
    /// These spaces were written. A thread that only pauses is left alone: this happens with every
    /// commit.
    pub(crate) fn note_written(&self, spaces: impl IntoIterator<Item = Space>) {
        let mut mail = self.mail.lock();
        mail.written.extend(spaces);
        if mail.asleep {
            self.wake.notify_one();
        }
    }

    /// The space of this keyspace was dropped.
    pub(crate) fn add_leftover(&self, keyspace: Keyspace) {
        self.mail.lock().leftovers.push(keyspace);
        self.wake.notify_one();
    }

    /// Ends the thread after what it is doing.
    pub(crate) fn close(&self) {
        self.mail.lock().closed = true;
        self.wake.notify_one();
    }

    /// Keyspaces that were left over since the last look.
    pub(crate) fn take_leftovers(&self) -> Vec<Keyspace> {
        std::mem::take(&mut self.mail.lock().leftovers)
    }

    /// Keeps the failure of a flush or a compaction, if it is one.
    pub(crate) fn note_result(&self, result: Result<(), Error>) {
        if let Err(error) = result {
            self.mail.lock().failure = Some(error);
        }
    }

    /// The last failure, once.
    pub(crate) fn take_failure(&self) -> Option<Error> {
        self.mail.lock().failure.take()
    }

    /// Waits for something new; `None` when it is time to end.
    pub(crate) fn wait_for_mail(&self, idle: bool) -> Option<HashSet<Space>> {
        let mut mail = self.mail.lock();
        if idle {
            mail.asleep = true;
            while mail.written.is_empty() && mail.leftovers.is_empty() && !mail.closed {
                self.wake.wait(&mut mail);
            }
            mail.asleep = false;
        } else if !mail.closed {
            // What is written meanwhile waits: compaction is in no hurry.
            let until = |mail: &mut Mail| !mail.closed;
            self.wake.wait_while_for(&mut mail, until, PAUSE);
        }
        (!mail.closed).then(|| std::mem::take(&mut mail.written))
    }
}
