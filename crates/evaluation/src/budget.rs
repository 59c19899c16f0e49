//! The budget of an operation's evaluation work, in units of about one byte copied. It limits one
//! evaluation (of an expression over one document) and optionally all evaluations together. It also
//! decides when to check the deadline, when the task should yield, and when the other tasks of the
//! thread should be handed to another thread.
//!
//! There are two kinds of work. Bounded work is the evaluation of expressions: it counts towards
//! [`MAX_WORK`] of the current evaluation, so that no expression can run for minutes on one
//! document. Other work, such as reading rows, is limited only by the operation's time.
//!
//! ```text
//! spend_bounded  --+                +-> more than MAX_WORK since begin_evaluation: fails
//!                  +-> spent += n --+
//! spend          --+                +-> every LOOK units: give_way, check_end
//!                                   +-> every REST units: is_due returns true once
//! ```

use std::{
    fmt,
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
};

use crate::{
    error::{Error, Kind, numbers::LIMIT_EXCEEDED},
    execution_stats::ExecutionStats,
};

/// Maximum work of one evaluation of one expression, in units of about one byte copied: a second or
/// two.
pub const MAX_WORK: u64 = 2 << 30;
/// Units of work charged for one step over an element, a field or a variable, besides the work done
/// in the step.
pub const STEP: usize = 128;
/// Units of work after which the task should yield: about a millisecond.
const REST: u64 = 1 << 20;
/// Units of work without a yield after which the watch is called. Reached by an evaluation that
/// cannot yield: the other tasks of its thread are then handed to another thread, and the deadline
/// is checked.
const LOOK: u64 = 1 << 22;

/// Supervises an operation whose evaluation takes long. The API crates implement it with the time
/// limit of a command and the connection of its client.
pub trait Watch: Send + Sync {
    /// Fails if the operation must end, because its deadline has passed or its client has
    /// disconnected, for example.
    fn check_end(&self) -> Result<(), Error>;

    /// Called every few milliseconds of an evaluation that occupies its thread: other tasks of the
    /// thread may be handed to another thread.
    fn give_way(&self) {}

    /// Called after the evaluation has yielded to other tasks.
    fn has_rested(&self) {}

    /// Returns the statistics that record the keys and rows that the operation examines; `None` to
    /// record nothing.
    fn stats(&self) -> Option<&ExecutionStats> {
        None
    }
}

/// The work of an operation. An operation has one writer at a time: counters are atomic only so
/// that the budget can be shared, and are updated by a plain load and store.
#[derive(Default)]
pub struct Budget {
    /// All units of work so far, of evaluations and of other work.
    done: AtomicU64,
    /// Units of work, evaluations and other work together, that had been done before the current
    /// evaluation. Other work during the evaluation is added, so that it does not count towards the
    /// evaluation.
    begun: AtomicU64,
    /// Units of work so far other than evaluation, to which no work limit applies.
    passed: AtomicU64,
    /// Units of work that had been done when the watch was last called.
    checked: AtomicU64,
    /// Units of work that had been done at the last yield.
    rested: AtomicU64,
    /// Whether the thread's other tasks were handed to another thread since the last yield.
    gave_way: AtomicBool,
    /// Limit of the work of all evaluations together; `None` for no limit.
    work_limit: Option<u64>,
    /// Checks whether the operation has to end early.
    watch: Option<Box<dyn Watch>>,
}

impl Budget {
    /// Returns a budget without limits of which nothing is used yet. `watch` decides whether the
    /// operation has to end early.
    pub fn watched(watch: impl Watch + 'static) -> Self {
        Self { watch: Some(Box::new(watch)), ..Self::default() }
    }

    /// Limits all evaluations together to `work_limit` units.
    pub fn with_limit(self, work_limit: u64) -> Self {
        Self { work_limit: Some(work_limit), ..self }
    }

    /// Records that the operation has examined this number of keys or rows.
    pub fn record_examined(&self, examined: usize) {
        if let Some(stats) = self.watch.as_ref().and_then(|watch| watch.stats()) {
            stats.add_examined(examined);
        }
    }

    /// Records the access path in the operation's statistics, if it has any and they do not contain
    /// an access path yet.
    pub fn record_access(&self, access: impl FnOnce() -> String) {
        if let Some(stats) = self.watch.as_ref().and_then(|watch| watch.stats()) {
            stats.record_access(access);
        }
    }

    /// Starts an evaluation of one expression over one document, which resets the count of its
    /// work.
    pub fn begin_evaluation(&self) {
        self.begun.store(self.done.load(Relaxed), Relaxed);
    }

    /// Counts work of the current evaluation. Fails if it exceeds the limit of one evaluation, or
    /// if the operation must end.
    pub fn spend_bounded(&self, units: usize) -> Result<(), Error> {
        let done = self.count_units(units);
        // Work is counted before it is done, since a single step may be a large one.
        if MAX_WORK < done.saturating_sub(self.begun.load(Relaxed)) {
            let text = "the evaluation of an expression takes more work than allowed";
            return Err(Error::new(Kind::TooLarge, LIMIT_EXCEEDED, text));
        }
        self.poll(done)
    }

    /// Counts work that only the operation's time limits. Fails if the operation must end.
    pub fn spend(&self, units: usize) -> Result<(), Error> {
        let done = self.count_units(units);
        self.passed.store(self.passed.load(Relaxed).saturating_add(units as u64), Relaxed);
        // The work is not part of the current evaluation.
        let begun = self.begun.load(Relaxed);
        self.begun.store(begun.saturating_add(units as u64), Relaxed);
        self.poll(done)
    }

    /// Returns whether the task should yield. Returns true once, and then not again before more
    /// work is done.
    pub fn is_due(&self) -> bool {
        let done = self.done.load(Relaxed);
        let due = self.would_be_due();
        if due {
            self.rested.store(done, Relaxed);
            // A yield includes a check of the deadline by the caller.
            self.checked.store(done, Relaxed);
            self.gave_way.store(false, Relaxed);
            if let Some(watch) = &self.watch {
                watch.has_rested();
            }
        }
        due
    }

    /// Returns the result that [`is_due`](Self::is_due) would have, without changing anything.
    pub fn would_be_due(&self) -> bool {
        REST <= self.done.load(Relaxed).saturating_sub(self.rested.load(Relaxed))
    }

    /// Announces an operation that may block on a disk: other tasks of the thread are handed to
    /// another thread, at most once between two yields.
    pub fn before_waiting(&self) {
        // Handing the thread over takes longer than many a read, so once is enough.
        if !self.gave_way.swap(true, Relaxed)
            && let Some(watch) = &self.watch
        {
            watch.give_way();
        }
    }

    /// Returns all units of work so far, of evaluations and of other work.
    pub fn spent(&self) -> u64 {
        self.done.load(Relaxed)
    }

    /// Fails if the work exceeds its limit or the watch ends the operation.
    pub fn check(&self) -> Result<(), Error> {
        let evaluated = self.spent().saturating_sub(self.passed.load(Relaxed));
        if self.work_limit.is_some_and(|work_limit| work_limit < evaluated) {
            let text = "the evaluation of all rows takes more work than allowed";
            return Err(Error::new(Kind::TooLarge, LIMIT_EXCEEDED, text));
        }
        self.watch.as_ref().map_or(Ok(()), |watch| watch.check_end())
    }

    /// Adds units of work and returns the new total.
    fn count_units(&self, units: usize) -> u64 {
        let done = self.done.load(Relaxed).saturating_add(units as u64);
        self.done.store(done, Relaxed);
        done
    }

    /// Calls the watch if enough work was done since the last call. Calls are rare, since reading a
    /// clock costs more than a unit of work.
    fn poll(&self, done: u64) -> Result<(), Error> {
        if done.saturating_sub(self.checked.load(Relaxed)) < LOOK {
            return Ok(());
        }
        self.checked.store(done, Relaxed);
        match &self.watch {
            Some(watch) => watch.give_way(),
            // Without a watch nothing can end the operation, but other tasks of the thread have to
            // run.
            None => crate::give_way(),
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
        let work_limit = usize::try_from(MAX_WORK).unwrap();
        for _ in 0..3 {
            budget.begin_evaluation();
            budget.spend(work_limit).unwrap();
            budget.spend_bounded(work_limit).unwrap();
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
