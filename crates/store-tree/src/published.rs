//! What readers see: the trees, and the sequence number up to which every tree is complete.
//!
//! Each entry is applied under a sequence number of its own. While an entry is half applied, the
//! counter is still below its number:
//!
//! ```text
//!  number:   … │ 7·2²⁰ │      │ 8·2²⁰ │      │ 9·2²⁰ │
//!              │ entry │      │ entry │      │ half of an entry
//!  counter:            ▲ then         ▲ now: a view reads below it
//! ```
//!
//! A view is a number. It reads the newest state of each tree (memtables and tables), restricted to
//! entries with lower numbers, so it holds no memory or file between reads. Flushes and compactions
//! must keep the versions that it sees: they drop replaced versions only if their whole input is
//! visible to the oldest view (`forget_below` in `space_tree.rs`). While an older view is open,
//! replaced versions stay on disk.

use std::{collections::HashMap, sync::Arc, time::Duration};

use arc_swap::{ArcSwap, Guard};
use lsm_tree::SequenceNumberCounter;
use parking_lot::{Mutex, MutexGuard};
use store::{CommitClock, Error, Kind, Space};

use crate::{
    pins::{OldestView, Pin, Pins},
    space_tree::SpaceTree,
};

/// Distance between the sequence numbers of consecutive entries.
const APART: u64 = 1 << 20;

pub(crate) type SpaceTrees = HashMap<Space, Arc<SpaceTree>, foldhash::fast::RandomState>;

/// The data that readers see at one moment. While a view exists, trees keep the versions it reads.
pub(crate) struct View {
    /// Sequence number; the view contains everything written below it.
    pub(crate) number: u64,
    pub(crate) space_trees: Arc<SpaceTrees>,
    pin: Pin,
}

impl View {
    /// Fails if the view was ended for retaining too much disk space. Also checked after a read,
    /// since versions may have been dropped during it.
    pub(crate) fn check_kept(&self) -> Result<(), Error> {
        if self.pin.is_ended() {
            let text = "the read was aborted because the old document versions kept for it used \
                        too much disk space: try again, or raise --old-views-disk";
            return Err(Error::new(Kind::ViewEnded, text));
        }
        Ok(())
    }
}

/// Held while entries are applied until they are published, so that other threads that take the
/// lock find the trees and the newest view consistent.
pub(crate) struct Applying<'a>(#[expect(dead_code, reason = "held")] MutexGuard<'a, ()>);

/// Publishes views, and holds the newest one.
pub(crate) struct Published {
    current: ArcSwap<View>,
    applying: Mutex<()>,
    space_trees: Mutex<Arc<SpaceTrees>>,
    pins: Arc<Pins>,
    counter: SequenceNumberCounter,
    /// Clock that measures the age of views.
    time: Arc<dyn CommitClock>,
}

impl Published {
    /// Creates the first view, of all entries applied so far. The counter holds the sequence number
    /// of the next entry to apply.
    pub(crate) fn new(
        space_trees: SpaceTrees,
        counter: &SequenceNumberCounter,
        time: Arc<dyn CommitClock>,
    ) -> Self {
        let (space_trees, pins) = (Arc::new(space_trees), Arc::<Pins>::default());
        Self {
            current: ArcSwap::from_pointee(new_view(counter, &space_trees, &pins)),
            applying: Mutex::default(),
            space_trees: Mutex::new(space_trees),
            pins,
            counter: counter.clone(),
            time,
        }
    }

    /// Returns the newest view, for a single read.
    pub(crate) fn view(&self) -> Guard<Arc<View>> {
        self.current.load()
    }

    /// Returns an owned reference to the newest view, for a reader that keeps it.
    pub(crate) fn view_to_keep(&self) -> Arc<View> {
        self.current.load_full()
    }

    /// Returns the smallest sequence number of an open view.
    pub(crate) fn oldest_view(&self) -> u64 {
        self.pins.oldest()
    }

    /// Takes the lock that is held while entries are applied and published.
    pub(crate) fn begin_applying(&self) -> Applying<'_> {
        Applying(self.applying.lock())
    }

    /// Waits, with this time limit, until the entries being applied are published.
    pub(crate) fn wait_until_shown(&self, within: Duration) {
        drop(self.applying.try_lock_for(within));
    }

    /// Publishes a view of all entries applied so far.
    pub(crate) fn publish(&self, _: &Applying<'_>) {
        let space_trees = self.space_trees.lock();
        // If the number is unchanged, the newest view already contains everything.
        if self.current.load().number != self.counter.get() {
            self.supersede(&space_trees);
        }
    }

    /// Changes the set of trees and publishes a view of it.
    pub(crate) fn publish_trees(&self, _: &Applying<'_>, change: impl FnOnce(&mut SpaceTrees)) {
        let mut space_trees = self.space_trees.lock();
        let mut changed = SpaceTrees::clone(&space_trees);
        change(&mut changed);
        *space_trees = Arc::new(changed);
        self.supersede(&space_trees);
    }

    fn supersede(&self, space_trees: &Arc<SpaceTrees>) {
        let new = new_view(&self.counter, space_trees, &self.pins);
        let old = self.current.load().number;
        if old != new.number {
            self.pins.record_superseded(old, self.time.monotonic_ns());
        }
        self.current.store(Arc::new(new));
    }

    /// Returns the oldest view that is not the newest, and for how long it has not been the newest.
    pub(crate) fn old_view(&self) -> Option<(OldestView, Duration)> {
        let view = self.pins.oldest_view()?;
        let age = self.time.monotonic_ns().saturating_sub(view.superseded_ns);
        Some((view, Duration::from_nanos(age)))
    }

    /// Records that a flush kept all versions of its keys and wrote this many bytes.
    pub(crate) fn record_retained(&self, bytes: u64) {
        self.pins.record_retained(bytes);
    }

    /// Ends a view that is not the newest, and all older views: their reads fail.
    pub(crate) fn end_view(&self, view: &OldestView) {
        self.pins.end(view.number);
    }

    /// Returns the trees of all spaces.
    pub(crate) fn space_trees(&self) -> Arc<SpaceTrees> {
        Arc::clone(&self.space_trees.lock())
    }
}

/// Creates a view of all entries applied so far. It is registered as open before an older view can
/// be released, so that the versions that it sees are kept.
fn new_view(
    counter: &SequenceNumberCounter,
    space_trees: &Arc<SpaceTrees>,
    pins: &Arc<Pins>,
) -> View {
    let number = counter.get();
    View { number, space_trees: Arc::clone(space_trees), pin: pins.pin(number) }
}

/// Returns the sequence number for the entry after the one with number `under`; the result is also
/// beyond the counter.
pub(crate) fn number_after(under: u64, counter: &SequenceNumberCounter) -> u64 {
    (under.max(counter.get()) / APART + 1) * APART
}

#[cfg(test)]
mod tests {
    use store::laws::ManualTime;

    use super::*;

    #[test]
    fn numbers_of_entries_lie_behind_all_that_trees_have_used() {
        let counter = SequenceNumberCounter::new(0);
        assert_eq!(number_after(0, &counter), APART);
        assert_eq!(number_after(APART, &counter), 2 * APART);
        counter.fetch_max(5 * APART + 3);
        assert_eq!(number_after(APART, &counter), 6 * APART);
    }

    #[test]
    fn a_view_pins_what_it_reads() {
        let counter = SequenceNumberCounter::new(9);
        let time = ManualTime::default();
        let published = Published::new(SpaceTrees::default(), &counter, time.commit_clock());
        let first = published.view_to_keep();
        counter.fetch_max(20);
        published.publish(&published.begin_applying());
        assert_eq!((first.number, published.view().number), (9, 20));
        assert_eq!(published.oldest_view(), 9);
        drop(first);
        assert_eq!(published.oldest_view(), 20);
    }
}
