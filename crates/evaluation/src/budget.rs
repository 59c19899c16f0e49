//! What an operation's evaluation has done so far, in units of about one byte copied: what bounds
//! one evaluation, and what says when to look at the time and when to let others run.

use std::{
    fmt,
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
};

use crate::{
    error::{Error, Kind},
    limits::MAX_WORK,
    numbers::LIMIT_EXCEEDED,
};

/// Units after which others should run.
const REST: u64 = 1 << 20;
/// Units without a rest after which the watch is asked: nobody could let others run.
const LOOK: u64 = 1 << 22;

/// Looks after an operation whose evaluation takes long.
pub trait Watch: Send + Sync {
    /// Fails when it is to end, with a [`Kind::Stopped`].
    fn check_end(&self) -> Result<(), Error>;

    /// Called every few milliseconds of an evaluation that occupies its thread: what else waits
    /// for the thread may be given to another.
    fn give_way(&self) {}

    /// Called when the evaluation let others run by itself.
    fn has_rested(&self) {}
}

/// What an operation's evaluation has done so far. One operation is one writer.
#[derive(Default)]
pub struct Budget {
    done: AtomicU64,
    /// How much of it was done when the evaluation under way began.
    begun: AtomicU64,
    /// How much of it was no evaluation.
    passed: AtomicU64,
    looked: AtomicU64,
    rested: AtomicU64,
    /// Whether the thread was given up for what may wait, since others ran last.
    gave_way: AtomicBool,
    /// What all evaluations together may do; `None`: anything.
    most: Option<u64>,
    watch: Option<Box<dyn Watch>>,
}

impl Budget {
    /// No work done yet, and somebody who looks after it.
    pub fn watched(watch: impl Watch + 'static) -> Self {
        Self { watch: Some(Box::new(watch)), ..Self::default() }
    }

    /// The same, and an end of it when all evaluations together have done so much.
    pub fn with_limit(self, most: u64) -> Self {
        Self { most: Some(most), ..self }
    }

    /// An evaluation begins: of one expression over one document.
    pub fn begin_evaluation(&self) {
        self.begun.store(self.done.load(Relaxed), Relaxed);
    }

    /// Work of the evaluation under way, of which there is only so much.
    pub fn spend_bounded(&self, units: usize) -> Result<(), Error> {
        let done = self.count_units(units);
        if MAX_WORK < done.saturating_sub(self.begun.load(Relaxed)) {
            let text = "the evaluation of an expression takes more work than allowed";
            return Err(Error::new(Kind::TooLarge, LIMIT_EXCEEDED, text));
        }
        self.poll(done)
    }

    /// Work that nothing bounds but the time of the operation.
    pub fn spend(&self, units: usize) -> Result<(), Error> {
        let done = self.count_units(units);
        self.passed.store(self.passed.load(Relaxed).saturating_add(units as u64), Relaxed);
        let begun = self.begun.load(Relaxed);
        self.begun.store(begun.saturating_add(units as u64), Relaxed);
        self.poll(done)
    }

    /// Whether others should run before it goes on. It answers so once, until more is done.
    pub fn is_due(&self) -> bool {
        let done = self.done.load(Relaxed);
        let due = REST <= done.saturating_sub(self.rested.load(Relaxed));
        if due {
            self.rested.store(done, Relaxed);
            self.looked.store(done, Relaxed);
            self.gave_way.store(false, Relaxed);
            if let Some(watch) = &self.watch {
                watch.has_rested();
            }
        }
        due
    }

    /// What follows may wait for a disk: what else waits for the thread is given to another, once
    /// until others ran.
    pub fn before_waiting(&self) {
        if !self.gave_way.swap(true, Relaxed)
            && let Some(watch) = &self.watch
        {
            watch.give_way();
        }
    }

    /// All that was done, evaluation or not.
    pub fn spent(&self) -> u64 {
        self.done.load(Relaxed)
    }

    /// Fails when the operation is to end.
    pub fn check(&self) -> Result<(), Error> {
        let evaluated = self.spent().saturating_sub(self.passed.load(Relaxed));
        if self.most.is_some_and(|most| most < evaluated) {
            let text = "the evaluation of all rows takes more work than allowed";
            return Err(Error::new(Kind::TooLarge, LIMIT_EXCEEDED, text));
        }
        self.watch.as_ref().map_or(Ok(()), |watch| watch.check_end())
    }

    fn count_units(&self, units: usize) -> u64 {
        let done = self.done.load(Relaxed).saturating_add(units as u64);
        self.done.store(done, Relaxed);
        done
    }

    fn poll(&self, done: u64) -> Result<(), Error> {
        if done.saturating_sub(self.looked.load(Relaxed)) < LOOK {
            return Ok(());
        }
        self.looked.store(done, Relaxed);
        if let Some(watch) = &self.watch {
            watch.give_way();
        }
        self.check()
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budget").field("done", &self.done).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn one_evaluation_is_bounded_and_what_is_read_is_not() {
        let budget = Budget::default();
        let most = usize::try_from(MAX_WORK).unwrap();
        for _ in 0..3 {
            budget.begin_evaluation();
            budget.spend(most).unwrap();
            budget.spend_bounded(most).unwrap();
            assert_eq!(budget.spend_bounded(1).unwrap_err().number, 146);
        }
    }

    #[test]
    fn all_evaluations_together_are_bounded_and_what_is_read_is_not() {
        let budget = Budget::default().with_limit(3 << 20);
        for _ in 0..3 {
            budget.begin_evaluation();
            budget.spend(1 << 30).unwrap();
            budget.spend_bounded(1 << 20).unwrap();
            budget.check().unwrap();
        }
        budget.spend_bounded(1).unwrap();
        assert_eq!(budget.check().unwrap_err().kind, Kind::TooLarge);
    }

    struct Ended(Arc<AtomicU64>);

    impl Watch for Ended {
        fn check_end(&self) -> Result<(), Error> {
            Err(Error::new(Kind::Stopped, 50, "its time is over"))
        }

        fn give_way(&self) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    #[test]
    fn it_gives_way_and_is_stopped_when_the_watch_says_so() {
        let gave_way = Arc::default();
        let budget = Budget::watched(Ended(Arc::clone(&gave_way)));
        budget.spend_bounded(1).unwrap();
        for stopped in [budget.spend(1 << 22), budget.spend_bounded(1 << 22)] {
            assert_eq!(stopped.unwrap_err().kind, Kind::Stopped);
        }
        assert_eq!(gave_way.load(Relaxed), 2);
    }

    #[test]
    fn it_gives_way_once_before_it_waits() {
        let gave_way = Arc::default();
        let budget = Budget::watched(Ended(Arc::clone(&gave_way)));
        for turns in 1..4 {
            budget.before_waiting();
            budget.before_waiting();
            assert_eq!(gave_way.load(Relaxed), turns);
            budget.spend(1 << 20).unwrap();
            assert!(budget.is_due());
        }
    }

    #[test]
    fn an_operation_that_rests_need_not_give_way() {
        let gave_way = Arc::default();
        let budget = Budget::watched(Ended(Arc::clone(&gave_way)));
        for _ in 0..100 {
            budget.spend(1 << 20).unwrap();
            assert!(budget.is_due());
        }
        assert_eq!(gave_way.load(Relaxed), 0);
        assert_eq!(budget.check().unwrap_err().kind, Kind::Stopped);
    }

    #[test]
    fn others_run_once_every_so_often() {
        let budget = Budget::default();
        assert!(!budget.is_due());
        budget.spend(1 << 20).unwrap();
        assert!(budget.is_due());
        assert!(!budget.is_due());
    }
}
