//! Which views are open, by the number they read up to: flushes and compactions keep the versions of
//! keys that one of them sees. A view for which too much is kept is ended: it counts no more, and reads of
//! it fail.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;

/// Open views by their number.
#[derive(Default)]
pub(crate) struct Pins {
    open: Mutex<BTreeMap<u64, Pinned>>,
    /// Views of this number and below were ended. Changed under the lock of `open`.
    ended: AtomicU64,
    /// Bytes of tables that flushes have written with all versions of keys, since the opening.
    kept: AtomicU64,
}

/// The views of one number.
#[derive(Default)]
struct Pinned {
    /// How many share it.
    count: usize,
    /// When there was a newer one.
    superseded: Option<Superseded>,
}

/// The moment at which a view was the newest for the last time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Superseded {
    /// Nanoseconds of the monotonic clock.
    pub(crate) at_ns: u64,
    /// Bytes that had been kept by then.
    kept: u64,
}

/// The oldest view that is not the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OldestView {
    /// The number that it reads up to.
    pub(crate) number: u64,
    /// When it was superseded, nanoseconds of the monotonic clock.
    pub(crate) superseded_ns: u64,
    /// Bytes of tables that were written with all versions of keys since then.
    pub(crate) kept: u64,
}

impl Pins {
    /// Pins a number. Numbers that are pinned never go back, so the oldest is safe to forget below.
    pub(crate) fn pin(self: &Arc<Self>, at: u64) -> Pin {
        self.open.lock().entry(at).or_default().count += 1;
        Pin { pins: Arc::clone(self), at }
    }

    /// Notes that there is a newer view than that of this number.
    pub(crate) fn note_superseded(&self, at: u64, at_ns: u64) {
        let kept = self.kept.load(Ordering::SeqCst);
        if let Some(pinned) = self.open.lock().get_mut(&at) {
            pinned.superseded.get_or_insert(Superseded { at_ns, kept });
        }
    }

    /// Notes that a flush has written this many bytes with all versions of keys.
    pub(crate) fn note_kept(&self, bytes: u64) {
        self.kept.fetch_add(bytes, Ordering::SeqCst);
    }

    /// The oldest number that is pinned by a view that was not ended: versions that were replaced below
    /// it are seen by nobody. Without a pin there is nothing that may be forgotten.
    pub(crate) fn oldest(&self) -> u64 {
        let open = self.open.lock();
        open.range(self.first_good()..).next().map_or(0, |(number, _)| *number)
    }

    /// Returns the oldest view; `None` where the newest is the only one.
    pub(crate) fn oldest_view(&self) -> Option<OldestView> {
        let open = self.open.lock();
        let (number, pinned) = open.range(self.first_good()..).next()?;
        let Superseded { at_ns, kept } = pinned.superseded?;
        let kept = self.kept.load(Ordering::SeqCst).saturating_sub(kept);
        Some(OldestView { number: *number, superseded_ns: at_ns, kept })
    }

    /// Ends the views of this number, which is not the newest, and all older ones.
    pub(crate) fn end(&self, number: u64) {
        // Under the lock: whoever is told of a newer oldest number knows that these fail from now on.
        let _open = self.open.lock();
        self.ended.fetch_max(number, Ordering::SeqCst);
    }

    fn first_good(&self) -> u64 {
        match self.ended.load(Ordering::SeqCst) {
            0 => 0,
            ended => ended + 1,
        }
    }
}

/// One open view's place in the list.
pub(crate) struct Pin {
    pins: Arc<Pins>,
    at: u64,
}

impl Pin {
    /// Returns whether the view was ended. What was read before a `false` is right: replaced versions that
    /// it sees are left out by compactions that begin later alone.
    pub(crate) fn is_ended(&self) -> bool {
        let ended = self.pins.ended.load(Ordering::SeqCst);
        0 < ended && self.at <= ended
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        let mut open = self.pins.open.lock();
        if let Some(pinned) = open.get_mut(&self.at) {
            pinned.count -= 1;
            if pinned.count == 0 {
                open.remove(&self.at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_view_counts_until_its_last_holder_has_gone() {
        let pins = Arc::<Pins>::default();
        assert_eq!(pins.oldest(), 0);
        let (first, again, later) = (pins.pin(7), pins.pin(7), pins.pin(9));
        drop(first);
        assert_eq!(pins.oldest(), 7);
        assert_eq!(pins.oldest_view(), None);
        pins.note_superseded(7, 100);
        pins.note_superseded(7, 200);
        assert_eq!(pins.oldest_view().unwrap().superseded_ns, 100);
        drop(again);
        assert_eq!(pins.oldest(), 9);
        assert_eq!(pins.oldest_view(), None);
        drop(later);
        assert_eq!(pins.oldest(), 0);
    }

    #[test]
    fn a_view_that_was_ended_counts_no_more() {
        let pins = Arc::<Pins>::default();
        let first = pins.pin(7);
        pins.note_kept(1_000);
        pins.note_superseded(7, 100);
        let second = pins.pin(9);
        pins.note_kept(10);
        pins.note_superseded(9, 200);
        let newest = pins.pin(12);
        pins.note_kept(1);
        let want = OldestView { number: 7, superseded_ns: 100, kept: 11 };
        assert_eq!(pins.oldest_view(), Some(want));
        pins.end(7);
        assert_eq!([&first, &second, &newest].map(Pin::is_ended), [true, false, false]);
        // What the next one keeps is counted from when it was superseded.
        let want = OldestView { number: 9, superseded_ns: 200, kept: 1 };
        assert_eq!((pins.oldest(), pins.oldest_view()), (9, Some(want)));
        drop(first);
        drop(second);
        assert_eq!((pins.oldest(), pins.oldest_view()), (12, None));
    }
}
