//! Spaces that are about to be compacted as a whole, which needs all their tables at once.

use std::collections::HashMap;

use parking_lot::Mutex;

/// Spaces that wait to be compacted as a whole, with the number of waiting callers. Other jobs
/// leave them alone.
#[derive(Debug, Default)]
pub(crate) struct Reserved(Mutex<HashMap<u64, usize>>);

/// Keeps a space reserved until it is dropped.
pub(crate) struct Reservation<'a>(&'a Reserved, u64);

impl Reserved {
    /// Reserves a space until the returned value is dropped.
    pub(crate) fn reserve(&self, space: u64) -> Reservation<'_> {
        *self.0.lock().entry(space).or_default() += 1;
        Reservation(self, space)
    }

    /// Returns whether a space is reserved.
    pub(crate) fn contains(&self, space: u64) -> bool {
        self.0.lock().contains_key(&space)
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        let mut all = self.0.0.lock();
        if let Some(count) = all.get_mut(&self.1) {
            *count -= 1;
            if *count == 0 {
                all.remove(&self.1);
            }
        }
    }
}
