//! How much work an operation's evaluation has done, in units of about one byte copied. It bounds
//! one evaluation (an expression over one document) and, where asked, all of them together; and it
//! says when to look at the time, when others should run, and when the thread should be given up.
//!
//! There are two kinds of work. Bounded work is what an expression makes: it counts against
//! [`MAX_WORK`] of the evaluation under way, so that no expression can run for minutes on one
//! document. Other work, such as reading rows, is bounded by the operation's time alone.
//!
//! ```text
//! spend_bounded  --+                +-> more than MAX_WORK since begin_evaluation: fails
//!                  +-> spent += n --+
//! spend          --+                +-> every LOOK units: give_way, check_end
//!                                   +-> every REST units: is_due answers true once
//! ```

use std::{
    fmt,
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
};

use crate::{
    error::{Error, Kind},
    limits::MAX_WORK,
    looked::Looked,
    numbers::LIMIT_EXCEEDED,
    process,
};

/// Units of work after which others should run: about a millisecond.
const REST: u64 = 1 << 20;
/// Units of work without a rest after which the watch is asked. An evaluation that cannot yield
/// gets here: then the thread is given up for others, and the time is looked at.
const LOOK: u64 = 1 << 22;

/// Looks after an operation whose evaluation takes long. The doors implement it, over the time
/// limit of a command and the connection of a client.
pub trait Watch: Send + Sync {
    /// Fails when the operation is to end: its evaluations did too much together, or the watch says
    /// so.
    fn check_end(&self) -> Result<(), Error>;

    /// Called every few milliseconds of an evaluation that occupies its thread: what else waits
    /// for the thread may be given to another.
    fn give_way(&self) {}

    /// Called when the evaluation let others run by itself.
    fn has_rested(&self) {}

    /// Where it is noted what the operation has looked at; `None`: nowhere.
    fn looked(&self) -> Option<&Looked> {
        None
    }
}

/// How much work an operation has done. One operation is one writer: counters are atomic only so
/// that the budget may be shared, and no addition is lost because none happens at the same time.
#[derive(Default)]
pub struct Budget {
    /// All work so far.
    done: AtomicU64,
    /// How much was done when the evaluation under way began; work that is not bounded moves it
    /// along, so that it does not count against the evaluation.
    begun: AtomicU64,
    /// How much of the work was not evaluation.
    passed: AtomicU64,
    /// How much was done when the watch was asked last.
    looked: AtomicU64,
    /// How much was done when others ran last.
    rested: AtomicU64,
    /// Whether the thread was given up for what may wait, since others ran last.
    gave_way: AtomicBool,
    /// What all evaluations together may do; `None`: anything.
    most: Option<u64>,
    /// Says when the operation is to end early.
    watch: Option<Box<dyn Watch>>,
}

impl Budget {
    /// A budget without work done, and a watch over it.
    pub fn watched(watch: impl Watch + 'static) -> Self {
        Self { watch: Some(Box::new(watch)), ..Self::default() }
    }

    /// The same, with an end when all evaluations together have done `most` units.
    pub fn with_limit(self, most: u64) -> Self {
        Self { most: Some(most), ..self }
    }

    /// Notes that the operation has looked at so many keys or rows.
    pub fn note_examined(&self, examined: usize) {
        if let Some(looked) = self.watch.as_ref().and_then(|watch| watch.looked()) {
            looked.add_examined(examined);
        }
    }

    /// Notes by which way it comes to them, if that is noted and was not yet.
    pub fn note_access(&self, access: impl FnOnce() -> String) {
        if let Some(looked) = self.watch.as_ref().and_then(|watch| watch.looked()) {
            looked.note_access(access);
        }
    }

    /// An evaluation begins: of one expression over one document. What it may do is counted from
    /// here.
    pub fn begin_evaluation(&self) {
        self.begun.store(self.done.load(Relaxed), Relaxed);
    }

    /// Counts work of the evaluation under way; fails when that is more than one may do, or when
    /// the operation is to end.
    pub fn spend_bounded(&self, units: usize) -> Result<(), Error> {
        let done = self.count_units(units);
        // Counted before it is done: the last step may be a large one.
        if MAX_WORK < done.saturating_sub(self.begun.load(Relaxed)) {
            let text = "the evaluation of an expression takes more work than allowed";
            return Err(Error::new(Kind::TooLarge, LIMIT_EXCEEDED, text));
        }
        self.poll(done)
    }

    /// Counts work that nothing bounds but the time of the operation; fails when the operation is
    /// to end.
    pub fn spend(&self, units: usize) -> Result<(), Error> {
        let done = self.count_units(units);
        self.passed.store(self.passed.load(Relaxed).saturating_add(units as u64), Relaxed);
        // It moves the beginning along: it is not the evaluation's.
        let begun = self.begun.load(Relaxed);
        self.begun.store(begun.saturating_add(units as u64), Relaxed);
        self.poll(done)
    }

    /// Whether others should run before the operation goes on. It returns true once, and then not
    /// again until more was done.
    pub fn is_due(&self) -> bool {
        let done = self.done.load(Relaxed);
        let due = self.would_be_due();
        if due {
            self.rested.store(done, Relaxed);
            // A rest is as good as a look: the caller looks at the time when it yields.
            self.looked.store(done, Relaxed);
            self.gave_way.store(false, Relaxed);
            if let Some(watch) = &self.watch {
                watch.has_rested();
            }
        }
        due
    }

    /// Whether [`is_due`](Self::is_due) would return true, without having said so.
    pub fn would_be_due(&self) -> bool {
        REST <= self.done.load(Relaxed).saturating_sub(self.rested.load(Relaxed))
    }

    /// Says that what follows may wait for a disk: other work of the thread is given to another
    /// thread, once until others have run.
    pub fn before_waiting(&self) {
        // Giving the thread away takes longer than many a read, so once is enough.
        if !self.gave_way.swap(true, Relaxed)
            && let Some(watch) = &self.watch
        {
            watch.give_way();
        }
    }

    /// All work so far, evaluation or not.
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

    /// Adds to all work, and returns the sum.
    fn count_units(&self, units: usize) -> u64 {
        let done = self.done.load(Relaxed).saturating_add(units as u64);
        self.done.store(done, Relaxed);
        done
    }

    /// Asks the watch when much was done since it was asked last. It is asked seldom, as reading a
    /// clock costs more than a unit of work.
    fn poll(&self, done: u64) -> Result<(), Error> {
        if done.saturating_sub(self.looked.load(Relaxed)) < LOOK {
            return Ok(());
        }
        self.looked.store(done, Relaxed);
        match &self.watch {
            Some(watch) => watch.give_way(),
            // Nobody can end it, but others are served meanwhile.
            None => process::give_way(),
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
