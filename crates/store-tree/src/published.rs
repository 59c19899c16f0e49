//! What readers see: the places, and the number up to which each tree has everything.
//!
//! Entries are applied under numbers far apart; between two of them a tree numbers its own flushes
//! and compactions. Where an entry stands half applied, the counter is still below its number:
//!
//! ```text
//!  number:   … │ 7·2²⁰ │ +1  +2  +3            │ 8·2²⁰ │ +1 …
//!              │ entry │ flushes, compactions  │ entry │
//!  counter:            ▲ once entry 7 is in all its trees: a view reads below it
//! ```
//!
//! A view that reads below the counter has to find all entries below it, in whichever version of a
//! tree its number leads to. It does as long as no view is made while an entry stands half applied: a
//! flush may have put a part of that entry into a version with a number from before it, and has then
//! left out what the part replaces. Views from before the version do not read it; one that was made
//! now would, and would find neither the old nor the new. So whoever applies entries and whoever
//! makes a view hold [`Applying`].

use std::{collections::HashMap, sync::Arc, time::Duration};

use arc_swap::{ArcSwap, Guard};
use lsm_tree::SequenceNumberCounter;
use parking_lot::{Mutex, MutexGuard};
use store::Space;

use crate::{
    pins::{Pin, Pins},
    place::Place,
};

/// Numbers that lie between those of two entries.
const APART: u64 = 1 << 20;

/// Which space is where.
pub(crate) type PlaceMap = HashMap<Space, Arc<Place>, foldhash::fast::RandomState>;

/// What readers see at one moment. As long as somebody has it, trees keep what it reads.
pub(crate) struct View {
    /// It reads what was put in below this number.
    pub(crate) number: u64,
    pub(crate) places: Arc<PlaceMap>,
    _pin: Pin,
}

/// No entry stands half applied but by whoever holds this, and nobody else makes a view.
pub(crate) struct Applying<'a>(#[expect(dead_code, reason = "held")] MutexGuard<'a, ()>);

/// The newest view, and how it becomes newer.
pub(crate) struct Published {
    current: ArcSwap<View>,
    /// See [`Applying`].
    applying: Mutex<()>,
    places: Mutex<Arc<PlaceMap>>,
    pins: Arc<Pins>,
    counter: SequenceNumberCounter,
}

impl Published {
    /// A first view of all that is below the counter.
    pub(crate) fn new(places: PlaceMap, counter: &SequenceNumberCounter) -> Self {
        let (places, pins) = (Arc::new(places), Arc::<Pins>::default());
        Self {
            current: ArcSwap::from_pointee(new_view(counter, &places, &pins)),
            applying: Mutex::default(),
            places: Mutex::new(places),
            pins,
            counter: counter.clone(),
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

    /// The same for whoever applies nothing; `None` when somebody does for that long, who shows it
    /// then.
    pub(crate) fn while_nothing_is_applied(&self, within: Duration) -> Option<Applying<'_>> {
        self.applying.try_lock_for(within).map(Applying)
    }

    /// Shows all that is below the counter by now.
    pub(crate) fn publish(&self, _: &Applying<'_>) {
        let places = self.places.lock();
        // A view of the same moment pins the same.
        if self.current.load().number != self.counter.get() {
            self.current.store(Arc::new(new_view(&self.counter, &places, &self.pins)));
        }
    }

    /// The same with other places.
    pub(crate) fn publish_places(&self, _: &Applying<'_>, change: impl FnOnce(&mut PlaceMap)) {
        let mut places = self.places.lock();
        let mut changed = PlaceMap::clone(&places);
        change(&mut changed);
        *places = Arc::new(changed);
        self.current.store(Arc::new(new_view(&self.counter, &places, &self.pins)));
    }

    /// All places of spaces.
    pub(crate) fn places(&self) -> Arc<PlaceMap> {
        Arc::clone(&self.places.lock())
    }
}

/// A view of what is below the counter. Pinned before any older one can be let go, so that the
/// oldest pin never passes it.
fn new_view(counter: &SequenceNumberCounter, places: &Arc<PlaceMap>, pins: &Arc<Pins>) -> View {
    let number = counter.get();
    View { number, places: Arc::clone(places), _pin: pins.pin(number) }
}

/// The number for the entry after one with this number, and beyond what the counter says.
pub(crate) fn number_after(under: u64, counter: &SequenceNumberCounter) -> u64 {
    (under.max(counter.get()) / APART + 1) * APART
}

#[cfg(test)]
mod tests {
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
        let published = Published::new(PlaceMap::default(), &counter);
        let first = published.view_to_keep();
        counter.fetch_max(20);
        published.publish(&published.begin_applying());
        assert_eq!((first.number, published.view().number), (9, 20));
        assert_eq!(published.oldest_view(), 9);
        drop(first);
        assert_eq!(published.oldest_view(), 20);
    }
}
