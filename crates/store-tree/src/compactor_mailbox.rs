//! Messages to the compactor thread: which trees were written.

use std::{collections::HashMap, sync::Arc, time::Duration};

use parking_lot::{Condvar, Mutex};
use store::Error;

use crate::place::Place;

/// Interval at which recently written trees are checked.
const PAUSE: Duration = Duration::from_millis(50);

/// Trees by number.
pub(crate) type WrittenPlaces = HashMap<u64, Arc<Place>>;

/// The mailbox of the compactor thread.
#[derive(Default)]
pub(crate) struct CompactorMailbox {
    mail: Mutex<Mail>,
    wake: Condvar,
}

/// Messages that have arrived since the last pass.
#[derive(Default)]
struct Mail {
    written: WrittenPlaces,
    /// Trees of dropped spaces that may still have readers.
    dropped: Vec<Arc<Place>>,
    /// The last failure, kept until the next `tick` returns it.
    failure: Option<Error>,
    /// Whether the thread must stop.
    closed: bool,
    /// Whether the thread sleeps until it is woken.
    asleep: bool,
}

impl CompactorMailbox {
    /// Records that a tree got new tables. Wakes the thread only if it is asleep.
    pub(crate) fn note_tables(&self, place: &Arc<Place>) {
        let mut mail = self.mail.lock();
        mail.written.insert(place.number, Arc::clone(place));
        if mail.asleep {
            self.wake.notify_one();
        }
    }

    /// Records that the space of this tree was dropped.
    pub(crate) fn note_dropped(&self, place: Arc<Place>) {
        self.mail.lock().dropped.push(place);
        self.wake.notify_one();
    }

    /// Removes and returns the dropped trees that no reader uses any more.
    pub(crate) fn take_unread(&self) -> Vec<Arc<Place>> {
        let mut mail = self.mail.lock();
        mail.dropped.extract_if(.., |place| Arc::strong_count(place) == 1).collect()
    }

    /// Returns the dropped trees that a view may still read.
    pub(crate) fn still_read(&self) -> Vec<Arc<Place>> {
        self.mail.lock().dropped.clone()
    }

    /// Stops the thread after its current work.
    pub(crate) fn close(&self) {
        self.mail.lock().closed = true;
        self.wake.notify_one();
    }

    /// Records the failure of a flush or a compaction, if any.
    pub(crate) fn note_result(&self, result: Result<(), Error>) {
        if let Err(error) = result {
            self.mail.lock().failure = Some(error);
        }
    }

    /// Returns the last failure and forgets it.
    pub(crate) fn take_failure(&self) -> Option<Error> {
        self.mail.lock().failure.take()
    }

    /// Waits for messages or for the next pass; `None` if the thread must stop.
    pub(crate) fn wait_for_mail(&self, idle: bool) -> Option<WrittenPlaces> {
        let mut mail = self.mail.lock();
        let idle = idle && mail.dropped.is_empty();
        if !mail.closed && (!idle || mail.written.is_empty()) {
            mail.asleep = idle;
            // Rarely when idle, only to find directories of dropped spaces.
            let pause = if idle { 20 * PAUSE } else { PAUSE };
            self.wake.wait_for(&mut mail, pause);
            mail.asleep = false;
        }
        (!mail.closed).then(|| std::mem::take(&mut mail.written))
    }
}
