//! What readers see: the places, and the number up to which each tree has everything.
//!
//! Each entry is applied under a number of its own. Where one stands half applied, the counter is
//! still below its number:
//!
//! ```text
//!  number:   … │ 7·2²⁰ │      │ 8·2²⁰ │      │ 9·2²⁰ │
//!              │ entry │      │ entry │      │ half of an entry
//!  counter:            ▲ then         ▲ now: a view reads below it
//! ```
//!
//! A view is a number. It reads the newest state of each tree (memtables and tables), and in it only
//! what was put in below its number, so it holds no memory and no file between two reads. What it
//! needs is that flushes and compactions keep the versions of keys that it sees: they leave out
//! replaced versions only where all that they read is visible to the oldest view (`forget_below` in
//! `place.rs`). While an older view is open, replaced versions are kept on the disk.

use std::{collections::HashMap, sync::Arc, time::Duration};

use arc_swap::{ArcSwap, Guard};
use lsm_tree::SequenceNumberCounter;
use parking_lot::{Mutex, MutexGuard};
use store::{Error, Kind, Space, Timepiece};

use crate::{
    pins::{OldestView, Pin, Pins},
    place::Place,
};

/// Numbers that lie between those of two entries.
const APART: u64 = 1 << 20;

/// Which space is where.
pub(crate) type PlaceMap = HashMap<Space, Arc<Place>, foldhash::fast::RandomState>;

/// What readers see at one moment. As long as somebody has it, trees keep the versions that it reads.
pub(crate) struct View {
    /// It reads what was put in below this number.
    pub(crate) number: u64,
    pub(crate) places: Arc<PlaceMap>,
    pin: Pin,
}

impl View {
    /// Fails where the view was ended, because too much of the disk was kept for it. Asked after a read, too:
    /// what was read may lack versions that were given back meanwhile.
    pub(crate) fn check_kept(&self) -> Result<(), Error> {
        if self.pin.is_ended() {
            let text = "the read was ended, because the replaced versions of documents that were kept \
                        for it had taken too much of the disk: try again, or allow more with \
                        --old-views-disk";
            return Err(Error::new(Kind::ViewEnded, text));
        }
        Ok(())
    }
}

/// Held by whoever applies entries, until they are shown: what has been applied and the newest view
/// are of the same moment for whoever else gets it.
pub(crate) struct Applying<'a>(#[expect(dead_code, reason = "held")] MutexGuard<'a, ()>);

/// The newest view, and how it becomes newer.
pub(crate) struct Published {
    current: ArcSwap<View>,
    applying: Mutex<()>,
    places: Mutex<Arc<PlaceMap>>,
    pins: Arc<Pins>,
    counter: SequenceNumberCounter,
    /// Says how old views are.
    time: Arc<dyn Timepiece>,
}

impl Published {
    /// A first view of all that is below the counter.
    pub(crate) fn new(
        places: PlaceMap,
        counter: &SequenceNumberCounter,
        time: Arc<dyn Timepiece>,
    ) -> Self {
        let (places, pins) = (Arc::new(places), Arc::<Pins>::default());
        Self {
            current: ArcSwap::from_pointee(new_view(counter, &places, &pins)),
            applying: Mutex::default(),
            places: Mutex::new(places),
            pins,
            counter: counter.clone(),
            time,
        }
    }

    /// The newest view, for one read.
    pub(crate) fn view(&self) -> Guard<Arc<View>> {
        self.current.load()
    }

    /// The newest view, to be kept.
    pub(crate) fn view_to_keep(&self) -> Arc<View> {
        self.current.load_full()
    }

    /// The oldest number that a view reads below.
    pub(crate) fn oldest_view(&self) -> u64 {
        self.pins.oldest()
    }

    /// Held while entries are applied, until they are shown.
    pub(crate) fn begin_applying(&self) -> Applying<'_> {
        Applying(self.applying.lock())
    }

    /// Waits until the entries that are being applied are shown, at most this long.
    pub(crate) fn wait_until_shown(&self, within: Duration) {
        drop(self.applying.try_lock_for(within));
    }

    /// Shows all that is below the counter by now.
    pub(crate) fn publish(&self, _: &Applying<'_>) {
        let places = self.places.lock();
        // A view of the same moment pins the same.
        if self.current.load().number != self.counter.get() {
            self.supersede(&places);
        }
    }

    /// The same with other places.
    pub(crate) fn publish_places(&self, _: &Applying<'_>, change: impl FnOnce(&mut PlaceMap)) {
        let mut places = self.places.lock();
        let mut changed = PlaceMap::clone(&places);
        change(&mut changed);
        *places = Arc::new(changed);
        self.supersede(&places);
    }

    /// Makes a new view the newest.
    fn supersede(&self, places: &Arc<PlaceMap>) {
        let new = new_view(&self.counter, places, &self.pins);
        let old = self.current.load().number;
        if old != new.number {
            self.pins.note_superseded(old, self.time.monotonic_ns());
        }
        self.current.store(Arc::new(new));
    }

    /// Returns the oldest view that is not the newest, and for how long it has not been.
    pub(crate) fn old_view(&self) -> Option<(OldestView, Duration)> {
        let view = self.pins.oldest_view()?;
        let age = self.time.monotonic_ns().saturating_sub(view.superseded_ns);
        Some((view, Duration::from_nanos(age)))
    }

    /// Notes that a flush has written this many bytes with all versions of keys.
    pub(crate) fn note_kept(&self, bytes: u64) {
        self.pins.note_kept(bytes);
    }

    /// Ends a view that is not the newest, and all that are older: reads of them fail.
    pub(crate) fn end_view(&self, view: &OldestView) {
        self.pins.end(view.number);
    }

    /// All places of spaces.
    pub(crate) fn places(&self) -> Arc<PlaceMap> {
        Arc::clone(&self.places.lock())
    }
}

/// A view of what is below the counter. Pinned before any older one can be let go, so that the
/// oldest pin never passes it: whoever reads that pin knows that all views to come are newer.
fn new_view(counter: &SequenceNumberCounter, places: &Arc<PlaceMap>, pins: &Arc<Pins>) -> View {
    let number = counter.get();
    View { number, places: Arc::clone(places), pin: pins.pin(number) }
}

/// The number for the entry after one with this number, and beyond what the counter says.
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
        let published = Published::new(PlaceMap::default(), &counter, time.timepiece());
        let first = published.view_to_keep();
        counter.fetch_max(20);
        published.publish(&published.begin_applying());
        assert_eq!((first.number, published.view().number), (9, 20));
        assert_eq!(published.oldest_view(), 9);
        drop(first);
        assert_eq!(published.oldest_view(), 20);
    }
}
