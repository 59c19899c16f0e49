//! Which views are open, by the number they read up to: compaction may forget what none of them
//! sees, and a tree may let go of old memory and files that none of them reads.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;

/// Open views by their number, and how many share it.
#[derive(Default)]
pub(crate) struct Pins(Mutex<BTreeMap<u64, usize>>);

impl Pins {
    /// Pins a number. Numbers that are pinned never go back, so the oldest is safe to forget below.
    pub(crate) fn pin(self: &Arc<Self>, at: u64) -> Pin {
        *self.0.lock().entry(at).or_default() += 1;
        Pin { pins: Arc::clone(self), at }
    }

    /// The oldest number that is pinned: versions that were replaced below it are seen by nobody.
    /// Without a pin there is nothing that may be forgotten.
    pub(crate) fn oldest(&self) -> u64 {
        self.0.lock().keys().next().copied().unwrap_or(0)
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
        if let Some(count) = open.get_mut(&self.at) {
            *count -= 1;
            if *count == 0 {
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
        drop(again);
        assert_eq!(pins.oldest(), 9);
        drop(later);
        assert_eq!(pins.oldest(), 0);
    }
}
