//! The registry of open views by sequence number. Flushes and compactions keep all versions of keys
//! that an open view sees. A view that retains too much disk space is ended: its versions are no
//! longer kept, and its reads fail.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;

/// Counts the open views by their sequence number.
#[derive(Default)]
pub(crate) struct Pins {
    open: Mutex<BTreeMap<u64, Pinned>>,
    /// Views up to this sequence number were ended. Changed only while `open` is locked.
    ended: AtomicU64,
    /// Bytes of tables that flushes have written with all versions of keys since the opening.
    retained_bytes: AtomicU64,
}

/// The open views that have the same sequence number.
#[derive(Default)]
struct Pinned {
    /// Number of open views with this sequence number.
    count: usize,
    /// Time at which a newer view was published; `None` for the newest view.
    superseded: Option<Superseded>,
}

/// The moment at which a view stopped being the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Superseded {
    /// Reading of the monotonic clock in nanoseconds.
    pub(crate) at_ns: u64,
    /// Value of `Pins::retained_bytes` when the view was superseded.
    retained_bytes: u64,
}

/// The oldest view that is not the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OldestView {
    /// Sequence number of the view.
    pub(crate) number: u64,
    /// Time at which the view was superseded, in nanoseconds of the monotonic clock.
    pub(crate) superseded_ns: u64,
    /// Bytes of tables that were written since then with all versions of keys.
    pub(crate) retained_bytes: u64,
}

impl Pins {
    /// Registers a view with this sequence number as open, until the returned value is dropped. The
    /// numbers of new views never decrease, so versions that the oldest view does not see can be
    /// dropped.
    pub(crate) fn pin(self: &Arc<Self>, at: u64) -> Pin {
        self.open.lock().entry(at).or_default().count += 1;
        Pin { pins: Arc::clone(self), at }
    }

    /// Records that a view newer than the one with number `at` was published.
    pub(crate) fn record_superseded(&self, at: u64, at_ns: u64) {
        let retained_bytes = self.retained_bytes.load(Ordering::SeqCst);
        if let Some(pinned) = self.open.lock().get_mut(&at) {
            pinned.superseded.get_or_insert(Superseded { at_ns, retained_bytes });
        }
    }

    /// Records that a flush has written this many bytes with all versions of keys.
    pub(crate) fn record_retained(&self, bytes: u64) {
        self.retained_bytes.fetch_add(bytes, Ordering::SeqCst);
    }

    /// Returns the smallest sequence number of an open view that was not ended: no open view sees
    /// versions that were replaced below it. Returns 0 if no view is open, so that nothing is
    /// dropped.
    pub(crate) fn oldest(&self) -> u64 {
        let open = self.open.lock();
        open.range(self.first_good()..).next().map_or(0, |(number, _)| *number)
    }

    /// Returns the oldest view; `None` if the newest is the only one.
    pub(crate) fn oldest_view(&self) -> Option<OldestView> {
        let open = self.open.lock();
        let (number, pinned) = open.range(self.first_good()..).next()?;
        let Superseded { at_ns, retained_bytes } = pinned.superseded?;
        let retained_bytes =
            self.retained_bytes.load(Ordering::SeqCst).saturating_sub(retained_bytes);
        Some(OldestView { number: *number, superseded_ns: at_ns, retained_bytes })
    }

    /// Ends the views of this number, which is not the newest, and all older views.
    pub(crate) fn end(&self, number: u64) {
        // Changed under the lock, so that these views fail before `oldest` returns a later number.
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

/// Keeps a view registered as open until it is dropped.
pub(crate) struct Pin {
    pins: Arc<Pins>,
    at: u64,
}

impl Pin {
    /// Returns whether the view was ended. Data read before a `false` is valid: only compactions
    /// that start later drop the versions it sees.
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
        pins.record_superseded(7, 100);
        pins.record_superseded(7, 200);
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
        pins.record_retained(1_000);
        pins.record_superseded(7, 100);
        let second = pins.pin(9);
        pins.record_retained(10);
        pins.record_superseded(9, 200);
        let newest = pins.pin(12);
        pins.record_retained(1);
        let want = OldestView { number: 7, superseded_ns: 100, retained_bytes: 11 };
        assert_eq!(pins.oldest_view(), Some(want));
        pins.end(7);
        assert_eq!([&first, &second, &newest].map(Pin::is_ended), [true, false, false]);
        // The next view's retained bytes are counted from when it was superseded.
        let want = OldestView { number: 9, superseded_ns: 200, retained_bytes: 1 };
        assert_eq!((pins.oldest(), pins.oldest_view()), (9, Some(want)));
        drop(first);
        drop(second);
        assert_eq!((pins.oldest(), pins.oldest_view()), (12, None));
    }
}
