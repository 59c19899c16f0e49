//! Which views are open, by the number they read up to: flushes and compactions keep the versions of
//! keys that one of them sees.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;

/// Open views by their number.
#[derive(Default)]
pub(crate) struct Pins(Mutex<BTreeMap<u64, Pinned>>);

/// The views of one number.
#[derive(Default)]
struct Pinned {
    /// How many share it.
    count: usize,
    /// When there was a newer one, nanoseconds of the monotonic clock.
    superseded_ns: Option<u64>,
}

impl Pins {
    /// Pins a number. Numbers that are pinned never go back, so the oldest is safe to forget below.
    pub(crate) fn pin(self: &Arc<Self>, at: u64) -> Pin {
        self.0.lock().entry(at).or_default().count += 1;
        Pin { pins: Arc::clone(self), at }
    }

    /// Notes that there is a newer view than that of this number.
    pub(crate) fn note_superseded(&self, at: u64, now_ns: u64) {
        if let Some(pinned) = self.0.lock().get_mut(&at) {
            pinned.superseded_ns.get_or_insert(now_ns);
        }
    }

    /// The oldest number that is pinned: versions that were replaced below it are seen by nobody.
    /// Without a pin there is nothing that may be forgotten.
    pub(crate) fn oldest(&self) -> u64 {
        self.0.lock().keys().next().copied().unwrap_or(0)
    }

    /// Returns when the oldest view was superseded; `None` where the newest is the only one.
    pub(crate) fn oldest_superseded_ns(&self) -> Option<u64> {
        self.0.lock().values().next()?.superseded_ns
    }
}

/// One open view's place in the list.
pub(crate) struct Pin {
    pins: Arc<Pins>,
    at: u64,
}

impl Drop for Pin {
    fn drop(&mut self) {
        let mut open = self.pins.0.lock();
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
        assert_eq!(pins.oldest_superseded_ns(), None);
        pins.note_superseded(7, 100);
        pins.note_superseded(7, 200);
        assert_eq!(pins.oldest_superseded_ns(), Some(100));
        drop(again);
        assert_eq!(pins.oldest(), 9);
        assert_eq!(pins.oldest_superseded_ns(), None);
        drop(later);
        assert_eq!(pins.oldest(), 0);
    }
}
