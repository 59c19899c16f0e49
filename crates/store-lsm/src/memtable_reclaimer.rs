//! Frees the memory of keyspaces on a thread of its own. The tree lets go of memory that has been
//! written out while it is closed to readers and writers; freeing half a million keys would keep
//! all of them waiting for a fifth of a second.
//!
//! So this thread holds each large memtable too, from the first write on. When the tree lets go of
//! it, nothing is freed yet; the thread finds that nobody else holds it, and frees it beside
//! everybody.

use std::{any::Any, collections::HashMap, sync::Arc, time::Duration};

use fjall::{AbstractTree as _, Keyspace};
use parking_lot::{Condvar, Mutex};

/// Memory that is freed so fast that nobody notices, bytes.
const SMALL_BYTES: u64 = 4 * 1024 * 1024;
/// Between two looks for memory that nobody uses, when some has just come or gone.
const SHORT_PAUSE: Duration = Duration::from_millis(20);
/// The same when there has long been none.
const LONG_PAUSE: Duration = Duration::from_secs(1);

/// A keyspace's keys and values before they are written out.
type HeldMemtable = Arc<dyn Any + Send + Sync>;

/// Memory that is in use, and what was until a moment ago.
#[derive(Default)]
pub(crate) struct MemtableReclaimer {
    /// Held for a moment only: commits come by here.
    mailbox: Mutex<ReclaimerMailbox>,
    wake: Condvar,
}

/// What the thread looks at.
struct ReclaimerMailbox {
    /// By where it is.
    held: HashMap<usize, HeldMemtable>,
    pause: Duration,
    /// The thread ends.
    closed: bool,
}

impl Default for ReclaimerMailbox {
    fn default() -> Self {
        Self { held: HashMap::new(), pause: SHORT_PAUSE, closed: false }
    }
}

impl MemtableReclaimer {
    /// This keyspace was written.
    pub(crate) fn note_written(&self, keyspace: &Keyspace) {
        let memory = keyspace.tree.active_memtable();
        // Asked with every commit; small ones are freed by the tree itself.
        if SMALL_BYTES <= memory.size() {
            self.hold_until_unused(memory);
        }
    }

    /// Holds this until nobody else does.
    fn hold_until_unused(&self, memory: HeldMemtable) {
        // The same memtable comes with every commit; it is held once.
        let place = Arc::as_ptr(&memory).cast::<()>().addr();
        let mut news = self.mailbox.lock();
        if news.held.insert(place, memory).is_none() {
            news.pause = SHORT_PAUSE;
            self.wake.notify_one();
        }
    }

    /// Ends the thread.
    pub(crate) fn close(&self) {
        self.mailbox.lock().closed = true;
        self.wake.notify_one();
    }

    /// Waits a while; returns what nobody else uses any more, or `None` when it is time to end.
    fn wait_for_unused(&self) -> Option<Vec<HeldMemtable>> {
        let until = |news: &mut ReclaimerMailbox| news.held.is_empty() && !news.closed;
        let mut news = self.mailbox.lock();
        self.wake.wait_while(&mut news, until);
        if news.closed {
            return None;
        }
        let pause = news.pause;
        self.wake.wait_for(&mut news, pause);
        // Only this list holds it: the tree has flushed it, and no snapshot reads it.
        let unused = news.held.extract_if(|_, memory| Arc::strong_count(memory) == 1);
        let unused: Vec<HeldMemtable> = unused.map(|(_, memory)| memory).collect();
        news.pause = if unused.is_empty() { (news.pause * 2).min(LONG_PAUSE) } else { SHORT_PAUSE };
        Some(unused)
    }
}

/// Frees memory until the store is closed.
pub(crate) fn reclaim_until_closed(memory: &MemtableReclaimer) {
    while let Some(unused) = memory.wait_for_unused() {
        drop(unused);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_it_holds_is_given_back_once() {
        let memory = MemtableReclaimer::default();
        let (used, unused): (HeldMemtable, HeldMemtable) = (Arc::new(1), Arc::new(2));
        for held in [&used, &used, &unused] {
            memory.hold_until_unused(Arc::clone(held));
        }
        assert_eq!(memory.mailbox.lock().held.len(), 2);
        assert!(memory.wait_for_unused().unwrap().is_empty());
        drop(unused);
        let freed = memory.wait_for_unused().unwrap();
        assert_eq!(freed.iter().map(|held| held.downcast_ref()).collect::<Vec<_>>(), [Some(&2)]);
        assert!(memory.wait_for_unused().unwrap().is_empty());
        memory.close();
        assert!(memory.wait_for_unused().is_none());
    }

    #[test]
    fn it_looks_more_seldom_while_there_is_nothing_to_free() {
        let memory = MemtableReclaimer::default();
        memory.mailbox.lock().pause = Duration::from_nanos(1);
        let used: HeldMemtable = Arc::new(1);
        memory.mailbox.lock().held.insert(0, Arc::clone(&used));
        assert!(memory.wait_for_unused().unwrap().is_empty());
        assert_eq!(memory.mailbox.lock().pause, Duration::from_nanos(2));
        memory.mailbox.lock().pause = Duration::from_nanos(1);
        drop(used);
        assert_eq!(memory.wait_for_unused().unwrap().len(), 1);
        assert_eq!(memory.mailbox.lock().pause, SHORT_PAUSE);
    }
}
