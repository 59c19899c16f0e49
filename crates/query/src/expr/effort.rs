//! What an operation's evaluation has done so far, in units of about one byte copied: what bounds
//! one evaluation, and what says when to look at the time and when to let others run.

use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use crate::{Error, Kind, limits::MAX_WORK};

/// Units between two looks at whether to go on.
const LOOK: u64 = 1 << 22;
/// Units after which others should run.
const REST: u64 = 1 << 20;

/// Asked every few milliseconds of evaluation whether to go on.
type Watch = Box<dyn Fn() -> bool + Send + Sync>;

/// What an operation's evaluation has done so far. One operation is one writer.
#[derive(Default)]
pub struct Effort {
    done: AtomicU64,
    /// How much of it was done when the evaluation under way began.
    begun: AtomicU64,
    looked: AtomicU64,
    rested: AtomicU64,
    watch: Option<Watch>,
}

impl Effort {
    /// No work done yet; `watch` is asked every few milliseconds of it whether to go on.
    pub fn watched(watch: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { watch: Some(Box::new(watch)), ..Self::default() }
    }

    /// An evaluation begins: of one expression over one document.
    pub(crate) fn begin(&self) {
        self.begun.store(self.done.load(Relaxed), Relaxed);
    }

    /// Work of the evaluation under way, of which there is only so much.
    pub(crate) fn charge(&self, units: usize) -> Result<(), Error> {
        let done = self.add(units);
        if MAX_WORK < done.saturating_sub(self.begun.load(Relaxed)) {
            let text = "the evaluation of an expression takes more work than allowed";
            return Err(Error::new(Kind::TooLarge, 146, text));
        }
        self.look(done)
    }

    /// Work that nothing bounds but the time of the operation.
    pub fn pass(&self, units: usize) -> Result<(), Error> {
        let done = self.add(units);
        let begun = self.begun.load(Relaxed);
        self.begun.store(begun.saturating_add(units as u64), Relaxed);
        self.look(done)
    }

    /// Whether others should run before it goes on. It answers so once, until more is done.
    pub fn is_due(&self) -> bool {
        let done = self.done.load(Relaxed);
        let due = REST <= done.saturating_sub(self.rested.load(Relaxed));
        if due {
            self.rested.store(done, Relaxed);
        }
        due
    }

    #[cfg(test)]
    pub(crate) fn done(&self) -> u64 {
        self.done.load(Relaxed)
    }

    fn add(&self, units: usize) -> u64 {
        let done = self.done.load(Relaxed).saturating_add(units as u64);
        self.done.store(done, Relaxed);
        done
    }

    fn look(&self, done: u64) -> Result<(), Error> {
        if done.saturating_sub(self.looked.load(Relaxed)) < LOOK {
            return Ok(());
        }
        self.looked.store(done, Relaxed);
        match &self.watch {
            Some(watch) if !watch() => {
                Err(Error::new(Kind::Stopped, 50, "operation exceeded time limit"))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Effort").field("done", &self.done).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_evaluation_is_bounded_and_what_is_read_is_not() {
        let effort = Effort::default();
        let most = usize::try_from(MAX_WORK).unwrap();
        for _ in 0..3 {
            effort.begin();
            effort.pass(most).unwrap();
            effort.charge(most).unwrap();
            assert_eq!(effort.charge(1).unwrap_err().number, 146);
        }
    }

    #[test]
    fn it_is_stopped_when_the_watch_says_so() {
        let effort = Effort::watched(|| false);
        effort.charge(1).unwrap();
        for stopped in [effort.pass(1 << 22), effort.charge(1 << 22)] {
            assert_eq!(stopped.unwrap_err().kind, Kind::Stopped);
        }
    }

    #[test]
    fn others_run_once_every_so_often() {
        let effort = Effort::default();
        assert!(!effort.is_due());
        effort.pass(1 << 20).unwrap();
        assert!(effort.is_due());
        assert!(!effort.is_due());
    }
}
