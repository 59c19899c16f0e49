//! Messages to the compactor thread: which trees were written.

use std::{collections::HashMap, sync::Arc, time::Duration};

use parking_lot::{Condvar, Mutex};
use store::Error;

use crate::space_tree::SpaceTree;

/// Interval at which recently written trees are checked.
const PAUSE: Duration = Duration::from_millis(50);

pub(crate) type WrittenTrees = HashMap<u64, Arc<SpaceTree>>;

/// The mailbox of the compactor thread.
#[derive(Default)]
pub(crate) struct CompactorMailbox {
    messages: Mutex<Messages>,
    wake: Condvar,
}

/// Messages that have arrived since the last pass.
#[derive(Default)]
struct Messages {
    written: WrittenTrees,
    /// Trees of dropped spaces that may still have readers.
    dropped: Vec<Arc<SpaceTree>>,
    /// The last failure of a flush or a compaction, kept until the next `tick` returns it.
    failure: Option<Error>,
    /// Whether the thread must stop.
    closed: bool,
    /// Whether the thread sleeps until it is woken or a longer interval has passed.
    asleep: bool,
}

impl CompactorMailbox {
    /// Records that a tree got new tables. Wakes the thread only if it is asleep.
    pub(crate) fn record_tables(&self, space_tree: &Arc<SpaceTree>) {
        let mut messages = self.messages.lock();
        messages.written.insert(space_tree.number, Arc::clone(space_tree));
        if messages.asleep {
            self.wake.notify_one();
        }
    }

    /// Records that the space of this tree was dropped.
    pub(crate) fn record_dropped(&self, space_tree: Arc<SpaceTree>) {
        self.messages.lock().dropped.push(space_tree);
        self.wake.notify_one();
    }

    /// Removes and returns the dropped trees that no reader uses any more.
    pub(crate) fn take_unreferenced(&self) -> Vec<Arc<SpaceTree>> {
        let mut messages = self.messages.lock();
        messages.dropped.extract_if(.., |space_tree| Arc::strong_count(space_tree) == 1).collect()
    }

    /// Returns the dropped trees that a view may still read.
    pub(crate) fn still_referenced(&self) -> Vec<Arc<SpaceTree>> {
        self.messages.lock().dropped.clone()
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

    /// Waits for messages or until the next pass is due; `None` if the thread must stop.
    pub(crate) fn wait_for_messages(&self, idle: bool) -> Option<WrittenTrees> {
        let mut messages = self.messages.lock();
        let idle = idle && messages.dropped.is_empty();
        if !messages.closed && (!idle || messages.written.is_empty()) {
            messages.asleep = idle;
            // Without trees to check, the only work of a pass is to remove directories of dropped
            // spaces, so passes are rare.
            let pause = if idle { 20 * PAUSE } else { PAUSE };
            self.wake.wait_for(&mut messages, pause);
            messages.asleep = false;
        }
        (!messages.closed).then(|| std::mem::take(&mut messages.written))
    }
}
