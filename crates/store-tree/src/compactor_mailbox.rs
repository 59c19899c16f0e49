//! What the compactor is told: which places were written.

use std::{collections::HashMap, sync::Arc, time::Duration};

use parking_lot::{Condvar, Mutex};
use store::Error;

use crate::place::Place;

/// How often places that were written lately are looked at.
const PAUSE: Duration = Duration::from_millis(50);

/// Places by their numbers.
pub(crate) type WrittenPlaces = HashMap<u64, Arc<Place>>;

/// What the thread is told.
#[derive(Default)]
pub(crate) struct CompactorMailbox {
    mail: Mutex<Mail>,
    wake: Condvar,
}

/// What has come since the last look.
#[derive(Default)]
struct Mail {
    written: WrittenPlaces,
    /// Places of dropped spaces, until nobody reads them.
    dropped: Vec<Arc<Place>>,
    /// Kept until the store's user asks; see `tick`.
    failure: Option<Error>,
    /// The thread ends at its next look.
    closed: bool,
    /// The thread sleeps until it is woken.
    asleep: bool,
}

impl CompactorMailbox {
    /// These places got tables. A thread that only pauses is left alone.
    pub(crate) fn note_tables(&self, place: &Arc<Place>) {
        let mut mail = self.mail.lock();
        mail.written.insert(place.number, Arc::clone(place));
        if mail.asleep {
            self.wake.notify_one();
        }
    }

    /// The space of this place was dropped.
    pub(crate) fn note_dropped(&self, place: Arc<Place>) {
        self.mail.lock().dropped.push(place);
        self.wake.notify_one();
    }

    /// Dropped places that nobody else has any more.
    pub(crate) fn take_unread(&self) -> Vec<Arc<Place>> {
        let mut mail = self.mail.lock();
        mail.dropped.extract_if(.., |place| Arc::strong_count(place) == 1).collect()
    }

    /// Returns the dropped places that a view may still read.
    pub(crate) fn still_read(&self) -> Vec<Arc<Place>> {
        self.mail.lock().dropped.clone()
    }

    /// Ends the thread after what it is doing.
    pub(crate) fn close(&self) {
        self.mail.lock().closed = true;
        self.wake.notify_one();
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

    /// Waits for something new, or a while; `None` when it is time to end.
    pub(crate) fn wait_for_mail(&self, idle: bool) -> Option<WrittenPlaces> {
        let mut mail = self.mail.lock();
        let idle = idle && mail.dropped.is_empty();
        if !mail.closed && (!idle || mail.written.is_empty()) {
            mail.asleep = idle;
            // At rest seldom: only folders of dropped spaces are looked for.
            let pause = if idle { 20 * PAUSE } else { PAUSE };
            self.wake.wait_for(&mut mail, pause);
            mail.asleep = false;
        }
        (!mail.closed).then(|| std::mem::take(&mut mail.written))
    }
}
