//! Keeps a flush from adding a table while a compaction chooses its tables.
//!
//! A compaction first receives the sequence number below which it may drop versions, and then
//! chooses its tables. A flush in between could add a table with newer versions, for which that
//! number is wrong, so flushes wait until the choice is made:
//!
//! ```text
//!  compactor   hold flushes ─ number from the oldest view ─ choose ─┐ merge …
//!  flusher                                             waits ───────┘ add a table
//! ```
//!
//! The tree signals the choice by creating a compaction filter.

use parking_lot::{Condvar, Mutex};

/// Guards the list of tables against flushes while a compaction chooses from it.
#[derive(Default)]
pub(crate) struct CompactionInputs {
    user: Mutex<Option<User>>,
    free: Condvar,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum User {
    Flush,
    Compaction,
}

/// A flush that may add tables.
pub(crate) struct FlushGuard<'a>(&'a CompactionInputs);

/// A compaction that may not have chosen its tables yet.
pub(crate) struct CompactionGuard<'a>(&'a CompactionInputs);

impl CompactionInputs {
    /// Waits until no compaction is choosing its tables, and keeps compactions from choosing until
    /// the returned value is dropped.
    pub(crate) fn lock_for_flush(&self) -> FlushGuard<'_> {
        self.enter(User::Flush);
        FlushGuard(self)
    }

    /// Waits for a running flush, and blocks other flushes from adding tables. The caller ensures
    /// that only one compaction calls this at a time.
    pub(crate) fn lock_for_compaction(&self) -> CompactionGuard<'_> {
        self.enter(User::Compaction);
        CompactionGuard(self)
    }

    /// Records that the compaction has chosen its tables, so that flushes may proceed.
    pub(crate) fn record_chosen(&self) {
        self.leave(User::Compaction);
    }

    fn enter(&self, user: User) {
        let mut of = self.user.lock();
        self.free.wait_while(&mut of, |of| of.is_some());
        *of = Some(user);
    }

    /// Releases the lock on the list of tables, if this user (a flush or a compaction) holds it.
    fn leave(&self, user: User) {
        let mut of = self.user.lock();
        if *of == Some(user) {
            *of = None;
            self.free.notify_all();
        }
    }
}

impl Drop for FlushGuard<'_> {
    fn drop(&mut self) {
        self.0.leave(User::Flush);
    }
}

impl Drop for CompactionGuard<'_> {
    fn drop(&mut self) {
        self.0.leave(User::Compaction);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn a_flush_waits_until_a_compaction_has_chosen_and_not_longer() {
        let (inputs, chosen) = (CompactionInputs::default(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let compaction = inputs.lock_for_compaction();
            let flush = scope.spawn(|| {
                let _changing = inputs.lock_for_flush();
                assert!(chosen.load(Ordering::SeqCst));
            });
            chosen.store(true, Ordering::SeqCst);
            inputs.record_chosen();
            flush.join().unwrap();
            // The end of a compaction must not release the lock that a flush has taken since.
            let flush = inputs.lock_for_flush();
            drop(compaction);
            assert!(*inputs.user.lock() == Some(User::Flush));
            drop(flush);
            assert!(inputs.user.lock().is_none());
        });
    }
}
