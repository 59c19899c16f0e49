//! Which tables a compaction may choose, settled before it is told which versions it may leave out.
//!
//! A compaction is given that number first and chooses its tables then. A flush in between could add
//! one with newer versions, for which the number is wrong:
//!
//! ```text
//!  compactor   settle ─ newest table, oldest view ─ choose ─┐ merge …
//!  flusher                                     waits ───────┘ add a table
//! ```
//!
//! The tree says that it has chosen by making a compaction filter.

use parking_lot::{Condvar, Mutex};

/// The list of tables that a compaction chooses from, as far as it changes by flushes.
#[derive(Default)]
pub(crate) struct Inputs {
    user: Mutex<Option<User>>,
    free: Condvar,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum User {
    Flush,
    Compaction,
}

/// A flush that may add tables.
pub(crate) struct Changing<'a>(&'a Inputs);

/// A compaction that has not chosen its tables yet, or has by now.
pub(crate) struct Chosen<'a>(&'a Inputs);

impl Inputs {
    /// Waits until no compaction is about to choose, and keeps others from that.
    pub(crate) fn change(&self) -> Changing<'_> {
        self.enter(User::Flush);
        Changing(self)
    }

    /// Waits for a flush under way, and keeps others from adding tables. One compaction at a time.
    pub(crate) fn settle(&self) -> Chosen<'_> {
        self.enter(User::Compaction);
        Chosen(self)
    }

    /// The compaction has chosen its tables: flushes may go on.
    pub(crate) fn note_chosen(&self) {
        self.leave(User::Compaction);
    }

    fn enter(&self, user: User) {
        let mut of = self.user.lock();
        self.free.wait_while(&mut of, |of| of.is_some());
        *of = Some(user);
    }

    /// Does nothing where this user has left already.
    fn leave(&self, user: User) {
        let mut of = self.user.lock();
        if *of == Some(user) {
            *of = None;
            self.free.notify_all();
        }
    }
}

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        self.0.leave(User::Flush);
    }
}

impl Drop for Chosen<'_> {
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
        let (inputs, chosen) = (Inputs::default(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let compaction = inputs.settle();
            let flush = scope.spawn(|| {
                let _changing = inputs.change();
                assert!(chosen.load(Ordering::SeqCst));
            });
            chosen.store(true, Ordering::SeqCst);
            inputs.note_chosen();
            flush.join().unwrap();
            // A flush that began since is not disturbed by the end of the compaction.
            let flush = inputs.change();
            drop(compaction);
            assert!(*inputs.user.lock() == Some(User::Flush));
            drop(flush);
            assert!(inputs.user.lock().is_none());
        });
    }
}
